// Borrowers, and what the journal gets of loans and debts.
#include "reaper/reservations/host_loans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/reservation_builder.hpp"

namespace reaper::host_loans_test {
namespace {

using namespace reaper::testing;
using std::chrono::seconds;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class HostLoansTest : public ::testing::Test {
protected:
    void add(const std::string& id, bool as_revocable = true) {
        put(host_, as_revocable ? revocable(id, host_.id, cpus(2)) : server(id, host_.id, cpus(2)));
    }
    /// What the journal gets.
    std::string lent(Amount amount, bool waits = false) {
        const auto news = loans_.news_of_loans(host_, cpus(amount), waits);
        if (news) events_.insert(events_.begin(), {lent_kind, *news, at(++now_)});
        return news.value_or("");
    }
    std::string taken(Amount amount) {
        const auto news =
            loans_.news_of_debt(host_, reservation_, cpus(amount),
                                [](const ProjectId&) { return std::optional<Role>{}; });
        if (news) events_.insert(events_.begin(), {debt_kind, *news, at(++now_)});
        return news.value_or("");
    }
    /// Another process, with the same journal. By default both clocks show the same.
    void begin(long shown = 200) {
        loans_ = {};
        HostReservations reservations{{reservation_id(reservation_.identity), reservation_}};
        loans_.recall(host_.id, reservations, loan_events(events_), at(shown), seconds{200});
    }

    Host host_ = host("host1", cpus(16));
    Reservation reservation_{{host_.id, role("eng")}, cpus(8)};
    HostLoans loans_;
    std::vector<JournalEvent> events_;
    long now_ = 0;
};

TEST_F(HostLoansTest, WhoCameForALoanBorrowed) {
    add("old");
    add("young");
    add("regular", false);
    loans_.note_arrivals(host_, {ServerId{"old"}}, seconds{10});
    EXPECT_TRUE(loans_.had_by(ServerId{"young"}, seconds{10}));
    EXPECT_FALSE(loans_.had_by(ServerId{"young"}, seconds{9}));
    EXPECT_FALSE(loans_.had_by(ServerId{"old"}, seconds{99}));
    EXPECT_FALSE(loans_.had_by(ServerId{"regular"}, seconds{99}));
    loans_.note_arrivals(host_, {}, seconds{20});
    EXPECT_TRUE(loans_.had_by(ServerId{"young"}, seconds{10})) << "since the first time";
}

TEST_F(HostLoansTest, WhatIsLentAndToWhomIsReportedOnce) {
    EXPECT_EQ(lent(0), "");
    add("tenant");
    loans_.note_arrivals(host_, {}, seconds{1});
    EXPECT_EQ(lent(2), "host1 (host1): 2 VCPU lent to tenant");
    EXPECT_EQ(lent(2), "");
    EXPECT_THAT(lent(0), EndsWith("nothing is lent"));
    EXPECT_FALSE(loans_.had_by(ServerId{"tenant"}, seconds{99})) << "it borrows no more";
    EXPECT_THAT(lent(2), HasSubstr("did not borrow"));
}

TEST_F(HostLoansTest, WhileABorrowerIsAwaitedNoOtherIsForgotten) {
    add("tenant");
    loans_.note_arrivals(host_, {}, seconds{1});
    lent(0, true);
    EXPECT_TRUE(loans_.had_by(ServerId{"tenant"}, seconds{99}));
    host_.servers.clear();
    lent(2);
    EXPECT_FALSE(loans_.had_by(ServerId{"tenant"}, seconds{99})) << "it is gone";
}

TEST_F(HostLoansTest, TheNextProcessKnowsSinceWhenTheyBorrow) {
    add("one");
    loans_.note_arrivals(host_, {}, seconds{0});
    lent(2);  // at 1
    add("two");
    loans_.note_arrivals(host_, {}, seconds{0});
    lent(4);  // at 2
    begin();
    EXPECT_TRUE(loans_.had_by(ServerId{"one"}, seconds{1}));
    EXPECT_FALSE(loans_.had_by(ServerId{"two"}, seconds{1}));
    EXPECT_TRUE(loans_.had_by(ServerId{"two"}, seconds{2}));
    EXPECT_EQ(lent(4), "") << "it was reported";
    lent(0);
    begin();
    EXPECT_FALSE(loans_.had_by(ServerId{"one"}, seconds{99}));
}

TEST_F(HostLoansTest, WhatTheJournalHasOfALaterTimeBeginsNow) {
    add("tenant");
    loans_.note_arrivals(host_, {}, seconds{0});
    lent(2);   // at 1
    begin(0);  // the wall clock was set back
    EXPECT_FALSE(loans_.had_by(ServerId{"tenant"}, seconds{199}));
    EXPECT_TRUE(loans_.had_by(ServerId{"tenant"}, seconds{200}));
}

TEST_F(HostLoansTest, TheHolderOfOwedRoomIsReportedWhenItStays) {
    add("stranger", false);
    EXPECT_EQ(taken(3), "") << "it may be over with the next reading";
    EXPECT_THAT(taken(2), EndsWith("(eng on host1): 2 VCPU are owed; held by server stranger of "
                                   "project project"));
    EXPECT_EQ(taken(2), "");
    begin();
    EXPECT_EQ(taken(2), "");
    EXPECT_EQ(taken(2), "") << "it was reported";
    EXPECT_THAT(taken(0), EndsWith("nothing is owed now"));
    EXPECT_EQ(taken(0), "");
    begin();
    EXPECT_EQ(taken(0), "");
    host_.servers.clear();
    taken(2);
    EXPECT_THAT(taken(2), EndsWith("the host has less than it had"));
}

}  // namespace
}  // namespace reaper::host_loans_test
