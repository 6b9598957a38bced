// Notice before the end: no server goes before the time in its metadata.
#include "reaper/model/notice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::notice_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class NoticeTest : public FullHouse {
protected:
    NoticeTest() { settings.policy.notice.period = minutes{2}; }

    /// The server that has notice, as soon as one has.
    std::string told() {
        run_until([&] { return journal.has_step(known(), Step::notified); });
        return known();
    }
    /// When it ends, by its metadata.
    std::optional<TimePoint> end_of(const std::string& server) {
        const auto& metadata = cloud.server_at(server).record.server.metadata;
        const auto at = metadata.find(evict_at_key);
        return at == metadata.end() ? std::nullopt : parse_time(at->second);
    }
    /// The reaper has stopped it, and its guest takes its time.
    Server& shutting_down(const std::string& victim) {
        run_until([&] { return cloud.count("SHUTOFF " + victim) > 0; });
        Server& server = cloud.server_at(victim).record.server;
        server.status = "ACTIVE";
        server.task_state = "powering-off";
        return server;
    }
    std::optional<TimePoint> deleted_at(const std::string& server) {
        for (const auto& [id, record] : journal.records)
            for (const auto& step : record.steps)
                if (step.server.str() == server && step.step == Step::delete_sent) return step.at;
        return std::nullopt;
    }

private:
    std::string known() {
        const auto at = journal.records.find(RequestId{"req-1"});
        if (at == journal.records.end()) return "";
        for (const auto& step : at->second.steps)
            if (step.step == Step::notified) return step.server.str();
        return "";
    }
};

TEST_F(NoticeTest, AServerEndsAtTheTimeInItsMetadata) {
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    ASSERT_TRUE(end.has_value());
    EXPECT_GE(*end, clock.now() + minutes{2} - seconds{10});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    ASSERT_TRUE(deleted_at(victim).has_value());
    EXPECT_GE(*deleted_at(victim), *end);
    EXPECT_LE(*deleted_at(victim), *end + seconds{2});
    EXPECT_EQ(cloud.count("MARK"), 1U);
    EXPECT_EQ(cloud.count("UNMARK"), 0U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(NoticeTest, ARequestWaitsLongerThanItsTimeForNoticeThatItGave) {
    settings.trigger.max_age = seconds{60};
    full_host();
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(NoticeTest, WhatHasNoneGoesFirst) {
    settings.policy.notice = {};
    settings.policy.notice.periods = {"spot=2min"};
    cloud.tagged.insert(ProjectId{"cheap"});
    full_host();
    // Worth more by any other measure.
    cloud.add_host("host2", small);
    auto& server = cloud.add_server("host2a", "host2", "cheap", small);
    server.record.server.created = clock.now() - hours{500};
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_TRUE(journal.has_step("host2a", Step::gone));
    EXPECT_EQ(cloud.count("MARK"), 0U);
}

TEST_F(NoticeTest, ItIsWithdrawnIfTheRequesterLeaves) {
    full_host();
    ask();
    const std::string victim = told();
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_FALSE(end_of(victim).has_value());
    EXPECT_TRUE(journal.has_step(victim, Step::withdrawn));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(NoticeTest, ItIsWithdrawnOnceTheJournalTakesThat) {
    full_host();
    ask();
    const std::string victim = told();
    int failed = 0;
    journal.fails = [&](const std::string& what) {
        return what.starts_with("notice-withdrawn") && ++failed <= 3;
    };
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(failed, 4);
    EXPECT_FALSE(end_of(victim).has_value());
}

TEST_F(NoticeTest, NoOwnerHearsOfAWithdrawalThatTheJournalLacks) {
    full_host();
    ask();
    const std::string victim = told();
    journal.fails = [](const std::string& what) { return what.starts_with("notice-withdrawn"); };
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_TRUE(end_of(victim).has_value());
    EXPECT_EQ(cloud.count("UNMARK"), 0U);
}

TEST_F(NoticeTest, ItIsWithdrawnIfRoomComesFreeElsewhere) {
    full_host();
    ask();
    const std::string victim = told();
    cloud.add_host("host2", small * 4);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_FALSE(end_of(victim).has_value());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// Right before its end, so that nothing but the next plan finds out.
TEST_F(NoticeTest, AServerThatIsNotNeededAtItsEndStays) {
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    run_until([&] { return clock.now() >= *end - std::chrono::milliseconds{300}; });
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_FALSE(end_of(victim).has_value());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(NoticeTest, WhatNovaFailsToTakeBackEndsTheRequestAnyway) {
    full_host();
    ask();
    const std::string victim = told();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("UNMARK")) return Error{Errc::server_error, "HTTP 500"};
        return std::nullopt;
    };
    const TimePoint then = clock.now();
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_LE(clock.now(), then + minutes{3});
    EXPECT_TRUE(journal.has_step(victim, Step::withdrawn));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(NoticeTest, AVictimThatGoesByItselfIsNotDeleted) {
    full_host();
    ask();
    const std::string victim = told();
    cloud.remove(victim);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(NoticeTest, APauseWithdrawsIt) {
    full_host();
    ask();
    const std::string victim = told();
    pause.why = "paused by alice";
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    EXPECT_FALSE(end_of(victim).has_value());
    EXPECT_TRUE(journal.has_step(victim, Step::withdrawn));
    pass(minutes{5});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(NoticeTest, ARestartEndsItAtTheSameTime) {
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    pass(seconds{30});
    crash();
    clock.advance(seconds{30});
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("MARK"), 1U);
    ASSERT_TRUE(deleted_at(victim).has_value());
    EXPECT_GE(*deleted_at(victim), *end);
    EXPECT_LE(*deleted_at(victim), *end + seconds{2});
}

TEST_F(NoticeTest, ALaterTimeThatAnotherReaperGaveIsNoTimeToGoEarlier) {
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    crash();
    clock.advance(seconds{30});
    auto metadata = cloud.server_at(victim).record.server.metadata.get();
    metadata[evict_at_key] = iso_time(*end + seconds{20});
    cloud.server_at(victim).record.server.metadata = std::move(metadata);
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("MARK"), 2U);
    ASSERT_TRUE(deleted_at(victim).has_value());
    EXPECT_GE(*deleted_at(victim), *end + seconds{20});
}

TEST_F(NoticeTest, AStopLeavesItToTheNextReaper) {
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    stop_and_join();
    EXPECT_LT(clock.now(), *end - minutes{1});
    EXPECT_EQ(end_of(victim), end);
    EXPECT_FALSE(record("req-1").outcome.has_value());
    crash();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(*deleted_at(victim), *end);
    EXPECT_EQ(cloud.count("MARK"), 1U);
}

TEST_F(NoticeTest, AStopDoesNotWaitForTheNoticeOfAnotherRequest) {
    full_host();
    requester("requester-2", "regular", 1);
    requester("requester-1", "regular", 1);
    start();
    messages->deliver(body_of(failure(1)));
    const auto end = end_of(told());
    NovaFailure second = failure(1);
    second.request_id = "req-2";
    second.server = second.spec_server = "requester-2";
    messages->deliver(body_of(second));
    run_until([&] {
        const auto at = journal.records.find(RequestId{"req-2"});
        return at != journal.records.end() && !at->second.plans.empty();
    });
    pass(seconds{2});
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server host1")) return Error{Errc::unreachable, "no route"};
        return std::nullopt;
    };
    stop_and_join();
    EXPECT_LT(clock.now(), *end - minutes{1});
    EXPECT_FALSE(record("req-2").outcome.has_value());
}

TEST_F(NoticeTest, WhatMayNotHaveBeenHeardIsSaidAgain) {
    full_host();
    requester();
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("MARK")) return Error{Errc::unreachable, "connection reset"};
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("MARK") > 0; });
    crash();
    cloud.on_call = {};
    clock.advance(minutes{3});
    settings.trigger.max_age = hours{1};
    start();
    const TimePoint then = clock.now();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(*deleted_at(told()), then + minutes{2});
}

TEST_F(NoticeTest, AClockThatIsSetForwardShortensNothing) {
    full_host();
    ask();
    const std::string victim = told();
    const Duration then = clock.steady();
    clock.step(minutes{3});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(clock.steady() - then, minutes{2} - seconds{5});
}

TEST_F(NoticeTest, AServerThatIsStartedBeforeItsEndGetsItFirst) {
    full_host();
    for (const char* n : {"host1a", "host1b", "host1c", "host1d"})
        cloud.server_at(n).record.server.status = "SHUTOFF";
    requester();
    start();
    // After the first look, before the last one.
    std::size_t looks = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("server host1") && ++looks == 1) clock.advance(seconds{3});
        if (call.starts_with("server host1") && looks == 2)
            for (const char* n : {"host1a", "host1b", "host1c", "host1d"})
                cloud.server_at(n).record.server.status = "ACTIVE";
        return std::nullopt;
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(looks, 2U);
    EXPECT_EQ(cloud.count("MARK"), 1U);
    EXPECT_GE(*deleted_at(told()), record("req-1").received_at + minutes{2});
}

TEST_F(NoticeTest, WhatNovaRefusesToSayStillEnds) {
    full_host();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("MARK")) return Error{Errc::conflict, "not in this state"};
        return std::nullopt;
    };
    ask();
    const std::string victim = told();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(*deleted_at(victim), record("req-1").received_at + minutes{2});
}

TEST_F(NoticeTest, AnOutageOfNovaDelaysTheNotice) {
    full_host();
    const TimePoint then = clock.now() + minutes{1};
    cloud.on_call = [this, then](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("MARK") && clock.now() < then)
            return Error{Errc::unreachable, "connection refused"};
        return std::nullopt;
    };
    ask();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(*deleted_at(told()), then + minutes{2});
}

TEST_F(NoticeTest, WhatNovaFailsToTakeEndsAfterTwiceItsTimeAtMost) {
    settings.trigger.max_age = seconds{30};
    full_host();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("MARK")) return Error{Errc::server_error, "HTTP 500"};
        return std::nullopt;
    };
    const TimePoint then = clock.now();
    ask();
    const std::string victim = told();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_GE(*deleted_at(victim), then + minutes{2});
    EXPECT_LE(*deleted_at(victim), then + minutes{4} + seconds{45});
}

TEST_F(NoticeTest, ItsOwnerCanNotPutItOff) {
    settings.policy.notice.owner_key = "reaper:notice";
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    auto metadata = cloud.server_at(victim).record.server.metadata.get();
    metadata[evict_at_key] = iso_time(*end + hours{1});
    metadata["reaper:notice"] = "10min";
    cloud.server_at(victim).record.server.metadata = std::move(metadata);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    ASSERT_TRUE(deleted_at(victim).has_value());
    EXPECT_LE(*deleted_at(victim), *end + seconds{2});
}

TEST_F(NoticeTest, WhatItsOwnerWroteBeforeIsNoNotice) {
    full_host();
    for (const char* n : {"host1a", "host1b", "host1c", "host1d"}) {
        auto& server = cloud.server_at(n).record.server;
        auto metadata = server.metadata.get();
        metadata[evict_at_key] = iso_time(clock.now() + hours{1});
        server.metadata = std::move(metadata);
    }
    ask();
    const std::string victim = told();
    EXPECT_LE(*end_of(victim), clock.now() + minutes{2});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_LE(*deleted_at(victim), record("req-1").received_at + minutes{2} + seconds{10});
}

TEST_F(NoticeTest, ItsGuestIsStoppedBeforeItsEnd) {
    settings.policy.notice.stop_before = seconds{30};
    full_host();
    ask();
    const std::string victim = told();
    const auto end = end_of(victim);
    run_until([&] { return cloud.count("SHUTOFF " + victim) > 0; });
    EXPECT_GE(clock.now(), *end - seconds{30});
    EXPECT_LE(clock.now(), *end - seconds{25});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHUTOFF"), 1U);
    EXPECT_TRUE(journal.has_step(victim, Step::gone));
}

TEST_F(NoticeTest, WhatWasStoppedForAWithdrawnNoticeIsStartedAgain) {
    settings.policy.notice.stop_before = seconds{60};
    full_host();
    ask();
    const std::string victim = told();
    run_until([&] { return cloud.count("SHUTOFF " + victim) > 0; });
    cloud.remove(uuid_of("requester-1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.server_at(victim).record.server.status.str(), "ACTIVE");
    EXPECT_FALSE(end_of(victim).has_value());
}

TEST_F(NoticeTest, WhatStillShutsDownIsStartedAfterwards) {
    settings.policy.notice.stop_before = seconds{60};
    full_host();
    ask();
    const std::string victim = told();
    Server& server = shutting_down(victim);
    cloud.remove(uuid_of("requester-1"));
    run_until([&] { return cloud.count("UNMARK") > 0; });
    pass(minutes{1});
    server.status = "SHUTOFF";
    server.task_state = {};
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_EQ(cloud.count("ACTIVE " + victim), 1U);
    EXPECT_EQ(cloud.count("UNMARK"), 1U);
}

TEST_F(NoticeTest, WhatAnAdministratorLocksMeanwhileIsNotStopped) {
    settings.policy.notice.stop_before = seconds{30};
    full_host();
    ask();
    const std::string victim = told();
    cloud.server_at(victim).record.server.locked = true;
    ActionRecord lock;
    lock.name = "lock";
    lock.project = ProjectId{"admin"};
    cloud.histories[ServerId{victim}] = {lock};
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("SHUTOFF " + victim), 0U);
    EXPECT_TRUE(cloud.exists(victim));
}

TEST_F(NoticeTest, WhatIsToBeShelvedIsNotDeletedWhileItsGuestShutsDown) {
    settings.policy.notice.stop_before = seconds{30};
    settings.policy.shelve.servers = {"all"};
    full_host();
    ask();
    const std::string victim = told();
    Server& server = shutting_down(victim);
    pass(minutes{1});
    EXPECT_FALSE(journal.records.at(RequestId{"req-1"}).outcome.has_value());
    server.status = "SHUTOFF";
    server.task_state = {};
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.count("SHELVE " + victim), 1U);
}

}  // namespace
}  // namespace reaper::test::notice_test
