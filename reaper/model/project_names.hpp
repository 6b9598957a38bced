// What Keystone calls projects: for people, beside the ids that everything else goes by.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"

namespace reaper {

/// As they were read last. Of a project that is not there, the name is not known.
using ProjectNames = std::map<ProjectId, std::string>;

/// Empty: it is not known.
std::string name_of_project(const ProjectNames& names, const ProjectId& project);

/// `web (8d3f...)`, or the id alone where the name is not known. Safe to show.
std::string project_text(const ProjectId& project, const std::string& name);

/// By id.
std::vector<ProjectId> projects_named(const ProjectNames& names, const std::string& name);

/// For people who wrote a name that several projects have: what to write instead.
std::string several_projects(const std::string& name, const std::vector<ProjectId>& projects);

}  // namespace reaper
