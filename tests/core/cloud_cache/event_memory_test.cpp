#include <gtest/gtest.h>

#include "reaper/cloud/cache/cloud_cache.hpp"

namespace reaper::event_memory_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const ServerId server{"s"};
const TimePoint start = TimePoint{hours{1000}};

TEST(EventMemory, AnOlderEventAndOneOfAServerThatIsGoneAreNotBelieved) {
    EventMemory memory;
    EXPECT_TRUE(memory.remember(server, start, start, false));
    EXPECT_FALSE(memory.remember(server, start - seconds{1}, start + seconds{1}, false));
    EXPECT_TRUE(memory.remember(server, start - seconds{1}, start + seconds{1}, true));
    EXPECT_TRUE(memory.is_gone(server));
    EXPECT_FALSE(memory.remember(server, start + seconds{9}, start + seconds{9}, false));
}

TEST(EventMemory, AReadingThatWasBegunAfterTheEventHasIt) {
    EventMemory memory;
    memory.remember(server, start, start, false);
    EXPECT_TRUE(memory.heard_since(server, start));
    EXPECT_FALSE(memory.heard_since(server, start + seconds{1}));
    memory.forget_before(start + seconds{1});
    EXPECT_FALSE(memory.heard_since(server, start));
}

TEST(EventMemory, WhatIsGoneStaysGoneUntilNoEventIsSoLate) {
    EventMemory memory;
    memory.remember(server, start, start, true);
    memory.forget_before(start + minutes{1});
    EXPECT_TRUE(memory.is_gone(server));
    EXPECT_TRUE(memory.forget_old(start + minutes{10}));
    EXPECT_TRUE(memory.is_gone(server));
    EXPECT_FALSE(memory.forget_old(start + minutes{11})) << "not long since";
    EXPECT_TRUE(memory.forget_old(start + minutes{20}));
    EXPECT_FALSE(memory.is_gone(server));
}

TEST(EventMemory, FollowsAClockThatIsSetBack) {
    EventMemory memory;
    memory.remember(server, start, start, false);
    memory.shift(-hours{1});
    const TimePoint now = start - hours{1} + seconds{5};
    EXPECT_FALSE(memory.heard_since(server, now)) << "else each reading would leave it out";
    EXPECT_TRUE(memory.heard_since(server, start - hours{1}));
}

}  // namespace
}  // namespace reaper::event_memory_test
