// What Placement receives of a host's reservations.
#include "reaper/reservations/reservation_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"
#include "reaper/reservations/reservation_order.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper::reservation_records_test {
namespace {

using namespace reaper::testing;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ResourceClass vcpu{"VCPU"};

class ReservationRecordsTest : public ::testing::Test {
protected:
    ReservationRecordsTest() {
        host_.id = reserved_host;
        host_.name = "host1";
        Provider root;
        root.id = reserved_host;
        root.inventories[vcpu].total = 16;
        root.inventories[vcpu].max_unit = 16;
        host_.providers.push_back(root);
        Reservation reservation;
        reservation.identity.host = reserved_host;
        reservation.identity.role = role("eng");
        reservation.asked = cpus(4);
        id_ = reservation_id(reservation.identity);
        asked_.emplace(id_, reservation);
    }
    RecordChanges changes(Amount holds, const std::string& mark = {}) const {
        return changes_on(host_, records_, before_, asked_, {{id_, cpus(holds)}}, mark).value();
    }
    /// They are done, and Placement has another generation.
    void apply(RecordChanges done) {
        for (ConsumerChange& each : done.changes) {
            each.wanted.generation = 7;
            records_[ReservationId{each.id.str()}] = each.wanted;
        }
        before_ = asked_;
        host_.providers[0].used = {};
        host_.providers[0].other_consumers.clear();
        for (const auto& [id, held] : held_by(records_)) {
            host_.providers[0].other_consumers[consumer_id_of(id)] = sum_of(held);
            host_.providers[0].used += sum_of(held);
        }
    }

    Host host_;
    ReservationId id_;
    HostReservations before_, asked_;
    ReservationRecords records_;
};

TEST_F(ReservationRecordsTest, WhatIsAsItShouldBeIsNotWritten) {
    const RecordChanges first = changes(4);
    ASSERT_THAT(first.changes, SizeIs(1));
    EXPECT_EQ(first.changes[0].wanted.generation, std::nullopt) << "it is new";
    apply(first);
    EXPECT_THAT(changes(4).changes, IsEmpty());
    const RecordChanges less = changes(1);
    ASSERT_THAT(less.changes, SizeIs(1));
    EXPECT_EQ(less.changes[0].wanted.generation, 7);
    EXPECT_EQ(sum_of(held_on_host(less.changes[0].wanted)), cpus(1));
}

TEST_F(ReservationRecordsTest, TheOrderThatChangesItLeavesItsMark) {
    const std::string mark = mark_of_order("ops", "one", "a");
    apply(changes(4, mark));
    const auto written = [&] {
        return reservation_of(consumer_id_of(id_), records_.at(id_)).value();
    };
    EXPECT_THAT(written().marks, ElementsAre(mark));
    asked_.at(id_).marks = before_.at(id_).marks = {mark};
    EXPECT_THAT(changes(4, mark_of_order("ops", "two", "a")).changes, IsEmpty())
        << "it changes nothing";
}

TEST_F(ReservationRecordsTest, WhatIsNoLongerRequestedIsReleased) {
    apply(changes(4));
    asked_.clear();
    const RecordChanges gone = changes_on(host_, records_, before_, asked_, {}, {}).value();
    ASSERT_THAT(gone.changes, SizeIs(1));
    EXPECT_THAT(gone.changes[0].wanted.holds, IsEmpty());
    EXPECT_EQ(gone.changes[0].wanted.generation, 7);
}

TEST_F(ReservationRecordsTest, WhatTheUnitsRefuseIsReported) {
    host_.providers[0].inventories[vcpu].max_unit = 3;
    EXPECT_THAT(changes(4).short_of, HasSubstr("one consumer can hold 3 VCPU on host1, not 4"));
}

TEST_F(ReservationRecordsTest, OnAHostThatIsGoneWhatTheyHoldStays) {
    apply(changes(4));
    EXPECT_THAT(changes_on_gone(records_, before_, asked_, OnGone::stays, {}).value().changes,
                IsEmpty());
    asked_.at(id_).asked = cpus(2);
    const auto smaller = changes_on_gone(records_, before_, asked_, OnGone::stays, {}).value();
    ASSERT_THAT(smaller.changes, SizeIs(1));
    EXPECT_EQ(sum_of(held_on_host(smaller.changes[0].wanted)), cpus(4));
    asked_.clear();
    const auto none = changes_on_gone(records_, before_, asked_, OnGone::stays, {}).value();
    ASSERT_THAT(none.changes, SizeIs(1));
    EXPECT_THAT(none.changes[0].wanted.holds, IsEmpty());
}

TEST_F(ReservationRecordsTest, OnAHostThatIsGoneForGoodOnlyTheRecordsStay) {
    apply(changes(4));
    const auto released = changes_on_gone(records_, before_, asked_, OnGone::release, {}).value();
    ASSERT_THAT(released.changes, SizeIs(1));
    EXPECT_THAT(held_on_host(released.changes[0].wanted), IsEmpty());
    EXPECT_THAT(released.changes[0].wanted.holds, SizeIs(1)) << "its unit in the register";
    EXPECT_EQ(released.changes[0].wanted.generation, 7);
    records_.clear();
    const auto again = changes_on_gone(records_, before_, asked_, OnGone::stays, {}).value();
    ASSERT_THAT(again.changes, SizeIs(1)) << "a record that another client deleted";
    EXPECT_EQ(again.changes[0].wanted.generation, std::nullopt);
}

TEST_F(ReservationRecordsTest, AChangeOfWhatTheyHoldByAnotherClientIsNoticed) {
    apply(changes(4));
    EXPECT_FALSE(shows_otherwise(host_, records_));
    host_.providers[0].other_consumers[consumer_id_of(id_)] = cpus(3);
    EXPECT_TRUE(shows_otherwise(host_, records_));
    host_.providers[0].other_consumers.clear();
    EXPECT_TRUE(shows_otherwise(host_, records_));
    host_.estimated = true;
    EXPECT_FALSE(shows_otherwise(host_, records_)) << "who holds what is not read";
}

}  // namespace
}  // namespace reaper::reservation_records_test
