// Projects and shapes of their requests that are left alone after culls that went unused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/safeguards/safeguards.hpp"
#include "reaper/safeguards/short_lives.hpp"

namespace reaper::left_alone_test {
namespace {

using namespace std::chrono_literals;
using reaper::testing::at;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Request request(const std::string& id, const std::string& project = "p",
                const std::string& image = "i") {
    Request made;
    made.id = RequestId{id};
    made.project = ProjectId{project};
    made.image = image;
    made.resources = Resources{{"VCPU", 4}};
    return made;
}

class LeftAloneTest : public ::testing::Test {
protected:
    LeftAloneTest() {
        settings.shape_cooldown = {1, {10min, 40min}};
        settings.project_breaker = {3, 0, {30min, 2h}};
        settings.breaker = {5, 2, 5, {30min, 8h}};
    }
    void begin() { safeguards = Safeguards{settings}; }
    /// A cull and its result; the kinds of what it changed.
    std::vector<std::string> cull(const Request& by, CullWorth worth, int minute) {
        safeguards.note_cull(by);
        std::vector<std::string> kinds;
        for (const auto& change : safeguards.note_freed_room(by, worth, {}, at(minute * 60)))
            kinds.emplace_back(change.kind);
        return kinds;
    }
    /// The safeguard that holds a request back; empty: none does.
    std::string held(const Request& by, int minute) const {
        const auto why = safeguards.why_not_now(by, at(minute * 60));
        return why ? std::string{why->safeguard} : "";
    }

    SafeguardSettings settings;
    Safeguards safeguards;
};

TEST_F(LeftAloneTest, AShapeWhoseRoomWentUnusedCoolsDownForItsProject) {
    begin();
    EXPECT_THAT(cull(request("r1"), CullWorth::wasted, 0), ElementsAre("shape-cooldown"));
    EXPECT_EQ(held(request("r2"), 1), "shape-cooldown");
    EXPECT_THAT(safeguards.why_not_now(request("r2"), at(60))->reason,
                HasSubstr("project p (VCPU=4, image i) went unused"));
    EXPECT_EQ(held(request("r3", "p", "another"), 1), "") << "another shape";
    EXPECT_EQ(held(request("r4", "q"), 1), "") << "another project";
}

TEST_F(LeftAloneTest, ProjectsHaveTheirNamesBesideTheirIds) {
    settings.project_breaker.wasted = 1;
    begin();
    Request named = request("r1");
    named.project_name = "web";
    safeguards.note_cull(named);
    const auto changes = safeguards.note_freed_room(named, CullWorth::wasted, {}, at(0));
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_THAT(changes[0].reason, HasSubstr("room freed for project web (p) (VCPU=4, image i)"));
    EXPECT_THAT(changes[1].reason,
                HasSubstr("the room of 1 slot in a row of project web (p) went unused"));
    EXPECT_THAT(safeguards.why_not_now(named, at(60))->reason, HasSubstr("of project web (p)"));
    for (const auto& each : safeguards.left_alone(at(60))) EXPECT_EQ(each.project_name, "web");

    cull(request("r2", "q"), CullWorth::wasted, 0);
    auto all = safeguards.left_alone(at(60));
    ASSERT_EQ(all.size(), 4U);
    add_names({{ProjectId{"p"}, "other"}, {ProjectId{"q"}, "batch"}}, all);
    for (const auto& each : all)
        EXPECT_EQ(each.project_name, each.project.str() == "p" ? "web" : "batch");
    safeguards.prune(at(60));
    EXPECT_EQ(safeguards.left_alone(at(60))[0].project_name, "web") << "it is left alone still";
    safeguards.reset_circuits();
    safeguards.note_cull(request("r3"));
    safeguards.note_freed_room(request("r3"), CullWorth::wasted, {}, at(90));
    EXPECT_EQ(safeguards.left_alone(at(91)).at(0).project_name, "") << "that was another time";
}

TEST_F(LeftAloneTest, ThenOneIsTriedAndThePausesGrow) {
    begin();
    settings.project_breaker.wasted = 0;
    safeguards.reload(settings);
    int minute = 0;
    for (const int pause : {10, 20, 40, 40}) {
        cull(request("r"), CullWorth::wasted, minute);
        EXPECT_EQ(held(request("s"), minute + pause - 1), "shape-cooldown") << pause;
        EXPECT_EQ(held(request("s"), minute + pause), "") << pause;
        safeguards.note_cull(request("t"));
        EXPECT_EQ(held(request("s"), minute + pause), "shape-cooldown") << "one at a time";
        EXPECT_EQ(held(request("t"), minute + pause), "") << "what was begun goes on";
        safeguards.note_no_cull(RequestId{"t"});
        EXPECT_EQ(held(request("s"), minute + pause), "");
        minute += pause;
    }
    EXPECT_THAT(cull(request("r"), CullWorth::helped, minute), ElementsAre());
    EXPECT_EQ(held(request("s"), minute), "");
}

TEST_F(LeftAloneTest, AProjectWhoseCullsGoUnusedIsLeftAloneWhateverTheirShape) {
    begin();
    cull(request("r1", "p", "1"), CullWorth::wasted, 0);
    cull(request("r2", "p", "2"), CullWorth::wasted, 1);
    EXPECT_EQ(held(request("r", "p", "4"), 2), "");
    EXPECT_THAT(cull(request("r3", "p", "3"), CullWorth::wasted, 2),
                ElementsAre("shape-cooldown", "project-breaker-opened"));
    EXPECT_EQ(held(request("r", "p", "4"), 3), "project-breaker");
    EXPECT_EQ(held(request("r", "q", "4"), 3), "");
    EXPECT_EQ(safeguards.breaker().state(at(180)), CircuitState::closed)
        << "a project's breaker comes before the cloud's";
    EXPECT_EQ(held(request("r", "p", "4"), 32), "");
    EXPECT_THAT(cull(request("r4", "p", "4"), CullWorth::helped, 33),
                ElementsAre("project-breaker-closed"));
    EXPECT_EQ(held(request("r", "p", "5"), 33), "");
}

TEST_F(LeftAloneTest, RoomThatOtherRegularRequestsTookCountsAgainstNoProject) {
    begin();
    for (int i = 0; i < 20; ++i)
        EXPECT_THAT(cull(request("r", "p"), CullWorth::needless, i), ElementsAre());
    EXPECT_EQ(held(request("s"), 20), "");
}

TEST_F(LeftAloneTest, WhatRevocableServersTookCountsAgainstTheProjectNotTheShape) {
    begin();
    EXPECT_THAT(cull(request("r1"), CullWorth::lost, 0), ElementsAre());
    Request several = request("r2");
    several.slots = 2;
    EXPECT_THAT(cull(several, CullWorth::lost, 0), ElementsAre()) << "it counts once";
    EXPECT_THAT(cull(request("r3"), CullWorth::lost, 0), ElementsAre("project-breaker-opened"));
    EXPECT_TRUE(safeguards.left_alone(at(0)).size() == 1);
}

/// A plan may be for the fallback; the result of its room is the request's.
TEST_F(LeftAloneTest, AFallbackIsTheSameShape) {
    begin();
    Request pinned = request("r1");
    pinned.resources = Resources{{"PCPU", 4}};
    pinned.fallback = SlotShape{Resources{{"VCPU", 4}}, {}, {}};
    cull(pinned, CullWorth::wasted, 0);
    EXPECT_EQ(held(pinned, 1), "shape-cooldown");
    EXPECT_EQ(held(by_fallback(pinned), 1), "shape-cooldown");
}

TEST_F(LeftAloneTest, SlotsOfWhichNothingIsKnownYetAreLimited) {
    settings.project_breaker.unproven = 2;
    begin();
    safeguards.note_cull(request("r1"));
    safeguards.note_cull(request("r2"));
    EXPECT_EQ(held(request("r3"), 0), "unproven");
    EXPECT_EQ(held(request("r3", "q"), 0), "");
    safeguards.note_freed_room(request("r1"), CullWorth::helped, {}, at(0));
    EXPECT_EQ(held(request("r3"), 0), "");
}

Request large(const std::string& id, int slots) {
    Request made = request(id);
    made.slots = slots;
    return made;
}

TEST_F(LeftAloneTest, WhatIsLargeIsProvenByAFirstPart) {
    settings.project_breaker.unproven = 3;
    begin();
    EXPECT_EQ(held(large("r", 20), 0), "unproven");
    EXPECT_THAT(safeguards.why_not_now(large("r", 20), at(0))->reason,
                AllOf(HasSubstr("project p has taken no freed room within a day, so that 3 at a "
                                "time are freed for it (project_breaker.unproven)"),
                      HasSubstr("this request asks for 20 at once"), HasSubstr("reaper apply")));
    EXPECT_EQ(held(large("r", 3), 0), "");
    for (const auto& [slots, next] : {std::pair{3, 6}, std::pair{6, 18}}) {
        safeguards.note_cull(large("part", slots));
        EXPECT_EQ(held(large("r", next), 0), "unproven") << "it is not taken yet";
        safeguards.note_freed_room(large("part", slots), CullWorth::helped, {}, at(0));
        EXPECT_EQ(held(large("r", next), 0), "");
        EXPECT_EQ(held(large("r", next + 1), 0), "unproven");
    }
    EXPECT_EQ(held(large("r", 18), 23 * 60), "");
    EXPECT_EQ(held(large("r", 18), 24 * 60), "unproven") << "that was long ago";
    settings.project_breaker.unproven = 0;
    safeguards.reload(settings);
    EXPECT_EQ(held(large("r", 1'000), 24 * 60), "");
}

TEST_F(LeftAloneTest, OnlyWhatWasTakenProves) {
    settings.project_breaker.unproven = 3;
    settings.project_breaker.wasted = 100;
    begin();
    safeguards.note_freed_room(large("part", 6), CullWorth::helped, {}, at(0), 3);
    EXPECT_EQ(held(large("r", 6), 0), "");
    EXPECT_EQ(held(large("r", 7), 0), "unproven");
    safeguards.note_freed_room(large("other", 3), CullWorth::needless, {}, at(0));
    EXPECT_EQ(held(large("r", 7), 0), "unproven");
}

TEST_F(LeftAloneTest, AProjectWhoseRoomWentUnusedHasToProveItselfAgain) {
    settings.project_breaker = {4, 3, {30min, 2h}};
    settings.shape_cooldown.wasted = 0;
    begin();
    cull(large("r1", 3), CullWorth::helped, 0);
    cull(large("r2", 6), CullWorth::wasted, 1);
    EXPECT_EQ(held(large("r", 3), 32), "");
    EXPECT_EQ(held(large("r", 4), 32), "unproven") << "the try is a small one";
}

TEST_F(LeftAloneTest, APersonsWordIsAProof) {
    settings.project_breaker.unproven = 3;
    begin();
    Request by_hand = large("r", 20);
    by_hand.approved = Approval{"ops", at(0), {}};
    EXPECT_EQ(held(by_hand, 0), "");
    by_hand.approved.reset();
    by_hand.source = RequestSource::operator_;
    EXPECT_EQ(held(by_hand, 0), "");
}

/// One request for an impossible image counts as what it is, not as one.
TEST_F(LeftAloneTest, BreakersCountSlots) {
    settings.shape_cooldown = {2, {10min, 40min}};
    settings.breaker.wasted = 5;
    begin();
    EXPECT_THAT(cull(large("r1", 3), CullWorth::wasted, 0),
                ElementsAre("shape-cooldown", "project-breaker-opened"));
    Request other = large("r2", 2);
    other.project = ProjectId{"q"};
    EXPECT_THAT(cull(other, CullWorth::wasted, 0), ElementsAre("shape-cooldown", "breaker-opened"));
    begin();
    safeguards.note_freed_room(large("r1", 3), CullWorth::wasted, {}, at(0), 1);
    EXPECT_EQ(held(request("r", "p", "j"), 1), "") << "two slots were not taken";
}

TEST_F(LeftAloneTest, TheBreakerOfTheCloudTriesOneCullAtATime) {
    settings.breaker.wasted = 2;
    settings.project_breaker.wasted = 0;
    settings.shape_cooldown.wasted = 0;
    begin();
    cull(request("r1", "p"), CullWorth::wasted, 0);
    EXPECT_THAT(cull(request("r2", "q"), CullWorth::wasted, 0), ElementsAre("breaker-opened"));
    EXPECT_EQ(held(request("r"), 29), "breaker");
    EXPECT_EQ(held(request("r"), 30), "");
    safeguards.note_cull(request("try"));
    EXPECT_EQ(held(request("r", "another"), 30), "breaker");
    EXPECT_THAT(cull(request("try"), CullWorth::helped, 31), ElementsAre("breaker-closed"));
    EXPECT_EQ(held(request("r"), 31), "");
}

TEST_F(LeftAloneTest, OneProjectDoesNotGetAllTriesOfTheBreaker) {
    settings.breaker.wasted = 2;
    begin();
    cull(request("r1", "hostile", "1"), CullWorth::wasted, 0);
    cull(request("r2", "q"), CullWorth::wasted, 0);
    EXPECT_THAT(cull(request("r3", "hostile", "2"), CullWorth::wasted, 30),
                ElementsAre("shape-cooldown", "project-breaker-opened"));
    EXPECT_EQ(held(request("r4", "hostile", "3"), 30), "project-breaker");
    EXPECT_EQ(held(request("r5", "q", "3"), 30), "") << "the next try is another's";
}

TEST_F(LeftAloneTest, AResetEndsAllOfIt) {
    begin();
    for (int i = 0; i < 3; ++i) cull(request("r", "p"), CullWorth::wasted, i);
    ASSERT_FALSE(safeguards.left_alone(at(180)).empty());
    safeguards.reset_circuits();
    EXPECT_TRUE(safeguards.left_alone(at(180)).empty());
    EXPECT_EQ(held(request("s"), 3), "");
}

TEST_F(LeftAloneTest, WhatWasQuietForLongIsForgotten) {
    begin();
    cull(request("r"), CullWorth::wasted, 0);
    safeguards.prune(at(49 * 60));
    EXPECT_EQ(safeguards.left_alone(at(49 * 60)).size(), 1U);
    safeguards.prune(at(51 * 60));
    EXPECT_TRUE(safeguards.left_alone(at(51 * 60)).empty());
}

TEST(RequestShape, IsWhatDecidesWhereNovaLetsItGo) {
    const Request one = request("r1");
    Request other = request("r2");
    other.slots = 5;
    other.requesters = {ServerId{"s"}};
    EXPECT_EQ(request_shape(one), request_shape(other));
    const auto differs = [&](auto change) {
        Request changed = one;
        change(changed);
        return request_shape(changed) != request_shape(one);
    };
    EXPECT_TRUE(differs([](Request& r) { r.image = "j"; }));
    EXPECT_TRUE(differs([](Request& r) { r.resources = Resources{{"VCPU", 5}}; }));
    EXPECT_TRUE(differs([](Request& r) { r.availability_zone = "z"; }));
    EXPECT_TRUE(differs([](Request& r) { r.required_traits = {Trait{"T"}}; }));
    EXPECT_TRUE(differs([](Request& r) { r.forbidden_traits = {Trait{"T"}}; }));
    EXPECT_TRUE(differs([](Request& r) { r.flavor_extra_specs = {{"a", "b"}}; }));
    EXPECT_TRUE(differs([](Request& r) { r.placement.only_hosts = {"h"}; }));
    EXPECT_TRUE(differs([](Request& r) { r.placement.group.id = "g"; }));
    EXPECT_TRUE(differs([](Request& r) { r.placement.with = {ServerId{"s"}}; }));
    EXPECT_TRUE(differs([](Request& r) { r.placement.apart_from = {ServerId{"s"}}; }));
    // Which hosts nova-scheduler was offered is not the request's wish.
    EXPECT_FALSE(differs([](Request& r) {
        r.placement.only_hosts = {"h"};
        r.placement.only_offered = true;
    }));
    // Heard of by a notification or by a search, it is the same.
    EXPECT_FALSE(differs([](Request& r) { r.placement.aggregates = {{"a"}}; }));
}

}  // namespace
}  // namespace reaper::left_alone_test
