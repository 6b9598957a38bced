#include "reaper/cloud/reader/cloud_directory.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

using Kind = CloudName::Kind;

bool has_kind(const std::vector<CloudName>& names, Kind kind) {
    return std::ranges::any_of(names, [&](const CloudName& name) { return name.kind == kind; });
}

/// Projects, by what is written; one that is named twice is asked once.
ResultTask<void> add_projects(CloudPorts cloud, const std::vector<CloudName>& names, Kind kind,
                              CloudDirectory& directory) {
    for (const auto& name : names) {
        if (name.kind != kind || directory.projects.contains(name.text)) continue;
        auto search = co_await cloud.identity.find_project(name.text);
        if (!search) co_return search.error();
        directory.projects.emplace(name.text, std::move(*search));
    }
    co_return Result<void>{};
}

ResultTask<void> add_flavors(CloudPorts cloud, CloudDirectory& directory) {
    auto flavors = co_await cloud.compute.all_flavors();
    if (!flavors) co_return flavors.error();
    directory.flavors.clear();
    for (const auto& [id, flavor] : *flavors) directory.flavors.insert(flavor.name);
    co_return Result<void>{};
}

ResultTask<void> add_tagged(CloudPorts cloud, const std::vector<CloudName>& names,
                            CloudDirectory& directory) {
    for (const auto& name : names) {
        if (name.kind != Kind::project_tag) continue;
        auto projects = co_await cloud.identity.projects_with_tag(name.text);
        if (!projects) co_return projects.error();
        auto& told = directory.tagged[name.text];
        told.clear();
        for (const Project& project : *projects) told.push_back(project.name);
    }
    co_return Result<void>{};
}

}  // namespace

ResultTask<CloudDirectory> read_directory(CloudPorts cloud, std::vector<CloudName> names) {
    CloudDirectory directory;
    auto known = co_await add_projects(cloud, names, Kind::protected_project, directory);
    if (!known) co_return known.error();
    if (has_kind(names, Kind::project_or_flavor)) {
        auto done = co_await add_projects(cloud, names, Kind::project_or_flavor, directory);
        if (done) done = co_await add_flavors(cloud, directory);
        if (!done) directory.not_asked[Kind::project_or_flavor] = done.error();
    }
    if (has_kind(names, Kind::protected_flavor)) {
        auto done = co_await add_flavors(cloud, directory);
        if (!done) directory.not_asked[Kind::protected_flavor] = done.error();
    }
    if (has_kind(names, Kind::aggregate)) {
        auto aggregates = co_await cloud.compute.aggregates();
        if (aggregates)
            directory.aggregates = std::move(*aggregates);
        else
            directory.not_asked[Kind::aggregate] = aggregates.error();
    }
    if (has_kind(names, Kind::resource_class)) {
        auto classes = co_await cloud.placement.resource_classes();
        if (classes)
            directory.classes = std::move(*classes);
        else
            directory.not_asked[Kind::resource_class] = classes.error();
    }
    if (has_kind(names, Kind::project_tag)) {
        auto done = co_await add_tagged(cloud, names, directory);
        if (!done) directory.not_asked[Kind::project_tag] = done.error();
    }
    co_return directory;
}

}  // namespace reaper
