// Which servers of a correction go: each is judged singly, under the same rules as other victims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/model/text.hpp"

namespace reaper::correction_plan_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Resources held{{"VCPU", 2}};
const HostId there{"compute-1"};

class CorrectionPlanTest : public ::testing::Test {
protected:
    CorrectionPlanTest() : compute{host("compute-1", {{"VCPU", 16}})} {
        wanted.id = RequestId{"qos-1"};
        wanted.source = RequestSource::oversubscription;
        wanted.slots = 0;
        wanted.correction = Correction{there, "compute-1", {}};
    }
    Server& runs(const std::string& id) {
        put(compute, revocable(id, there, held));
        return compute.servers.back();
    }
    void correct(std::initializer_list<const char*> servers) {
        for (const char* const id : servers)
            wanted.correction->servers.push_back({ServerId{id}, "load 7.9 above 6"});
    }
    Decision decide(const PlanOptions& given = {}) {
        PlanOptions options = given;
        options.now = at(10'000);
        const Snapshot cloud{at(10'000), {compute}, {}};
        Safeguards under{settings};
        for (const auto& past : victims) under.note_victim(past);
        if (breaker_open) {
            for (int i = 0; i < 5; ++i)
                under.note_deletion(false, RequestId{"r"}, ServerId{"s"}, at(9'999));
        }
        return correction_under(under, wanted, CloudIndex{cloud, under.protection()}, ledger,
                                options);
    }
    static std::vector<std::string> ids(const Decision& decision) {
        std::vector<std::string> all;
        if (const auto* const plan = std::get_if<Plan>(&decision))
            for (const auto& victim : plan->victims()) all.push_back(victim.server.str());
        return all;
    }

    Host compute;
    Request wanted;
    SafeguardSettings settings;
    std::vector<PastVictim> victims;
    bool breaker_open = false;
    Ledger ledger;
};

TEST_F(CorrectionPlanTest, TheServersGoInTheirOrderEachWithItsReasonAndNoRoomIsPromised) {
    for (const char* id : {"a", "b", "c"}) runs(id);
    correct({"c", "a"});
    const Decision decision = decide();
    EXPECT_THAT(ids(decision), ElementsAre("c", "a"));
    const Plan& plan = std::get<Plan>(decision);
    EXPECT_EQ(plan.hosts.front().slots, 0);
    EXPECT_EQ(plan.hosts.front().victims.front().reason,
              "its project cheap carries the tag 'preemptible'; load 7.9 above 6");
    EXPECT_EQ(plan.hosts.front().victims.front().resources, held);
    EXPECT_EQ(summary(decision), "2 victims on 1 host");
    ledger.enter(wanted, plan, at(10'000));
    EXPECT_TRUE(ledger.evicting(ServerId{"c"}));
    EXPECT_FALSE(ledger.promises_anything());
}

TEST_F(CorrectionPlanTest, AProtectedServerStaysWithTheReasonAndTheOthersGo) {
    runs("a");
    runs("locked").locked = true;
    runs("moving").status = "RESIZE";
    runs("kept").metadata = std::map<std::string, std::string>{{"reaper:protected", "yes"}};
    settings.protect.owners = true;
    runs("young").created = at(9'990);
    put(compute, server("regular", there, held));
    settings.protect.min_run_time = 1min;
    correct({"locked", "moving", "kept", "young", "regular", "moved", "a"});
    const Decision decision = decide();
    EXPECT_THAT(ids(decision), ElementsAre("a"));
    const std::string& note = std::get<Plan>(decision).note;
    EXPECT_THAT(note, HasSubstr("name-of-locked (locked) stays: it is locked"));
    EXPECT_THAT(note, HasSubstr("name-of-moving (moving) stays: it is between two hosts"));
    EXPECT_THAT(note, HasSubstr("name-of-kept (kept) stays: "));
    EXPECT_THAT(note, HasSubstr("name-of-young (young) stays: "));
    EXPECT_THAT(note, HasSubstr("name-of-regular (regular) stays: it is not revocable"));
    EXPECT_THAT(note, HasSubstr("moved: it is no longer on compute-1"));
}

TEST_F(CorrectionPlanTest, WhereNoneMayGoTheSafeguardIsNamed) {
    settings.protect.owners = true;
    runs("kept").metadata = std::map<std::string, std::string>{{"reaper:protected", "yes"}};
    correct({"kept", "moved"});
    const Decision decision = decide();
    EXPECT_EQ(std::get<NotEnough>(decision).safeguard, safeguard::is_protected);
    EXPECT_THAT(std::get<NotEnough>(decision).reason, ::testing::StartsWith("name-of-kept (kept)"));
}

TEST_F(CorrectionPlanTest, WhereNoneIsLeftThereIsNothingToDo) {
    runs("going").task_state = "deleting";
    correct({"moved", "going"});
    const Decision decision = decide();
    const auto& nothing = std::get<NothingToDo>(decision);
    EXPECT_THAT(nothing.reason, HasSubstr("moved: it is no longer on compute-1"));
    EXPECT_THAT(nothing.reason, HasSubstr("(going): it is being deleted already"));
    EXPECT_THAT(nothing.hosts, IsEmpty());
    wanted.correction->host = HostId{"compute-9"};
    wanted.correction->host_name = "compute-9";
    const Decision gone = decide();
    EXPECT_EQ(std::get<NothingToDo>(gone).reason, "host compute-9 no longer exists");
}

TEST_F(CorrectionPlanTest, WhoIsEvictedForAnotherRequestIsNotEvictedTwice) {
    runs("a");
    runs("b");
    Plan another;
    another.hosts.emplace_back();
    another.hosts.back().host = there;
    another.hosts.back().victims.emplace_back();
    another.hosts.back().victims.back().server = ServerId{"a"};
    ledger.enter(request(held, 1, "req-7"), another, at(0));
    correct({"a", "b"});
    const Decision decision = decide();
    EXPECT_THAT(ids(decision), ElementsAre("b"));
    EXPECT_THAT(std::get<Plan>(decision).note,
                HasSubstr("name-of-a (a): it is evicted already, for req-7"));
}

TEST_F(CorrectionPlanTest, TheFirstOnesGoWithinTheBudgets) {
    for (const char* id : {"a", "b", "c"}) runs(id);
    settings.limits.victims_per_request = 2;
    correct({"b", "c", "a"});
    Decision decision = decide();
    EXPECT_THAT(ids(decision), ElementsAre("b", "c"));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("name-of-a (a) stays: "));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("of 2 victims for this request"));

    settings.limits.victims_per_request = 0;
    settings.limits.victims_per_project = 1;
    PastVictim past;
    past.at = at(9'990);
    past.project = ProjectId{"cheap"};
    past.server = ServerId{"before"};
    victims = {past};
    decision = decide();
    EXPECT_EQ(std::get<NotEnough>(decision).safeguard, safeguard::limit_project);
}

TEST_F(CorrectionPlanTest, WhatARecheckFoundUnfitIsNotChosenAgain) {
    runs("a");
    runs("b");
    correct({"a", "b"});
    PlanOptions options;
    options.skipped.emplace(ServerId{"a"}, "it holds more than planned");
    const Decision decision = decide(options);
    EXPECT_THAT(ids(decision), ElementsAre("b"));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("(a) stays: it holds more than planned"));
}

TEST_F(CorrectionPlanTest, AnOpenBreakerHoldsItBack) {
    runs("a");
    correct({"a"});
    breaker_open = true;
    const Decision decision = decide();
    EXPECT_EQ(std::get<NotEnough>(decision).safeguard, safeguard::breaker);
}

TEST_F(CorrectionPlanTest, AWorkloadThatIsEvictedOftenIsNotSpared) {
    runs("a");
    settings.thrash.after = 1;
    settings.thrash.grace = 24h;
    PastVictim past;
    past.at = at(9'000);
    past.project = ProjectId{"cheap"};
    past.name = "name-of-a";
    past.server = ServerId{"before"};
    victims = {past};
    correct({"a"});
    EXPECT_THAT(ids(decide()), ElementsAre("a"));
}

TEST_F(CorrectionPlanTest, ALongListIsCut) {
    correct({});
    for (int i = 0; i < 30; ++i)
        wanted.correction->servers.push_back({ServerId{"s" + std::to_string(i)}, "load"});
    EXPECT_THAT(std::get<NothingToDo>(decide()).reason, HasSubstr("; and 10 more"));
}

}  // namespace
}  // namespace reaper::correction_plan_test
