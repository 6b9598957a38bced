#include <gtest/gtest.h>

#include "reaper/notifications/cloud_event_parser.hpp"

namespace reaper::nova_status_test {
namespace {

struct Case {
    const char *vm_state, *task_state, *status;
};

class NovaStatus : public testing::TestWithParam<Case> {};

TEST_P(NovaStatus, IsWhatTheApiWouldShow) {
    const Case& example = GetParam();
    EXPECT_EQ(nova_status(example.vm_state, example.task_state), example.status)
        << example.vm_state << " + " << example.task_state;
}

INSTANTIATE_TEST_SUITE_P(
    , NovaStatus,
    testing::Values(
        Case{"active", "", "ACTIVE"}, Case{"building", "", "BUILD"},
        Case{"building", "scheduling", "BUILD"}, Case{"stopped", "", "SHUTOFF"},
        Case{"resized", "", "VERIFY_RESIZE"}, Case{"paused", "", "PAUSED"},
        Case{"suspended", "", "SUSPENDED"}, Case{"rescued", "", "RESCUE"},
        Case{"error", "", "ERROR"}, Case{"deleted", "", "DELETED"},
        Case{"soft-delete", "", "SOFT_DELETED"}, Case{"shelved", "", "SHELVED"},
        Case{"shelved_offloaded", "", "SHELVED_OFFLOADED"}, Case{"pending", "", "PENDING"},
        Case{"active", "rebooting", "REBOOT"}, Case{"active", "reboot_started", "REBOOT"},
        Case{"active", "rebooting_hard", "HARD_REBOOT"},
        Case{"stopped", "rebooting_hard", "SHUTOFF"}, Case{"active", "rebuild_spawning", "REBUILD"},
        Case{"stopped", "rebuilding", "REBUILD"},
        Case{"error", "rebuild_block_device_mapping", "REBUILD"},
        Case{"active", "resize_prep", "RESIZE"}, Case{"stopped", "resize_finish", "RESIZE"},
        Case{"error", "resize_finish", "ERROR"}, Case{"active", "migrating", "MIGRATING"},
        Case{"paused", "migrating", "MIGRATING"}, Case{"stopped", "migrating", "SHUTOFF"},
        Case{"resized", "resize_reverting", "REVERT_RESIZE"},
        Case{"resized", "resize_confirming", "VERIFY_RESIZE"},
        Case{"active", "updating_password", "PASSWORD"}, Case{"active", "deleting", "ACTIVE"},
        Case{"active", "powering-off", "ACTIVE"}, Case{"", "", "UNKNOWN"},
        Case{"melted", "resize_prep", "UNKNOWN"}));

}  // namespace
}  // namespace reaper::nova_status_test
