// Port: Keystone's projects, in the domain's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/records.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

class Identity {
public:
    virtual ~Identity() = default;
    /// All projects that carry the tag. A truncated answer is an error: half a list of revocable
    /// projects is not a list.
    virtual ResultTask<std::vector<Project>> projects_with_tag(std::string tag) = 0;
    /// By id, else by name; none if there is none. More than one of that name is `bad_input`.
    virtual ResultTask<std::optional<Project>> find_project(std::string id_or_name) = 0;
    /// The id of the user that the reaper is.
    virtual ResultTask<std::string> own_user() = 0;
};

}  // namespace reaper
