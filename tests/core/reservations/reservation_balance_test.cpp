#include "reaper/reservations/reservation_balance.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::reservation_balance_test {
namespace {

using namespace reaper::testing;

/// One reservation for each of these roles, of so many VCPU; their ids in the same order.
std::vector<ReservationId> reserved(HostReservations& reservations,
                                    const std::vector<std::pair<std::string, Amount>>& roles) {
    std::vector<ReservationId> ids;
    for (const auto& [path, amount] : roles) {
        Reservation made;
        made.identity.host = reserved_host;
        made.identity.role = role(path);
        made.asked = cpus(amount);
        ids.push_back(reservation_id(made.identity));
        reservations[ids.back()] = std::move(made);
    }
    return ids;
}

TEST(ReservationBalanceTest, ItHoldsWhatItsServersDoNotUse) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 8}});
    HostUse use;
    use.free = cpus(20);
    use.by_role[role("eng")] = cpus(3);
    use.by_role[role("ads")] = cpus(4);
    const auto balance = balance_of(reservations, use).at(ids[0]);
    EXPECT_EQ(balance.used, cpus(3));
    EXPECT_EQ(balance.next, cpus(5));
    EXPECT_EQ(balance.owed, cpus(5));  // until it holds them
    EXPECT_TRUE(balance.lent.empty());
}

TEST(ReservationBalanceTest, WhatIsHeldBeyondItIsReleased) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 8}});
    HostUse use;
    use.held[ids[0]] = cpus(8);
    use.by_role[role("eng")] = cpus(3);
    const auto balance = balance_of(reservations, use).at(ids[0]);
    EXPECT_EQ(balance.next, cpus(5));
    EXPECT_TRUE(balance.missing().empty());
}

TEST(ReservationBalanceTest, ServersUseWhatIsNearestToTheirRole) {
    HostReservations reservations;
    const auto ids =
        reserved(reservations, {{"eng", 4}, {"eng/backend", 4}, {"eng/backend/db", 4}});
    HostUse use;
    use.by_role[role("eng/backend")] = cpus(6);
    use.by_role[role("eng/frontend")] = cpus(1);
    const auto balances = balance_of(reservations, use);
    EXPECT_EQ(balances.at(ids[0]).used, cpus(3));  // 2 of backend's, 1 of frontend's
    EXPECT_EQ(balances.at(ids[1]).used, cpus(4));
    EXPECT_TRUE(balances.at(ids[2]).used.empty());
}

TEST(ReservationBalanceTest, ItGrowsIntoFreeRoomAlone) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 8}});
    HostUse use;
    use.free = cpus(2);
    use.revocable = cpus(5);
    const auto balance = balance_of(reservations, use).at(ids[0]);
    EXPECT_EQ(balance.next, cpus(2));
    EXPECT_EQ(balance.lent, cpus(5));
    EXPECT_EQ(balance.owed, cpus(3));
    use.free = cpus(-3);
    EXPECT_TRUE(balance_of(reservations, use).at(ids[0]).next.empty());
}

TEST(ReservationBalanceTest, WhatOneReleasesAnotherTakesInTheSameStep) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 2}, {"ads", 6}});
    HostUse use;
    use.held[ids[0]] = cpus(8);
    const auto balances = balance_of(reservations, use);
    EXPECT_EQ(balances.at(ids[0]).next, cpus(2));
    EXPECT_EQ(balances.at(ids[1]).next, cpus(6));
}

TEST(ReservationBalanceTest, LendableIsIdleHeldAndAboveTheFloor) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 8}});
    Reservation& reservation = reservations.at(ids[0]);
    HostUse use;
    use.held[ids[0]] = cpus(6);
    use.by_role[role("eng")] = cpus(2);
    const auto balance = balance_of(reservations, use).at(ids[0]);
    EXPECT_TRUE(lendable(reservation, balance).empty());  // it is not to be lent
    reservation.lending.lend = true;
    EXPECT_EQ(lendable(reservation, balance), cpus(6));
    reservation.lending.floor = cpus(4);
    EXPECT_EQ(lendable(reservation, balance), cpus(2));
    reservation.lending.floor = cpus(7);
    EXPECT_TRUE(lendable(reservation, balance).empty());
}

TEST(ReservationBalanceTest, WhatIsMissingIsLentAsFarAsItIsNotFree) {
    HostReservations reservations;
    const auto ids = reserved(reservations, {{"eng", 8}});
    HostUse use;
    use.held[ids[0]] = cpus(2);
    use.revocable = cpus(5);
    EXPECT_EQ(balance_of(reservations, use).at(ids[0]).lent, cpus(5));
    EXPECT_EQ(balance_of(reservations, use).at(ids[0]).owed, cpus(1));
    use.free = cpus(2);
    EXPECT_EQ(balance_of(reservations, use).at(ids[0]).lent, cpus(4)) << "2 are about to be taken";
    EXPECT_EQ(balance_of(reservations, use).at(ids[0]).owed, cpus(2));
    use.free = {};
    use.waiting = cpus(4);
    EXPECT_EQ(balance_of(reservations, use).at(ids[0]).lent, cpus(2)) << "4 are left for others";
    EXPECT_TRUE(balance_of(reservations, use).at(ids[0]).next == cpus(2));
}

/// A host, and what is on it: everything fits, as in Placement.
struct Drawn {
    HostReservations reservations;
    HostUse use;
    Amount capacity = 0;
    Amount occupied = 0;
};

Drawn drawn() {
    static const std::vector<std::string> roles{"a", "a/b", "a/b/c", "a/d", "e"};
    Drawn made;
    made.capacity = 10 + upto(40);
    Amount left = made.capacity;
    const auto some = [&](int most) {
        const Amount amount = std::min<Amount>(upto(most), left);
        left -= amount;
        return amount;
    };
    std::vector<std::pair<std::string, Amount>> wanted;
    for (const auto& each : roles)
        if (upto(1) == 1) wanted.emplace_back(each, upto(12));
    for (const auto& id : reserved(made.reservations, wanted))
        if (const Amount held = some(10); held > 0) made.use.held[id] = cpus(held);
    for (const auto& each : roles)
        if (const Amount held = some(5); held > 0) made.use.by_role[role(each)] = cpus(held);
    made.use.revocable = cpus(some(8));
    made.occupied = some(6);
    made.use.free = cpus(left);
    return made;
}

Amount of(const Resources& resources) {
    return resources.get(ResourceClass{"VCPU"});
}

TEST(ReservationBalanceTest, AlwaysAddsUp) {
    holds("it adds up, and never takes what is not free", [] {
        Drawn host = drawn();
        const auto balances = balance_of(host.reservations, host.use);
        Amount held = 0, next = 0, lent = 0;
        for (const auto& [id, balance] : balances) {
            const Amount asked = of(host.reservations.at(id).asked);
            RC_ASSERT(of(balance.used) >= 0 && of(balance.used) <= asked);
            RC_ASSERT(of(balance.used) + of(balance.next) <= asked);
            const Amount idle_held = std::min(of(balance.held), asked - of(balance.used));
            RC_ASSERT(of(balance.used) + idle_held + of(balance.missing()) == asked);
            RC_ASSERT(of(balance.lent) >= 0 && of(balance.owed) >= 0);
            held += of(balance.held);
            next += of(balance.next);
            lent += of(balance.lent);
        }
        RC_ASSERT(next <= held + of(host.use.free));
        RC_ASSERT(lent <= of(host.use.revocable));
        Amount servers = 0, used = 0;
        for (const auto& [name, amounts] : host.use.by_role) servers += of(amounts);
        for (const auto& each : balances) used += of(each.second.used);
        RC_ASSERT(used <= servers);
    });
}

TEST(ReservationBalanceTest, AsMuchIsUsedAsCanBe) {
    // Against every way to share: with one class and amounts in a tree of roles, the most that can
    // be used below each role is bounded by its servers and by its reservations.
    holds("used is the most", [] {
        const Drawn host = drawn();
        const auto balances = balance_of(host.reservations, host.use);
        Amount used = 0;
        for (const auto& each : balances) used += of(each.second.used);
        // The least cut: a set of roles, closed towards the top, whose servers are counted in full
        // elsewhere; small enough to be tried one by one.
        std::vector<Role> roles;
        for (const auto& each : host.use.by_role) roles.push_back(each.first);
        Amount least = 1'000'000;
        for (std::size_t cut = 0; cut < (std::size_t{1} << roles.size()); ++cut) {
            Amount sum = 0;
            for (std::size_t i = 0; i < roles.size(); ++i)
                if ((cut >> i & 1) != 0) sum += of(host.use.by_role.at(roles[i]));
            for (const auto& [id, reservation] : host.reservations) {
                bool reached = false;
                for (std::size_t i = 0; i < roles.size(); ++i)
                    reached = reached || ((cut >> i & 1) == 0 &&
                                          reservation.identity.role.is_open_to(roles[i]));
                if (reached) sum += of(reservation.asked);
            }
            least = std::min(least, sum);
        }
        RC_ASSERT(used == least);
    });
}

TEST(ReservationBalanceTest, TwoStepsAreEnough) {
    holds("what it is to hold next is what it holds then", [] {
        Drawn host = drawn();
        take_next(host.reservations, host.use);
        RC_ASSERT(!host.use.free.any_negative());
        const auto before = host.use.held;
        take_next(host.reservations, host.use);
        RC_ASSERT(host.use.held == before);
    });
}

}  // namespace
}  // namespace reaper::reservation_balance_test
