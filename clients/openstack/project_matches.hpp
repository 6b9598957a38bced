// Which project is meant by what a user wrote: an id, a name, or DOMAIN/NAME. Pure. Internal to
// clients/openstack.
//
// Ids are case-insensitive, with dashes and without: Keystone's are 32
// hexadecimal digits, and some databases behind it do not look at the difference. Names are as
// Keystone writes them: some databases return `spot` for `SPOT`, others do not, and what is meant
// must not depend on that. Names may hold slashes: each is tried as the end of a domain first.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/records.hpp"

namespace reaper::openstack {

struct QualifiedName {
    std::string domain;  ///< id or name; empty: any
    std::string project;
};

class ProjectMatches {
public:
    explicit ProjectMatches(std::string written) : written_(std::move(written)) {}

    /// What Keystone is to be asked for, in this order, until something is found.
    std::vector<std::string> possible_ids() const;
    std::vector<QualifiedName> possible_names() const;
    bool any() const { return !found_.empty(); }

    /// Keystone's answer to one of the ids.
    void add(Project project);
    /// One of its answers to a name, in the right domain.
    void add_named(Project project, const std::string& name);

    ProjectSearch result() &&;

private:
    std::string none() const;
    std::string several() const;

    std::string written_;
    std::map<ProjectId, Project> found_;
    std::string near_;  ///< a name that differs in its letters' case alone
};

}  // namespace reaper::openstack
