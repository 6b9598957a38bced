#include "reaper/reservations/reservation_record.hpp"

#include <gtest/gtest.h>
#include <set>

#include "core/reservation_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/reservations/reservation_order.hpp"

namespace reaper::reservation_record_test {
namespace {

using namespace reaper::testing;

Reservation full() {
    Reservation reservation;
    reservation.identity.host = reserved_host;
    reservation.identity.role = role("engineering/backend");
    reservation.identity.labels = {{"team", "web"}, {"a=b;c%", "ä \n="}};
    reservation.identity.principal = "ops;=%";
    reservation.identity.refines = ReservationId{"5c2c0f46-9d2c-5f58-9b6e-3f5d4f0e8c11"};
    reservation.asked = Resources{{"VCPU", 8}, {"MEMORY_MB", 4096}};
    reservation.lending = {true, Resources{{"VCPU", 2}}, Duration{86'400'000}};
    reservation.marks = {mark_of_order("ops", "order 7", "all")};
    return reservation;
}

ServerId consumer_of(const Reservation& reservation) {
    return consumer_id_of(reservation_id(reservation.identity));
}

TEST(ReservationRecord, IsReadBackAsItWas) {
    const Reservation reservation = full();
    Allocations on_host;
    on_host[reserved_host] = cpus(5);
    const auto record = record_of(reservation, on_host);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->type, "RESERVATION");
    EXPECT_EQ(record->project, "reservation:engineering/backend");
    EXPECT_EQ(held_on_host(*record), on_host);
    const auto read = reservation_of(consumer_of(reservation), *record);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, reservation);
}

TEST(ReservationRecord, IsThereWhereNothingIsHeld) {
    const auto record = record_of(full(), {});
    ASSERT_TRUE(record);
    EXPECT_TRUE(held_on_host(*record).empty());
    EXPECT_EQ(record->holds.at(ProviderId{reservation_register::provider_id}),
              (Resources{{reservation_register::resource_class, 1}}));
}

TEST(ReservationRecord, AnyTextIsReadBack) {
    holds("any text is read back", [] {
        const auto text = [] {
            std::string made;
            for (int left = upto(6); left > 0; --left) made += static_cast<char>(upto(255));
            return made;
        };
        Reservation reservation;
        reservation.identity.host = reserved_host;
        reservation.identity.role = role("r");
        reservation.identity.principal = text();
        reservation.identity.from_config = upto(1) == 1;
        for (int left = upto(2); left > 0; --left) reservation.identity.labels[text()] = text();
        if (upto(1) == 1) reservation.asked = cpus(1 + upto(1'000'000));
        if (upto(1) == 1) reservation.lending = {upto(1) == 1, cpus(upto(4)), Duration{upto(9)}};
        const auto record = record_of(reservation, {});
        RC_ASSERT(record.has_value());
        for (const char c : record->user) RC_ASSERT(c > ' ' && c < 0x7f);
        const auto read = reservation_of(consumer_of(reservation), *record);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == reservation);
    });
}

TEST(ReservationRecord, TooLongATextIsRefused) {
    Reservation reservation = full();
    reservation.identity.labels = {{"why", std::string(200, 'x')}};
    const auto record = record_of(reservation, {});
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, Errc::bad_input);
    reservation.identity.labels = {{"why", std::string(60, 'x')}};
    EXPECT_TRUE(record_of(reservation, {}));
}

TEST(ReservationRecord, WhatIsNoReservationIsDistinguished) {
    const Reservation reservation = full();
    const auto record = record_of(reservation, {});
    ASSERT_TRUE(record);
    const auto refused = [&](auto change) {
        Consumer other = *record;
        change(other);
        const auto read = reservation_of(consumer_of(reservation), other);
        return !read && read.error().code == Errc::bad_answer;
    };
    EXPECT_TRUE(refused([](Consumer& c) { c.project = "openstack-reaper"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.project = "reservation:a//b"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";z=1"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";a"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";a=VCPU:x"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";t=-1"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";p=%4"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";l=x"; }));
    // Another identity has another id.
    EXPECT_TRUE(refused([](Consumer& c) { c.project = "reservation:engineering"; }));
    EXPECT_TRUE(refused([](Consumer& c) { c.user += ";p=alice"; }));
    EXPECT_FALSE(reservation_of(ServerId{"5c2c0f46-9d2c-5f58-9b6e-3f5d4f0e8c11"}, *record));
}

TEST(ReservationRecord, EachPartOfTheIdentityMakesAnotherId) {
    const Reservation reservation = full();
    std::set<ReservationId> ids{reservation_id(reservation.identity)};
    const auto differs = [&](auto change) {
        ReservationIdentity other = reservation.identity;
        change(other);
        return ids.insert(reservation_id(other)).second;
    };
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.host = HostId{"other"}; }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.role = role("engineering"); }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.principal = "alice"; }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.refines = {}; }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.from_config = true; }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.labels["team"] = "db"; }));
    EXPECT_TRUE(differs([](ReservationIdentity& i) { i.labels = {}; }));
    EXPECT_EQ(reservation_id(reservation.identity).str().size(), 36U);
    EXPECT_EQ(reservation_id(reservation.identity).str()[14], '5');
}

}  // namespace
}  // namespace reaper::reservation_record_test
