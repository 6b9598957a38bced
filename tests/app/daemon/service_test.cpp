// The whole reaper over fakes: from a message to the room, and everything that can happen between.
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::service_test {
namespace {

class ServiceTest : public FullHouse {};

TEST_F(ServiceTest, FreesTheRoomOfOneServerAndAcknowledgesAfterwards) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(cloud.living("host1").size(), 3U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(small.fits_in(cloud.free_on("host1")));
}

TEST_F(ServiceTest, AKeystoneThatHangsAtTheNamesOfProjectsDelaysNoReadingOfTheCloud) {
    full_host();
    with_events = true;
    cloud.names_take = std::chrono::hours{20};
    start();
    run_until([&] { return cloud.count("names of projects") == 1; });
    const auto readings = cloud.count("servers");
    run_until([&] { return cloud.count("servers") > readings + 1; });
    EXPECT_EQ(cloud.count("names of projects"), 1U);
}

TEST_F(ServiceTest, Rule6AMessageIsNotAcknowledgedBeforeItsOutcomeIsJournalled) {
    full_host();
    requester();
    bool broken = true;
    journal.fails = [&](const std::string& what) { return broken && what.starts_with("finish"); };
    start();
    messages->deliver(body_of(failure()));
    int tries = 0;
    run_until([&] {
        return !cloud.exists("host1a") || !cloud.exists("host1b") || !cloud.exists("host1c") ||
               !cloud.exists("host1d");
    });
    run_until([&] { return ++tries > 20; });
    EXPECT_TRUE(messages->acknowledged.empty());
    broken = false;
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ServiceTest, Rule4TheMessagesOfOneMultiCreateAreOneRequest) {
    full_host("host1");
    full_host("host2");
    for (const char* id : {"r1", "r2", "r3"}) requester(id);
    start();
    for (const char* id : {"r1", "r2", "r3"}) {
        NovaFailure one = failure();
        one.server = id;
        one.spec_server = "r1";
        one.num_instances = 3;
        messages->deliver(body_of(one));
    }
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    run_until([&] { return all_acknowledged(3); });
    EXPECT_EQ(cloud.count("DELETE"), 3U);
    EXPECT_EQ(journal.records.size(), 1U);
    EXPECT_EQ(journal.records.at(RequestId{"req-1"}).request.slots, 3);
    ASSERT_EQ(journal.notes.size(), 2U);
    EXPECT_EQ(journal.notes[0].verdict, "joined");
    EXPECT_EQ(journal.records.at(RequestId{"req-1"}).request.requesters.size(), 3U);
}

TEST_F(ServiceTest, Rule4AMessageDeliveredAgainWhileItIsServedChangesNothing) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(journal.notes.at(0).verdict, "duplicate");
}

TEST_F(ServiceTest, Rule4ARedeliveredMessageChangesNothing) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(2); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    ASSERT_EQ(journal.notes.size(), 1U);
    EXPECT_EQ(journal.notes[0].verdict, "duplicate");
}

TEST_F(ServiceTest, Rule4MessagesOfAServedRequestAreLookedIntoOnce) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    for (int n = 0; n < 20; ++n) {
        NovaFailure another = failure();
        another.server = "other-" + std::to_string(n);
        messages->deliver(body_of(another));
    }
    run_until([&] { return all_acknowledged(21); });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(journal.notes.size(), 20U) << "one entry for each message";
}

TEST_F(ServiceTest, Rule4TwoRequestsAtOnceDoNotCountTheSameRoom) {
    full_host();
    requester("r1");
    requester("r2");
    start();
    for (const auto& [request, server] : {std::pair{"req-1", "r1"}, std::pair{"req-2", "r2"}}) {
        NovaFailure one = failure();
        one.request_id = request;
        one.server = one.spec_server = server;
        messages->deliver(body_of(one));
    }
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_EQ(cloud.free_on("host1"), small * 2);
}

TEST_F(ServiceTest, Rule1AServerLockedAfterThePlanIsSparedAndAnotherTaken) {
    full_host();
    requester();
    std::string locked;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (locked.empty() && call.starts_with("server host1")) {
            locked = call.substr(7);
            cloud.server_at(locked).record.server.locked = true;
        }
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_TRUE(cloud.exists(locked));
    EXPECT_TRUE(journal.has_step(locked, Step::skipped));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ServiceTest, Rule1NoServerIsDeletedWhenTheProjectLosesItsTagAfterThePlan) {
    full_host();
    requester();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("provider ")) cloud.tagged.clear();
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(ServiceTest, Rule1AServerThatMovedAwayIsSpared) {
    full_host();
    cloud.add_host("host2", small * 4);
    cloud.services["host2"].enabled = false;
    requester();
    std::string moved;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (moved.empty() && call.starts_with("server host1")) {
            moved = call.substr(7);
            cloud.server_at(moved).record.server.host = "host2";
        }
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    EXPECT_TRUE(cloud.exists(moved));
    EXPECT_EQ(cloud.count("DELETE " + moved), 0U);
}

TEST_F(ServiceTest, Rule1AnOldLookIsMadeAgain) {
    full_host();
    requester();
    std::string looked_at;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (looked_at.empty() && call.starts_with("server host1")) looked_at = call.substr(7);
        const bool whether_the_requester_waits = call == "server " + uuid_of("requester-1");
        if (!looked_at.empty() && whether_the_requester_waits) {
            clock.advance(std::chrono::milliseconds{1500});
            cloud.server_at(looked_at).record.server.locked = true;
        }
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(cloud.exists(looked_at));
}

TEST_F(ServiceTest, Rule2APlanThatBreaksBeforeTheFirstDeletionDeletesNoServer) {
    // Four slots need all four; one of them gets locked while the plan is verified.
    full_host();
    requester();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call == "server host1d") cloud.server_at("host1d").record.server.locked = true;
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure(8)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ServiceTest, AVictimThatVanishesByItselfIsCredited) {
    full_host();
    requester();
    std::string vanished;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (vanished.empty() && call.starts_with("server host1")) {
            vanished = call.substr(7);
            cloud.remove(vanished);
        }
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(journal.records.at(RequestId{"req-1"}).plans.size(), 1U);
    EXPECT_TRUE(journal.has_step(vanished, Step::vanished));
}

TEST_F(ServiceTest, Rule7ARevocableRequesterNeverCausesACull) {
    full_host();
    requester("requester-1", "spot");
    start();
    NovaFailure one = failure();
    one.project = "spot";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ServiceTest, Rule7NovaIsNotAskedAboutARevocableRequester) {
    full_host();
    requester("requester-1", "spot");
    start();
    pass(std::chrono::seconds{5});
    const auto asked = cloud.count("server ");
    NovaFailure one = failure();
    one.project = "spot";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("server "), asked);
    EXPECT_EQ(cloud.count("action "), 0U);
}

// Nova was not asked whether the message is true.
TEST_F(ServiceTest, Rule7AMessageThatNamesARevocableProjectKeepsNoOtherOneFromItsRoom) {
    full_host();
    requester();
    start();
    pass(std::chrono::seconds{5});
    NovaFailure forged = failure();
    forged.project = "spot";
    messages->deliver(body_of(forged));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    messages->deliver(body_of(failure()));
    run_until([&] { return record("req-1").outcome->kind == OutcomeKind::freed; });
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ServiceTest, Rule7AProjectThatLostItsTagIsServed) {
    full_host();
    requester("requester-1", "spot");
    start();
    pass(std::chrono::seconds{5});
    cloud.tagged.clear();
    NovaFailure one = failure();
    one.project = "spot";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough) << "no server is revocable now";
}

TEST_F(ServiceTest, ARequesterThatIsGoneCausesNoCull) {
    full_host();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ServiceTest, Rule5NoServerIsDeletedUnlessThePlanIsJournalled) {
    full_host();
    requester();
    journal.fails = [](const std::string& what) { return what.starts_with("plan"); };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ServiceTest, Rule5NoServerIsDeletedUnlessItsDeletionIsJournalledFirst) {
    full_host();
    requester();
    journal.fails = [](const std::string& what) { return what.starts_with("delete-sent"); };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.has_step("host1a", Step::skipped)) << "the answer alone may be lost";
}

TEST_F(ServiceTest, ALostAnswerToADeletionLeadsToNoSecondVictim) {
    full_host();
    requester();
    bool lost = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (lost || !call.starts_with("DELETE")) return std::nullopt;
        lost = true;
        return Error{Errc::unreachable, "connection reset"};
    };
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(ServiceTest, ASoftDeletedVictimIsForceDeleted) {
    full_host();
    requester();
    cloud.soft_delete = true;
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("FORCE"), 1U);
}

/// Lets it happen to the victim at the first look that finds it so.
using OnVictim = std::function<bool(Server& victim)>;
std::function<std::optional<Error>(const std::string&)> at_a_look(FakeCloud& cloud, OnVictim act) {
    return [&cloud, act, done = false](const std::string& call) mutable -> std::optional<Error> {
        if (!done && call.starts_with("server host1") && cloud.exists(call.substr(7)))
            done = act(cloud.server_at(call.substr(7)).record.server);
        return std::nullopt;
    };
}

TEST_F(ServiceTest, AVictimThatItsOwnerRestoresIsForceDeleted) {
    full_host();
    requester();
    cloud.soft_delete = true;
    cloud.on_call = at_a_look(cloud, [&](Server& victim) {
        if (victim.status != "SOFT_DELETED") return false;
        cloud.restore_by(victim.id.str(), "alice");
        return true;
    });
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("FORCE"), 1U);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(ServiceTest, AVictimThatItsOwnerRestoresAndDeletesIsForceDeleted) {
    full_host();
    requester();
    cloud.soft_delete = true;
    cloud.on_call = at_a_look(cloud, [&](Server& victim) {
        if (victim.status != "SOFT_DELETED") return false;
        cloud.restore_by(victim.id.str(), "alice");
        cloud.soft_delete_by(victim.id.str(), "alice");
        return true;
    });
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("FORCE"), 1U);
}

TEST_F(ServiceTest, AVictimThatItsHostFailedToDeleteIsDeletedAgainForcedOrNot) {
    for (const bool may_force : {true, false}) {
        cloud.clear();
        journal.records.clear();
        full_host();
        requester();
        const auto fails = at_a_look(cloud, [&](Server& victim) {
            if (victim.task_state != "deleting") return false;
            victim.status = "ERROR";
            victim.task_state = "";
            cloud.server_at(victim.id.str()).gone_at.reset();
            return true;
        });
        cloud.on_call = [&, fails](const std::string& call) mutable -> std::optional<Error> {
            if (call.starts_with("FORCE") && !may_force) return Error{Errc::forbidden, "nova: 403"};
            return fails(call);
        };
        start();
        messages->deliver(body_of(failure()));
        EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
        EXPECT_EQ(cloud.count("FORCE"), 1U);
        EXPECT_EQ(cloud.count("DELETE"), may_force ? 1U : 2U);
        EXPECT_EQ(cloud.living("host1").size(), 3U);
        crash();
    }
}

TEST_F(ServiceTest, AVictimThatIsBackLivesOnIfItsRoomIsNoLongerNeeded) {
    full_host();
    requester();
    cloud.soft_delete = true;
    cloud.on_call = at_a_look(cloud, [&](Server& victim) {
        if (victim.status != "SOFT_DELETED") return false;
        cloud.restore_by(victim.id.str(), "alice");
        cloud.remove(uuid_of("requester-1"));
        return true;
    });
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    EXPECT_EQ(cloud.count("FORCE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

// As while Nova confirms its resize on the way.
TEST_F(ServiceTest, AVictimThatLooksAsIfItWereBackIsWaitedFor) {
    full_host();
    requester();
    std::string victim;
    cloud.on_call = at_a_look(cloud, [&](Server& seen) {
        if (seen.task_state != "deleting") return false;
        seen.task_state = "";
        victim = seen.id.str();
        cloud.remove(uuid_of("requester-1"));
        return true;
    });
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    ASSERT_FALSE(victim.empty());
    EXPECT_FALSE(journal.has_step(victim, Step::skipped));
    EXPECT_TRUE(journal.has_step(victim, Step::gone));
    EXPECT_EQ(cloud.count("DELETE") + cloud.count("FORCE"), 1U);
}

TEST_F(ServiceTest, WhatAPreviousProcessDeletedIsNotDeletedOnceMore) {
    full_host();
    requester();
    cloud.ignore_deletes = true;
    start();
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("DELETE") == 1; });
    run_until([&] {
        const auto& steps = record("req-1").steps;
        return !steps.empty() && steps.back().step == Step::delete_accepted;
    });
    crash();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    EXPECT_EQ(cloud.count("DELETE") + cloud.count("FORCE"), 1U);
}

TEST_F(ServiceTest, ADeletionThatNeverHappensEndsAtTheDeadline) {
    full_host();
    requester();
    cloud.ignore_deletes = true;
    start();
    messages->deliver(body_of(failure()));
    const auto& outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::incomplete);
    EXPECT_LE(outcome.at, clock.now());
    EXPECT_EQ(cloud.count("DELETE") + cloud.count("FORCE"), 5U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(ServiceTest, AForbiddenDeletionSparesAndTellsTheRightThatIsMissing) {
    full_host();
    requester();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::forbidden, "os_compute_api:servers:delete"};
    };
    start();
    messages->deliver(body_of(failure()));
    const auto& outcome = outcome_of("req-1");
    EXPECT_EQ(outcome.kind, OutcomeKind::failed) << outcome.reason;
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(ServiceTest, ACloudThatIsAwayForAWhileDelaysButLosesNothing) {
    full_host();
    requester();
    start();
    const TimePoint back = clock.now() + std::chrono::minutes{1};
    cloud.on_call = [&](const std::string&) -> std::optional<Error> {
        if (clock.now() < back) return Error{Errc::unreachable, "connection refused"};
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ServiceTest, AMessageThatIsTooOldIsDroppedWithAReason) {
    full_host();
    requester();
    clock.advance(std::chrono::hours{1});
    start();
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    ASSERT_EQ(journal.notes.size(), 1U);
    EXPECT_EQ(journal.notes[0].verdict, "too-old");
    EXPECT_FALSE(journal.notes[0].reason.empty());
}

TEST_F(ServiceTest, AMessageThatCannotBeUnderstoodIsSetAside) {
    start();
    messages->deliver("not json");
    run_until([&] { return messages->aside.size() == 1; });
    EXPECT_EQ(messages->aside[0].first.body, "not json");
    EXPECT_FALSE(messages->aside[0].second.empty());
    ASSERT_EQ(journal.notes.size(), 1U);
    EXPECT_EQ(journal.notes[0].verdict, "malformed");
}

TEST_F(ServiceTest, AnotherCauseIsIgnoredWithAReason) {
    full_host();
    requester();
    start();
    NovaFailure one = failure();
    one.exception = "PortBindingFailed_Remote";
    messages->deliver(body_of(one));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(journal.notes.at(0).verdict, "ignored");
}

TEST_F(ServiceTest, Rule8ADryRunPlansAndWritesNothing) {
    full_host();
    requester();
    dry_run = true;
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::dry_run);
    EXPECT_EQ(cloud.count("DELETE") + cloud.count("FORCE"), 0U);
    EXPECT_FALSE(journal.records.at(RequestId{"req-1"}).plans.empty());
}

TEST_F(ServiceTest, StoppingFinishesWhatItHoldsAndTakesNothingNew) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("DELETE") == 1; });
    stop_and_join();
    EXPECT_EQ(journal.records.at(RequestId{"req-1"}).outcome->kind, OutcomeKind::freed);
    EXPECT_TRUE(all_acknowledged(1));
    EXPECT_TRUE(messages->stopped);
}

TEST_F(ServiceTest, StoppingLeavesARequestWithoutVictimsForTheNextReaper) {
    full_host();
    requester();
    start();
    cloud.on_call = [](const std::string&) -> std::optional<Error> {
        return Error{Errc::unreachable, "connection refused"};
    };
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("server " + uuid_of("requester-1")) > 2; });
    stop_and_join();
    EXPECT_TRUE(messages->acknowledged.empty());
}

TEST_F(ServiceTest, StoppingBeginsNothingThatWasDecidedMeanwhile) {
    full_host();
    requester();
    start();
    journal.fails = [&](const std::string& what) {
        if (what == "plan req-1") service().stop();
        return false;
    };
    messages->deliver(body_of(failure()));
    run_until([&] { return ended.has_value(); });
    EXPECT_EQ(journal.records.at(RequestId{"req-1"}).plans.size(), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(messages->acknowledged.empty());
}

/// kill -9 after each journalled write, and after each call to the cloud.
class CrashTest : public ServiceTest {
protected:
    /// Runs until `crash_now`, crashes, starts again with the message redelivered, and expects that
    /// just the two needed servers died, once each.
    bool crash_when(const std::function<bool()>& crash_now) {
        full_host();
        requester();
        start();
        messages->deliver(body_of(failure(4)));
        bool finished = false;
        run_until([&] {
            finished = messages->acknowledged.size() == 1;
            return crash_now() || finished;
        });
        if (finished) return false;
        crash();
        start();
        messages->deliver(body_of(failure(4)));
        EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
        run_until([&] { return all_acknowledged(1); });
        EXPECT_EQ(cloud.living("host1").size(), 2U);
        EXPECT_EQ(cloud.free_on("host1"), small * 2);
        return true;
    }
};

TEST_F(CrashTest, AfterEachCallToTheCloudNothingIsRepeatedOrForgotten) {
    int crashes = 0;
    for (std::size_t calls = 1; calls < 200; ++calls) {
        SCOPED_TRACE("crash at call " + std::to_string(calls));
        cloud.clear();
        journal = FakeJournal{};
        clock = FakeClock{};
        std::size_t seen = 0;
        bool now = false;
        cloud.on_call = [&](const std::string&) -> std::optional<Error> {
            now = now || ++seen > calls + 3;  // the first three are the start's
            return std::nullopt;
        };
        const bool crashed = crash_when([&] { return now; });
        crash();
        if (!crashed) break;
        ++crashes;
    }
    EXPECT_GT(crashes, 15);
}

TEST_F(CrashTest, AfterEachJournalledWriteNothingIsRepeatedOrForgotten) {
    int crashes = 0;
    for (std::size_t writes = 1; writes < 100; ++writes) {
        SCOPED_TRACE("crash at write " + std::to_string(writes));
        cloud.clear();
        journal = FakeJournal{};
        clock = FakeClock{};
        const bool crashed = crash_when([&] { return journal.written.size() >= writes; });
        crash();
        if (!crashed) break;
        ++crashes;
    }
    EXPECT_GE(crashes, 7);
}

TEST_F(CrashTest, AnUnfinishedRequestThatIsTooOldNowDeletesNoServer) {
    full_host();
    requester();
    start();
    cloud.on_call = [](const std::string&) -> std::optional<Error> {
        return Error{Errc::unreachable, "connection refused"};
    };
    journal.records[RequestId{"req-1"}].request.id = RequestId{"req-1"};
    journal.records[RequestId{"req-1"}].request.resources = small;
    journal.records[RequestId{"req-1"}].request.sent_at = clock.now();
    crash();
    clock.advance(std::chrono::hours{48});
    cloud.on_call = {};
    start();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::failed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(CrashTest, AfterALongAbsenceOnlyWhatWasSentIsFinished) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    start();
    messages->deliver(body_of(failure(6)));
    run_until([&] { return cloud.count("DELETE") == 1; });
    crash();
    clock.advance(std::chrono::hours{48});
    start();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(ServiceTest, Rule7ALiveMigrationOfARevocableServerCausesNoCull) {
    full_host("host1");
    full_host("host2");
    cloud.add_server(uuid_of("mover"), "host1", "spot", Resources{});
    cloud.note_failed("req-1", "live-migration");
    start();
    NovaFailure one = failure();
    one.event = "compute_task.migrate_server.error";
    one.server = one.spec_server = "mover";
    one.project = "admins-own";  // the caller's: the message has no better
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ServiceTest, Rule1ATagTakenAwayWhileVictimsQueueSparesTheRest) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) cloud.tagged.clear();
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure(6)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(ServiceTest, Rule2ALostDeletionOfAStoppedPlanIsNotSentAgain) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    bool lost = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || lost) return std::nullopt;
        lost = true;
        for (const char* n : {"a", "b", "c", "d"})
            if (call != std::string{"DELETE host1"} + n)
                cloud.server_at(std::string{"host1"} + n).record.server.locked = true;
        return Error{Errc::unreachable, "connection reset"};
    };
    start();
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(ServiceTest, AVictimThatItsUserDeletesSoftlyInMidPlanIsSpared) {
    full_host();
    requester();
    settings.cull.max_parallel_deletions = 1;
    std::string theirs;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("server host1") || cloud.count("DELETE") != 1 || !theirs.empty() ||
            cloud.count("DELETE " + call.substr(7)) > 0)
            return std::nullopt;
        theirs = call.substr(7);
        cloud.server_at(theirs).record.server.status = "SOFT_DELETED";
        return std::nullopt;
    };
    start();
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("FORCE"), 0U);
    EXPECT_TRUE(cloud.exists(theirs));
}

TEST_F(ServiceTest, FreedRoomStaysPromisedOverARestart) {
    full_host();
    requester("r1");
    requester("r2");
    start();
    NovaFailure first = failure();
    first.server = first.spec_server = "r1";
    messages->deliver(body_of(first));
    outcome_of("req-1");
    run_until([&] { return all_acknowledged(1); });
    crash();
    start();
    NovaFailure second = failure();
    second.request_id = "req-2";
    second.server = second.spec_server = "r2";
    messages->deliver(body_of(second));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.free_on("host1"), small * 2);
}

TEST_F(ServiceTest, AResizeDoesNotCountItsOwnHost) {
    full_host("host1");
    full_host("host2");
    cloud.add_server(uuid_of("grower"), "host1", "regular", Resources{});
    cloud.note_failed("req-1", "resize");
    cloud.flavors["f"] = flavor_of(4);
    start();
    NovaFailure one = failure(4);
    one.event = "compute_task.migrate_server.error";
    one.server = one.spec_server = "grower";
    messages->deliver(body_of(one));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.living("host1").size(), 5U);
    EXPECT_EQ(cloud.living("host2").size(), 2U);
}

}  // namespace
}  // namespace reaper::test::service_test
