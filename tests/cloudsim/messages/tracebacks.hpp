// What Nova's error messages consist of, mostly: tracebacks, as recorded.
#pragma once

#include <string>
#include <string_view>

namespace reaper::cloudsim {

/// `reason`: empty, or why hosts that Placement offered did not do.
std::string exception_message(const std::string& reason);
/// Of `build_instances` or `migrate_server`.
std::string traceback_of(std::string_view method, const std::string& reason);

}  // namespace reaper::cloudsim
