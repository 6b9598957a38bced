#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "reaper/reservations/reservation.hpp"

namespace reaper::reservation_acl_test {
namespace {

using testing::role;

TEST(ReservationAclTest, WithoutARuleAllOrNothingIsAllowed) {
    ReservationAcl acl;
    EXPECT_TRUE(may_reserve(acl, "", role("a")));
    EXPECT_TRUE(may_unreserve(acl, "x", "y"));
    acl.permissive = false;
    EXPECT_FALSE(may_reserve(acl, "", role("a")));
    EXPECT_FALSE(may_unreserve(acl, "x", "y"));
}

TEST(ReservationAclTest, TheFirstRuleThatNamesThePrincipalDecides) {
    ReservationAcl acl;
    acl.permissive = false;
    acl.reserve = {{{"alice"}, {"eng", "eng/*"}}, {{"a*"}, {"*"}}, {{"bob"}, {}}};
    EXPECT_TRUE(may_reserve(acl, "alice", role("eng")));
    EXPECT_TRUE(may_reserve(acl, "alice", role("eng/backend/db")));
    EXPECT_FALSE(may_reserve(acl, "alice", role("engines")));
    EXPECT_FALSE(may_reserve(acl, "alice", role("ads")));
    EXPECT_TRUE(may_reserve(acl, "anna", role("ads")));
    EXPECT_FALSE(may_reserve(acl, "bob", role("ads")));
    EXPECT_FALSE(may_reserve(acl, "", role("ads")));
}

TEST(ReservationAclTest, UnreservingGoesByWhoReserved) {
    ReservationAcl acl;
    acl.unreserve = {{{"alice"}, {"alice", "bob"}}, {{"no-such"}, {}}};
    EXPECT_TRUE(may_unreserve(acl, "alice", "bob"));
    EXPECT_FALSE(may_unreserve(acl, "alice", "carol"));
    EXPECT_FALSE(may_unreserve(acl, "alice", ""));
    EXPECT_FALSE(may_unreserve(acl, "no-such", "no-such"));
    EXPECT_TRUE(may_unreserve(acl, "carol", "alice"));  // permissive
}

}  // namespace
}  // namespace reaper::reservation_acl_test
