#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/report/json.hpp"
#include "tests/report/examples.hpp"

namespace reaper::report::test::render_test {
namespace {

using testing::HasSubstr;
using testing::Not;

RenderOptions at_noon() {
    RenderOptions options;
    options.now = noon();
    return options;
}

TEST(RenderDecision, ShowsAPlan) {
    expect_golden("plan.txt", render_decision(example_plan(), example_request(), at_noon()));
}

TEST(RenderDecision, ShowsAPlanOnANarrowTerminalWithoutAClock) {
    RenderOptions narrow;
    narrow.width = 60;
    narrow.max_rejected = 0;
    expect_golden("plan-narrow.txt", render_decision(example_plan(), example_request(), narrow));
}

TEST(RenderDecision, ShowsThatNoServerIsDeleted) {
    NotEnough not_enough;
    not_enough.slots_requested = 2;
    not_enough.slots_possible = 1;
    not_enough.reason = "2 slots are requested, at most 1 can be freed";
    not_enough.rejected = example_plan().rejected;
    expect_golden("not-enough.txt", render_decision(not_enough, example_request(), at_noon()));
}

TEST(RenderDecision, ShowsThatTheRoomIsThere) {
    const NothingToDo nothing{"2 slots are free already", {example_plan().hosts[1]}};
    expect_golden("nothing-to-do.txt", render_decision(nothing, example_request(), at_noon()));
}

TEST(RenderDecision, HostileWordsStayWords) {
    const std::string text = render_decision(hostile_plan(), example_request(), at_noon());
    expect_golden("hostile.txt", text);
    for (const char c : text)
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n') << int{c};
    EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
    EXPECT_THAT(text, Not(HasSubstr("\nVerdict: all is well")));
}

/// Users write thousands of hints, or ask for thousands of servers.
TEST(RenderDecision, LongListsAreCut) {
    Request request = example_request();
    request.requesters.clear();
    for (int i = 1'000; i < 4'000; ++i) {
        request.requesters.emplace_back("requester-" + std::to_string(i));
        request.placement.apart_from.emplace("other-" + std::to_string(i));
        request.required_traits.emplace("CUSTOM_" + std::to_string(i));
    }
    const std::string text = render_decision(Refused{"no"}, request, at_noon());
    EXPECT_LT(text.size(), 5'000U);
    EXPECT_THAT(text, HasSubstr("requester-1019"));
    EXPECT_THAT(text, Not(HasSubstr("requester-1020")));
    EXPECT_THAT(text, HasSubstr("2980"));
}

TEST(RenderDecision, TellsWhoseRoomIsOnItsWay) {
    const std::string text = render_decision(example_plan(), example_request(), at_noon());
    EXPECT_THAT(text, HasSubstr("  room on its way: web-3 5e2d0c3a-0000-4000-8000-00000000000a "));
    EXPECT_THAT(text, HasSubstr("; 2 servers going already)"));
    EXPECT_THAT(render_decision(NothingToDo{"there", {example_plan().hosts[1]}}, example_request(),
                                at_noon()),
                Not(HasSubstr("on its way")));
}

TEST(RenderDecision, ColoursOnlyWhenAsked) {
    RenderOptions color = at_noon();
    color.color = true;
    EXPECT_THAT(render_decision(example_plan(), example_request(), color), HasSubstr("\x1b["));
    EXPECT_THAT(render_decision(example_plan(), example_request(), at_noon()),
                Not(HasSubstr("\x1b")));
}

TEST(RenderStory, ShowsItInOrderOfTime) {
    expect_golden("story.txt", render_record(example_story(), at_noon()));
}

TEST(RenderStory, OfAManualRequestUnderWay) {
    RequestRecord record;
    record.request = example_request();
    record.request.operation = Operation::manual;
    record.received_at = noon();
    expect_golden("story-open.txt", render_record(record, at_noon()));
}

TEST(RenderStory, OfACorrectionTellsWhyEachServerWent) {
    RequestRecord record;
    record.request.id = RequestId{"qos-1"};
    record.request.operation = Operation::manual;
    record.request.slots = 0;
    record.request.correction =
        Correction{HostId{"h"}, "compute-1", {{ServerId{"a"}, "load 7.9 above 6"}}};
    record.received_at = noon();
    Plan plan;
    plan.hosts = {example_plan().hosts.front()};
    plan.hosts.front().slots = 0;
    plan.hosts.front().pending_releases.clear();
    plan.hosts.front().victims.front().reason = "tagged; load 7.9 above 6";
    plan.note = "web-2 (b) stays: it is locked";
    record.plans = {{1, noon(1'000), plan}};
    const std::string story = render_record(record, at_noon());
    EXPECT_THAT(story, HasSubstr("  correction: 1 server to go from host compute-1\n"));
    EXPECT_THAT(story, HasSubstr("  a: load 7.9 above 6\n"));
    EXPECT_THAT(story, HasSubstr("plan 1: 2 victims on 1 host; web-2 (b) stays: it is locked"));
    EXPECT_THAT(story, HasSubstr("tagged; load 7.9 above 6"));
    EXPECT_THAT(story, Not(HasSubstr("slot")));
    const std::string decided = render_decision(plan, record.request, at_noon());
    EXPECT_THAT(decided, HasSubstr("Host compute-1: 2 victims\n"));
    EXPECT_THAT(decided, Not(HasSubstr("slot")));
}

TEST(Render, EveryWidthIsSurvived) {
    for (const int width : {-1, 0, 1, 39, 40, 41, 1'000, 1'000'000}) {
        RenderOptions options;
        options.width = width;
        options.max_rejected = -1;
        EXPECT_FALSE(render_decision(hostile_plan(), example_request(), options).empty());
        EXPECT_FALSE(render_record(example_story(), options).empty());
    }
}

TEST(RenderTotals, SaysHowMuchOfEverything) {
    JournalTotals totals;
    totals.outcomes = {{OutcomeKind::freed, 12}, {OutcomeKind::refused, 3}};
    totals.under_way = 1;
    totals.victims = 31;
    totals.freed_rooms = {{FreedRoomResultKind::taken, 11}, {FreedRoomResultKind::wasted, 1}};
    totals.safeguards = {{"limit-window", 2}, {"thrash", 1}};
    totals.messages = {{"duplicate", 4}, {"ignored", 900}};
    totals.events = {{"breaker-opened", 1}};
    expect_golden("totals.txt", render_totals(totals, at_noon()));
    expect_golden("totals.json", dump(to_json(totals), 2) + "\n");
    expect_golden("totals-none.txt", render_totals({}, at_noon()));
}

}  // namespace
}  // namespace reaper::report::test::render_test
