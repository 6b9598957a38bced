// Which messages Nova's own record confirms.
#include "reaper/request_spec/believed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::believed_test {
namespace {

using namespace reaper::testing;
using ::testing::HasSubstr;
using Then = Doubt::Then;

constexpr Duration max_age{600'000};

FailureNotice notice(FailureEvent event = FailureEvent::build_instances) {
    FailureNotice made;
    made.event = event;
    made.request_id = RequestId{"req-1"};
    made.exception = "NoValidHost_Remote";
    made.server = ServerId{"server-1"};
    return made;
}

/// A server that found no host when it was made.
RequesterFacts unborn() {
    RequesterFacts made;
    made.status = "ERROR";
    made.fault = Fault{FailureCause::no_valid_host, "No valid host was found.", at(100)};
    made.action.emplace().name = "create";
    return made;
}

/// One that runs, and whose action failed.
RequesterFacts running(const std::string& action) {
    RequesterFacts made;
    made.status = "ACTIVE";
    made.host = "host-1";
    ActionRecord& record = made.action.emplace();
    record.name = action;
    record.failed = record.ended = true;
    record.cause = FailureCause::no_valid_host;
    record.started = record.last_event = at(100);
    return made;
}

std::optional<Doubt> doubt(const FailureNotice& given, const RequesterFacts& known, int now = 200) {
    return why_not_believed(given, known, at(now), max_age);
}

#define EXPECT_DOUBT(given, known, what, why)       \
    do {                                            \
        const auto found = doubt(given, known);     \
        ASSERT_TRUE(found.has_value());             \
        EXPECT_EQ(found->then, what);               \
        EXPECT_THAT(found->reason, HasSubstr(why)); \
    } while (false)

TEST(WhyNotBelieved, WhatNovaConfirmsIsBelieved) {
    EXPECT_FALSE(doubt(notice(), unborn()));
    for (const char* action : {"resize", "migrate", "live-migration"})
        EXPECT_FALSE(doubt(notice(FailureEvent::migrate_server), running(action))) << action;
    EXPECT_FALSE(doubt(notice(FailureEvent::rebuild_server), running("evacuate")));
}

TEST(WhyNotBelieved, AnActionThatNovaDoesNotKnow) {
    for (const auto event : {FailureEvent::build_instances, FailureEvent::migrate_server,
                             FailureEvent::rebuild_server}) {
        auto known = running("resize");
        known.action.reset();
        EXPECT_DOUBT(notice(event), known, Then::look_again, "knows no action");
    }
}

TEST(WhyNotBelieved, AnotherActionThanTheMessageIsAbout) {
    EXPECT_DOUBT(notice(FailureEvent::migrate_server), running("create"), Then::refuse,
                 "is the action 'create'");
    EXPECT_DOUBT(notice(FailureEvent::rebuild_server), running("resize"), Then::refuse, "'resize'");
    EXPECT_DOUBT(notice(), running("migrate"), Then::refuse, "'migrate'");
    EXPECT_DOUBT(notice(FailureEvent::migrate_server), running("lock"), Then::refuse, "'lock'");
}

TEST(WhyNotBelieved, ABootThatDidNotFail) {
    auto runs = running("create");
    EXPECT_DOUBT(notice(), runs, Then::refuse, "is on host 'host-1'");
    auto building = unborn();
    building.status = "BUILD";
    building.fault.reset();
    EXPECT_DOUBT(notice(), building, Then::look_again, "is 'BUILD', not failed");
    auto untold = unborn();
    untold.fault.reset();
    EXPECT_DOUBT(notice(), untold, Then::look_again, "shows no failure");
}

TEST(WhyNotBelieved, ABootThatFailedForAnotherReason) {
    auto other = unborn();
    other.fault = Fault{FailureCause::other, "Port x is in use.", at(100)};
    EXPECT_DOUBT(notice(), other, Then::refuse, "'Port x is in use.'");
    // Each of the two has a key of its own: one failure must not be served under both.
    auto retries = notice();
    retries.exception = "MaxRetriesExceeded";
    EXPECT_DOUBT(retries, unborn(), Then::refuse, "another reason");
    auto exhausted = unborn();
    exhausted.fault->cause = FailureCause::retries_exhausted;
    EXPECT_DOUBT(notice(), exhausted, Then::refuse, "another reason");
    EXPECT_FALSE(doubt(retries, exhausted));
}

TEST(WhyNotBelieved, AMoveThatIsUnderWayOrDidNotFail) {
    const auto given = notice(FailureEvent::migrate_server);
    auto known = running("resize");
    known.action->ended = false;
    EXPECT_DOUBT(given, known, Then::wait, "still at");
    known.action->ended = true;
    known.action->failed = false;
    EXPECT_DOUBT(given, known, Then::refuse, "did not fail");
    known.action->failed = true;
    known.action->cause = FailureCause::other;
    known.action->message = "Disk is full";
    EXPECT_DOUBT(given, known, Then::refuse, "'Disk is full'");
    known.action->cause = FailureCause::not_reported;
    EXPECT_FALSE(doubt(given, known)) << "not every user is shown the reason";
}

TEST(WhyNotBelieved, AnOldFailureWhateverTheTimeOfTheMessage) {
    auto given = notice();
    given.sent_at = at(700);
    EXPECT_FALSE(doubt(given, unborn(), 700));
    EXPECT_TRUE(doubt(given, unborn(), 701));
    EXPECT_THAT(doubt(given, unborn(), 701)->reason, HasSubstr("failed 10min 1s ago"));
    const auto move = notice(FailureEvent::migrate_server);
    EXPECT_FALSE(doubt(move, running("resize"), 700));
    EXPECT_EQ(doubt(move, running("resize"), 701)->then, Then::refuse);
}

TEST(WhyNotBelieved, AServerThatIsGoneRaisesNoDoubt) {
    RequesterFacts gone;
    gone.exists = false;
    EXPECT_FALSE(doubt(notice(), gone));
}

}  // namespace
}  // namespace reaper::believed_test
