// Projects that give freed room back within minutes: what their victims were worth.
#include "reaper/safeguards/short_lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::short_lives_test {
namespace {

using namespace std::chrono_literals;
using reaper::testing::at;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ShortLivesTest : public ::testing::Test {
protected:
    ShortLivesTest() {
        settings.project_breaker = {0, 0, {}};
        settings.shape_cooldown.wasted = 0;
        settings.short_lived = {10min, 10, 2h, {30min, 2h}};
    }
    void begin() { safeguards = Safeguards{settings}; }
    static Request request(const std::string& id, const std::string& project = "p") {
        Request made;
        made.id = RequestId{id};
        made.project = ProjectId{project};
        made.resources = Resources{{"VCPU", 8}};
        return made;
    }
    /// Servers that had run this long are deleted for the next request of the project, whose server
    /// takes the room at that minute, and keeps it for this long. The kinds of what it changed.
    std::vector<std::string> boot(int minute, int victims, Duration lived,
                                  const std::string& project = "p", Duration had_run = 0min) {
        const Request by = request("r" + std::to_string(++requests), project);
        for (int i = 0; i < victims; ++i) {
            PastVictim victim;
            victim.at = at(minute * 60);
            victim.request = by.id;
            victim.server = ServerId{by.id.str() + "-victim" + std::to_string(i)};
            victim.requester = by.project;
            victim.created = victim.at - had_run;
            safeguards.note_victim(victim);
        }
        safeguards.note_cull(by);
        safeguards.note_freed_room(by, CullWorth::helped, {}, at(minute * 60), 1);
        safeguards.note_taken(by, 1, at(minute * 60));
        const bool early = lived < settings.short_lived.lived;
        const Duration known = std::min<Duration>(lived, settings.short_lived.lived);
        std::vector<std::string> kinds;
        for (const auto& change : safeguards.note_use(
                 by, early ? std::optional{lived} : std::nullopt, at(minute * 60) + known))
            kinds.emplace_back(change.kind);
        return kinds;
    }
    std::string held(int minute, const std::string& project = "p") const {
        const auto why = safeguards.why_not_now(request("next", project), at(minute * 60));
        return why ? std::string{why->safeguard} : "";
    }

    SafeguardSettings settings;
    Safeguards safeguards;
    int requests = 0;
};

/// Boot, delete, again, with a quota of one large server.
TEST_F(ShortLivesTest, WhoBootsAndDeletesAgainAndAgainIsLeftAloneWithinADozenVictims) {
    begin();
    int victims = 0;
    int minute = 0;
    for (; held(minute).empty() && minute < 60; ++minute) {
        boot(minute, 4, 30s);
        victims += 4;
    }
    EXPECT_EQ(victims, 12);
    EXPECT_EQ(held(minute), "short-lived");
    EXPECT_EQ(held(minute, "another"), "");
    EXPECT_THAT(safeguards.why_not_now(request("next"), at(minute * 60))->reason,
                AllOf(HasSubstr("project p gave freed room back within minutes again and again"),
                      HasSubstr("it gets free room"), HasSubstr("until ")));
    const auto left = safeguards.left_alone(at(minute * 60));
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].safeguard, "short-lived");
    EXPECT_EQ(left[0].project, ProjectId{"p"});
}

TEST_F(ShortLivesTest, LostWorkCounts) {
    begin();
    EXPECT_THAT(boot(0, 4, 0s, "p", 1h), IsEmpty());
    EXPECT_THAT(boot(1, 4, 0s, "p", 1h), ElementsAre("short-lived")) << "each of them counts twice";
}

TEST_F(ShortLivesTest, OnceIsNoHabit) {
    begin();
    EXPECT_THAT(boot(0, 50, 0s), IsEmpty());
    EXPECT_THAT(boot(1, 1, 0s), ElementsAre("short-lived"));
}

TEST_F(ShortLivesTest, OccasionalShortJobsDoNotCount) {
    begin();
    for (int minute = 0; minute < 600; minute += 15) boot(minute, 2, 5min);
    EXPECT_EQ(held(600), "") << "eight in two hours, each for half of the time that is enough";
    for (int minute = 600; minute < 1'200; ++minute) boot(minute, 8, 10min);
    EXPECT_EQ(held(1'200), "") << "room that is used for this long was worth it";
}

TEST_F(ShortLivesTest, RoomThatIsUsedPaysForRoomThatIsNot) {
    begin();
    for (int i = 0; i < 100; ++i) boot(i, 4, i % 2 == 0 ? 0s : 1h);
    EXPECT_EQ(held(100), "");
    for (int i = 100; i < 103; ++i) boot(i, 4, 0s);
    EXPECT_EQ(held(103), "short-lived") << "nothing is paid in advance";
}

TEST_F(ShortLivesTest, ThePausesDoubleWhileItGoesOnAndOneCullIsTried) {
    begin();
    int minute = 0;
    while (minute < 1'000 && held(minute).empty()) boot(minute++, 4, 0s);
    --minute;
    for (const int pause : {30, 60, 120, 120}) {
        EXPECT_EQ(held(minute + pause - 1), "short-lived") << pause;
        minute += pause;
        EXPECT_EQ(held(minute), "") << pause;
        const Request tried = request("tried" + std::to_string(minute));
        safeguards.note_cull(tried);
        EXPECT_EQ(held(minute), "short-lived") << "one at a time";
        safeguards.note_freed_room(tried, CullWorth::helped, {}, at(minute * 60), 1);
        safeguards.note_taken(tried, 1, at(minute * 60));
        EXPECT_EQ(held(minute), "short-lived") << "it is not known yet whether it stays";
        ASSERT_EQ(safeguards.note_use(tried, 0s, at(minute * 60)).size(), 1U);
    }
    minute += 120;
    EXPECT_THAT(boot(minute, 4, 10min), ElementsAre("short-lived-over"));
    EXPECT_EQ(held(minute + 10), "");
    EXPECT_THAT(boot(minute + 11, 4, 0s), IsEmpty()) << "it begins again";
}

TEST_F(ShortLivesTest, WhatCameBeforeThePauseIsNotTheTry) {
    settings.short_lived.lived = 1h;
    begin();
    const Request before = request("before");
    safeguards.note_taken(before, 1, at(0));
    for (int i = 0; i < 3; ++i) boot(i, 4, 0s);
    EXPECT_THAT(safeguards.note_use(before, std::nullopt, at(60 * 60)), IsEmpty());
    EXPECT_EQ(safeguards.left_alone(at(60 * 60)).size(), 1U) << "nothing was tried yet";
}

TEST_F(ShortLivesTest, TheHeirOfARoomPaysForIt) {
    begin();
    for (int i = 0; i < 3; ++i) {
        const Request first = request("first" + std::to_string(i));
        const Request heir = request("heir" + std::to_string(i));
        for (int n = 0; n < 4; ++n) {
            PastVictim victim;
            victim.at = at(i);
            victim.request = first.id;
            victim.server = ServerId{first.id.str() + std::to_string(n)};
            safeguards.note_victim(victim);
        }
        safeguards.note_handed_over(first.id, heir.id, at(i));
        safeguards.note_taken(heir, 1, at(i));
        safeguards.note_use(heir, 0s, at(i));
    }
    EXPECT_EQ(held(1), "short-lived");
}

TEST_F(ShortLivesTest, OfSeveralServersEachCountsForItself) {
    begin();
    const auto give_back = [&](int of_four) {
        const Request by = request("of-four" + std::to_string(++requests));
        for (int i = 0; i < 8; ++i) {
            PastVictim victim;
            victim.at = at(0);
            victim.request = by.id;
            victim.server = ServerId{by.id.str() + std::to_string(i)};
            safeguards.note_victim(victim);
        }
        safeguards.note_taken(by, 4, at(0));
        for (int i = 0; i < 4; ++i)
            safeguards.note_use(by, i < of_four ? std::optional<Duration>{0s} : std::nullopt,
                                at(1));
    };
    for (int i = 0; i < 20; ++i) give_back(2);
    EXPECT_EQ(held(1), "") << "half of them stay";
    for (int i = 0; i < 4; ++i) give_back(3);
    EXPECT_EQ(held(1), "short-lived");
}

TEST_F(ShortLivesTest, NoneIsLeftAloneWithoutAnAllowanceAndAfterAReset) {
    begin();
    for (int i = 0; i < 5; ++i) boot(i, 4, 0s);
    EXPECT_EQ(held(5), "short-lived");
    safeguards.reset_circuits();
    EXPECT_EQ(held(5), "");
    settings.short_lived.allowance = 0;
    begin();
    for (int i = 0; i < 50; ++i) boot(i, 4, 0s);
    EXPECT_EQ(held(50), "");
}

TEST_F(ShortLivesTest, WhatIsLongAgoIsForgottenAndTheClockMayStep) {
    begin();
    for (int i = 0; i < 2; ++i) boot(i, 4, 0s);
    safeguards.shift(24h);
    EXPECT_THAT(boot(24 * 60 + 2, 4, 0s), ElementsAre("short-lived")) << "all times moved";
    begin();
    for (int i = 0; i < 2; ++i) boot(i, 4, 0s);
    safeguards.prune(at(2 * 60 * 60 + 60));
    EXPECT_THAT(boot(2 * 60 + 1, 4, 0s), IsEmpty());
}

}  // namespace
}  // namespace reaper::short_lives_test
