#include "reaper/reservations/reservation_allotment.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::reservation_allotment_test {
namespace {

using namespace reaper::testing;

const ResourceClass vcpu{"VCPU"};
const ReservationId one{"one"};
const ReservationId two{"two"};

/// A host of providers with so many VCPU, and so many of them in use.
Host host_of(const std::vector<std::pair<Amount, Amount>>& providers) {
    Host host;
    host.id = reserved_host;
    for (const auto& [total, used] : providers) {
        Provider provider;
        provider.id = host.providers.empty()
                          ? reserved_host
                          : ProviderId{"p" + std::to_string(host.providers.size())};
        provider.inventories[vcpu].total = total;
        provider.used = cpus(used);
        host.providers.push_back(std::move(provider));
    }
    return host;
}

TEST(ReservationAllotmentTest, ItGrowsWhereMostIsFree) {
    const Host host = host_of({{8, 6}, {8, 1}});
    const auto held = allot(host, {}, {{one, cpus(8)}});
    EXPECT_EQ(held.at(one), (Allocations{{reserved_host, cpus(1)}, {ProviderId{"p1"}, cpus(7)}}));
    EXPECT_EQ(allot(host, {}, {{one, cpus(99)}}).at(one).size(), 2U);  // no more than is free
}

TEST(ReservationAllotmentTest, UnitsOfTheInventoryHold) {
    Host host = host_of({{32, 0}});
    Inventory& inventory = host.providers[0].inventories[vcpu];
    inventory.step_size = 4;
    inventory.min_unit = 8;
    inventory.max_unit = 20;
    const auto holds = [&](Amount wanted) {
        const auto held = allot(host, {}, {{one, cpus(wanted)}}).at(one);
        return held.empty() ? 0 : held.at(reserved_host).get(vcpu);
    };
    EXPECT_EQ(holds(7), 0);
    EXPECT_EQ(holds(11), 8);
    EXPECT_EQ(holds(32), 20);
    const ReservedAllocations before{{one, {{reserved_host, cpus(16)}}}};
    EXPECT_EQ(allot(host, before, {{one, cpus(15)}}).at(one).at(reserved_host), cpus(12));
    EXPECT_TRUE(allot(host, before, {{one, cpus(7)}}).at(one).empty());
}

TEST(ReservationAllotmentTest, WhatOneReleasesAnotherTakes) {
    const Host host = host_of({{8, 8}});
    const ReservedAllocations before{{one, {{reserved_host, cpus(6)}}}};
    const auto after = allot(host, before, {{two, cpus(5)}});
    EXPECT_TRUE(after.at(one).empty());
    EXPECT_EQ(after.at(two).at(reserved_host), cpus(5));
}

TEST(ReservationAllotmentTest, UseTellsServersByRoleAndRevocableOnes) {
    Host host = host_of({{16, 11}});
    const auto add = [&](const char* project, Amount amount, bool revocable) {
        Server server;
        server.id = ServerId{"s" + std::to_string(host.servers.size())};
        server.project = ProjectId{project};
        server.allocations = Allocations{{reserved_host, cpus(amount)}};
        if (revocable) server.revocable_because = SharedText{"tag"};
        host.servers.push_back(std::move(server));
    };
    add("web", 2, false);
    add("web", 1, false);
    add("other", 1, false);
    add("web", 3, true);
    const auto role_of = [](const ProjectId& project) -> std::optional<Role> {
        if (project == ProjectId{"web"}) return role("eng/web");
        return std::nullopt;
    };
    Ledger ledger;
    Request request;
    request.id = RequestId{"req-1"};
    HostPlan promised;
    promised.host = host.id;
    promised.slot = cpus(2);
    promised.slots = 1;
    ledger.enter(request, std::vector<HostPlan>{promised}, TimePoint{});
    const auto use = use_of(host, {{one, {{reserved_host, cpus(4)}}}}, role_of, ledger);
    EXPECT_EQ(use.free, cpus(3));
    EXPECT_EQ(use.by_role, (std::map<Role, Resources>{{role("eng/web"), cpus(3)}}));
    EXPECT_EQ(use.revocable, cpus(3));
    EXPECT_EQ(use.held.at(one), cpus(4));
}

TEST(ReservationAllotmentTest, PlacementWouldTakeIt) {
    holds("no provider gives more than it has, nor in other units", [] {
        Host host = host_of({{4 + upto(12), 0}, {upto(12), 0}});
        ReservedAllocations held;
        for (Provider& provider : host.providers) {
            Inventory& inventory = provider.inventories[vcpu];
            inventory.step_size = 1 + upto(2);
            inventory.min_unit = 1 + upto(3);
            inventory.max_unit = 4 + upto(12);
            Amount used = upto(3);
            for (const ReservationId& id : {one, two}) {
                const Amount part = inventory.step_size * (inventory.min_unit + upto(1));
                if (upto(1) == 0 || !inventory.allows(part) || used + part > inventory.capacity())
                    continue;
                held[id][provider.id] = cpus(part);
                used += part;
            }
            provider.used = cpus(used);
        }
        const std::map<ReservationId, Resources> next{{one, cpus(upto(20))}, {two, cpus(upto(20))}};
        const auto after = allot(host, held, next);
        for (const Provider& provider : host.providers) {
            const Inventory& inventory = provider.inventories.at(vcpu);
            Amount used = provider.used.get(vcpu);
            for (const auto& [id, allocations] : held)
                if (const auto at = allocations.find(provider.id); at != allocations.end())
                    used -= at->second.get(vcpu);
            for (const auto& [id, allocations] : after)
                if (const auto at = allocations.find(provider.id); at != allocations.end()) {
                    RC_ASSERT(inventory.allows(at->second.get(vcpu)));
                    used += at->second.get(vcpu);
                }
            RC_ASSERT(used <= std::max(inventory.capacity(), provider.used.get(vcpu)));
        }
        for (const auto& [id, allocations] : after) {
            Resources sum;
            for (const auto& each : allocations) sum += each.second;
            RC_ASSERT(sum.fits_in(next.at(id)));
        }
    });
}

}  // namespace
}  // namespace reaper::reservation_allotment_test
