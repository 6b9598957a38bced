// Gives their names to the projects of requests and of what is recorded of them.
#pragma once

#include "reaper/model/project_names.hpp"
#include "reaper/model/request_record.hpp"

namespace reaper {

/// Each of these names the projects that have no name yet: what was recorded stays.
void add_names(const ProjectNames& names, Request& request);
void add_names(const ProjectNames& names, Decision& decision);
void add_names(const ProjectNames& names, RequestRecord& record);
void add_names(const ProjectNames& names, RequestSummary& line);
void add_names(const ProjectNames& names, VictimEntry& victim);
void add_names(const ProjectNames& names, ChosenServer& chosen);

}  // namespace reaper
