// What other clients change in Placement, and hosts that change.
#include "app/reservation_house.hpp"

namespace reaper::test::reservation_repair_test {
namespace {

using namespace reservation_house;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ReservationRepairTest : public ReservationHouse {
protected:
    Consumer& record() { return cloud.consumers.begin()->second; }
    /// What the reservations of the host hold at a provider.
    Amount held_at(const std::string& provider, const ResourceClass& name) {
        Amount sum = 0;
        for (const auto& [id, consumer] : cloud.consumers)
            if (const auto at = consumer.holds.find(ProviderId{provider});
                at != consumer.holds.end())
                sum += at->second.get(name);
        return sum;
    }
    /// A reading of the host alone finds a part of it gone; none of the whole cloud succeeds.
    void lose(const std::string& provider) {
        cloud.on_call = [provider](const std::string& call) -> std::optional<Error> {
            if (!call.ends_with(provider)) return std::nullopt;
            return Error{Errc::not_found, "placement: 404"};
        };
        EXPECT_TRUE(run_task(io, refresher->read_hosts({HostId{provider}}, HostDepth::state)));
        ASSERT_EQ(refresher->cache().find(HostId{provider}), nullptr);
        for (int i = 0; i < 3; ++i) {
            clock.advance(minutes{2});
            ASSERT_TRUE(run_task(io, controller->check()));
        }
    }
};

TEST_F(ReservationRepairTest, WhatAnotherClientDeletedIsReservedAgainAndReported) {
    ASSERT_EQ(give({reserving("eng", 6), reserving("ads", 2, "host2")}), std::nullopt) << why;
    cloud.consumers.clear();
    step();
    EXPECT_EQ(held(), 6) << "its host shows that it is gone";
    EXPECT_EQ(held("host2"), 2);
    ASSERT_THAT(events("reservation-repaired"), SizeIs(2));
    EXPECT_EQ(events("reservation-repaired")[0],
              "eng on host1: another client deleted it in Placement; it is reserved again");
}

TEST_F(ReservationRepairTest, NothingIsRepairedWhileAnotherReaperMayHaveTheJournal) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    journal_is_ours = false;
    cloud.consumers.clear();
    step();
    EXPECT_THAT(cloud.consumers, IsEmpty()) << "that one may have unreserved it";
    EXPECT_THAT(events("reservation-repaired"), IsEmpty());
    journal_is_ours = true;
    step();
    EXPECT_EQ(held(), 6);
    EXPECT_THAT(events("reservation-repaired"), SizeIs(1));
}

TEST_F(ReservationRepairTest, WhatTheHourlyReadingMissesIsReservedAgain) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    cloud.remove_host("host1");
    step();
    cloud.consumers.clear();
    clock.advance(minutes{60});
    step();
    ASSERT_THAT(cloud.consumers, SizeIs(1)) << "a host that is gone shows nothing by itself";
    EXPECT_EQ(only().reservation.asked, cpus(6));
    EXPECT_THAT(events("reservation-repaired"), SizeIs(1));
}

TEST_F(ReservationRepairTest, WhatIsGoneAfterARestartIsReportedAndNotTakenAgain) {
    ASSERT_EQ(give({reserving("eng", 6), reserving("ads", 2)}), std::nullopt) << why;
    ASSERT_EQ(give({unreserving("ads", 2)}), std::nullopt) << why;
    cloud.consumers.clear();
    begin();
    EXPECT_THAT(cloud.consumers, IsEmpty()) << "another reaper may have unreserved it";
    ASSERT_THAT(events("reservation-lost"), SizeIs(1));
    EXPECT_THAT(events("reservation-lost")[0],
                HasSubstr("6 VCPU of eng on host1 were reserved by principal 'ops'"));
    EXPECT_THAT(controller->remarks(), SizeIs(1));
    begin();
    EXPECT_THAT(events("reservation-lost"), SizeIs(1)) << "once";
}

TEST_F(ReservationRepairTest, ChangedAmountsAreReported) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    record().holds[HostId{cloud.provider_of("host1")}] = cpus(2);
    record().generation = 77;
    step();
    EXPECT_EQ(held(), 6);
    EXPECT_THAT(
        events("reservation-repaired"),
        ElementsAre("eng on host1: another client changed what it holds in Placement, from 6 "
                    "VCPU to 2 VCPU"));
}

TEST_F(ReservationRepairTest, WhatAnotherReaperOrderedIsNotOverwritten) {
    ASSERT_EQ(give({reserving("eng", 4)}), std::nullopt) << why;
    Reservation theirs = only().reservation;
    theirs.asked = cpus(8);
    theirs.lending.lend = true;
    Allocations holds;
    holds[HostId{cloud.provider_of("host1")}] = cpus(8);
    Consumer written = record_of(theirs, holds).value();
    written.generation = 5;
    record() = written;
    ASSERT_EQ(give({reserving("eng", 2)}), std::nullopt) << why;
    EXPECT_EQ(held(), 10);
    EXPECT_EQ(only().reservation.asked, cpus(10));
    EXPECT_TRUE(only().reservation.lending.lend);
    theirs.asked = cpus(3);
    holds[HostId{cloud.provider_of("host1")}] = cpus(3);
    written = record_of(theirs, holds).value();
    written.generation = 9;
    record() = written;
    step();
    EXPECT_EQ(held(), 3) << "nor in the background";
    EXPECT_THAT(events("reservation-repaired"), SizeIs(2));
}

TEST_F(ReservationRepairTest, TheConfigurationsChangesAreReported) {
    config::StaticReservation fixed;
    fixed.role = role("eng");
    fixed.hosts = {"host*"};
    fixed.resources = cpus(5);
    settings.static_ones = {fixed};
    step();
    EXPECT_THAT(events("reservation-configured"),
                ElementsAre("the configuration has 5 VCPU more of eng on 2 hosts: host1, host2"));
    settings.static_ones[0].resources = cpus(3);
    settings.static_ones[0].hosts = {"host1"};
    step();
    EXPECT_THAT(events("reservation-configured"), SizeIs(3));
    begin();
    EXPECT_THAT(events("reservation-configured"), SizeIs(3)) << "a restart changes nothing";
}

TEST_F(ReservationRepairTest, EntriesThatOverlapOnAHostAddUp) {
    config::StaticReservation all, one;
    all.role = one.role = role("eng");
    all.hosts = {"host*"};
    all.resources = cpus(8);
    one.hosts = {"host1"};
    one.resources = cpus(4);
    one.lending = {true, cpus(1), minutes{10}};
    settings.static_ones = {all, one};
    step();
    EXPECT_EQ(held("host1"), 12);
    EXPECT_EQ(held("host2"), 8);
    for (const ReservationView& each : controller->list()) {
        const LendingPolicy both{true, cpus(9), minutes{10}};
        if (each.host_name == "host1")
            EXPECT_EQ(each.reservation.lending, both) << "what one does not lend is never lent";
        else
            EXPECT_FALSE(each.reservation.lending.lend);
    }
}

TEST_F(ReservationRepairTest, WhatTheConfigurationReservesHasAPrincipal) {
    config::StaticReservation mine, theirs;
    mine.role = theirs.role = role("eng");
    mine.hosts = theirs.hosts = {"host1"};
    mine.resources = cpus(3);
    theirs.resources = cpus(2);
    mine.principal = "capacity-team";
    settings.static_ones = {mine};
    step();
    ASSERT_THAT(controller->list(), SizeIs(1));
    EXPECT_EQ(controller->list()[0].reservation.identity.principal, "capacity-team");
    begin();
    step();
    ASSERT_THAT(controller->list(), SizeIs(1)) << "a restart changes nothing";
    settings.static_ones = {mine, theirs};
    step();
    EXPECT_EQ(held("host1"), 5);
    ASSERT_THAT(controller->list(), SizeIs(1)) << "two of one role are shown as one";
    const auto reservers = controller->list()[0].reservers;
    EXPECT_EQ(reservers.at("capacity-team"), cpus(3));
    EXPECT_EQ(reservers.at(""), cpus(2)) << "without a reserver";
}

// ---- hosts ----

TEST_F(ReservationRepairTest, ReservationsOfAHostThatIsGoneAreReleasedAndOwed) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    const std::string provider = cloud.provider_of("host1");
    cloud.remove_host("host1");
    step();
    EXPECT_EQ(held_at(provider, vcpu), 0) << "Nova may remove the provider";
    EXPECT_THAT(cloud.consumers, SizeIs(1));
    EXPECT_EQ(only().balance.owed, cpus(6));
    EXPECT_THAT(only().trouble, HasSubstr("(host1) has reservations and is no longer there"));
    begin();
    EXPECT_EQ(only().balance.owed, cpus(6)) << "after a restart, too";
}

TEST_F(ReservationRepairTest, WhatTheCacheLostForAWhileStaysHeld) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    const std::string provider = cloud.provider_of("host1");
    lose(provider);
    EXPECT_EQ(held_at(provider, vcpu), 6);
}

TEST_F(ReservationRepairTest, WhatTheConfigurationReservesIsReleasedOnlyWhereTheHostIsGone) {
    config::StaticReservation fixed;
    fixed.role = role("fixed");
    fixed.hosts = {"host1"};
    fixed.resources = cpus(3);
    settings.static_ones = {fixed};
    step();
    const std::string provider = cloud.provider_of("host1");
    lose(provider);
    EXPECT_EQ(held_at(provider, vcpu), 3) << "the cache lost it for a while";
    cloud.on_call = {};
    step();
    EXPECT_EQ(held(), 3);
    EXPECT_THAT(events("reservation-configured"), SizeIs(1)) << "it was reserved all the time";
    cloud.remove_host("host1");
    step();
    EXPECT_THAT(cloud.consumers, IsEmpty()) << "Nova may remove the provider";
    EXPECT_THAT(events("reservation-configured"), SizeIs(2));
}

TEST_F(ReservationRepairTest, AGoneHostsReservationIsUnreservedOrComesBackWithIt) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    UnreserveOrder back = unreserving("eng", 4);
    const std::string provider = cloud.provider_of("host1");
    cloud.remove_host("host1");
    step();
    EXPECT_EQ(give({back}), std::nullopt) << why;
    EXPECT_EQ(only().balance.owed, cpus(2));
    cloud.add_host("host1", cpus(16));
    cloud.set_provider("host1", provider);
    step();
    EXPECT_EQ(held(), 2);
    EXPECT_EQ(only().trouble, "");
}

TEST_F(ReservationRepairTest, ARebuiltHostIsAnotherOneOfTheSameName) {
    config::StaticReservation fixed;
    fixed.role = role("fixed");
    fixed.hosts = {"host1"};
    fixed.resources = cpus(3);
    settings.static_ones = {fixed};
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    step();
    EXPECT_EQ(held(), 9);
    cloud.remove_host("host1");
    cloud.add_host("host1", cpus(16));
    cloud.set_provider("host1", "rp-rebuilt");
    step();
    EXPECT_EQ(held(), 3) << "the configuration names it; the order named the one before";
    for (const ReservationView& each : controller->list()) {
        if (each.reservation.identity.from_config) continue;
        EXPECT_EQ(each.balance.owed, cpus(6));
        EXPECT_THAT(each.trouble, HasSubstr("of its name is rp-rebuilt"));
    }
    EXPECT_THAT(controller->list(), SizeIs(2));
}

TEST_F(ReservationRepairTest, ARenamedHostKeepsWhatIsReservedOnIt) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    const std::string provider = cloud.provider_of("host1");
    cloud.remove_host("host1");
    cloud.add_host("other-name", cpus(16));
    cloud.set_provider("other-name", provider);
    step();
    EXPECT_EQ(only().host_name, "other-name");
    EXPECT_EQ(held("other-name"), 6);
    EXPECT_EQ(only().trouble, "");
}

TEST_F(ReservationRepairTest, OnAHostThatShrankNoRoomOfOthersIsTaken) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    cloud.add_server("stranger", "host1", "stranger", cpus(8));
    cloud.add_server("own", "host1", "web", cpus(2));
    step();
    EXPECT_EQ(held(), 4);
    const std::string provider = cloud.provider_of("host1");
    cloud.add_host("host1", cpus(8));
    cloud.set_provider("host1", provider);
    step();
    EXPECT_LE(held(), 4);
    cloud.remove("own");
    step();
    EXPECT_LE(held(), 4) << "there is no room to grow into";
    EXPECT_FALSE(only().balance.owed.empty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.remove("stranger");
    step();
    EXPECT_EQ(held(), 6) << "collected when it is free";
}

TEST_F(ReservationRepairTest, WhatAShrunkHostCantHoldIsOwed) {
    ASSERT_EQ(give({reserving("eng", 13)}), std::nullopt) << why;
    const std::string provider = cloud.provider_of("host1");
    cloud.add_host("host1", cpus(4));
    cloud.set_provider("host1", provider);
    step();
    EXPECT_EQ(only().balance.held, cpus(4));
    EXPECT_EQ(only().balance.owed, cpus(9));
    EXPECT_THAT(only().trouble, ::testing::HasSubstr("9 VCPU of what is held there"));
    EXPECT_EQ(give({reserving("eng", 1)}), Errc::conflict);
    cloud.add_host("host1", cpus(16));
    cloud.set_provider("host1", provider);
    step();
    EXPECT_EQ(only().balance.held, cpus(13));
    EXPECT_EQ(only().trouble, "");
}

TEST_F(ReservationRepairTest, WhatIsReservedOnAHostThatIsDownIsReported) {
    ASSERT_EQ(give({reserving("eng", 6)}), std::nullopt) << why;
    EXPECT_EQ(only().trouble, "");
    cloud.services["host1"].up = false;
    EXPECT_TRUE(run_task(io, refresher->refresh_aggregates()));
    step();
    EXPECT_THAT(only().trouble, ::testing::HasSubstr("nova-compute on host1 is down"));
    EXPECT_EQ(give({reserving("eng", 1)}), Errc::conflict);
    EXPECT_THAT(why, ::testing::HasSubstr("nova-compute on host1 is down"));
    EXPECT_EQ(give({unreserving("eng", 1)}), std::nullopt) << why;
    EXPECT_THAT(events("reservation-trouble"), ::testing::SizeIs(1));
    cloud.services["host1"].up = true;
    EXPECT_TRUE(run_task(io, refresher->refresh_aggregates()));
    step();
    EXPECT_EQ(only().trouble, "");
    EXPECT_THAT(events("reservation-trouble"), ::testing::SizeIs(2));
    EXPECT_EQ(give({reserving("eng", 1)}), std::nullopt) << why;
}

TEST_F(ReservationRepairTest, WhereTheProviderTreeChangesItIsHeldWhereTheRoomIs) {
    const ResourceClass gpu{"VGPU"};
    cloud.add_host("host3", Resources{{"VCPU", 16}, {"VGPU", 4}});
    step();
    ReserveOrder order = reserving("eng", 4, "host3");
    order.resources.set(gpu, 2);
    ASSERT_EQ(give({order}), std::nullopt) << why;
    const std::string root = cloud.provider_of("host3");
    EXPECT_EQ(held_at(root, gpu), 2);
    // As Nova's reshape: the inventory moves to a provider below, and allocations of servers.
    cloud.add_host("host3", cpus(16));
    cloud.set_provider("host3", root);
    FakeNested below{"host3_gpu", HostId{root}};
    below.inventories[gpu].total = 4;
    below.inventories[gpu].max_unit = 4;
    cloud.nested[ProviderId{"rp-gpu"}] = below;
    step();
    EXPECT_EQ(held_at("rp-gpu", gpu), 2);
    EXPECT_EQ(held_at(root, gpu), 0);
    EXPECT_EQ(held("host3"), 4);
}

}  // namespace
}  // namespace reaper::test::reservation_repair_test
