// How long room is lent, through a whole service: no server is deleted that did not borrow.
#include <gmock/gmock.h>

#include "app/lending_house.hpp"

namespace reaper::test::loan_ends_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class LoanEndsTest : public LendingHouse {};

TEST_F(LoanEndsTest, ALoanLastsNoLongerThanItMay) {
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    start_and_hold();
    borrow("old", "req-1");
    pass(minutes{20});
    borrow("young", "req-2");
    pass(minutes{20});
    EXPECT_FALSE(cloud.exists(uuid_of("old")));
    EXPECT_TRUE(cloud.exists(uuid_of("young")));
    EXPECT_EQ(held(), 2);
    EXPECT_EQ(lent(), 2);
    EXPECT_EQ(only().calm_for, Duration{0}) << "its role did not come";
    pass(minutes{20});
    EXPECT_EQ(held(), 4);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(LoanEndsTest, WhoElseIsThereStaysWhenALoanEnds) {
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    cloud.add_host("host3", small * 3);
    reserve("host3", 4);
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    auto& other = cloud.add_server(uuid_of("other"), "host3", "spot", small);
    other.record.server.created = clock.now() - minutes{120};
    start_and_hold("host3");
    pass(minutes{60});
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "it is no tenant";
}

TEST_F(LoanEndsTest, AReservationOnAFullHostDeletesNoServer) {
    cloud.add_host("host3", small * 3);
    for (const char* const name : {"one", "two", "three"})
        cloud.add_server(uuid_of(name), "host3", "spot", small).record.server.created =
            clock.now() - minutes{120};
    for (const bool lend : {false, true}) {
        reserve("host3", 4, lend);
        settings.reservations.static_ones.front().lending.longest = minutes{30};
        start_and_hold("host3");
        pass(minutes{90});
        EXPECT_EQ(cloud.count("DELETE"), 0U) << "no server borrowed";
        crash();
    }
}

TEST_F(LoanEndsTest, WhoDidNotBorrowStaysThoughOthersDid) {
    cloud.add_host("host3", small * 3);
    cloud.add_server(uuid_of("other"), "host3", "spot", small);
    cloud.add_server("at-host1", "host1", "regular", small * 2);
    reserve("host3", 4);
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    start_and_hold("host3");
    borrow("tenant", "req-1", "host3");
    EXPECT_EQ(lent(), 2);
    // The tenant goes, and a stranger is faster than the reservation.
    cloud.remove(uuid_of("tenant"));
    cloud.add_server(uuid_of("stranger"), "host3", "regular", small);
    tell_of(uuid_of("stranger"));
    tell_gone(uuid_of("tenant"), "host3");
    pass(minutes{90});
    EXPECT_EQ(lent(), 2) << "it is in the way";
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "it never borrowed";
}

TEST_F(LoanEndsTest, ALoanEndsInItsTimeThoughAnotherProcessBeganIt) {
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    start_and_hold();
    borrow("tenant", "req-1");
    pass(minutes{20});
    crash();
    start();
    pass(minutes{5});
    EXPECT_TRUE(cloud.exists(uuid_of("tenant")));
    pass(minutes{10});
    EXPECT_FALSE(cloud.exists(uuid_of("tenant")));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(LoanEndsTest, AClockThatIsSetForwardEndsNoLoan) {
    settings.reservations.static_ones.front().lending.longest = minutes{30};
    start_and_hold();
    borrow("tenant", "req-1");
    clock.step(hours{8});
    pass(minutes{20});
    EXPECT_TRUE(cloud.exists(uuid_of("tenant"))) << "it had its room for 20 minutes";
    clock.step(-hours{8});
    pass(minutes{15});
    EXPECT_FALSE(cloud.exists(uuid_of("tenant")));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

}  // namespace
}  // namespace reaper::test::loan_ends_test
