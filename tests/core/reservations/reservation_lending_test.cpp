// Borrowers of reserved room, and how the ledger accounts for them.
#include "reaper/reservations/reservation_lending.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/reservation_builder.hpp"
#include "reaper/planner/planner.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper::reservation_lending_test {
namespace {

using namespace reaper::testing;

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

const ResourceClass vcpu{"VCPU"};

/// A host of 8 CPUs.
class ReservationLendingTest : public ::testing::Test {
protected:
    ReservationLendingTest() {
        host.id = reserved_host;
        host.name = host.service_host = "host1";
        host.up = host.enabled = true;
        Provider root;
        root.id = reserved_host;
        root.inventories[vcpu].total = 8;
        root.inventories[vcpu].max_unit = 8;
        host.providers.push_back(root);
    }
    void add(const std::string& id, const std::string& project, Amount amount, bool revocable,
             minutes came = minutes{0}) {
        Server server;
        server.id = ServerId{id};
        server.name = id;
        server.project = ProjectId{project};
        server.host = "host1";
        server.status = "ACTIVE";
        server.created = TimePoint{came};
        server.allocations = Allocations{{reserved_host, cpus(amount)}};
        if (revocable) server.revocable_because = SharedText{"tag"};
        host.servers.push_back(std::move(server));
        host.providers.front().used += cpus(amount);
    }
    ReservationId reserve_for(const std::string& path, Amount amount, Amount holds) {
        Reservation reservation;
        reservation.identity.host = reserved_host;
        reservation.identity.role = role(path);
        reservation.asked = cpus(amount);
        reservation.lending.lend = true;
        const ReservationId id = reservation_id(reservation.identity);
        reservations.emplace(id, reservation);
        if (holds > 0) {
            held[id] = {{reserved_host, cpus(holds)}};
            host.providers.front().used += cpus(holds);
            host.providers.front().other_consumers[ServerId{id.str()}] = cpus(holds);
        }
        return id;
    }
    /// Releases all that reservations hold.
    void release_all() {
        for (const auto& each : held) host.providers.front().used -= each.second.at(reserved_host);
        host.providers.front().other_consumers.clear();
        held.clear();
    }
    HostUse use() const {
        return use_of(
            host, held,
            [](const ProjectId& project) -> std::optional<Role> {
                auto parsed = Role::parse(project.str());
                return parsed && project != ProjectId{"spot"} ? std::optional{*parsed}
                                                              : std::nullopt;
            },
            ledger);
    }
    ReservedRoom::OnHost room() const {
        return reserved_room(host, reservations, balance_of(reservations, use()), ledger);
    }
    Request request(const std::string& path, Amount amount, const std::string& id = "req-1") const {
        Request wanted;
        wanted.id = RequestId{id};
        wanted.project = ProjectId{path.empty() ? "no-such" : path};
        wanted.resources = cpus(amount);
        if (!path.empty()) wanted.role = role(path);
        return wanted;
    }
    /// What is decided for it, as the ledger has it.
    Decision decide(const Request& wanted) {
        ledger.reserve(host.id, room());
        ledger.admit(wanted);
        Snapshot snapshot;
        snapshot.hosts = {host};
        const auto strategy = make_strategy("strict");
        return make_plan(wanted, snapshot, ledger, *strategy, "strict", PlanOptions{});
    }
    std::vector<std::string> victims(const Request& wanted) {
        const Decision decision = decide(wanted);
        std::vector<std::string> names;
        if (const auto* const plan = std::get_if<Plan>(&decision))
            for (const Victim& victim : plan->victims()) names.push_back(victim.server.str());
        return names;
    }
    bool refused(const Request& wanted) {
        return std::holds_alternative<NotEnough>(decide(wanted));
    }

    Host host;
    HostReservations reservations;
    ReservedAllocations held;
    Ledger ledger;
};

TEST(RequestOfALoan, TellsItsReservation) {
    const ReservationId reservation{"35e4833d-0000-5000-8000-833d5cb2b44b"};
    const RequestId request = loan_request_id(reservation, TimePoint{}, 3);
    EXPECT_EQ(reservation_of_loan(request), reservation);
    EXPECT_EQ(reservation_of_loan(RequestId{"req-" + reservation.str()}), std::nullopt);
    EXPECT_EQ(reservation_of_loan(RequestId{"loan-1"}), std::nullopt);
}

TEST_F(ReservationLendingTest, TenantsAreThoseWhoCameLast) {
    add("old", "spot", 2, true, minutes{1});
    add("young", "spot", 2, true, minutes{3});
    add("middle", "spot", 2, true, minutes{2});
    reserve_for("eng", 4, 1);
    host.providers.front().inventories[vcpu].total = 7;
    EXPECT_THAT(room().tenants, UnorderedElementsAre(std::pair{ServerId{"young"}, role("eng")},
                                                     std::pair{ServerId{"middle"}, role("eng")}));
    EXPECT_THAT(room().missing, IsEmpty());
}

TEST_F(ReservationLendingTest, AServerInDeletionIsNoTenant) {
    add("a", "spot", 8, true);
    reserve_for("eng", 8, 0);
    EXPECT_THAT(room().tenants, SizeIs(1));
    host.servers.front().task_state = "deleting";
    EXPECT_THAT(room().tenants, IsEmpty());
    ASSERT_THAT(room().missing, SizeIs(1));
    EXPECT_EQ(room().missing.front().amounts, cpus(8));
}

// The lender's request evicts its tenants, and no more of them than it needs.
TEST_F(ReservationLendingTest, TenantsGoForTheirLender) {
    for (const char* const name : {"a", "b", "c", "d"}) add(name, "spot", 2, true);
    reserve_for("eng", 8, 0);
    EXPECT_THAT(victims(request("eng", 4)), SizeIs(2));
    EXPECT_THAT(victims(request("eng/backend", 2)), SizeIs(1));
}

TEST_F(ReservationLendingTest, AndForNoOtherRequest) {
    for (const char* const name : {"a", "b", "c", "d"}) add(name, "spot", 2, true);
    reserve_for("eng", 8, 0);
    EXPECT_TRUE(refused(request("ads", 2)));
    EXPECT_TRUE(refused(request("", 2)));
}

TEST_F(ReservationLendingTest, OtherRevocableServersGoForAllRequests) {
    add("tenant", "spot", 4, true, minutes{2});
    add("other", "spot", 4, true, minutes{1});
    reserve_for("eng", 4, 0);
    EXPECT_THAT(victims(request("", 4)), ElementsAre("other"));
    EXPECT_TRUE(refused(request("", 8)));
    EXPECT_THAT(victims(request("eng", 8)), SizeIs(2));
}

// Room that comes free belongs to the reservation that lacks it before it belongs to others.
TEST_F(ReservationLendingTest, OwedRoomIsForNoOtherRequest) {
    add("regular", "no-such", 4, false);
    add("spot", "spot", 4, true);
    reserve_for("eng", 8, 0);
    host.servers.back().task_state = "deleting";
    EXPECT_TRUE(refused(request("", 4))) << "what it frees is owed";
    const Decision own = decide(request("eng", 4));
    EXPECT_TRUE(std::holds_alternative<Plan>(own) || std::holds_alternative<NothingToDo>(own));
}

TEST_F(ReservationLendingTest, TheRoomOfATenantThatLeavesIsOwed) {
    add("tenant", "spot", 2, true, minutes{2});
    add("other", "spot", 2, true, minutes{1});
    add("regular", "no-such", 2, false);
    reserve_for("eng", 4, 2);
    host.servers.front().task_state = "deleting";
    EXPECT_THAT(room().tenants, IsEmpty()) << "no server takes its place";
    EXPECT_THAT(victims(request("", 2)), ElementsAre("other"));
}

// What others have of one reservation is not taken from what another one holds for its own role.
TEST_F(ReservationLendingTest, WhatOneLacksIsNotTakenFromAnother) {
    add("stranger", "no-such", 4, false);
    reserve_for("ads", 4, 0);
    reserve_for("eng", 4, 4);
    release_all();
    // The room that eng released for its own request, which exists by now.
    ReservedRoom::OnHost owed = room();
    for (auto& missing : owed.missing) missing.free = {};
    ledger.reserve(host.id, owed);
    Request own = request("eng", 4);
    ledger.admit(own);
    EXPECT_EQ(ledger.promised_to_others(host.id, own.id), Resources{});
    const Request no_role = request("", 4, "req-2");
    ledger.admit(no_role);
    EXPECT_EQ(ledger.promised_to_others(host.id, no_role.id), cpus(8));
}

// Between two plans nothing is promised to a request; what it freed is still its own.
TEST_F(ReservationLendingTest, WhatARequestFreesIsNotOwedToAReservation) {
    add("tenant", "spot", 4, true, minutes{2});
    add("other", "spot", 4, true, minutes{1});
    reserve_for("eng", 4, 0);
    const Request wanted = request("", 4);
    const Decision decision = decide(wanted);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    ledger.enter(wanted, std::get<Plan>(decision), TimePoint{});
    ledger.release_promises(wanted.id);
    EXPECT_THAT(room().missing, IsEmpty());
    EXPECT_THAT(room().tenants, SizeIs(1));
    EXPECT_THAT(victims(wanted), IsEmpty()) << "it has what it needs";
}

TEST_F(ReservationLendingTest, ATenantThatMovedStaysOneUntilTheLedgerIsUpdated) {
    add("tenant", "spot", 8, true);
    ReservedRoom::OnHost elsewhere;
    elsewhere.tenants[ServerId{"tenant"}] = role("eng");
    ledger.reserve(HostId{"elsewhere"}, elsewhere);
    EXPECT_TRUE(refused(request("", 2)));
    ledger.reserve(HostId{"elsewhere"}, {});
    EXPECT_THAT(victims(request("", 2)), ElementsAre("tenant"));
}

TEST_F(ReservationLendingTest, ATenantOfTwoHostsIsOneWhereItCameLast) {
    ReservedRoom::OnHost room;
    room.tenants[ServerId{"tenant"}] = role("eng");
    ledger.reserve(HostId{"a"}, room);
    ledger.reserve(HostId{"b"}, room);
    ledger.reserve(HostId{"a"}, {});
    EXPECT_NE(ledger.reserved().lender_of(ServerId{"tenant"}), nullptr);
    ledger.reserve(HostId{"b"}, {});
    EXPECT_EQ(ledger.reserved().lender_of(ServerId{"tenant"}), nullptr);
}

// Mesos: T1 launches a normal task while revocable ones terminate. What terminates counts once.
TEST_F(ReservationLendingTest, OverEvicting1) {
    for (const char* const name : {"a", "b", "c", "d"}) add(name, "spot", 2, true);
    reserve_for("eng", 8, 0);
    host.servers[0].task_state = "deleting";  // its user deletes it
    EXPECT_THAT(victims(request("eng", 4)), SizeIs(1)) << "one goes by itself";
}

// Mesos: a normal task is launched while another one's evictions are under way. The second evicts
// only what it lacks itself.
TEST_F(ReservationLendingTest, OverEvicting2) {
    for (const char* const name : {"a", "b", "c", "d"}) add(name, "spot", 2, true);
    reserve_for("eng", 8, 0);
    const Request first = request("eng", 4, "req-1");
    const Decision decision = decide(first);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    ledger.enter(first, std::get<Plan>(decision), TimePoint{});
    const Request second = request("eng", 4, "req-2");
    const auto more = victims(second);
    EXPECT_THAT(more, SizeIs(2));
    for (const Victim& victim : std::get<Plan>(decision).victims())
        EXPECT_THAT(more, ::testing::Not(::testing::Contains(victim.server.str())));
    // Both have all of it: what is owed and what is promised is the same room.
    ledger.enter(second, std::get<Plan>(decide(second)), TimePoint{});
    ledger.reserve(host.id, room());
    EXPECT_TRUE(ledger.promised_to_others(host.id, RequestId{"req-3"}) == cpus(8))
        << to_string(ledger.promised_to_others(host.id, RequestId{"req-3"}));
    EXPECT_TRUE(refused(request("eng", 2, "req-3")));
}

TEST_F(ReservationLendingTest, WhatComesForALenderIsNotLent) {
    add("tenant", "spot", 4, true, minutes{2});
    add("other", "spot", 4, true, minutes{1});
    reserve_for("eng", 4, 0);
    const Request lender = request("eng", 4, "req-1");
    const Decision decision = decide(lender);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    ASSERT_THAT(std::get<Plan>(decision).victims(), SizeIs(1));
    ledger.enter(lender, std::get<Plan>(decision), TimePoint{});
    EXPECT_THAT(room().tenants, IsEmpty()) << "the one that stays is not a tenant";
    EXPECT_THAT(victims(request("", 4, "req-2")), SizeIs(1));
}

// Mesos: a revocable task is launched while evictions are under way that are for another one. Room
// that is there for it is not withheld.
TEST_F(ReservationLendingTest, UnnecessaryReject) {
    for (const char* const name : {"a", "b", "c"}) add(name, "spot", 2, true);
    const ReservationId id = reserve_for("eng", 8, 2);
    const Request lender = request("eng", 4, "req-1");
    const Decision decision = decide(lender);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    ledger.enter(lender, std::get<Plan>(decision), TimePoint{});
    Request tenant = request("", 2, "req-2");
    EXPECT_TRUE(refused(tenant));
    // What it holds is idle, and lent.
    release_all();
    EXPECT_TRUE(refused(tenant)) << "to no other request";
    tenant.lent_by = {id};
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(decide(tenant)));
    tenant.resources = cpus(4);
    EXPECT_FALSE(std::holds_alternative<NothingToDo>(decide(tenant)))
        << "the rest is promised to the lender";
}

TEST_F(ReservationLendingTest, WhatIsPromisedToALenderIsNotOwedBesides) {
    add("a", "spot", 4, true);
    add("regular", "no-such", 4, false);
    reserve_for("eng", 4, 0);
    const Request lender = request("eng", 4, "req-1");
    ledger.enter(lender, std::get<Plan>(decide(lender)), TimePoint{});
    // The other half of the host comes free: for all servers, and not for the reservation.
    host.servers.pop_back();
    host.providers.front().used -= cpus(4);
    EXPECT_TRUE(balance_of(reservations, use()).begin()->second.next.empty());
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(decide(request("", 4, "req-2"))));
}

TEST(CalmTimeTest, GrowsWithEachEvictionAndIsForgotten) {
    CalmTime calm;
    const Duration first = minutes{10};
    EXPECT_TRUE(calm.over(Duration{hours{1}}));
    calm.disturbed(hours{1}, first, true);
    EXPECT_EQ(calm.until(), Duration{hours{1} + minutes{10}});
    calm.disturbed(hours{1} + minutes{10}, first, true);
    EXPECT_EQ(calm.until(), Duration{hours{1} + minutes{30}});
    calm.disturbed(hours{1} + minutes{20}, first, false);
    EXPECT_EQ(calm.until(), Duration{hours{1} + minutes{40}}) << "more of the same";
    for (int i = 0; i < 20; ++i) calm.disturbed(calm.until(), first, true);
    const Duration longest = calm.until();
    calm.disturbed(longest, first, true);
    EXPECT_EQ(calm.until() - longest, Duration{minutes{640}});
    calm.disturbed(calm.until() + hours{24}, first, true);
    EXPECT_EQ(calm.until(), longest + minutes{640} + hours{24} + first);
}

}  // namespace
}  // namespace reaper::reservation_lending_test
