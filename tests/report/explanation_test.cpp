// Why a server was deleted, or skipped: from the record of its request.
#include "reaper/report/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/report/json.hpp"
#include "tests/report/examples.hpp"

namespace reaper::report::test::explanation_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const ServerId deleted{"5e2d0c3a-0000-4000-8000-000000000001"};
const ServerId skipped{"5e2d0c3a-0000-4000-8000-000000000002"};

RenderOptions at_noon() {
    RenderOptions options;
    options.now = noon();
    return options;
}

/// The story of the other tests, with neighbours.
RequestRecord story() {
    RequestRecord record = example_story();
    record.request.flavor = "m1.large";
    HostPlan& host = std::get<Plan>(record.plans[0].decision).hosts[0];
    host.victims[0].flavor = "m1.small";
    SparedServer young{ServerId{"5e2d0c3a-0000-4000-8000-000000000003"},
                       "batch-8",
                       ProjectId{"a1b2c3d4000040008000000000000001"},
                       {{"VCPU", 2}},
                       noon(-60'000),
                       "might have gone instead: the strategy preferred the victims",
                       true};
    SparedServer locked = young;
    locked.server = ServerId{"5e2d0c3a-0000-4000-8000-000000000004"};
    locked.name = "database";
    locked.reason = "it is locked";
    locked.might_have_gone = false;
    host.spared = {young, locked};
    host.spared_in_all = 5;
    return record;
}

Plan& plan_of(RequestRecord& record) {
    return std::get<Plan>(record.plans[0].decision);
}

const ExplainedServer& only(const Explanation& told) {
    EXPECT_THAT(told.servers, SizeIs(1));
    return told.servers.at(0);
}

TEST(Explanation, OfADeletedServer) {
    Explanation told = explain(story(), {deleted});
    told.asked = "batch-7";
    EXPECT_EQ(only(told).fate, Fate::deleted);
    EXPECT_EQ(only(told).sent_at, noon(180));
    EXPECT_EQ(only(told).gone_at, noon(1'400));
    EXPECT_EQ(only(told).round, 1);
    expect_golden("explanation.txt", render_explanation(told, at_noon()));
    expect_golden("explanation.json", dump(to_json(told), 2) + "\n");
}

TEST(Explanation, ComesBackFromItsJson) {
    Explanation told = explain(story(), {deleted});
    told.also = {{RequestId{"r"}, noon(), ServerId{"s"}, "name", ProjectId{"p"}, "h"}};
    for (const Explanation& each : {told, explain(story(), {}), explain(story(), {skipped})}) {
        const auto back = explanation_from_json(nlohmann::json::parse(to_json(each).dump()));
        ASSERT_TRUE(back) << back.error().what;
        EXPECT_EQ(to_json(*back), to_json(each));
        EXPECT_EQ(render_explanation(*back, at_noon()), render_explanation(each, at_noon()));
    }
    nlohmann::json wrong = to_json(told);
    wrong["servers"][0]["fate"] = "married";
    EXPECT_THAT(explanation_from_json(wrong).error().what, HasSubstr("servers[0].fate"));
}

TEST(Explanation, OfAServerThatWasSkippedOnRecheck) {
    const Explanation told = explain(story(), {skipped});
    EXPECT_EQ(only(told).fate, Fate::skipped);
    EXPECT_EQ(only(told).fate_reason, "locked since the plan");
    EXPECT_EQ(only(told).sent_at, std::nullopt);
    const std::string text = render_explanation(told, at_noon());
    EXPECT_THAT(
        text,
        HasSubstr("Server render-farm-12 " + skipped.str() +
                  ": was chosen, and skipped before its deletion\n  locked since the plan\n"));
    EXPECT_THAT(text, HasSubstr("chosen too: batch-7"));
}

TEST(Explanation, OfARequestTellsAllThatWereChosen) {
    const Explanation told = explain(story(), {});
    EXPECT_THAT(told.servers, SizeIs(2));
    EXPECT_THAT(told.others, IsEmpty());
}

TEST(Explanation, OfARequestWithoutAVictimTellsTheReason) {
    RequestRecord record = example_story();
    NotEnough not_enough;
    not_enough.slots_requested = 2;
    not_enough.reason = "only 1 of 2 slots can come free";
    not_enough.rejected = example_plan().rejected;
    record.plans[0].decision = not_enough;
    record.steps.clear();
    record.outcome = Outcome{OutcomeKind::not_enough, not_enough.reason, noon(500)};
    record.freed_room.reset();
    const Explanation told = explain(record, {});
    const std::string text = render_explanation(told, at_noon());
    EXPECT_THAT(text, HasSubstr("no server was chosen"));
    EXPECT_THAT(text, HasSubstr("no servers deleted: only 1 of 2 slots"));
    EXPECT_THAT(text, HasSubstr("compute-3: disabled: kernel update"));
    record.plans.clear();
    EXPECT_THAT(render_explanation(explain(record, {}), at_noon()), HasSubstr("No plan was made"));
}

/// Its result by its last step, while the request is under way and after.
TEST(Explanation, FatesFollowFromSteps) {
    const auto fate = [](std::vector<Step> steps, bool ended) {
        RequestRecord record = story();
        record.steps.clear();
        int at = 200;
        for (const Step step : steps) record.steps.push_back({deleted, step, "why", noon(at++)});
        if (!ended) record.outcome.reset();
        return explain(record, {deleted}).servers.at(0).fate;
    };
    EXPECT_EQ(fate({}, false), Fate::planned);
    EXPECT_EQ(fate({}, true), Fate::planned);
    EXPECT_EQ(fate({Step::delete_sent}, false), Fate::going);
    EXPECT_EQ(fate({Step::delete_sent, Step::delete_accepted}, false), Fate::going);
    EXPECT_EQ(fate({Step::delete_sent, Step::delete_accepted}, true), Fate::unknown);
    EXPECT_EQ(fate({Step::delete_sent, Step::force_delete_sent, Step::gone}, true), Fate::deleted);
    EXPECT_EQ(fate({Step::vanished}, true), Fate::vanished);
    EXPECT_EQ(fate({Step::delete_sent, Step::skipped}, true), Fate::skipped);
    EXPECT_EQ(fate({Step::skipped, Step::delete_sent, Step::gone}, true), Fate::deleted);
    EXPECT_EQ(fate({Step::shelve_sent}, false), Fate::shelving);
    EXPECT_EQ(fate({Step::shelve_sent, Step::gone}, true), Fate::shelved);
    EXPECT_EQ(fate({Step::shelve_sent, Step::delete_sent, Step::gone}, true), Fate::deleted);
    EXPECT_EQ(fate({Step::delete_sent, Step::failed}, true), Fate::still_there);
    EXPECT_EQ(fate({Step::delete_sent, Step::unseen}, true), Fate::unknown);
}

TEST(Explanation, ADeletionThatNovaRefusedWasNotSent) {
    RequestRecord record = story();
    record.steps = {{deleted, Step::delete_sent, "", noon(200)},
                    {deleted, Step::skipped, "Nova refused it", noon(210)}};
    EXPECT_EQ(explain(record, {deleted}).servers.at(0).sent_at, std::nullopt);
    record.steps.push_back({deleted, Step::delete_sent, "", noon(300)});
    EXPECT_EQ(explain(record, {deleted}).servers.at(0).sent_at, noon(300));
}

TEST(Explanation, ThePlanIsTheOneThatChoseTheServerLast) {
    RequestRecord record = story();
    PlanEntry second = record.plans[0];
    second.round = 2;
    second.at = noon(5'000);
    Plan& plan = std::get<Plan>(second.decision);
    plan.strategy = "cost";
    std::erase_if(plan.hosts[0].victims, [](const auto& each) { return each.server == deleted; });
    record.plans.push_back(second);
    EXPECT_EQ(explain(record, {deleted}).decision->round, 1);
    EXPECT_EQ(explain(record, {skipped}).decision->round, 2);
    EXPECT_EQ(explain(record, {skipped}).servers.at(0).chosen_at, noon(5'000));
    EXPECT_THAT(render_explanation(explain(record, {skipped}), at_noon()),
                HasSubstr("2 plans were made; this is plan 2"));
}

TEST(Explanation, SaysWhatTheJournalDoesNotKnow) {
    RequestRecord record = story();
    EXPECT_THAT(explain(record, {deleted}).unknown,
                Contains("3 more revocable servers that stayed on compute-1: a plan lists only the "
                         "first ones"));
    EXPECT_THAT(explain(record, {deleted}).unknown, Contains(HasSubstr("1206 more hosts")));
    plan_of(record).hosts[0].spared.clear();
    plan_of(record).hosts[0].spared_in_all.reset();
    EXPECT_THAT(explain(record, {deleted}).unknown,
                Contains(HasSubstr("which other revocable servers were on compute-1")));
    EXPECT_THAT(explain(record, {deleted}).unknown, Not(Contains(HasSubstr("who took"))));
    record.freed_room.reset();
    EXPECT_THAT(explain(record, {deleted}).unknown, Contains(HasSubstr("who took the room")));
    record.request.source = RequestSource::oversubscription;
    EXPECT_THAT(explain(record, {deleted}).unknown, Contains(HasSubstr("no server waited")));
    record.outcome.reset();
    EXPECT_THAT(explain(record, {deleted}).unknown, Contains(HasSubstr("under way")));
}

TEST(Explanation, OfACorrectionTellsWhoseHostItWas) {
    RequestRecord record = story();
    record.request.source = RequestSource::oversubscription;
    record.request.slots = 0;
    record.request.correction =
        Correction{HostId{"h"}, "compute-1", {{deleted, "load 7.9 above 6"}}};
    const Explanation told = explain(record, {deleted});
    EXPECT_THAT(told.unknown, Contains(HasSubstr("weighs no others")));
    EXPECT_THAT(render_explanation(told, at_noon()), HasSubstr("loaded too much"));
}

TEST(Explanation, HostileWordsStayWords) {
    RequestRecord record = story();
    record.plans[0].decision = hostile_plan();
    Explanation told = explain(record, {});
    ChosenServer other;
    other.name = "\x1b[2J\nServer good: was spared";
    told.also = {other};
    told.unknown.push_back("\x1b]0;title\x07");
    const std::string text = render_explanation(told, at_noon());
    for (const char c : text)
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << int{c};
    EXPECT_THAT(text, Not(HasSubstr("\nServer good")));
    EXPECT_THAT(text, Not(HasSubstr("\nVerdict: all is well")));
}

TEST(Explanation, LongListsAreCut) {
    Explanation told = explain(story(), {deleted});
    for (int i = 0; i < 500; ++i) {
        told.others.push_back(told.servers[0]);
        told.also.emplace_back();
    }
    const std::string text = render_explanation(told, at_noon());
    EXPECT_THAT(text, HasSubstr("and 481 more chosen"));
    EXPECT_THAT(text, HasSubstr("and 480 more"));
}

/// What two journals tell of the same.
TEST(Explanation, OnlyItsOwnDeletionGoesBeforeAPlan) {
    RequestRecord waited = story();
    waited.request.requesters = {ServerId{"waiting"}};
    waited.request.requester_names = {{ServerId{"waiting"}, "web-1"}};
    Explanation told = explain(waited, {});
    RequestRecord planned_only = story();
    planned_only.steps.clear();
    Explanation planned = explain(planned_only, {});
    for (const std::string& asked : {std::string{"waiting"}, std::string{"web-1"}}) {
        told.asked = planned.asked = asked;
        planned.request.requesters.clear();
        EXPECT_FALSE(goes_before(told, planned)) << asked;
    }
    for (const std::string& asked :
         {deleted.str(), std::string{"batch-7"}, told.request.id.str()}) {
        told.asked = planned.asked = asked;
        EXPECT_TRUE(goes_before(told, planned)) << asked;
        EXPECT_FALSE(goes_before(planned, told)) << asked;
    }
    told.asked = planned.asked = skipped.str();
    EXPECT_FALSE(goes_before(told, planned));
}

TEST(Explanation, TheNewestRequestOfAServerIsExplainedAndTheOthersListed) {
    RequestRecord record = story();
    record.request.requesters = {ServerId{"waiting"}};
    Explanation older = explain(record, {});
    record.request.id = RequestId{"req-newer"};
    record.received_at = noon(60'000);
    Explanation newer = explain(record, {});
    older.asked = newer.asked = "waiting";
    EXPECT_TRUE(goes_before(newer, older));
    EXPECT_FALSE(goes_before(older, newer));
    add_other_waits(older, newer);
    add_other_waits(older, newer);
    ASSERT_THAT(newer.also, SizeIs(1)) << "each once";
    EXPECT_EQ(newer.also[0].request, older.request.id);
    EXPECT_EQ(newer.also[0].server, ServerId{"waiting"});
    EXPECT_THAT(render_explanation(newer, at_noon()),
                HasSubstr("2024-05-01T12:00:00.000Z waiting waited for " + older.request.id.str()));
    Explanation same = older;
    add_other_waits(older, same);
    EXPECT_THAT(same.also, IsEmpty()) << "both journals have the request";
}

TEST(Explanation, AnUnknownIdIsReportedWithWhatToDo) {
    EXPECT_EQ(not_explained("batch\n7"),
              "the journal knows no request 'batch\\x0a7', and no server of that id or name that a "
              "plan chose, or that waited for one of the newest 10000 requests; 'reaper history' "
              "and 'reaper history victims' list what it knows; with --api the daemon explains any "
              "server of the cloud");
}

}  // namespace
}  // namespace reaper::report::test::explanation_test
