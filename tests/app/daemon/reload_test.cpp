// The current policy decides: a reload also applies to culls that are under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::reload_test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class ReloadTest : public FullHouse {
protected:
    /// Four victims, deleted one after the other.
    void start_cull() {
        full_host();
        requester();
        settings.cull.max_parallel_deletions = 1;
        start();
        messages->deliver(body_of(failure(8)));
    }
    /// SIGHUP, with the settings as they are now.
    void reload() { service().reload(live_settings()); }
    /// The configuration is changed, and read again, while the first of these calls goes on.
    void reload_at(const std::string& call_prefix, std::function<void()> change) {
        before(call_prefix, [this, change] {
            change();
            reload();
        });
    }
    void expect_one_died() {
        EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
        EXPECT_EQ(cloud.count("DELETE"), 1U) << "a protected server was deleted";
        EXPECT_EQ(cloud.living("host1").size(), 3U);
    }
};

TEST_F(ReloadTest, AProjectThatIsProtectedInMidCullLosesNoMoreServers) {
    reload_at("DELETE", [&] { settings.policy.safeguards.protect.projects = {"spot"}; });
    start_cull();
    expect_one_died();
}

TEST_F(ReloadTest, AMinimumRunTimeHoldsInMidCull) {
    reload_at("DELETE", [&] { settings.policy.safeguards.protect.min_run_time = hours{24}; });
    start_cull();
    expect_one_died();
}

TEST_F(ReloadTest, ALimitHoldsInMidCull) {
    reload_at("DELETE", [&] { settings.policy.safeguards.limits.victims_per_request = 2; });
    start_cull();
    expect_one_died();
    EXPECT_EQ(record("req-1").outcome->safeguard, "limit-request");
}

TEST_F(ReloadTest, AnotherTaggerHoldsInMidCull) {
    reload_at("DELETE", [&] {
        settings.policy.taggers.front().parameters["tag"] = std::string{"sold-as-spot"};
    });
    start_cull();
    expect_one_died();
}

TEST_F(ReloadTest, HostsThatAreNoLongerWatchedLoseNoMoreServers) {
    reload_at("DELETE", [&] { settings.policy.scheduler.watched_aggregates = {"elsewhere"}; });
    start_cull();
    expect_one_died();
}

TEST_F(ReloadTest, WhatIsProtectedWhileItsDeletionIsBeingWrittenLives) {
    full_host();
    requester();
    start();
    journal.fails = [&](const std::string& what) {
        if (what.starts_with("delete-sent")) {
            settings.policy.safeguards.protect.projects = {"spot"};
            reload();
        }
        return false;
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ReloadTest, ADecisionThatWasBegunUnderTheOldPolicyIsMadeAgain) {
    full_host();
    requester();
    settings.policy.safeguards.protect.projects = {"spot"};
    start();
    reload_at("room", [&] { settings.policy.safeguards.protect.projects.clear(); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(ReloadTest, APlanGoesOnWhereThePolicyIsTheSame) {
    reload_at("DELETE", [&] { settings.cull.promise = hours{1}; });
    start_cull();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").plans.size(), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 4U);
}

TEST_F(ReloadTest, APlanGoesOnWhereThePolicyHasTheSameNames) {
    cloud.project_names = {{"Default/Gold", "gold"}};
    settings.policy.safeguards.protect.projects = {"Default/Gold"};
    reload_at("DELETE", [&] { settings.cull.promise = hours{1}; });
    start_cull();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").plans.size(), 1U);
    EXPECT_EQ(cloud.count("project Default/Gold"), 1U) << "it was looked up before";
}

TEST_F(ReloadTest, WhatTheNewPolicyAllowsIsPlannedAgain) {
    reload_at("DELETE", [&] { settings.policy.alternatives = 2; });
    start_cull();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").plans.size(), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 4U) << "whom the first plan took is credited to the second";
}

TEST_F(ReloadTest, ASoftDeletedVictimThatIsProtectedMeanwhileIsNotForced) {
    cloud.soft_delete = true;
    settings.cull.deadline = seconds{30};
    reload_at("DELETE", [&] { settings.policy.safeguards.protect.projects = {"spot"}; });
    start_cull();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::incomplete);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("FORCE"), 0U) << "who is soft-deleted can be given back";
}

TEST_F(ReloadTest, ASoftDeletedVictimIsForcedAfterAReloadThatSparesNoServer) {
    cloud.soft_delete = true;
    reload_at("DELETE", [&] { settings.policy.alternatives = 2; });
    start_cull();
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 4U);
    EXPECT_EQ(cloud.count("FORCE"), 4U);
}

}  // namespace
}  // namespace reaper::test::reload_test
