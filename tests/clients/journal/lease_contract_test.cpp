// Who may write a journal that several reapers have: the contract of MariaDB's, and of the one in
// memory that the fault schedules use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/journal/mariadb_lease.hpp"
#include "clients/journal/mariadb_schema.hpp"
#include "clients/journal/mariadb_switch.hpp"
#include "fakes/fake_journal.hpp"
#include "fakes/fake_switch.hpp"
#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test::lease_contract_test {
namespace {

using reaper::test::FakeJournal;
using reaper::test::FakeRows;
using reaper::test::FakeSwitch;
using testing::AllOf;
using testing::HasSubstr;

struct SharedHome {
    virtual ~SharedHome() = default;
    virtual Result<std::unique_ptr<Journal>> open(const std::string& holder) = 0;
    /// As when it was not renewed for its time.
    virtual void end_lease() = 0;
    virtual Switch& pause() = 0;
};

class InMariadb final : public SharedHome {
public:
    InMariadb() {
        if (!migrate_mariadb_journal(address_, false)) throw std::runtime_error("no tables");
        pause_ = make_shared_switch(address_, std::make_unique<FakeSwitch>(), SwitchUse::once);
    }
    Result<std::unique_ptr<Journal>> open(const std::string& holder) override {
        return open_mariadb_journal(address_, holder);
    }
    void end_lease() override {
        MariadbServer::shared().execute("UPDATE lease SET ends_at = 0", address_.database);
    }
    Switch& pause() override { return *pause_; }
    /// `ends_at` from now on, in milliseconds.
    void set_end(std::int64_t from_now) {
        MariadbServer::shared().execute(
            "UPDATE lease SET ends_at = " MARIADB_NOW " + " + std::to_string(from_now),
            address_.database);
    }
    std::int64_t ends_in() {
        return reader_.ask_number("SELECT ends_at - " MARIADB_NOW " FROM lease");
    }

private:
    MariadbAddress address_ = MariadbServer::shared().new_database();
    MariadbDatabase reader_{address_, MariadbDatabase::Use::reading};
    std::unique_ptr<Switch> pause_;
};

class InMemory final : public SharedHome {
public:
    Result<std::unique_ptr<Journal>> open(const std::string& holder) override {
        auto journal = std::make_unique<FakeJournal>(rows_);
        const auto taken = journal->take_lease(
            holder, [this] { return now_; }, &pause_);
        if (!taken) return taken.error();
        return std::unique_ptr<Journal>{std::move(journal)};
    }
    void end_lease() override { now_ += FakeJournal::lease_lasts; }
    Switch& pause() override { return pause_; }

private:
    std::shared_ptr<FakeRows> rows_ = std::make_shared<FakeRows>();
    TimePoint now_ = noon();
    FakeSwitch pause_;
};

class Lease : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (!GetParam())
            home = std::make_unique<InMemory>();
        else if (mariadb_installed())
            home = std::make_unique<InMariadb>();
        else
            GTEST_SKIP() << no_mariadb;
    }
    std::unique_ptr<Journal> open(const std::string& holder) { return home->open(holder).value(); }
    std::string why_not() {
        const auto opened = home->open("second");
        return opened ? "" : opened.error().what;
    }
    static Result<void> step(Journal& journal, Step kind) {
        return wait(journal.add_step(RequestId{"req-1"},
                                     StepEntry{ServerId{"victim-1"}, kind, "", noon(1)}));
    }
    std::unique_ptr<SharedHome> home;
};

TEST_P(Lease, HasOneWriterUntilItLeaves) {
    auto first = open("controller-1");
    EXPECT_THAT(why_not(), AllOf(HasSubstr("another reaper (controller-1) writes to it"),
                                 HasSubstr("its lease ends in 1")));
    first.reset();
    EXPECT_EQ(why_not(), "");
}

TEST_P(Lease, ThatAnotherHasLetsNothingBeWritten) {
    auto frozen = open("frozen");
    wait(frozen->admit(request("req-1"), noon())).value();
    wait(frozen->add_plan(RequestId{"req-1"}, PlanEntry{0, noon(), plan("req-1")})).value();
    home->end_lease();
    auto active = open("controller-2");
    const auto refused = step(*frozen, Step::delete_sent);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_THAT(refused.error().what,
                AllOf(HasSubstr("another reaper (controller-2) has taken its lease"),
                      HasSubstr("deletes nothing")));
    EXPECT_FALSE(wait(frozen->note_event({"paused", "", noon()})));
    EXPECT_FALSE(wait(frozen->admit(request("req-1"), noon()))) << "though it is known";
    EXPECT_FALSE(wait(frozen->admit(request("req-2"), noon())));
    EXPECT_TRUE(wait(active->record(RequestId{"req-1"})).value()->steps.empty());
    EXPECT_TRUE(step(*active, Step::delete_sent));
    frozen.reset();
    EXPECT_THAT(why_not(), HasSubstr("controller-2")) << "what it gives back is not its own";
}

TEST_P(Lease, ThatHasEndedIsRenewedByAWriteUnlessAnotherHasIt) {
    auto first = open("first");
    home->end_lease();
    wait(first->admit(request("req-1"), noon())).value();
    EXPECT_THAT(why_not(), HasSubstr("another reaper (first) writes to it"));
}

TEST_P(Lease, ThatIsPausedLetsNoDeletionBeWritten) {
    auto journal = open("active");
    wait(journal->admit(request("req-1"), noon())).value();
    ASSERT_TRUE(home->pause().pause("alice", "upgrade"));
    for (const Step kind : {Step::delete_sent, Step::force_delete_sent}) {
        const auto refused = step(*journal, kind);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Errc::storage) << "the lease is ours still";
        EXPECT_THAT(refused.error().what, HasSubstr("paused by alice"));
    }
    EXPECT_TRUE(step(*journal, Step::gone)) << "what happened is written";
    EXPECT_EQ(wait(journal->record(RequestId{"req-1"})).value()->steps.size(), 1U);
    ASSERT_TRUE(home->pause().resume());
    EXPECT_TRUE(step(*journal, Step::delete_sent));
}

TEST(LeaseInMariadb, IsRenewedThoughTransactionsAreRolledBack) {
    if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
    InMariadb home;
    const auto journal = home.open("first").value();
    home.end_lease();
    const auto hangs = std::chrono::steady_clock::now() + std::chrono::minutes{2};
    while (home.ends_in() < 0 && std::chrono::steady_clock::now() < hangs)
        EXPECT_FALSE(wait(journal->finish(RequestId{"none"}, Outcome{})));
    EXPECT_GT(home.ends_in(), 0);
}

TEST(LeaseInMariadb, OfAClockThatWasAheadEndsSoon) {
    if (!mariadb_installed()) GTEST_SKIP() << no_mariadb;
    InMariadb home;
    const auto journal = home.open("first").value();
    home.set_end(30'000);
    wait(journal->admit(request("req-1"), noon())).value();
    EXPECT_GT(home.ends_in(), 15'000) << "its longest end";
    home.set_end(3'600'000);
    const auto second = home.open("second");
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().what, HasSubstr("synchronise the clocks of the database nodes"));
    wait(journal->admit(request("req-2"), noon())).value();
    EXPECT_LE(home.ends_in(), 60'000);
}

TEST(LeaseInMemory, LastsAsLongAsInMariadb) {
    EXPECT_EQ(FakeJournal::lease_lasts, lease_lasts);
}

INSTANTIATE_TEST_SUITE_P(On, Lease, testing::Bool(),
                         [](const auto& each) { return each.param ? "MariaDB" : "Memory"; });

}  // namespace
}  // namespace reaper::journal::test::lease_contract_test
