#include "reaper/controllers/reservations/project_roles.hpp"

#include <algorithm>
#include <utility>

namespace reaper {

ResultTask<void> ProjectRoles::learn(std::set<ProjectId> projects) {
    const Duration now = cloud_.clock.steady();
    const bool old = !known_ || now - looked_up_at_ > known_for;
    if (old || looked_up_ != settings_.roles) {
        auto done = co_await look_up_names();
        if (!done) co_return done.error();
        known_ = true;
        looked_up_at_ = now;
    }
    if (std::exchange(hierarchy_, settings_.roles_by_hierarchy) != settings_.roles_by_hierarchy)
        ++version_;
    if (domains_ != settings_.roles_domains) {
        domains_ = settings_.roles_domains;
        by_hierarchy_.clear();
        ++version_;
    }
    if (!settings_.roles_by_hierarchy) co_return Result<void>{};
    for (const ProjectId& project : projects) {
        const auto known = by_hierarchy_.find(project);
        const bool fresh = known != by_hierarchy_.end() && now - known->second.at < known_for;
        if (written_.contains(project) || fresh) continue;
        auto role = co_await by_hierarchy(project);
        // The old answer holds until there is another one.
        if (!role) co_return role.error();
        Found& found = by_hierarchy_[project];
        if (found.role != *role || found.at == Duration{}) ++version_;
        found.role = std::move(*role);
        found.at = now;
    }
    co_return Result<void>{};
}

std::optional<Role> ProjectRoles::role_of(const ProjectId& project) const {
    if (const auto at = written_.find(project); at != written_.end()) return at->second;
    if (!settings_.roles_by_hierarchy) return std::nullopt;
    const auto at = by_hierarchy_.find(project);
    return at == by_hierarchy_.end() ? std::nullopt : at->second.role;
}

bool ProjectRoles::knows(const ProjectId& project) const {
    return known_ && looked_up_ == settings_.roles &&
           (!settings_.roles_by_hierarchy || written_.contains(project) ||
            by_hierarchy_.contains(project));
}

ResultTask<void> ProjectRoles::look_up_names() {
    const std::vector<config::RoleProjects> wanted = settings_.roles;  // it may change meanwhile
    std::map<ProjectId, Role> written;
    std::vector<std::string> not_found;
    for (const config::RoleProjects& each : wanted)
        for (const std::string& name : each.projects) {
            auto search = co_await cloud_.identity.find_project(name);
            if (!search) co_return search.error();
            if (search->found)
                written.insert_or_assign(search->found->id, each.role);
            else
                not_found.push_back("reservations.roles: role " + each.role.str() + ": " +
                                    search->why_not);
        }
    if (looked_up_ != wanted || written_ != written) ++version_;
    looked_up_ = wanted;
    written_ = std::move(written);
    not_found_ = std::move(not_found);
    co_return Result<void>{};
}

/// None where a name in the path can't be one of a role, and below a domain that is not trusted
/// with roles: who rules there may name a project as he likes.
ResultTask<std::optional<Role>> ProjectRoles::by_hierarchy(ProjectId project) {
    std::string path;
    ProjectId at = std::move(project);
    bool whole = false;
    for (int depth = 0; depth < max_depth; ++depth) {
        auto search = co_await cloud_.identity.find_project(at.str());
        if (!search) co_return search.error();
        if (!search->found || search->found->id != at) co_return std::optional<Role>{};
        const Project& found = *search->found;
        const auto& trusted = settings_.roles_domains;
        const bool its = std::find(trusted.begin(), trusted.end(), found.domain) != trusted.end();
        if (!its || found.name.find('/') != std::string::npos) co_return std::optional<Role>{};
        path = found.name + (path.empty() ? "" : "/" + path);
        at = found.parent;
        // A project at the top has its domain for a parent.
        whole = at.empty() || at.str() == found.domain;
        if (whole) break;
    }
    if (!whole) co_return std::optional<Role>{};
    auto role = Role::parse(path);
    if (!role) co_return std::optional<Role>{};
    co_return std::optional<Role>{std::move(*role)};
}

}  // namespace reaper
