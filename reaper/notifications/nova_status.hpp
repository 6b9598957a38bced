// What Nova's API would show as a server's `status`, from what its notifications show.
#pragma once

#include <string>
#include <string_view>

namespace reaper {

/// `active` with `resize_prep` is `RESIZE`, ...; `UNKNOWN` for a vm_state that Nova does not have.
/// `task_state` is empty if there is none. Source: nova/api/openstack/common.py, _STATE_MAP (Zed);
/// `pending` is the patched Nova's.
std::string nova_status(std::string_view vm_state, std::string_view task_state);

}  // namespace reaper
