// Which role each project is of: as the configuration writes it, or by Keystone's hierarchy, where
// a project of a trusted domain has the role of the path of names that leads to it. Looked up once
// and again from time to time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/role.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

class ProjectRoles {
public:
    /// References must outlive it; `settings` may change.
    ProjectRoles(CloudPorts cloud, const config::Reservations& settings)
        : cloud_(cloud), settings_(settings) {}

    /// The roles of these projects are known when it returns, as Keystone tells them. An error: it
    /// could not be asked.
    ResultTask<void> learn(std::set<ProjectId> projects);
    /// None if it is of no role, or was not asked for.
    std::optional<Role> role_of(const ProjectId& project) const;
    /// Was it asked for, so that `role_of` tells?
    bool knows(const ProjectId& project) const;
    /// Another number whenever an answer of `role_of` may be another one than before.
    std::uint64_t version() const noexcept { return version_; }
    /// What the configuration names and Keystone does not have; one line each.
    const std::vector<std::string>& not_found() const noexcept { return not_found_; }

private:
    static constexpr Duration known_for = std::chrono::minutes{10};
    static constexpr int max_depth = 32;

    ResultTask<void> look_up_names();
    ResultTask<std::optional<Role>> by_hierarchy(ProjectId project);

    CloudPorts cloud_;
    const config::Reservations& settings_;
    std::vector<config::RoleProjects> looked_up_;  ///< for these the names are known
    Duration looked_up_at_{};
    bool known_ = false;
    std::map<ProjectId, Role> written_;
    struct Found {
        std::optional<Role> role;
        Duration at{};  ///< steady
    };
    std::map<ProjectId, Found> by_hierarchy_;
    std::vector<std::string> domains_;  ///< for these it was asked
    bool hierarchy_ = false;            ///< as it was when it was asked for last
    std::uint64_t version_ = 0;
    std::vector<std::string> not_found_;
};

}  // namespace reaper
