// Reservations in few words, for tests.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "reaper/reservations/reservation_balance.hpp"
#include "reaper/reservations/reservation_order.hpp"

namespace reaper::testing {

inline const HostId reserved_host{"0f2a0c6e-3f59-4a44-8f53-9b9f5a2f6d01"};

inline Role role(const std::string& path) {
    auto parsed = Role::parse(path);
    EXPECT_TRUE(parsed) << path;
    return parsed ? *parsed : Role{};
}

inline Resources cpus(Amount amount) {
    Resources resources;
    resources.set(ResourceClass{"VCPU"}, amount);
    return resources;
}

inline ReserveOrder reserve_order(const std::string& path, Resources resources,
                                  std::string principal = "ops") {
    ReserveOrder order;
    order.host = reserved_host;
    order.name.role = role(path);
    order.resources = std::move(resources);
    order.principal = std::move(principal);
    return order;
}

inline ReserveOrder refine_order(const std::string& from, const std::string& path,
                                 Resources resources) {
    ReserveOrder order = reserve_order(path, std::move(resources));
    order.refines = ReservationName{role(from)};
    return order;
}

inline UnreserveOrder unreserve_order(const std::string& path, Resources resources) {
    UnreserveOrder order;
    order.host = reserved_host;
    order.name.role = role(path);
    order.resources = std::move(resources);
    return order;
}

/// What all reservations of the role ask for together.
inline Resources asked_for(const HostReservations& reservations, const std::string& path) {
    Resources sum;
    for (const auto& [id, reservation] : reservations)
        if (reservation.identity.role == role(path)) sum += reservation.asked;
    return sum;
}

/// Each holds what it is to hold next, and what is free changes with it.
inline void take_next(const HostReservations& reservations, HostUse& use) {
    const auto balances = balance_of(reservations, use);
    for (const auto& [id, held] : use.held)
        if (!reservations.contains(id)) use.free += held;
    std::map<ReservationId, Resources> held;
    for (const auto& [id, balance] : balances) {
        use.free += balance.held - balance.next;
        if (!balance.next.empty()) held[id] = balance.next;
    }
    use.held = std::move(held);
}

}  // namespace reaper::testing
