#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/reservations/reservation_order.hpp"

namespace reaper::reservation_change_test {
namespace {

using namespace reaper::testing;

class ReservationChangeTest : public ::testing::Test {
protected:
    ReservationChangeTest() { use_.free = cpus(16); }

    /// The code of the refusal; none if it was done, and what follows from it too.
    std::optional<Errc> reserve(const ReserveOrder& order) {
        const auto done = reaper::reserve(reservations_, use_, order);
        why_ = done ? "" : done.error().what;
        if (done) take_next(reservations_, use_);
        return done ? std::nullopt : std::optional{done.error().code};
    }
    std::optional<Errc> unreserve(const UnreserveOrder& order) {
        const auto done = reaper::unreserve(reservations_, use_, order);
        why_ = done ? "" : done.error().what;
        if (done) take_next(reservations_, use_);
        return done ? std::nullopt : std::optional{done.error().code};
    }
    Resources asked_by(const std::string& principal) const {
        Resources sum;
        for (const auto& [id, each] : reservations_)
            if (each.identity.principal == principal) sum += each.asked;
        return sum;
    }
    Resources asked(const std::string& path) const { return asked_for(reservations_, path); }

    HostReservations reservations_;
    HostUse use_;
    std::string why_;
};

TEST_F(ReservationChangeTest, TheSameRoleAndLabelsAreOne) {
    EXPECT_EQ(reserve(reserve_order("ads", cpus(4))), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("ads", cpus(2))), std::nullopt);
    EXPECT_EQ(reservations_.size(), 1U);
    EXPECT_EQ(asked("ads"), cpus(6));
    EXPECT_EQ(use_.free, cpus(10));
    ReserveOrder labelled = reserve_order("ads", cpus(1));
    labelled.name.labels["why"] = "peak";
    EXPECT_EQ(reserve(labelled), std::nullopt);
    EXPECT_EQ(reservations_.size(), 2U);
}

TEST_F(ReservationChangeTest, MoreThanIsUnreservedIsRefused) {
    EXPECT_EQ(reserve(reserve_order("ads", cpus(12))), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(5))), Errc::conflict);
    EXPECT_EQ(why_, "the host lacks 1 VCPU of unreserved room");
    EXPECT_EQ(asked("eng"), Resources{});
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4))), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", Resources{{"VGPU", 1}})), Errc::conflict);
}

TEST_F(ReservationChangeTest, OversubscribedRoomIsNotReserved) {
    use_.free += Resources{{"CUSTOM_REVOCABLE_VCPU", 8}};
    EXPECT_EQ(reserve(reserve_order("eng", Resources{{"CUSTOM_REVOCABLE_VCPU", 1}})),
              Errc::bad_input);
    EXPECT_EQ(why_,
              "CUSTOM_REVOCABLE_VCPU is oversubscribed room, which goes when it is needed, and "
              "can't be reserved: reserve VCPU");
    EXPECT_TRUE(reservations_.empty());
    use_.free += Resources{{"CUSTOM_GPU", 1}};
    EXPECT_EQ(reserve(reserve_order("eng", Resources{{"CUSTOM_GPU", 1}})), std::nullopt);
}

TEST_F(ReservationChangeTest, WhatIsOwedToOthersIsNotUnreserved) {
    EXPECT_EQ(reserve(reserve_order("ads", cpus(16))), std::nullopt);
    // A part of it is lent, and the tenant leaves: the room is theirs before any other's.
    use_.held.begin()->second = cpus(10);
    use_.free = cpus(6);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(1))), Errc::conflict);
}

TEST_F(ReservationChangeTest, ServersOfTheRoleThatRunThereCount) {
    use_.free = cpus(2);
    use_.by_role[role("eng/backend")] = cpus(6);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8))), std::nullopt);
    EXPECT_EQ(use_.free, Resources{});
    EXPECT_EQ(reserve(reserve_order("eng", cpus(1))), Errc::conflict);
}

TEST_F(ReservationChangeTest, RefinedRoomReturnsToItsPreviousOwner) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(12))), std::nullopt);
    EXPECT_EQ(reserve(refine_order("eng", "eng/backend/db", cpus(8))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(4));
    EXPECT_EQ(asked("eng/backend/db"), cpus(8));
    EXPECT_EQ(use_.free, cpus(4));
    EXPECT_EQ(unreserve(unreserve_order("eng/backend/db", cpus(3))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(7));
    EXPECT_EQ(unreserve(unreserve_order("eng/backend/db", cpus(5))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(12));
    EXPECT_EQ(reservations_.size(), 1U);
    EXPECT_EQ(use_.free, cpus(4));
}

TEST_F(ReservationChangeTest, AllOfItMayBeRefinedAndComesBack) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8))), std::nullopt);
    EXPECT_EQ(reserve(refine_order("eng", "eng/a", cpus(8))), std::nullopt);
    EXPECT_EQ(reserve(refine_order("eng/a", "eng/a/b", cpus(8))), std::nullopt);
    EXPECT_EQ(reservations_.size(), 3U);  // those above stay, to have it back
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(1))), Errc::conflict);
    EXPECT_EQ(unreserve(unreserve_order("eng/a/b", cpus(8))), std::nullopt);
    EXPECT_EQ(asked("eng/a"), cpus(8));
    EXPECT_EQ(unreserve(unreserve_order("eng/a", cpus(8))), std::nullopt);
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(8))), std::nullopt);
    EXPECT_TRUE(reservations_.empty());
    EXPECT_EQ(use_.free, cpus(16));
}

TEST_F(ReservationChangeTest, OnlyWhatIsBelowRefines) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8))), std::nullopt);
    EXPECT_EQ(reserve(refine_order("eng", "ads", cpus(1))), Errc::bad_input);
    EXPECT_EQ(reserve(refine_order("eng", "eng", cpus(1))), Errc::bad_input);
    EXPECT_EQ(reserve(refine_order("ads", "ads/x", cpus(1))), Errc::not_found);
    EXPECT_EQ(reserve(refine_order("eng", "eng/x", cpus(9))), Errc::conflict);
}

TEST_F(ReservationChangeTest, WhatIsUsedIsNeitherRefinedNorUnreserved) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8))), std::nullopt);
    use_.held.begin()->second = cpus(2);  // as after a claim
    use_.by_role[role("eng")] = cpus(6);
    EXPECT_EQ(reserve(refine_order("eng", "eng/x", cpus(3))), Errc::conflict);
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(3))), Errc::conflict);
    EXPECT_EQ(why_, "of what is to be unreserved, 1 VCPU are not idle; its servers use 6 VCPU");
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(2))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(6));
}

TEST_F(ReservationChangeTest, WhatIsLentIsUnreservedOnlyIfAskedFor) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8))), std::nullopt);
    use_.held.begin()->second = cpus(3);
    use_.free = {};
    use_.revocable = cpus(5);
    UnreserveOrder order = unreserve_order("eng", cpus(4));
    EXPECT_EQ(unreserve(order), Errc::conflict);
    EXPECT_EQ(why_, "of what is to be unreserved, 1 VCPU are not idle; lent are 5 VCPU");
    order.lent_too = true;
    EXPECT_EQ(unreserve(order), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(4));
}

TEST_F(ReservationChangeTest, WhatIsIdleGoesBeforeWhatIsLent) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8), "alice")), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(8), "bob")), std::nullopt);
    for (auto& [id, held] : use_.held)
        if (reservations_.at(id).identity.principal == "alice") held = cpus(3);
    use_.free = {};
    use_.revocable = cpus(5);
    UnreserveOrder order = unreserve_order("eng", cpus(11));
    EXPECT_TRUE(lent_of(reservations_, use_, order).empty()) << "3 and 8 are idle";
    order.resources = cpus(13);
    const auto lent = lent_of(reservations_, use_, order);
    ASSERT_EQ(lent.size(), 1U);
    EXPECT_EQ(lent.begin()->second, cpus(2)) << "and no more of the 5";
    order.principals = {"bob"};
    EXPECT_TRUE(lent_of(reservations_, use_, order).empty()) << "alice's tenants are not his";
}

TEST_F(ReservationChangeTest, PrincipalsUnreserveWhatIsTheirs) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "alice")), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "bob")), std::nullopt);
    UnreserveOrder order = unreserve_order("eng", cpus(5));
    order.principals = std::set<std::string>{"alice"};
    EXPECT_EQ(unreserve(order), Errc::conflict);
    order.resources = cpus(4);
    EXPECT_EQ(unreserve(order), std::nullopt);
    EXPECT_EQ(unreserve(order), Errc::not_found);
    EXPECT_EQ(asked("eng"), cpus(4));
}

TEST_F(ReservationChangeTest, OnesOwnIsUnreservedFirst) {
    for (const char* const other : {"alice", "carol", "dave", "eve"}) {
        EXPECT_EQ(reserve(reserve_order("eng", cpus(2), other)), std::nullopt);
    }
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "bob")), std::nullopt);
    UnreserveOrder order = unreserve_order("eng", cpus(3));
    order.own = "bob";
    EXPECT_EQ(unreserve(order), std::nullopt);
    EXPECT_EQ(asked_by("bob"), cpus(1));
    order.resources = cpus(2);
    EXPECT_EQ(unreserve(order), std::nullopt);
    EXPECT_EQ(asked_by("bob"), Resources{});
    EXPECT_EQ(asked("eng"), cpus(7));
}

TEST_F(ReservationChangeTest, AnOrderSaysWhoseIsUnreserved) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "alice")), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "bob")), std::nullopt);
    UnreserveOrder order = unreserve_order("eng", cpus(5));
    order.own = "bob";
    order.reserver = "alice";
    EXPECT_EQ(unreserve(order), Errc::conflict) << "no more than she has";
    order.resources = cpus(3);
    EXPECT_EQ(unreserve(order), std::nullopt);
    EXPECT_EQ(asked_by("alice"), cpus(1));
    EXPECT_EQ(asked_by("bob"), cpus(4));
    order.reserver = "carol";
    EXPECT_EQ(unreserve(order), Errc::not_found);
    EXPECT_THAT(why_, ::testing::HasSubstr("by principal 'carol'"));
}

TEST_F(ReservationChangeTest, WhatSeveralReservedIsRefinedTogether) {
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "alice")), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "bob")), std::nullopt);
    EXPECT_EQ(reserve(refine_order("eng", "eng/db", cpus(9))), Errc::conflict);
    EXPECT_EQ(reserve(refine_order("eng", "eng/db", cpus(6))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(2));
    EXPECT_EQ(asked("eng/db"), cpus(6));
    EXPECT_EQ(unreserve(unreserve_order("eng/db", cpus(6))), std::nullopt);
    EXPECT_EQ(asked_by("alice"), cpus(4));
    EXPECT_EQ(asked_by("bob"), cpus(4));
}

TEST_F(ReservationChangeTest, WhatSeveralReservedIsLentAlike) {
    ReserveOrder first = reserve_order("eng", cpus(4), "alice");
    first.lending = LendingPolicy{true, cpus(1), {}};
    EXPECT_EQ(reserve(first), std::nullopt);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(4), "bob")), std::nullopt);
    for (const auto& [id, each] : reservations_) EXPECT_TRUE(each.lending.lend);
    ReserveOrder more = reserve_order("eng", cpus(1), "bob");
    more.lending = LendingPolicy{true, cpus(7), {}};
    EXPECT_EQ(reserve(more), std::nullopt) << why_;
    Resources floor;
    for (const auto& [id, each] : reservations_) floor += each.lending.floor;
    EXPECT_EQ(floor, cpus(7));
    more.lending = LendingPolicy{true, cpus(11), {}};
    EXPECT_EQ(reserve(more), Errc::bad_input);
}

TEST_F(ReservationChangeTest, NothingIsNoOrder) {
    EXPECT_EQ(reserve(reserve_order("eng", {})), Errc::bad_input);
    EXPECT_EQ(reserve(reserve_order("eng", cpus(-1))), Errc::bad_input);
    EXPECT_EQ(unreserve(unreserve_order("eng", {})), Errc::bad_input);
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(1))), Errc::not_found);
}

// ---- the configuration's ----

std::map<ReservationId, Reservation> configured(const std::string& path, Amount amount) {
    Reservation wanted;
    wanted.identity.host = reserved_host;
    wanted.identity.role = role(path);
    wanted.identity.from_config = true;
    wanted.asked = cpus(amount);
    std::map<ReservationId, Reservation> all;
    all.emplace(reservation_id(wanted.identity), std::move(wanted));
    return all;
}

TEST_F(ReservationChangeTest, WhatIsInTheConfigurationIsChangedThere) {
    EXPECT_EQ(configure(reservations_, configured("eng", 8)).size(), 1U);
    EXPECT_EQ(asked("eng"), cpus(8));
    EXPECT_TRUE(configure(reservations_, configured("eng", 8)).empty());
    take_next(reservations_, use_);
    EXPECT_EQ(unreserve(unreserve_order("eng", cpus(1))), Errc::conflict);
    EXPECT_EQ(why_, "the reservation for role eng is in the configuration: change it there");
    EXPECT_EQ(configure(reservations_, configured("eng", 5)).size(), 1U);
    EXPECT_EQ(asked("eng"), cpus(5));
    configure(reservations_, {});
    EXPECT_TRUE(reservations_.empty());
}

TEST_F(ReservationChangeTest, WhatWasRefinedIsOfTheConfiguration) {
    configure(reservations_, configured("eng", 8));
    take_next(reservations_, use_);
    EXPECT_EQ(reserve(refine_order("eng", "eng/x", cpus(6))), std::nullopt);
    EXPECT_TRUE(configure(reservations_, configured("eng", 8)).empty());
    EXPECT_EQ(asked("eng"), cpus(2));
    configure(reservations_, configured("eng", 4));
    EXPECT_EQ(asked("eng"), Resources{});
    EXPECT_EQ(asked("eng/x"), cpus(6));
    configure(reservations_, configured("eng", 8));
    EXPECT_EQ(asked("eng"), cpus(2));
    EXPECT_EQ(unreserve(unreserve_order("eng/x", cpus(6))), std::nullopt);
    EXPECT_EQ(asked("eng"), cpus(8));
}

// ---- any order of orders ----

TEST(ReservationChangeProperties, RoomIsNeitherMadeNorLost) {
    holds("what is reserved and what is free is all that there is", [] {
        static const std::vector<std::string> roles{"a", "a/b", "a/b/c", "d"};
        HostReservations reservations;
        HostUse use;
        const Amount all = 10 + upto(20);
        use.free = cpus(all);
        for (int step = 0; step < 12; ++step) {
            const std::string path = roles[static_cast<std::size_t>(upto(3))];
            const Resources amount = cpus(1 + upto(6));
            const HostReservations before = reservations;
            const std::string above = upto(1) == 0 ? "a" : "a/b";
            const int what = upto(2);
            const auto done = what == 0 ? reserve(reservations, use, reserve_order(path, amount))
                              : what == 1
                                  ? reserve(reservations, use, refine_order(above, path, amount))
                                  : unreserve(reservations, use, unreserve_order(path, amount));
            if (!done) {
                RC_ASSERT(reservations == before);
                continue;
            }
            Resources changed;
            for (const auto& [id, delta] : *done) changed += delta;
            const Resources expected = what == 0 ? amount : what == 1 ? Resources{} : changed;
            RC_ASSERT(changed == expected);
            take_next(reservations, use);
            Resources held = use.free, asked = use.free;
            for (const auto& [id, each] : use.held) held += each;
            for (const auto& [id, each] : reservations) {
                RC_ASSERT(!each.asked.any_negative());
                asked += each.asked;
                const auto& above_id = each.identity.refines;
                RC_ASSERT(above_id.empty() || reservations.contains(above_id));
            }
            RC_ASSERT(held == cpus(all));
            RC_ASSERT(asked == cpus(all));
        }
    });
}

TEST_F(ReservationChangeTest, RefinedRoomIsLentAsTheOneAboveUnlessTheOrderSaysOtherwise) {
    ReserveOrder above = reserve_order("eng", cpus(8));
    above.lending = LendingPolicy{true, cpus(2), std::chrono::minutes{30}};
    ASSERT_EQ(reserve(above), std::nullopt);
    ReserveOrder refined = refine_order("eng", "eng/db", cpus(4));
    refined.by_default = LendingPolicy{false, {}, std::chrono::minutes{5}};
    ASSERT_EQ(reserve(refined), std::nullopt) << why_;
    ReserveOrder own = refine_order("eng", "eng/web", cpus(2));
    own.lending = LendingPolicy{};
    ASSERT_EQ(reserve(own), std::nullopt) << why_;
    for (const auto& [id, reservation] : reservations_)
        EXPECT_EQ(reservation.lending,
                  reservation.identity.role == role("eng/web") ? LendingPolicy{} : *above.lending)
            << reservation.identity.role.str();
    // What is known already stays as it is.
    refined.resources = cpus(1);
    ASSERT_EQ(reserve(refined), std::nullopt) << why_;
    for (const auto& [id, reservation] : reservations_)
        if (reservation.identity.role == role("eng/db")) {
            EXPECT_EQ(reservation.lending, *above.lending);
        }
}

TEST_F(ReservationChangeTest, AFloorAboveWhatIsReservedIsRefused) {
    ReserveOrder order = reserve_order("eng", cpus(2));
    order.lending = LendingPolicy{true, cpus(3), {}};
    EXPECT_EQ(reserve(order), Errc::bad_input);
    order.lending->floor = cpus(2);
    EXPECT_EQ(reserve(order), std::nullopt) << why_;
    order.lending->floor = cpus(4);
    EXPECT_EQ(reserve(order), std::nullopt) << why_ << ": 4 in all";
}

TEST(ReservationReturns, APartOfWhatReturnsToSeveralIsNotGivenUpByChance) {
    HostReservations reservations;
    HostUse use;
    use.free = cpus(16);
    ASSERT_TRUE(reserve(reservations, use, reserve_order("eng", cpus(6))));
    take_next(reservations, use);
    ASSERT_TRUE(reserve(reservations, use, refine_order("eng", "eng/web", cpus(4))));
    ASSERT_TRUE(reserve(reservations, use, reserve_order("eng/web", cpus(3))));
    take_next(reservations, use);
    UnreserveOrder order = unreserve_order("eng/web", cpus(2));
    const auto refused = unreserve(reservations, use, order);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::conflict);
    EXPECT_EQ(refused.error().what,
              "the reservation for role eng/web was taken from role eng and from unreserved room: "
              "say which it returns to (refines)");
    order.refines = ReservationName{role("eng")};
    ASSERT_TRUE(unreserve(reservations, use, order));
    EXPECT_EQ(asked_for(reservations, "eng"), cpus(4));
    order.refines.reset();
    order.unrefined = true;
    ASSERT_TRUE(unreserve(reservations, use, order));
    EXPECT_EQ(asked_for(reservations, "eng"), cpus(4));
    EXPECT_EQ(asked_for(reservations, "eng/web"), cpus(3));
    order.refines = ReservationName{role("ads")};
    order.unrefined = false;
    EXPECT_EQ(unreserve(reservations, use, order).error().code, Errc::not_found);
    ASSERT_TRUE(unreserve(reservations, use, unreserve_order("eng/web", cpus(3)))) << "all of it";
    EXPECT_EQ(asked_for(reservations, "eng"), cpus(6));
}

}  // namespace
}  // namespace reaper::reservation_change_test
