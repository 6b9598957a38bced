#include "reaper/notifications/nova_status.hpp"

#include <algorithm>
#include <array>

namespace reaper {
namespace {

struct Word {
    std::string_view nova, status;
};

constexpr std::array<Word, 13> vm_states{{
    {"active", "ACTIVE"},
    {"building", "BUILD"},
    {"stopped", "SHUTOFF"},
    {"resized", "VERIFY_RESIZE"},
    {"paused", "PAUSED"},
    {"suspended", "SUSPENDED"},
    {"rescued", "RESCUE"},
    {"error", "ERROR"},
    {"deleted", "DELETED"},
    {"soft-delete", "SOFT_DELETED"},
    {"shelved", "SHELVED"},
    {"shelved_offloaded", "SHELVED_OFFLOADED"},
    {"pending", "PENDING"},
}};

constexpr std::array<Word, 7> reboots{{
    {"rebooting", "REBOOT"},
    {"reboot_pending", "REBOOT"},
    {"reboot_started", "REBOOT"},
    {"rebooting_hard", "HARD_REBOOT"},
    {"reboot_pending_hard", "HARD_REBOOT"},
    {"reboot_started_hard", "HARD_REBOOT"},
    {"updating_password", "PASSWORD"},
}};
constexpr std::array<Word, 3> rebuilds{{
    {"rebuilding", "REBUILD"},
    {"rebuild_block_device_mapping", "REBUILD"},
    {"rebuild_spawning", "REBUILD"},
}};
constexpr std::array<Word, 4> resizes{{
    {"resize_prep", "RESIZE"},
    {"resize_migrating", "RESIZE"},
    {"resize_migrated", "RESIZE"},
    {"resize_finish", "RESIZE"},
}};

template <std::size_t N>
std::string_view find(const std::array<Word, N>& words, std::string_view nova) {
    const auto* const found = std::find_if(words.begin(), words.end(),
                                           [&](const Word& word) { return word.nova == nova; });
    return found == words.end() ? std::string_view() : found->status;
}

/// The status that the task state puts in place of the vm_state's own; empty: none.
std::string_view task_status(std::string_view vm, std::string_view task) {
    const bool active = vm == "active";
    const bool stopped = vm == "stopped";
    if (active) {
        if (const auto status = find(reboots, task); !status.empty()) return status;
    }
    if (active || stopped || vm == "error") {
        if (const auto status = find(rebuilds, task); !status.empty()) return status;
    }
    if (active || stopped) {
        if (const auto status = find(resizes, task); !status.empty()) return status;
    }
    if ((active || vm == "paused") && task == "migrating") return "MIGRATING";
    if (vm == "resized" && task == "resize_reverting") return "REVERT_RESIZE";
    return {};
}

}  // namespace

std::string nova_status(std::string_view vm_state, std::string_view task_state) {
    if (const auto status = task_status(vm_state, task_state); !status.empty()) {
        return std::string(status);
    }
    const auto status = find(vm_states, vm_state);
    return std::string(status.empty() ? "UNKNOWN" : status);
}

}  // namespace reaper
