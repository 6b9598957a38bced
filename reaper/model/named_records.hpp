// Gives their names to the projects of requests and of what is recorded of them.
#pragma once

#include <string_view>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/project_names.hpp"
#include "reaper/model/request_record.hpp"

namespace reaper {

// Which host people mean.

/// The host of that id, name or service host; else the only one whose name goes on after a dot:
/// `compute-7` for `compute-7.example.org`. `not_found` with the nearest names, `bad_input` if
/// several may be meant.
Result<const Host*> host_named(const std::vector<const Host*>& hosts, std::string_view written);

/// Each of these names the projects that have no name yet: what was recorded stays.
void add_names(const ProjectNames& names, Request& request);
void add_names(const ProjectNames& names, Decision& decision);
void add_names(const ProjectNames& names, RequestRecord& record);
void add_names(const ProjectNames& names, RequestSummary& line);
void add_names(const ProjectNames& names, VictimEntry& victim);
void add_names(const ProjectNames& names, ChosenServer& chosen);

}  // namespace reaper
