// Which host people mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"

namespace reaper {

/// The host of that id, name or service host; else the only one whose name goes on after a dot:
/// `compute-7` for `compute-7.example.org`. `not_found` with the nearest names, `bad_input` if
/// several may be meant.
Result<const Host*> host_named(const std::vector<const Host*>& hosts, std::string_view written);

}  // namespace reaper
