// Deletions that go out late: what was asked before them is asked again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::late_deletions_test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class LateDeletionsTest : public FullHouse {
protected:
    /// So many times, the journal takes longer than a look at a victim is worth.
    void late(int times, std::function<void()> meanwhile = {}) {
        journal.fails = [this, times, meanwhile](const std::string& what) {
            if (!what.starts_with("delete-sent") || tries_++ >= times) return false;
            clock.advance(seconds{6});
            if (meanwhile) meanwhile();
            return false;
        };
    }
    int tries_ = 0;  ///< to send a deletion
};

TEST_F(LateDeletionsTest, ItIsTriedAgainAndGoesOutOnce) {
    full_host();
    requester();
    late(2);
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(tries_, 3);
}

TEST_F(LateDeletionsTest, NoServerIsDeletedForARequesterThatWentAwayMeanwhile) {
    full_host();
    requester();
    late(1, [&] { cloud.remove(uuid_of("requester-1")); });
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("is gone"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
}

TEST_F(LateDeletionsTest, WhatNeverGoesOutEndsInTime) {
    full_host();
    requester();
    late(100'000);
    start();
    messages->deliver(body_of(failure()));
    EXPECT_NE(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.living("host1").size(), 4U);
    EXPECT_LT(tries_, 500);
}

}  // namespace
}  // namespace reaper::test::late_deletions_test
