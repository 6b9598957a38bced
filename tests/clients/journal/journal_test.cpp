#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/stored_journal.hpp"
#include "tests/clients/journal/engines.hpp"
#include "tests/clients/journal/stories.hpp"

namespace reaper::journal::test::journal_test {
namespace {

using testing::HasSubstr;

class JournalTest : public OnEveryEngine {
protected:
    Admission admit(const Request& request, TimePoint now = noon()) {
        return wait(journal_->admit(request, now)).value();
    }
    RequestRecord record(const std::string& id) {
        return *wait(journal_->record(RequestId{id})).value();
    }
    std::vector<std::string> ids(const std::vector<RequestRecord>& records) {
        std::vector<std::string> all;
        for (const auto& each : records) all.push_back(each.request.id.str());
        return all;
    }
};
REAPER_ON_EVERY_ENGINE(JournalTest);

TEST_P(JournalTest, ARequestIsFirstOnlyOnce) {
    EXPECT_TRUE(admit(request("req-1")).first);
    const Admission again = admit(request("req-1"));
    EXPECT_FALSE(again.first);
    EXPECT_FALSE(again.outcome);
    EXPECT_TRUE(admit(request("req-2")).first);
}

TEST_P(JournalTest, AKnownRequestOnlyGainsRequesters) {
    admit(request("req-1"), noon());
    Request other = request("req-1");
    other.slots = 99;
    other.requesters = {ServerId{"waiting-2"}, ServerId{"waiting-1"}};
    admit(other, noon(60));
    Request expected = request("req-1");
    expected.requesters = {ServerId{"waiting-1"}, ServerId{"waiting-2"}};
    EXPECT_EQ(record("req-1").request, expected);
    EXPECT_EQ(record("req-1").received_at, noon());
}

TEST_P(JournalTest, AStorySurvivesReopeningWhole) {
    const RequestId id{"req-1"};
    admit(request("req-1"));
    const std::vector<Decision> decisions{
        plan("req-1"), NothingToDo{"there", {plan("req-1").hosts[0]}},
        NotEnough{2, 1, "too few", {{HostId{"p"}, "h", RejectionCode::ranked_lower, "r"}}}};
    int round = 0;
    for (const auto& decision : decisions) {
        const PlanEntry entry{++round, noon(round), decision};
        ASSERT_TRUE(wait(journal_->add_plan(id, entry)));
    }
    const std::vector<Step> steps{Step::skipped,           Step::delete_sent, Step::delete_accepted,
                                  Step::force_delete_sent, Step::gone,        Step::left_shelved,
                                  Step::vanished,          Step::failed,      Step::notice_sent,
                                  Step::notified,          Step::stop_sent,   Step::withdrawn};
    for (const Step step : steps)
        ASSERT_TRUE(wait(
            journal_->add_step(id, StepEntry{ServerId{"victim-1"}, step, "detail", noon(10)})));
    const Outcome outcome{OutcomeKind::freed, "room is there", noon(20)};
    ASSERT_TRUE(wait(journal_->finish(id, outcome)));

    open();
    const RequestRecord read = record("req-1");
    EXPECT_EQ(read.request, request("req-1"));
    ASSERT_EQ(read.plans.size(), decisions.size());
    for (std::size_t i = 0; i < decisions.size(); ++i) {
        EXPECT_EQ(read.plans[i].decision, decisions[i]);
        EXPECT_EQ(read.plans[i].round, static_cast<int>(i) + 1);
        EXPECT_EQ(read.plans[i].at, noon(static_cast<int>(i) + 1));
    }
    ASSERT_EQ(read.steps.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(read.steps[i].step, steps[i]);
    EXPECT_EQ(read.steps[0].server, ServerId{"victim-1"});
    EXPECT_EQ(read.steps[0].detail, "detail");
    EXPECT_EQ(read.steps[0].at, noon(10));
    ASSERT_TRUE(read.outcome);
    EXPECT_EQ(read.outcome->kind, OutcomeKind::freed);
    EXPECT_EQ(read.outcome->reason, "room is there");
    EXPECT_EQ(read.outcome->at, noon(20));
}

TEST_P(JournalTest, AnOutcomeIsGivenToTheNextMessageAndStays) {
    admit(request("req-1"));
    wait(journal_->finish(RequestId{"req-1"}, Outcome{OutcomeKind::not_enough, "few", noon()}))
        .value();
    wait(journal_->finish(RequestId{"req-1"}, Outcome{OutcomeKind::freed, "late", noon(9)}))
        .value();
    const Admission again = admit(request("req-1"));
    EXPECT_FALSE(again.first);
    ASSERT_TRUE(again.outcome);
    EXPECT_EQ(again.outcome->kind, OutcomeKind::not_enough);
}

TEST_P(JournalTest, WhatEndedBeforeItWasWholeIsOneWrite) {
    const Outcome refused{OutcomeKind::refused, "not so", noon(3), "unconfirmed"};
    ASSERT_TRUE(wait(journal_->admit_ended(request("req-1"), refused, noon(2))));
    EXPECT_TRUE(wait(journal_->unfinished()).value().empty());
    open();
    const RequestRecord read = record("req-1");
    EXPECT_EQ(read.request, request("req-1"));
    EXPECT_EQ(read.received_at, noon(2));
    ASSERT_TRUE(read.outcome);
    EXPECT_EQ(read.outcome->reason, "not so");
    EXPECT_EQ(read.outcome->safeguard, "unconfirmed");
    EXPECT_EQ(read.outcome->at, noon(3));
}

TEST_P(JournalTest, WhatEndedBeforeItWasWholeEndsAKnownOneOnce) {
    admit(request("req-1"), noon());
    Request other = request("req-1");
    other.slots = 99;
    for (const char* const reason : {"first", "second"})
        ASSERT_TRUE(wait(
            journal_->admit_ended(other, Outcome{OutcomeKind::refused, reason, noon(3)}, noon(2))));
    EXPECT_EQ(record("req-1").request, other) << "nothing was planned for the first one";
    EXPECT_EQ(record("req-1").outcome->reason, "first");
}

TEST_P(JournalTest, ARequestWithoutAPlanBeginsAgain) {
    const Outcome refused{OutcomeKind::refused, "not so", noon()};
    ASSERT_TRUE(wait(journal_->admit_ended(request("req-1"), refused, noon())));
    Request other = request("req-1");
    other.slots = 2;
    other.requesters = {ServerId{"waiting-2"}};
    ASSERT_TRUE(wait(journal_->readmit(other, noon(5))));
    EXPECT_EQ(record("req-1").request, other);
    EXPECT_EQ(record("req-1").received_at, noon(5));
    EXPECT_FALSE(record("req-1").outcome);
    EXPECT_EQ(wait(journal_->unfinished()).value().size(), 1U);
}

TEST_P(JournalTest, ARequestWithAPlanIsUnfinishedAgainAndKeepsIt) {
    const RequestId id{"req-1"};
    admit(request("req-1"));
    ASSERT_TRUE(wait(journal_->add_plan(id, PlanEntry{1, noon(), plan("req-1")})));
    ASSERT_TRUE(wait(journal_->finish(id, Outcome{OutcomeKind::freed, "there", noon(1)})));
    Request other = request("req-1");
    other.slots = 99;
    ASSERT_TRUE(wait(journal_->readmit(other, noon(5))));
    EXPECT_EQ(record("req-1").request, other);
    EXPECT_FALSE(record("req-1").outcome);
    EXPECT_EQ(record("req-1").plans.size(), 1U);
    EXPECT_EQ(wait(journal_->unfinished()).value().size(), 1U);
    ASSERT_TRUE(wait(journal_->finish(id, Outcome{OutcomeKind::failed, "again", noon(6)})));
    EXPECT_EQ(record("req-1").outcome->reason, "again");
}

TEST_P(JournalTest, UnfinishedStoriesAndFinishedCullsAreSeparateAndInOrder) {
    for (const char* const id : {"c", "a", "b", "d", "no-victims"}) admit(request(id));
    // The victim of `a` went by itself.
    for (const auto& [id, step] : {std::pair{"d", Step::delete_sent}, {"a", Step::vanished}})
        wait(journal_->add_step(RequestId{id}, StepEntry{ServerId{"v"}, step, "", noon(0)}))
            .value();
    wait(journal_->finish(RequestId{"no-victims"}, Outcome{OutcomeKind::not_enough, "", noon(1)}))
        .value();
    wait(journal_->finish(RequestId{"d"}, Outcome{OutcomeKind::freed, "", noon(1)})).value();
    wait(journal_->finish(RequestId{"a"}, Outcome{OutcomeKind::freed, "", noon(2)})).value();
    EXPECT_THAT(ids(wait(journal_->unfinished()).value()), testing::ElementsAre("c", "b"));
    EXPECT_THAT(ids(wait(journal_->culls_since(noon(1))).value()), testing::ElementsAre("d", "a"));
    EXPECT_THAT(ids(wait(journal_->culls_since(noon(2))).value()), testing::ElementsAre("a"));
    EXPECT_THAT(ids(wait(journal_->culls_between(noon(1), noon(2))).value()),
                testing::ElementsAre("d"));
}

TEST_P(JournalTest, TheListIsNewestFirstAndCountsVictims) {
    for (const char* const id : {"a", "b", "c"}) admit(request(id));
    const auto step = [&](const std::string& server, Step kind) {
        wait(journal_->add_step(RequestId{"b"}, StepEntry{ServerId{server}, kind, "", noon()}))
            .value();
    };
    step("v1", Step::delete_sent);
    step("v1", Step::force_delete_sent);
    step("v2", Step::delete_sent);
    step("v3", Step::skipped);
    const auto lines = wait(journal_->list(2)).value();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].request.id, RequestId{"c"});
    EXPECT_EQ(lines[0].victims, 0);
    EXPECT_EQ(lines[1].request, request("b"));
    EXPECT_EQ(lines[1].victims, 2);
    EXPECT_TRUE(wait(journal_->list(-1)).value().empty());
}

TEST_P(JournalTest, MessagesAreKeptNewestFirst) {
    for (int i = 0; i < 3; ++i)
        wait(journal_->note_message({"m" + std::to_string(i), "compute_task.x", RequestId{"r"},
                                     "ignored", "why", noon(i)}))
            .value();
    const auto messages = wait(journal_->find_messages({.limit = 2})).value();
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_EQ(messages[0].message_id, "m2");
    EXPECT_EQ(messages[0].event_type, "compute_task.x");
    EXPECT_EQ(messages[0].request, RequestId{"r"});
    EXPECT_EQ(messages[0].verdict, "ignored");
    EXPECT_EQ(messages[0].at, noon(2));
}

TEST_P(JournalTest, UnknownRequestsAreErrorsOrNothing) {
    EXPECT_FALSE(wait(journal_->record(RequestId{"none"})).value());
    const PlanEntry entry{1, noon(), plan("none")};
    const auto added = wait(journal_->add_plan(RequestId{"none"}, entry));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, Errc::storage);
    EXPECT_THAT(added.error().what, HasSubstr("no request none"));
}

TEST_P(JournalTest, HostileWordsAreOnlyWords) {
    const std::string hostile =
        std::string{"'); DROP TABLE request; --\"\0\x1b[2J", 30} + "\xff\xfe\n";
    Request bad = request(hostile);
    bad.excluded_hosts[hostile] = hostile;
    ASSERT_TRUE(admit(bad).first);
    EXPECT_FALSE(admit(bad).first);
    EXPECT_TRUE(admit(request(hostile + "x")).first);
    Plan worse = plan(hostile);
    worse.hosts[0].victims[0].name = hostile;
    const PlanEntry entry{1, noon(), worse};
    ASSERT_TRUE(wait(journal_->add_plan(bad.id, entry)));
    ASSERT_TRUE(wait(
        journal_->add_step(bad.id, StepEntry{ServerId{hostile}, Step::failed, hostile, noon()})));
    open();
    const RequestRecord read = record(hostile);
    EXPECT_EQ(read.request.id, bad.id);
    EXPECT_EQ(read.steps[0].server.str(), hostile);
    EXPECT_EQ(read.steps[0].detail, hostile);
    EXPECT_EQ(std::get<Plan>(read.plans[0].decision).request, bad.id);
}

TEST_P(JournalTest, OldFinishedStoriesAndMessagesGoUnfinishedOnesStay) {
    open(JournalOptions{std::chrono::days{90}, 0});
    const auto days = [](int n) { return noon(n * 86'400); };
    admit(request("old"), days(0));
    wait(journal_->add_step(RequestId{"old"},
                            StepEntry{ServerId{"v"}, Step::delete_sent, "", days(0)}))
        .value();
    wait(journal_->finish(RequestId{"old"}, Outcome{OutcomeKind::freed, "", days(0)})).value();
    admit(request("waiting"), days(0));
    wait(journal_->note_message({"m", "e", RequestId{}, "ignored", "", days(0)})).value();
    admit(request("later"), days(89));
    EXPECT_TRUE(wait(journal_->record(RequestId{"old"})).value());
    admit(request("latest"), days(91));
    EXPECT_FALSE(wait(journal_->record(RequestId{"old"})).value());
    EXPECT_TRUE(wait(journal_->record(RequestId{"waiting"})).value());
    EXPECT_TRUE(wait(journal_->find_messages({.limit = 10})).value().empty());
}

TEST_P(JournalTest, AFloodOfRequestsWithoutVictimsIsForgottenBeforeItFillsTheDisk) {
    JournalOptions options{std::chrono::days{90}, 0};
    options.max_rows = 10;
    open(options);
    const auto name = [](int n) { return "r" + std::to_string(n); };
    for (int n = 0; n < 20; ++n) {
        admit(request(name(n)), noon(n));
        if (n == 3)
            wait(journal_->add_step(RequestId{name(n)},
                                    StepEntry{ServerId{"v"}, Step::delete_sent, "", noon(n)}))
                .value();
        if (n == 4) continue;  // still served
        wait(journal_->finish(RequestId{name(n)}, Outcome{OutcomeKind::not_enough, "", noon(n)}))
            .value();
    }
    admit(request("next-day"), noon(2 * 86'400));
    EXPECT_FALSE(wait(journal_->record(RequestId{name(5)})).value());
    EXPECT_TRUE(wait(journal_->record(RequestId{name(3)})).value())
        << "a server was deleted for it";
    EXPECT_TRUE(wait(journal_->record(RequestId{name(4)})).value()) << "it has no outcome yet";
    EXPECT_TRUE(wait(journal_->record(RequestId{name(19)})).value());
    EXPECT_EQ(wait(journal_->list(100)).value().size(), 13U) << "ten, those two, the last";
}

/// A user may write thousands of servers into the hints of a request.
TEST_P(JournalTest, AFloodOfLargeRequestsIsForgottenBeforeItFillsTheDisk) {
    JournalOptions options{std::chrono::days{90}, 5};
    options.max_bytes = 1 << 20;
    open(options);
    const auto name = [](int n) { return "r" + std::to_string(n); };
    Request large = request("r");
    for (int n = 0; n < 1'000; ++n)
        large.placement.apart_from.emplace("00000000-0000-0000-0000-00000000" +
                                           std::to_string(1'000 + n));
    for (int n = 0; n < 300; ++n) {
        large.id = RequestId{name(n)};
        admit(large, noon(n));
        wait(journal_->finish(large.id, Outcome{OutcomeKind::not_enough, "", noon(n)})).value();
    }
    admit(request("next-day"), noon(2 * 86'400));
    const auto kept = wait(journal_->list(1'000)).value().size();
    EXPECT_LT(kept, 300U);
    EXPECT_GE(kept, 6U);
    for (int n = 296; n < 300; ++n) EXPECT_TRUE(wait(journal_->record(RequestId{name(n)})).value());
    EXPECT_FALSE(wait(journal_->record(RequestId{name(0)})).value());
}

TEST_P(JournalTest, ALargeJournalIsMeasuredSomeRowsAtATime) {
    JournalOptions options{std::chrono::days{90}, 5};
    options.max_bytes = 250 * 10'000;
    open(options);
    const auto name = [](int n) { return "r" + std::to_string(n); };
    for (int n = 0; n < 500; ++n) {
        admit(request(name(n)), noon(n));
        const Outcome outcome{OutcomeKind::not_enough, "", noon(n)};
        wait(journal_->finish(RequestId{name(n)}, outcome)).value();
    }
    home_->execute("UPDATE request SET request = replace(request, '\"slots\"', '" +
                   std::string(9'000, ' ') + "\"slots\"')");
    for (int n = 0; n < 9; ++n) admit(request("next-day" + std::to_string(n)), noon(2 * 86'400));
    EXPECT_EQ(wait(journal_->list(1'000)).value().size(), 209U);
}

TEST_P(JournalTest, WhatIsTooOldGoesSomeRowsAtATime) {
    open(JournalOptions{std::chrono::days{90}, 0});
    admit(request("waiting"), noon());
    std::string requests = "INSERT INTO request (id, request, received_at, outcome, finished_at) ";
    std::string notes = "INSERT INTO event (kind, reason, at) ";
    for (int n = 0; n < 1'200; ++n) {
        const std::string name = (n == 0 ? "VALUES ('r" : ", ('r") + std::to_string(n) + "', ";
        requests += name + "'{}', 1, 'freed', " + std::to_string(n) + ")";
        notes += name + "'', " + std::to_string(n) + ")";
    }
    home_->execute(requests);
    home_->execute(notes);
    const auto is_there = [this](int n) {
        const auto found = wait(journal_->record(RequestId{"r" + std::to_string(n)}));
        return !found || found->has_value();  // what it says is no request
    };
    for (const int gone : {500, 1'000, 1'200}) {
        admit(request("before " + std::to_string(gone) + " are gone"), noon(86'400));
        EXPECT_FALSE(is_there(gone - 1));
        EXPECT_EQ(is_there(gone), gone < 1'200);
        EXPECT_EQ(static_cast<int>(wait(journal_->events(2'000)).value().size()), 1'200 - gone);
    }
    EXPECT_TRUE(wait(journal_->record(RequestId{"waiting"})).value());
}

TEST_P(JournalTest, WhatIsTooOldGoesAlsoIfWhatIsTooLargeDoesNot) {
    JournalOptions options{std::chrono::days{90}, 0};
    options.max_bytes = 1;
    open(options);
    admit(request("stuck"), noon());
    wait(journal_->finish(RequestId{"stuck"}, Outcome{OutcomeKind::freed, "", noon()})).value();
    wait(journal_->note_message({"m", "e", RequestId{}, "ignored", "", noon(-91 * 86'400)}))
        .value();
    home_->execute(GetParam() == Engine::sqlite
                       ? "CREATE TRIGGER stuck BEFORE DELETE ON request BEGIN "
                         "SELECT RAISE(ABORT, 'stuck'); END"
                       : "CREATE TRIGGER stuck BEFORE DELETE ON request FOR EACH ROW "
                         "SIGNAL SQLSTATE '45000'");
    admit(request("next-day"), noon(2 * 86'400));
    EXPECT_TRUE(wait(journal_->record(RequestId{"stuck"})).value());
    EXPECT_TRUE(wait(journal_->find_messages({.limit = 10})).value().empty());
}

TEST_P(JournalTest, ManyCallsAtOnceAllHappenInTheirOrder) {
    boost::asio::io_context loop;
    std::vector<std::future<Result<Admission>>> answers;
    for (int i = 0; i < 200; ++i)
        answers.push_back(boost::asio::co_spawn(
            loop, journal_->admit(request("req-" + std::to_string(i / 2)), noon(i)),
            boost::asio::use_future));
    loop.run();
    for (std::size_t i = 0; i < answers.size(); ++i)
        EXPECT_EQ(answers[i].get().value().first, i % 2 == 0) << i;
    const auto lines = wait(journal_->list(1000)).value();
    ASSERT_EQ(lines.size(), 100U);
    EXPECT_EQ(lines.front().request.id, RequestId{"req-99"});
}

/// Ours for so many calls.
class OwnedFor final : public Ownership {
public:
    explicit OwnedFor(int& calls) : calls_(calls) {}
    Result<void> check() override {
        if (calls_-- > 0) return {};
        return Error{Errc::conflict, "another reaper has taken its lease"};
    }
    Result<void> read_back(std::int64_t, const ServerId&) override { return {}; }

private:
    int& calls_;
};

TEST(LongRead, LooksAfterTheLeaseBeforeEachRecord) {
    auto database =
        std::make_unique<SqliteDatabase>(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(make_tables(*database, "memory"));
    int calls = 3;
    Store store{"memory", std::move(database), std::make_unique<OwnedFor>(calls), JournalOptions{}};
    for (const char* const id : {"req-1", "req-2", "req-3"})
        store.admit(request(id), noon()).value();
    EXPECT_EQ(store.unfinished().value().size(), 3U);
    EXPECT_EQ(calls, 0);
    calls = 1;
    EXPECT_EQ(store.unfinished().error().code, Errc::conflict) << "it was lost meanwhile";
}

/// A database that can't be reached, so often.
class Unreachable final : public Ownership {
public:
    explicit Unreachable(int& left) : left_(left) {}
    Result<void> check() override {
        if (left_ == 0) return {};
        --left_;
        throw DatabaseFailure{2002, "no connection", "", true};
    }
    Result<void> read_back(std::int64_t, const ServerId&) override { return {}; }

private:
    int& left_;
};

TEST(UnreachableJournal, IsTriedOnceByTheCallsThatWaitBehindOneThatGaveUp) {
    auto database =
        std::make_unique<SqliteDatabase>(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(make_tables(*database, "memory"));
    JournalOptions options;
    options.retry_for = std::chrono::milliseconds{200};
    constexpr int many = 1'000;
    int left = many;
    StoredJournal journal{std::make_unique<Store>("memory", std::move(database),
                                                  std::make_unique<Unreachable>(left), options)};
    EXPECT_FALSE(wait(journal.holds()));
    EXPECT_LT(left, many - 1) << "it was tried again";
    left = many;
    EXPECT_FALSE(wait(journal.holds()));
    EXPECT_EQ(left, many - 1);
    left = 0;
    EXPECT_TRUE(wait(journal.holds()));
    left = 1;
    EXPECT_TRUE(wait(journal.holds())) << "it is tried again from then on";
}

TEST(MemoryJournal, KeepsEverythingForItsLife) {
    auto journal = open_journal(":memory:").value();
    EXPECT_TRUE(wait(journal->admit(request("r"), noon())).value().first);
    EXPECT_FALSE(wait(journal->admit(request("r"), noon())).value().first);
    auto another = open_journal(":memory:").value();
    EXPECT_TRUE(wait(another->admit(request("r"), noon())).value().first);
    EXPECT_FALSE(std::filesystem::exists(":memory:"));
}

}  // namespace
}  // namespace reaper::journal::test::journal_test
