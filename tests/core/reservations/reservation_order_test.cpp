// Orders as texts, and their marks.
#include "reaper/reservations/reservation_order.hpp"

#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper::reservation_order_test {
namespace {

using namespace reaper::testing;

std::vector<ReservationOrder> all_of_it() {
    ReserveOrder wanted;
    wanted.host = reserved_host;
    wanted.name = {role("eng/web"), {{"a=b;c%", "x \n"}, {"team", ""}}};
    wanted.resources = Resources{{"VCPU", 8}, {"MEMORY_MB", 4096}};
    wanted.refines = ReservationName{role("eng"), {{"team", "core"}}};
    wanted.lending = LendingPolicy{true, cpus(2), Duration{60'000}};
    ReserveOrder kept = wanted;
    kept.refines.reset();
    kept.lending = LendingPolicy{};
    UnreserveOrder back;
    back.host = reserved_host;
    back.name = wanted.name;
    back.resources = cpus(3);
    UnreserveOrder with_tenants = back;
    with_tenants.lent_too = true;
    UnreserveOrder to_eng = back, to_unknown = back;
    to_eng.refines = wanted.refines = ReservationName{role("eng"), {{"team", "core"}}};
    to_unknown.unrefined = true;
    return {wanted, kept, back, with_tenants, to_eng, to_unknown};
}

TEST(ReservationOrderText, IsReadBackAsItWas) {
    const std::vector<ReservationOrder> orders = all_of_it();
    const std::string text = text_of_orders(orders);
    const auto read = parse_orders(text);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 6U);
    EXPECT_EQ(text_of_orders(*read), text);
    const auto& wanted = std::get<ReserveOrder>(read->at(0));
    const auto& given = std::get<ReserveOrder>(orders[0]);
    EXPECT_EQ(wanted.host, given.host);
    EXPECT_EQ(wanted.name, given.name);
    EXPECT_EQ(wanted.resources, given.resources);
    EXPECT_EQ(wanted.refines, given.refines);
    EXPECT_EQ(wanted.lending, given.lending);
    EXPECT_EQ(std::get<ReserveOrder>(read->at(1)).lending, LendingPolicy{});
    EXPECT_FALSE(std::get<UnreserveOrder>(read->at(2)).lent_too);
    EXPECT_TRUE(std::get<UnreserveOrder>(read->at(3)).lent_too);
    EXPECT_EQ(std::get<UnreserveOrder>(read->at(4)).refines, given.refines);
    EXPECT_TRUE(std::get<UnreserveOrder>(read->at(5)).unrefined);
}

TEST(ReservationOrderText, WhatIsNoneIsRefused) {
    for (const char* const text : {"x", "o=take;h=a;r=eng;a=VCPU:1", "o=reserve;h=a;r=eng",
                                   "o=reserve;h=a;r=//;a=VCPU:1", "o=reserve;h=a;r=eng;a=VCPU",
                                   "o=reserve;h=a;r=eng;a=VCPU:1;g=a=b", "o=reserve;h=%;a=VCPU:1"})
        EXPECT_FALSE(parse_orders(text)) << text;
}

TEST(ReservationOrderMark, IsOfTheKeyAndTheContent) {
    const std::string mark = mark_of_order("ops", "one", "a");
    EXPECT_EQ(mark, mark_of_order("ops", "one", "a"));
    EXPECT_NE(mark, mark_of_order("ops", "one", "b"));
    EXPECT_TRUE(same_key(mark, mark_of_order("ops", "one", "b")));
    EXPECT_FALSE(same_key(mark, mark_of_order("ops", "two", "a")));
    EXPECT_FALSE(same_key(mark, mark_of_order("bob", "one", "a")));
    EXPECT_EQ(mark_of_order("ops", "", "a"), "");
    EXPECT_FALSE(same_key("", ""));
}

TEST(ReservationOrderMark, TheLastOnesAreKeptWhileThereIsRoom) {
    Reservation reservation;
    reservation.identity = {reserved_host, role("eng")};
    reservation.asked = cpus(1);
    for (const char* const key : {"1", "2", "3", "4"})
        add_mark(reservation, mark_of_order("ops", key, "a"));
    add_mark(reservation, reservation.marks.front());
    ASSERT_EQ(reservation.marks.size(), max_order_marks);
    EXPECT_EQ(reservation.marks.front(), mark_of_order("ops", "4", "a"));
    reservation.identity.labels = {{"l", std::string(150, 'x')}};
    const auto record = record_of(reservation, {});
    ASSERT_TRUE(record);
    EXPECT_LE(record->user.size(), max_record_text);
    const auto read = reservation_of(consumer_id_of(reservation_id(reservation.identity)), *record);
    ASSERT_TRUE(read);
    EXPECT_LT(read->marks.size(), max_order_marks);
    EXPECT_EQ(read->marks.front(), reservation.marks.front());
}

}  // namespace
}  // namespace reaper::reservation_order_test
