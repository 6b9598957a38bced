#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/cloud/cache/cloud_cache.hpp"

namespace reaper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = ReadingOrder::Kind;

TimePoint second(int count) {
    return TimePoint{std::chrono::seconds{count}};
}

class Order : public ::testing::Test {
protected:
    ReadingOrder::Place place(const HostId& host, Kind kind, int since, int read) {
        return {kind, second(since), second(read), &host};
    }
    const HostId a_{"a"}, b_{"b"}, c_{"c"}, d_{"d"};
    ReadingOrder order_;
};

TEST_F(Order, TouchedThenEstimatedThenTheOldest) {
    order_.put(place(a_, Kind::exact, 5, 5));
    order_.put(place(b_, Kind::exact, 4, 4));
    order_.put(place(c_, Kind::estimated, 7, 7));
    order_.put(place(d_, Kind::touched, 9, 3));
    EXPECT_THAT(order_.due(9, second(9), second(6)), ElementsAre(d_, c_, b_, a_));
    EXPECT_THAT(order_.due(3, second(9), second(6)), ElementsAre(d_, c_, b_));
    EXPECT_EQ(order_.oldest_read_at(second(0)), second(3));
}

TEST_F(Order, WhatIsNotSettledOrNotExpiredIsNotDue) {
    order_.put(place(a_, Kind::touched, 9, 3));
    order_.put(place(b_, Kind::exact, 6, 6));
    EXPECT_THAT(order_.due(9, second(8), second(6)), IsEmpty());
    EXPECT_THAT(order_.due(9, second(9), second(7)), ElementsAre(a_, b_));
}

TEST_F(Order, EqualTimesGoByHost) {
    order_.put(place(b_, Kind::exact, 1, 1));
    order_.put(place(a_, Kind::exact, 1, 1));
    EXPECT_THAT(order_.due(9, second(0), second(2)), ElementsAre(a_, b_));
}

TEST_F(Order, WhoIsTakenOutIsGone) {
    const auto first = place(a_, Kind::exact, 1, 1);
    order_.put(first);
    order_.put(place(b_, Kind::exact, 2, 2));
    order_.take(first);
    EXPECT_EQ(order_.oldest_read_at(second(0)), second(2));
    order_.clear();
    EXPECT_EQ(order_.oldest_read_at(second(8)), second(8));
    EXPECT_THAT(order_.due(9, second(9), second(9)), IsEmpty());
}

}  // namespace
}  // namespace reaper
