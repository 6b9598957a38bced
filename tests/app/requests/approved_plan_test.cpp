// Plans that a person approved: they are carried out as they are, or nothing is.
#include "reaper/requests/approved_plan.hpp"

#include <gtest/gtest.h>

#include "app/api_house.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/model/time.hpp"

namespace reaper::test::approved_plan_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

const TimePoint noon = *parse_time("2026-11-20T12:00:00Z");

Approval approval_of(std::set<ServerId> victims) {
    return {"alice", noon, std::move(victims)};
}
Decision plan_of(const std::set<ServerId>& victims) {
    Plan plan;
    plan.hosts.emplace_back();
    for (const ServerId& each : victims) {
        Victim victim;
        victim.server = each;
        plan.hosts.back().victims.push_back(victim);
    }
    return plan;
}
std::string stale(const Decision& decision, bool begun = false, TimePoint now = noon) {
    const auto approval = approval_of({ServerId{"a"}, ServerId{"b"}});
    return why_stale(approval, decision, begun, now, 1h).value_or("holds");
}

TEST(WhyStale, ExactlyTheApprovedVictimsHold) {
    EXPECT_EQ(stale(plan_of({ServerId{"a"}, ServerId{"b"}})), "holds");
    EXPECT_THAT(stale(plan_of({ServerId{"a"}})), HasSubstr("b would not be deleted now"));
    EXPECT_THAT(stale(plan_of({ServerId{"a"}, ServerId{"c"}})),
                HasSubstr("b would not be deleted now, but c would be"));
    EXPECT_THAT(stale(plan_of({ServerId{"a"}, ServerId{"b"}, ServerId{"c"}})),
                HasSubstr("stale: c would be"));
    EXPECT_THAT(stale(NothingToDo{"room is there already", {}}), HasSubstr("room is there"));
    NotEnough less;
    less.reason = "too few";
    EXPECT_THAT(stale(less), HasSubstr("too few"));
    EXPECT_EQ(stale(Refused{"another reaper served it"}), "holds") << "it is refused as it is";
    less.safeguard = "limit";
    EXPECT_EQ(stale(less), "holds") << "the limit is the reason";
}

TEST(WhyStale, WhatAnotherReaperLeftHalfDeletedIsNotApproved) {
    auto plan = std::get<Plan>(plan_of({ServerId{"a"}, ServerId{"b"}}));
    PendingRelease other;
    other.server = ServerId{"s"};
    plan.hosts.front().pending_releases.push_back(other);
    EXPECT_EQ(stale(plan), "holds") << "it goes by itself";
    plan.hosts.front().pending_releases.front().unfinished = true;
    EXPECT_THAT(stale(plan), HasSubstr("s would be"));
}

TEST(WhyStale, OnceBegunNoOtherServerIsDeleted) {
    EXPECT_EQ(stale(plan_of({ServerId{"b"}}), true), "holds");
    EXPECT_EQ(stale(NothingToDo{"there", {}}, true), "holds");
    EXPECT_THAT(stale(plan_of({ServerId{"c"}}), true), HasSubstr("c would be"));
}

TEST(WhyStale, AnOldPlanIsNotBegun) {
    const auto same = plan_of({ServerId{"a"}, ServerId{"b"}});
    EXPECT_EQ(stale(same, false, noon + 1h), "holds");
    EXPECT_THAT(stale(same, false, noon + 1h + 1ms), HasSubstr("cull.approved_max_age"));
    EXPECT_EQ(stale(same, true, noon + 2h), "holds") << "what is begun goes on";
    EXPECT_EQ(stale(same, false, noon - 1min), "holds");
    EXPECT_THAT(stale(same, false, noon - 2min), HasSubstr("still to come"));
}

TEST(WhyStale, NamesTheServersThatDiffer) {
    auto plan = std::get<Plan>(plan_of({ServerId{"a"}, ServerId{"c"}}));
    plan.hosts.front().victims[1].name = "web-3";
    const auto named = [](const ServerId& server) { return "name-of-" + server.str(); };
    const auto approval = approval_of({ServerId{"a"}, ServerId{"b"}});
    EXPECT_THAT(why_stale(approval, plan, false, noon, 1h, named).value_or("holds"),
                HasSubstr("name-of-b (b) would not be deleted now, but web-3 (c) would be"));
}

TEST(WhyStale, IsOneLineWhateverServersAreCalled) {
    std::set<ServerId> many;
    for (int i = 0; i < 50; ++i) many.insert(ServerId{"\n" + std::to_string(i)});
    const std::string line = stale(plan_of(many));
    EXPECT_THAT(line, Not(HasSubstr("\n")));
    EXPECT_LT(line.size(), 300U);
}

TEST(TakeApproval, IsTakenOutOfTheBody) {
    const auto none = api::take_approval("project: web");
    EXPECT_FALSE(none->approved);
    EXPECT_EQ(none->body, "project: web");
    const auto some = api::take_approval(
        R"({"slots": 1, "approved": {"by": "alice", "planned_at": "2026-11-20T12:00:00Z",
            "victims": ["b", "a"]}})");
    ASSERT_TRUE(some);
    EXPECT_EQ(some->body, R"({"slots":1})");
    EXPECT_EQ(some->approved, approval_of({ServerId{"a"}, ServerId{"b"}}));
}

TEST(TakeApproval, OneThatIsWrongIsNamed) {
    const auto wrong = [](const std::string& approved) {
        const auto taken = api::take_approval(R"({"approved": )" + approved + "}");
        return taken ? "taken" : taken.error().what;
    };
    const std::string at = R"("planned_at": "2026-11-20T12:00:00Z")";
    EXPECT_THAT(wrong("1"), HasSubstr("approved"));
    EXPECT_THAT(wrong("{}"), HasSubstr("by"));
    EXPECT_THAT(wrong(R"({"by": "a", "planned_at": "noon", "victims": ["a"]})"),
                HasSubstr("approved.planned_at"));
    EXPECT_EQ(wrong(R"({"by": "a", )" + at + R"(, "victims": []})"), "taken") << "to look at";
    EXPECT_THAT(wrong(R"({"by": "a", )" + at + R"(, "victims": [1]})"), HasSubstr("victims[0]"));
    EXPECT_THAT(wrong(R"({"by": "a", "at": 1, )" + at + R"(, "victims": ["a"]})"),
                HasSubstr("approved.at"));
}

// ---- the daemon ----

class Approved : public ApiHouse {
protected:
    json body_of(const std::vector<std::string>& victims, Duration age = 0ms,
                 const std::string& id = "mine") {
        return {
            {"project", "regular"},
            {"resources", "VCPU=4"},
            {"id", id},
            {"approved",
             {{"by", "alice"}, {"planned_at", iso_time(clock.now() - age)}, {"victims", victims}}}};
    }
    /// As `reaper plan` finds them now.
    std::vector<std::string> planned() {
        const json said = answer(200, "POST /v1/plan", "/v1/plan",
                                 R"({"project": "regular", "resources": "VCPU=4", "id": "mine"})");
        std::vector<std::string> victims;
        for (const json& host : said.at("decision").at("hosts"))
            for (const json& victim : host.at("victims")) victims.push_back(victim.at("server"));
        EXPECT_EQ(victims.size(), 2U);
        return victims;
    }
    /// All lines of the answer.
    std::string told(const json& body) {
        const HttpResponse said = ask({"POST", "/v1/requests", {}, body.dump()});
        std::string all = said.body;
        for (bool more = said.more != nullptr; more;) {
            std::optional<std::optional<std::string>> line;
            boost::asio::co_spawn(io(), said.more(), [&](std::exception_ptr error, auto next) {
                if (error) std::rethrow_exception(error);
                line = std::move(next);
            });
            run_until([&] { return line.has_value(); });
            more = line->has_value();
            if (more) all += **line;
        }
        return all;
    }
    Outcome applied(const json& body, api::Caller caller = {api::Access::act, {}}) {
        const std::string id = body.at("id");
        const HttpResponse said = ask({"POST", "/v1/requests", {}, body.dump()}, std::move(caller));
        EXPECT_EQ(said.status, 200) << said.body;
        return outcome_of(id);
    }
};

TEST_F(Approved, ThePlanIsCarriedOutAndTheJournalHasWhoApprovedIt) {
    full_host("h1");
    start_and_read_the_cloud();
    const auto victims = planned();
    EXPECT_EQ(applied(body_of(victims)).kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    for (const auto& victim : victims) EXPECT_FALSE(cloud.exists(victim));
    const auto& approved = record("mine").request.approved;
    ASSERT_TRUE(approved);
    EXPECT_EQ(approved->by, "alice");
    EXPECT_EQ(approved->victims.size(), 2U);
}

TEST_F(Approved, OtherVictimsAreStaleAndNoServerIsDeleted) {
    full_host("h1");
    start_and_read_the_cloud();
    auto victims = planned();
    victims.pop_back();
    const Outcome less = applied(body_of(victims));
    EXPECT_EQ(less.kind, OutcomeKind::refused);
    EXPECT_EQ(less.safeguard, "stale-plan");
    EXPECT_THAT(less.reason, HasSubstr("the approved plan is stale"));
    const Outcome other = applied(body_of({"no-such"}, 0ms, "other"));
    EXPECT_EQ(other.safeguard, "stale-plan");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(service().view()->ledger.empty());
}

TEST_F(Approved, AVictimThatIsLockedSinceMakesItStale) {
    full_host("h1");
    start_and_read_the_cloud();
    const auto victims = planned();
    cloud.server_at(victims.front()).record.server.locked = true;
    const Outcome after = applied(body_of(victims));
    EXPECT_EQ(after.kind, OutcomeKind::refused);
    EXPECT_EQ(after.safeguard, "stale-plan");
    EXPECT_THAT(after.reason,
                HasSubstr("name-of-" + victims.front() + " (" + victims.front() + ")"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(Approved, AnIdThatIsKnownIsNotThatOfAnotherPlan) {
    full_host("h1");
    start_and_read_the_cloud();
    auto victims = planned();
    const auto all = victims;
    victims.pop_back();
    EXPECT_EQ(applied(body_of(victims)).safeguard, "stale-plan");
    EXPECT_THAT(told(body_of(all)), HasSubstr("a new plan needs its own id"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(told(body_of(victims)), HasSubstr("the approved plan is stale"));
}

TEST_F(Approved, RoomThatCameFreeSinceMakesItStale) {
    full_host("h1");
    start_and_read_the_cloud();
    const auto victims = planned();
    for (const char* const left : {"h1a", "h1b", "h1c", "h1d"})
        if (std::find(victims.begin(), victims.end(), left) == victims.end()) cloud.remove(left);
    const Outcome after = applied(body_of(victims));
    EXPECT_EQ(after.safeguard, "stale-plan");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(Approved, APlanThatIsTooOldIsRefused) {
    full_host("h1");
    settings.cull.approved_max_age = 10min;
    start_and_read_the_cloud();
    const auto victims = planned();
    const Outcome old = applied(body_of(victims, 11min));
    EXPECT_EQ(old.safeguard, "stale-plan");
    EXPECT_THAT(old.reason, HasSubstr("11min"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(applied(body_of(victims, 9min, "young")).kind, OutcomeKind::freed);
}

TEST_F(Approved, AnIdentifiedCallerApprovesInItsOwnName) {
    full_host("h1");
    start_and_read_the_cloud();
    applied(body_of(planned()), {api::Access::act, "ops@default"});
    EXPECT_EQ(record("mine").request.approved->by, "ops@default");
}

TEST_F(Approved, ACheckTellsWhetherItHolds) {
    full_host("h1");
    start_and_read_the_cloud();
    const auto victims = planned();
    const auto checked = [&](const json& body) {
        return answer(200, "POST /v1/plan", "/v1/plan", body.dump()).at("stale");
    };
    EXPECT_EQ(checked(body_of(victims)), nullptr);
    EXPECT_THAT(checked(body_of({"no-such"})).get<std::string>(), HasSubstr("no-such"));
    EXPECT_THAT(checked(body_of(victims, 2h)).get<std::string>(), HasSubstr("2h"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(Approved, AnApprovalThatIsWrongIsNoRequest) {
    full_host("h1");
    start_and_read_the_cloud();
    json body = body_of({});
    EXPECT_THAT(why(answer(400, "POST /v1/requests", "/v1/requests", body.dump())),
                HasSubstr("approved.victims"));
    body["approved"]["victims"] = {1};
    EXPECT_THAT(why(answer(400, "POST /v1/plan", "/v1/plan", body.dump())),
                HasSubstr("approved.victims[0]"));
}

TEST_F(Approved, ARestartInTheMiddleDeletesNoOtherServer) {
    full_host("h1");
    settings.cull.max_parallel_deletions = 1;
    start_and_read_the_cloud();
    const auto victims = planned();
    ask({"POST", "/v1/requests", {}, body_of(victims).dump()});
    run_until([&] { return cloud.count("DELETE") >= 1U; });
    crash();
    // Without it, others would have to go.
    for (const std::string& victim : victims)
        if (cloud.exists(victim)) cloud.server_at(victim).record.server.locked = true;
    start();
    const Outcome after = outcome_of("mine");
    EXPECT_NE(after.kind, OutcomeKind::freed);
    for (const std::string& living :
         {std::string{"h1a"}, std::string{"h1b"}, std::string{"h1c"}, std::string{"h1d"}}) {
        const bool approved = std::find(victims.begin(), victims.end(), living) != victims.end();
        EXPECT_TRUE(approved || cloud.exists(living)) << living;
    }
}

}  // namespace
}  // namespace reaper::test::approved_plan_test
