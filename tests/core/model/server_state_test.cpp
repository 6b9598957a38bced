// All of Nova's states: who may go, what that frees, what is lost with it.
#include "reaper/model/server_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/cloud_builder.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper::server_state_test {
namespace {

using namespace reaper::testing;
using Fate = ServerState::Fate;
using ::testing::HasSubstr;
using ::testing::Optional;

Server in_state(const std::string& status, const std::string& task = "") {
    Server server = revocable("s", HostId{"h"}, {{"VCPU", 4}});
    server.host = "h";
    server.status = status;
    server.task_state = task;
    return server;
}

/// Nova's `_STATE_MAP` and `InstanceTaskState`: as they are, from Zed to 2026.1.
TEST(ServerState, EveryStatusAndTaskStateOfNovaIsThereOnce) {
    std::set<std::string_view> statuses;
    for (const auto& each : server_statuses()) {
        EXPECT_TRUE(statuses.insert(each.name).second) << each.name;
        EXPECT_FALSE(each.reason.empty()) << each.name;
    }
    EXPECT_EQ(statuses,
              (std::set<std::string_view>{
                  "ACTIVE", "BUILD", "DELETED", "ERROR", "HARD_REBOOT", "MIGRATING", "PASSWORD",
                  "PAUSED", "REBOOT", "REBUILD", "RESCUE", "RESIZE", "REVERT_RESIZE", "SHELVED",
                  "SHELVED_OFFLOADED", "SHUTOFF", "SOFT_DELETED", "SUSPENDED", "VERIFY_RESIZE"}));
    std::set<std::string_view> tasks;
    for (const auto& each : server_task_states()) EXPECT_TRUE(tasks.insert(each.name).second);
    EXPECT_EQ(tasks.size(), 42U);
}

/// Its owner can bring it into each of these, and keep it there.
TEST(ServerState, NoStateThatItsOwnerCanHoldItInKeepsItFromGoing) {
    for (const char* status : {"ACTIVE", "BUILD", "ERROR", "PAUSED", "RESCUE", "SHELVED", "SHUTOFF",
                               "SUSPENDED", "VERIFY_RESIZE"}) {
        EXPECT_TRUE(may_be_victim(in_state(status))) << status;
        EXPECT_EQ(why_no_victim(in_state(status)), std::nullopt) << status;
    }
    // Snapshots, reboots and the like, one after the other, forever.
    for (const char* task : {"image_snapshot", "image_uploading", "reboot_started", "rebuilding",
                             "pausing", "rescuing", "shelving_image_uploading", "powering-off"})
        EXPECT_TRUE(may_be_victim(in_state("ACTIVE", task))) << task;
}

TEST(ServerState, WhatIsBetweenTwoHostsStaysUntilItHasArrived) {
    for (const char* task : {"resize_prep", "resize_migrating", "resize_migrated", "resize_finish",
                             "resize_reverting", "resize_confirming", "migrating"}) {
        EXPECT_FALSE(may_be_victim(in_state("ACTIVE", task))) << task;
        EXPECT_THAT(why_no_victim(in_state("ACTIVE", task)), Optional(HasSubstr("between two")));
    }
    EXPECT_FALSE(may_be_victim(in_state("RESIZE")));
    EXPECT_FALSE(may_be_victim(in_state("MIGRATING")));
}

TEST(ServerState, WhatGoesAlreadyIsNoVictim) {
    EXPECT_TRUE(is_being_deleted(in_state("ACTIVE", "deleting")));
    EXPECT_TRUE(is_being_deleted(in_state("ACTIVE", "soft-deleting")));
    EXPECT_TRUE(is_being_deleted(in_state("DELETED")));
    EXPECT_FALSE(is_being_deleted(in_state("SOFT_DELETED")));
    EXPECT_FALSE(is_being_deleted(in_state("ACTIVE", "image_snapshot")));
    EXPECT_FALSE(may_be_victim(in_state("ACTIVE", "deleting")));
    EXPECT_FALSE(may_be_victim(in_state("SOFT_DELETED")));
}

TEST(ServerState, WhatIsNotKnownHereIsLeftAlone) {
    EXPECT_FALSE(may_be_victim(in_state("UNKNOWN")));
    EXPECT_THAT(why_no_victim(in_state("ACTIVE", "teleporting")),
                Optional(HasSubstr("its state is unknown (ACTIVE, teleporting)")));
}

TEST(ServerState, OnlyWhatDidWorkLosesWork) {
    for (const char* status : {"BUILD", "ERROR", "SHUTOFF", "SHELVED", "SHELVED_OFFLOADED"})
        EXPECT_FALSE(loses_work(in_state(status))) << status;
    for (const char* status : {"ACTIVE", "PAUSED", "SUSPENDED", "VERIFY_RESIZE", "RESCUE"})
        EXPECT_TRUE(loses_work(in_state(status))) << status;
}

TEST(ServerState, AnUnconfirmedResizeHoldsRoomOnTwoHosts) {
    EXPECT_EQ(state_of(in_state("VERIFY_RESIZE")).frees, ServerState::Frees::both_hosts);
    EXPECT_EQ(state_of(in_state("SHELVED_OFFLOADED")).frees, ServerState::Frees::nothing);
}

}  // namespace
}  // namespace reaper::server_state_test
