// What the configuration names in the cloud: projects, flavors, aggregates, resource classes, tags.
// An unknown name protects no server and chooses nothing, although it looks right. So every name is
// looked up when the reaper starts, when it reads its configuration again, and by `reaper check`.
// Pure: reaper/cloud/reader/cloud_directory.hpp asks the cloud.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

struct CloudName {
    enum class Kind {
        protected_project,
        protected_flavor,
        project_or_flavor,
        aggregate,
        resource_class,
        project_tag,
    };
    Kind kind{};
    std::string key;   ///< that names it: `protect.projects`, `strategy.work_class`
    std::string text;  ///< as written
};

/// `a|b` of `watched_aggregates` as its names; blanks around them count for nothing.
std::vector<std::string> aggregates_of(const std::string& shard);

/// All of them, in the order of the keys; each text once for each key.
std::vector<CloudName> names_in(const config::Policy& policy);

/// What the cloud has of all that; only what the names need.
struct CloudDirectory {
    std::map<std::string, ProjectSearch> projects;  ///< by what is written
    std::set<ResourceClass> classes;
    std::set<std::string> flavors;
    std::vector<AggregateRecord> aggregates;
    std::map<std::string, std::vector<std::string>> tagged;  ///< names of projects, by tag
    /// What could not be asked, and why; nothing is said of such names but this.
    std::map<CloudName::Kind, Error> not_asked;
};

/// What came of one name.
struct NameFinding {
    enum class Level { found, doubtful, missing };
    CloudName name;
    Level level{};
    std::string what;    ///< `protect.projects`
    std::string detail;  ///< `'spot' is project spot (...)`, or what is wrong and what to do
};

struct ResolvedPolicy {
    config::Policy policy;  ///< with ids for the names
    std::vector<NameFinding> findings;

    /// Why no server may be deleted by this policy; none if they may: every project that is to be
    /// protected was found.
    std::optional<std::string> obstacle() const;
};

ResolvedPolicy resolve(config::Policy written, const CloudDirectory& directory);

}  // namespace reaper
