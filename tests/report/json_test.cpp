#include "reaper/report/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "reaper/report/json_status.hpp"
#include "tests/report/examples.hpp"

namespace reaper::report::test::json_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Through text, as the journal does it.
json through_text(const json& document) {
    return json::parse(dump(document));
}

TEST(Json, HasItsDocumentedShape) {
    expect_golden("story.json", dump(to_json(example_story()), 2) + "\n");
    expect_golden("hosts.json", dump(to_json(example_snapshot()), 2) + "\n");
    expect_golden("history.json", dump(list_of("requests", array_of(example_lines())), 2) + "\n");
}

TEST(Json, WhoIsLeftAloneComesBackWithTheNameIfItIsKnown) {
    Safeguards::LeftAlone left{
        safeguard::project_breaker, ProjectId{"p"}, "", CircuitState::open, 3, noon(9)};
    std::vector<Safeguards::LeftAlone> all{left};
    all[0].project_name = "web";
    all.push_back(left);
    const json told = json_of(all);
    EXPECT_EQ(told[0]["project"], "p");
    EXPECT_EQ(told[0]["project_name"], "web");
    EXPECT_FALSE(told[1].contains("project_name"));
    EXPECT_EQ(json_of(left_alone_from_json(through_text(told)).value()), told);
}

TEST(Json, StoriesListsAndTotalsComeBack) {
    RequestRecord story = example_story();
    story.freed_room = FreedRoomResult{
        FreedRoomResultKind::taken_by_regular, "another server", {HostId{"h1"}}, noon(9)};
    const json told = to_json(story);
    EXPECT_EQ(to_json(record_from_json(through_text(told)).value()), told);
    story.outcome.reset();
    story.freed_room.reset();
    EXPECT_EQ(to_json(record_from_json(to_json(story)).value()), to_json(story));
    const json lines = array_of(example_lines());
    EXPECT_EQ(array_of(requests_from_json(through_text(lines)).value()), lines);
    JournalTotals totals;
    totals.outcomes = {{OutcomeKind::freed, 3}, {OutcomeKind::revocable_only, 1}};
    totals.under_way = 2;
    totals.victims = 7;
    totals.freed_rooms = {{FreedRoomResultKind::wasted, 1}};
    totals.safeguards = {{"paused", 4}};
    totals.messages = {{"joined", 5}};
    totals.events = {{"resumed", 6}};
    EXPECT_EQ(to_json(totals_from_json(through_text(to_json(totals))).value()), to_json(totals));
    const InventoryHold hold{
        ProviderId{"p"}, ResourceClass{"VCPU"}, HostId{}, "h", 1, 5, RequestId{"r"}, noon()};
    EXPECT_EQ(to_json(hold_from_json(through_text(to_json(hold))).value()), to_json(hold));
}

/// Left out where it is not known.
TEST(Json, NamesOfProjectsStandBesideTheIds) {
    RequestRecord story = example_story();
    EXPECT_EQ(dump(to_json(story)).find("project_name"), std::string::npos);
    story.request.project_name = "web";
    EXPECT_EQ(dump(to_json(story)).find("requester_names"), std::string::npos);
    story.request.requester_names = {{ServerId{"5e2d"}, "web-1"}};
    auto& host = std::get<Plan>(story.plans[0].decision).hosts.at(0);
    host.victims.at(0).project_name = "batch";
    SparedServer spared;
    spared.project_name = "render";
    host.spared = {spared};
    host.spared_in_all = 1;
    const json told = to_json(story);
    EXPECT_EQ(told["request"]["project_name"], "web");
    EXPECT_EQ(told["request"]["requester_names"]["5e2d"], "web-1");
    EXPECT_EQ(request_from_json(told["request"]).value().requester_names,
              story.request.requester_names);
    EXPECT_EQ(told["request"]["project"], story.request.project.str()) << "the id as before";
    const json& of_host = told["plans"][0]["decision"]["hosts"][0];
    EXPECT_EQ(of_host["victims"][0]["project_name"], "batch");
    EXPECT_EQ(of_host["spared"][0]["project_name"], "render");
    EXPECT_EQ(to_json(record_from_json(through_text(told)).value()), told);
    const std::vector<VictimEntry> victims = victims_of(story);
    ASSERT_FALSE(victims.empty());
    EXPECT_EQ(victims.front().project_name, "batch");
    const json listed = array_of(victims);
    EXPECT_EQ(array_of(victims_from_json(listed).value()), listed);
}

TEST(Json, WhatIsNoStoryListOrTotalSaysWhere) {
    json told = to_json(example_story());
    told["steps"][0]["step"] = "danced";
    EXPECT_THAT(record_from_json(told).error().what, HasSubstr("steps[0].step"));
    EXPECT_THAT(requests_from_json(json::object()).error().what, HasSubstr("a list"));
    json totals = to_json(JournalTotals{});
    totals["outcomes"] = {{"danced", 1}};
    EXPECT_THAT(totals_from_json(totals).error().what, HasSubstr("danced"));
    EXPECT_EQ(hold_from_json(nullptr).error().code, Errc::bad_answer);
}

TEST(Json, PausesAndWhatIsLeftAloneComeBack) {
    const std::optional<PauseNote> none;
    EXPECT_EQ(pause_from_json(json_of(none)).value(), std::nullopt);
    for (const PauseNote& note :
         {PauseNote{"alice", "upgrade", noon(), ""}, PauseNote{"", "", noon(), "/x is there"},
          PauseNote{"bob", "", noon(), ""}, PauseNote{"", "why", noon(), "cut off"}}) {
        const json told = json_of(std::optional{note});
        EXPECT_EQ(json_of(pause_from_json(through_text(told)).value()), told);
    }
    const std::vector<Safeguards::LeftAlone> left{
        {safeguard::project_breaker, ProjectId{"p"}, "", CircuitState::half_open, 3, std::nullopt},
        {safeguard::shape_cooldown, ProjectId{"q"}, "m1", CircuitState::open, 2, noon()}};
    const json told = json_of(left);
    EXPECT_EQ(json_of(left_alone_from_json(through_text(told)).value()), told);
    EXPECT_THAT(left_alone_from_json({{{"safeguard", "x"}}}).error().what,
                HasSubstr("[0].safeguard"));
}

TEST(Json, RequestsComeBack) {
    for (int i = 0; i <= static_cast<int>(Operation::manual); ++i) {
        Request request = example_request();
        request.operation = static_cast<Operation>(i);
        if (i % 2 == 0) request.availability_zone.reset();
        EXPECT_EQ(request_from_json(through_text(to_json(request))).value(), request);
    }
    EXPECT_EQ(request_from_json(through_text(to_json(Request{}))).value(), Request{});
    Request bound = example_request();
    bound.placement.group = {"g", "name", "anti-affinity", 2, {ServerId{"m1"}, ServerId{"m2"}}};
    bound.placement.only_hosts = {"h"};
    bound.placement.why_only = "forced";
    bound.placement.aggregates = {{"a", "b"}, {"c"}};
    bound.placement.with = {ServerId{"w"}};
    bound.placement.apart_from = {ServerId{"x"}, ServerId{"y"}};
    EXPECT_EQ(request_from_json(through_text(to_json(bound))).value(), bound);
    bound.placement.only_offered = true;
    EXPECT_EQ(request_from_json(through_text(to_json(bound))).value(), bound);
    Request grouped = example_request();
    grouped.groups = {{"1",
                       {{"VGPU", 1}},
                       {Trait{"CUSTOM_A"}},
                       {Trait{"CUSTOM_B"}},
                       {{"a", "b"}},
                       ProviderId{"tree"}},
                      {"_2", {{"VGPU", 2}}, {}, {}, {}, {}}};
    grouped.group_policy = GroupPolicy::isolate;
    EXPECT_EQ(request_from_json(through_text(to_json(grouped))).value(), grouped);
    EXPECT_EQ(to_json(example_request()).contains("groups"), false);
    Request pinned = example_request();
    pinned.root_required_traits = {Trait{"COMPUTE_ACCELERATORS"}, Trait{"OWNER_NOVA"}};
    pinned.flavor = "m1.large";
    pinned.fallback = SlotShape{{{"VCPU", 4}}, {Trait{"CUSTOM_A"}}, {Trait{"CUSTOM_B"}}};
    EXPECT_EQ(request_from_json(through_text(to_json(pinned))).value(), pinned);
}

TEST(Json, CorrectionsComeBackAndOthersHaveNone) {
    Request correction;
    correction.id = RequestId{"qos-1"};
    correction.source = RequestSource::oversubscription;
    correction.slots = 0;
    correction.correction = Correction{
        HostId{"h"}, "compute-1", {{ServerId{"b"}, "load 7.9 above 6"}, {ServerId{"a"}, ""}}};
    EXPECT_EQ(request_from_json(through_text(to_json(correction))).value(), correction);
    EXPECT_EQ(to_json(example_request()).contains("correction"), false);
    json wrong = to_json(correction);
    wrong["correction"]["servers"][0].erase("reason");
    EXPECT_FALSE(request_from_json(wrong));
}

TEST(Json, ApprovalsComeBackAndOthersHaveNone) {
    Request approved = example_request();
    approved.approved = Approval{"alice", approved.sent_at, {ServerId{"b"}, ServerId{"a"}}};
    EXPECT_EQ(request_from_json(through_text(to_json(approved))).value(), approved);
    EXPECT_EQ(to_json(example_request()).contains("approved"), false);
    json wrong = to_json(approved);
    wrong["approved"].erase("by");
    EXPECT_FALSE(request_from_json(wrong));
}

TEST(Json, DecisionsComeBack) {
    Plan extreme = example_plan();
    extreme.hosts[0].free_before.set(ResourceClass{"VCPU"}, std::numeric_limits<Amount>::min());
    extreme.hosts[0].free_after.set(ResourceClass{"VCPU"}, std::numeric_limits<Amount>::max());
    Plan by_fallback = example_plan();
    by_fallback.hosts[0].slot = {{"VCPU", 4}};
    Plan with_neighbours = example_plan();
    with_neighbours.hosts[0].victims[0].flavor = "m1.small";
    with_neighbours.hosts[0].spared = {
        {ServerId{"s"}, "name", ProjectId{"p"}, {{"VCPU", 2}}, noon(), "it is locked", true}};
    with_neighbours.hosts[0].spared_in_all = 9;
    Plan without_neighbours = example_plan();
    without_neighbours.hosts[0].spared_in_all = 0;
    const std::vector<Decision> decisions{example_plan(),
                                          with_neighbours,
                                          without_neighbours,
                                          extreme,
                                          by_fallback,
                                          Plan{},
                                          NothingToDo{"there", example_plan().hosts},
                                          Refused{"it is revocable itself"},
                                          NotEnough{3, 1, "few", example_plan().rejected}};
    for (const auto& decision : decisions)
        EXPECT_EQ(decision_from_json(through_text(to_json(decision))).value(), decision);
}

TEST(Json, EveryRejectionHasItsName) {
    for (int i = 0; i <= static_cast<int>(RejectionCode::ranked_lower); ++i) {
        const auto code = static_cast<RejectionCode>(i);
        EXPECT_NE(to_string(code), "unknown");
        EXPECT_EQ(rejection_code_from(to_string(code)), code);
    }
    EXPECT_EQ(rejection_code_from("unknown"), std::nullopt);
}

TEST(Json, WhatIsNotUtf8IsReplacedAndNeverThrown) {
    const std::string text = dump(to_json(Decision{hostile_plan()}));
    EXPECT_THAT(text, HasSubstr("\xef\xbf\xbd"));
    EXPECT_TRUE(decision_from_json(json::parse(text)));
}

/// `--json` goes to terminals too.
TEST(Json, NothingInItIsObeyedByATerminalOrHides) {
    const std::string text =
        "\x1b[31m \x7f \u009b31m \u0085 \u202egnp \u200b \ufeff \U000e0041 gr\u00fcn \u65e5";
    const std::string written = dump(json{{text, text}});
    EXPECT_THAT(written,
                HasSubstr("\\u001b[31m \\u007f \\u009b31m \\u0085 \\u202egnp \\u200b \\ufeff "
                          "\\udb40\\udc41 gr\u00fcn \u65e5"));
    EXPECT_EQ(json::parse(written), (json{{text, text}}));
}

/// Each single member taken away or of another type is an error, never a crash or a guess.
void expect_all_mutations_refused(const json& good, const auto& read) {
    const json flat = good.flatten();
    for (const auto& pointer : flat.items()) {
        const json::json_pointer at{pointer.key()};
        json wrong = good;
        wrong[at] = json::array({json::object()});
        if (wrong == good) continue;
        EXPECT_FALSE(read(wrong)) << pointer.key();
    }
    for (const auto& member : good.items()) {
        json less = good;
        less.erase(member.key());
        EXPECT_FALSE(read(less)) << member.key();
    }
}

TEST(Json, WhichRoomARequestAdmitsIsKept) {
    Request request = example_request();
    request.phases = {ResType::revocable, true};
    request.phases_because = "the server's metadata res-type=~revocable";
    request.runs_revocable = true;
    const json written = to_json(request);
    EXPECT_EQ(written["res_type"], "~revocable");
    ASSERT_TRUE(request_from_json(written));
    EXPECT_EQ(*request_from_json(written), request);
    NothingToDo told{"there is some", {}, ResType::revocable};
    EXPECT_EQ(*decision_from_json(to_json(Decision{told})), Decision{told});
}

TEST(Json, AnotherShapeIsRefused) {
    const json request = to_json(example_request());
    json wrong = request;
    wrong["flavor_extra_specs"]["key"] = 5;
    EXPECT_FALSE(request_from_json(wrong));
    EXPECT_TRUE(request_from_json(request));
    expect_all_mutations_refused(request, [](const json& j) { return bool{request_from_json(j)}; });
    expect_all_mutations_refused(to_json(Decision{example_plan()}),
                                 [](const json& j) { return bool{decision_from_json(j)}; });
    for (const json& odd : {json{}, json(5), json::array(), json("plan"), json::object()}) {
        EXPECT_FALSE(decision_from_json(odd));
        EXPECT_FALSE(request_from_json(odd));
    }
    for (const int version : {1, 3}) {
        json other = to_json(Decision{example_plan()});
        other["version"] = version;
        EXPECT_THAT(decision_from_json(other).error().what,
                    HasSubstr("version " + std::to_string(version) + ", not 2"));
    }
}

}  // namespace
}  // namespace reaper::report::test::json_test
