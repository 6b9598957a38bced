// Port: Keystone's projects, in the domain's words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/project_names.hpp"
#include "reaper/model/records.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// Whose token it is, as Keystone says.
struct TokenOwner {
    std::string user;                ///< name
    std::string user_domain;         ///< name
    std::vector<std::string> roles;  ///< names, in the token's project, domain or system
    TimePoint expires{};
    ProjectId project{};  ///< its scope; empty: a domain, the system, or nothing
};

class Identity {
public:
    virtual ~Identity() = default;
    /// All projects that carry the tag. A truncated answer is an error: half a list of revocable
    /// projects is not a list.
    virtual ResultTask<std::vector<Project>> projects_with_tag(std::string tag) = 0;
    /// By its id, in upper or lower case; by its name, exactly as Keystone writes it; or
    /// by DOMAIN/NAME, the domain by its id or name. Found is what all of these lead to, if it is
    /// one.
    virtual ResultTask<ProjectSearch> find_project(std::string written) = 0;
    /// Of all projects, in one call. Of a truncated answer, those that it shows: names are for
    /// people, and some are better than none.
    virtual ResultTask<ProjectNames> names_of_projects() = 0;
    /// The id of the user that the reaper is.
    virtual ResultTask<std::string> own_user() = 0;
    /// When what we log in with expires: a password, or an application credential. None: never, or
    /// Keystone does not let us see it.
    virtual ResultTask<std::optional<TimePoint>> credential_expires() = 0;
    /// None: Keystone does not accept the token, or no longer does. The token is in no error.
    virtual ResultTask<std::optional<TokenOwner>> owner_of(std::string token) = 0;
};

}  // namespace reaper
