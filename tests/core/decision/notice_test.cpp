// How much notice servers are to have, and what that means for a plan.
#include "reaper/model/notice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::decision_notice_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NoticeRules rules_of(NoticeSettings settings) {
    return NoticeRules{settings};
}

TEST(NoticePeriod, TheLongestOfThoseThatApplyCounts) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    server.flavor_name = "m1.spot";
    server.project = ProjectId{"lab"};
    server.revocable_by = "project, flavor";
    NoticeSettings settings;
    settings.period = 10s;
    EXPECT_EQ(rules_of(settings).of(server), 10s);
    settings.periods = {"lab=5s", "m1.spot=2min", "other=1h"};
    EXPECT_EQ(rules_of(settings).of(server), 2min);
    settings.periods = {"lab=5s"};
    EXPECT_EQ(rules_of(settings).of(server), 5s) << "less than the others have";
    settings.periods.emplace_back("flavor=3min");
    EXPECT_EQ(rules_of(settings).of(server), 3min);
}

TEST(NoticePeriod, AnOwnerAsksForItWhereTheOperatorAllowsThat) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    server.metadata.insert_or_assign("reaper:notice", "5min");
    NoticeSettings settings;
    EXPECT_EQ(rules_of(settings).of(server), 0s);
    settings.owner_key = "reaper:notice";
    EXPECT_EQ(rules_of(settings).of(server), 5min);
    settings.longest = 1min;
    EXPECT_EQ(rules_of(settings).of(server), 1min);
    settings.period = 10s;
    server.metadata.insert_or_assign("reaper:notice", "long");
    EXPECT_EQ(rules_of(settings).of(server), 10s);
}

TEST(NoticePeriod, AServerThatDoesNotRunHasNone) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    server.status = "SHUTOFF";
    NoticeSettings settings;
    settings.period = 10s;
    EXPECT_EQ(rules_of(settings).of(server), 0s);
    // Another reaper stopped it.
    server.metadata.insert_or_assign(evict_at_key, "2026-11-27T12:00:00.000Z");
    EXPECT_EQ(rules_of(settings).of(server), 10s);
}

/// Two hosts: on a the server that a strategy takes by itself, which is to have notice.
class NoticePlan : public ::testing::Test {
protected:
    NoticePlan() {
        Host a = host("a", {{"VCPU", 4}});
        Server young = revocable("young", a.id, {{"VCPU", 4}}, 3500);
        young.project = ProjectId{"lab"};
        put(a, young);
        Host b = host("b", {{"VCPU", 4}});
        put(b, revocable("old", b.id, {{"VCPU", 4}}, 0));
        hosts_ = {a, b};
        settings_.periods = {"lab=60s"};
    }
    std::vector<std::string> victims(const Request& wanted, std::string_view strategy = "cost",
                                     Parameters parameters = {}) {
        const NoticeRules rules = rules_of(settings_);
        PlanOptions options;
        options.now = at(3600);
        options.notice = &rules;
        return victim_ids(plan(wanted, Snapshot{at(3600), hosts_, {}}, options, {}, strategy,
                               std::move(parameters)));
    }

    std::vector<Host> hosts_;
    NoticeSettings settings_;
};

TEST_F(NoticePlan, ServersWithoutNoticeGoFirst) {
    EXPECT_THAT(victims(request({{"VCPU", 4}})), ElementsAre("old"));
    EXPECT_THAT(victims(request({{"VCPU", 4}}), "strict_time"), ElementsAre("old"));
    EXPECT_THAT(victims(request({{"VCPU", 4}}, 2)), ElementsAre("old", "young"));
    settings_ = {};
    EXPECT_THAT(victims(request({{"VCPU", 4}})), ElementsAre("young"));
}

TEST_F(NoticePlan, AnOperatorsPriorityComesBeforeIt) {
    const Parameters priorities{{"priorities", std::vector<std::string>{"lab=1", "old=2"}},
                                {"standard_priority", std::int64_t{2}}};
    EXPECT_THAT(victims(request({{"VCPU", 4}}), "cost", priorities), ElementsAre("young"));
}

/// The whole decision, under the policy.
class NoticeDecision : public NoticePlan {
protected:
    NoticeDecision() {
        policy_.taggers = {{"project", {}}};
        policy_.strategy.name = "cost";
        policy_.notice = settings_;
        for (Host& each : hosts_)
            for (Server& server : each.servers)
                view_.tag_data.projects_by_tag["preemptible"].insert(server.project);
        view_.snapshot = Snapshot{at(3600), hosts_, {}};
    }
    Decision decide_for(const Request& wanted) {
        const auto policy = compile_policy(policy_).value();
        return decide(*policy, wanted, view_, ledger_, safeguards_);
    }
    Request search(Duration left, int slots) {
        Request wanted = request({{"VCPU", 4}}, slots);
        wanted.project = ProjectId{"regular"};
        wanted.source = RequestSource::gateway;
        wanted.deadline = at(3600) + left;
        return wanted;
    }

    config::Policy policy_;
    CloudView view_;
    Ledger ledger_;
    Safeguards safeguards_;
};

TEST_F(NoticeDecision, ASearchUsesNoServerWhoseNoticeIsLongerThanItWaits) {
    EXPECT_TRUE(std::holds_alternative<Plan>(decide_for(search(90s, 2))));
    const Decision late = decide_for(search(30s, 2));
    const auto* const less = std::get_if<NotEnough>(&late);
    ASSERT_NE(less, nullptr);
    EXPECT_EQ(less->safeguard, safeguard::notice);
    EXPECT_THAT(less->reason, HasSubstr("takes longer than nova-scheduler waits"));
    Request message = search(30s, 2);
    message.source = RequestSource::nova_failure;
    EXPECT_TRUE(std::holds_alternative<Plan>(decide_for(message)));
}

TEST_F(NoticeDecision, WhatIsLeftOfANoticeCounts) {
    policy_.notice = {};
    policy_.notice.period = 60s;
    Request wanted = search(90s, 1);
    EXPECT_THAT(victim_ids(decide_for(wanted)), ElementsAre("young"));
    safeguards_.notices().set(
        Notice{ServerId{"old"}, wanted.id, at(3610), true, false, {}, {}, {}, {}});
    EXPECT_THAT(victim_ids(decide_for(wanted)), ElementsAre("old")) << "it ends sooner";
    wanted.id = RequestId{"another"};
    EXPECT_THAT(victim_ids(decide_for(wanted)), ElementsAre("young")) << "another's";
}

TEST_F(NoticeDecision, ASearchDoesNotCountOnRoomThatComesTooLate) {
    policy_.notice.periods = {"lab=0s", "old=60s"};
    Request first = request({{"VCPU", 2}});
    first.id = RequestId{"first"};
    first.placement.only_hosts = {"b"};
    ledger_.enter(first, std::get<Plan>(decide_for(first)), at(3600));
    Request wanted = search(90s, 1);
    wanted.resources = {{"VCPU", 2}};
    const auto with_notice_until = [&](int second) {
        safeguards_.notices().set(
            Notice{ServerId{"old"}, first.id, at(second), true, false, {}, {}, {}, {}});
        return decide_for(wanted);
    };
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(with_notice_until(3660)));
    EXPECT_THAT(victim_ids(with_notice_until(3720)), ElementsAre("young"));
    hosts_.erase(hosts_.begin());
    view_.snapshot.hosts = hosts_;
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(with_notice_until(3720))) << "no other way";
}

TEST_F(NoticeDecision, ASearchUsesNoServerThatIsToBeShelved) {
    policy_.notice = {};
    policy_.shelve.servers = {"lab"};
    EXPECT_THAT(victim_ids(decide_for(search(90s, 1))), ElementsAre("old"));
    const Decision late = decide_for(search(90s, 2));
    const auto* const less = std::get_if<NotEnough>(&late);
    ASSERT_NE(less, nullptr);
    EXPECT_EQ(less->safeguard, safeguard::notice);
    Request message = search(90s, 2);
    message.source = RequestSource::nova_failure;
    const Decision decision = decide_for(message);
    for (const Victim& victim : std::get<Plan>(decision).victims())
        EXPECT_EQ(victim.reason.ends_with("; it is to be shelved"), victim.server.str() == "young")
            << victim.reason;
}

TEST(Shelving, IsByNameOrAsItsOwnerSays) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    server.flavor_name = "m1.spot";
    server.project = ProjectId{"lab"};
    server.revocable_by = "project, flavor";
    const auto applies = [&](std::vector<std::string> names, std::string key = "") {
        return ShelveRules{{std::move(names), std::move(key), 0}}.apply_to(server);
    };
    EXPECT_FALSE(applies({}));
    EXPECT_FALSE(applies({"m1.other", "s"}));
    for (const char* name : {"all", "m1.spot", "lab", "flavor"}) EXPECT_TRUE(applies({name}));
    server.metadata.insert_or_assign("on_evict", "delete");
    EXPECT_TRUE(applies({"all"})) << "owners have no say";
    EXPECT_FALSE(applies({"all"}, "on_evict"));
    server.metadata.insert_or_assign("on_evict", "shelve");
    EXPECT_TRUE(applies({}, "on_evict"));
    server.metadata.insert_or_assign("on_evict", "something");
    EXPECT_FALSE(applies({}, "on_evict"));
    EXPECT_TRUE(applies({"all"}, "on_evict"));
}

TEST(Shelving, DependsOnWhatNovaShelves) {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 1}});
    const ShelveRules rules{{{"all"}, "", 0}};
    const auto departure = [&](const char* status, const char* task = "") {
        server.status = status;
        server.task_state = task;
        return rules.departure_of(server);
    };
    for (const char* status : {"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"})
        EXPECT_EQ(departure(status), Departure::shelved);
    for (const char* status : {"ERROR", "BUILD", "RESCUE", "VERIFY_RESIZE"})
        EXPECT_EQ(departure(status), Departure::deleted);
    EXPECT_EQ(departure("SHELVED"), Departure::offloaded);
    EXPECT_EQ(departure("ACTIVE", "image_snapshot"), Departure::deleted);
    EXPECT_FALSE(rules.why_leaving(server));
    server.task_state = "shelving_image_uploading";
    EXPECT_EQ(rules.why_leaving(server), "it is being shelved");
    EXPECT_FALSE(ShelveRules{}.why_leaving(server));
    server.task_state = "";
    server.status = "SHELVED_OFFLOADED";
    EXPECT_TRUE(rules.why_leaving(server));
}

}  // namespace
}  // namespace reaper::decision_notice_test
