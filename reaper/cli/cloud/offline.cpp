#include "reaper/cli/cloud/offline.hpp"

#include <new>
#include <utility>
#include <variant>
#include <vector>

#include "config/loader.hpp"
#include "reaper/cli/cloud/hosts_command.hpp"
#include "reaper/cli/cloud/planning.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t max_snapshot_mib = 1024;

/// Taggers that say of requesters what the file says of projects and classes.
std::vector<config::Plugin> taggers_of(const TagData& tag_data,
                                       const std::set<ResourceClass>& revocable_classes) {
    std::vector<config::Plugin> taggers;
    for (const auto& marker : revocable_classes)
        taggers.push_back({"resource", {{"class", marker.str()}}});
    for (const auto& [tag, projects] : tag_data.projects_by_tag)
        taggers.push_back({"project", {{"tag", tag}}});
    return taggers;
}

/// What the taggers ask and the file does not answer; empty if nothing.
std::string unanswered(const CompiledPolicy& policy, const TagData& tag_data) {
    for (const std::string& tag : policy.tagger_inputs().project_tags) {
        if (tag_data.projects_by_tag.contains(tag)) continue;
        std::string told;
        for (const auto& [known, projects] : tag_data.projects_by_tag)
            told += (told.empty() ? "'" : ", '") + printable(known) + "'";
        return "the snapshot does not tell which projects carry the tag '" + printable(tag) +
               "' (only of " + (told.empty() ? "none" : told) +
               "): take it with this configuration, or leave --config out, and the file's own word "
               "on which servers are revocable holds";
    }
    return {};
}

void tag_again(Snapshot& snapshot, const Taggers& taggers, const TagData& tag_data) {
    snapshot.revocable_classes = revocable_classes(taggers);
    for (Host& host : snapshot.hosts)
        for (Server& server : host.servers) tag(server, taggers, tag_data);
}

/// Only ids lead anywhere: a snapshot has no names of projects. One that leads nowhere protects
/// no server here, and is a remark.
void find_protected(config::Policy& policy, Snapshot& snapshot) {
    std::set<std::string> known;
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers) known.insert(server.project.str());
    ProtectSettings& protect = policy.safeguards.protect;
    for (const auto& written : protect.projects) {
        protect.project_ids.emplace(written, written);
        if (!known.contains(written))
            snapshot.remarks.push_back("protect.projects: " + in_quotes(written) +
                                       " is the id of no project with servers in the snapshot, "
                                       "which has no names: it protects no server here");
    }
}

}  // namespace

std::optional<config::Policy> offline_policy(const GlobalOptions& global,
                                             const std::function<void(std::string)>& complain) {
    if (!global.config_given) return config::standard_policy();
    auto loaded = config::load_policy(global.config_file, config::system_environment());
    if (auto* policy = std::get_if<config::Policy>(&loaded)) return std::move(*policy);
    for (const auto& error : std::get<std::vector<config::ConfigError>>(loaded))
        complain(config::to_string(error));
    return std::nullopt;
}

namespace {

Result<OfflineCloud> offline_cloud(report::SnapshotFile file, config::Policy policy,
                                   bool taggers_configured) {
    OfflineCloud cloud;
    taggers_configured = taggers_configured && !policy.taggers.empty();
    if (!taggers_configured) {
        policy.taggers = taggers_of(file.tag_data, file.snapshot.revocable_classes);
        policy.tagger_conflict = "any";
    }
    find_protected(policy, file.snapshot);
    auto compiled = compile_policy(policy);
    if (!compiled) return compiled.error();
    cloud.policy = std::move(*compiled);
    if (taggers_configured) {
        if (const auto missing = unanswered(*cloud.policy, file.tag_data); !missing.empty())
            return Error{Errc::bad_input, missing};
        tag_again(file.snapshot, cloud.policy->taggers, file.tag_data);
    }
    cloud.cache = {std::move(file.snapshot), std::move(file.tag_data)};
    cloud.ledger = std::move(file.ledger);
    cloud.ledger.expire(cloud.cache.snapshot, cloud.cache.snapshot.taken_at);
    return cloud;
}

Result<std::string> read_whole(const std::string& path) {
    try {
        return read_input(path, max_snapshot_mib);
    } catch (const std::bad_alloc&) {
        return Error{Errc::bad_input,
                     (path == "-" ? "stdin" : path) + " takes more memory to read than there is"};
    }
}

}  // namespace

Result<OfflineCloud> open_snapshot(const std::string& path, config::Policy policy,
                                   bool taggers_configured) {
    auto text = read_whole(path);
    if (!text) return text.error();
    const std::string name = path == "-" ? "stdin" : path;
    auto file = report::read_snapshot(*text);
    if (!file) return Error{file.error().code, name + ": " + file.error().what};
    text->clear();
    text->shrink_to_fit();
    return offline_cloud(std::move(*file), std::move(policy), taggers_configured);
}

Result<FileProject> project_in_file(const CloudView& cloud, const std::string& written) {
    const ProjectId id{written};
    for (const auto& [tag, projects] : cloud.tag_data.projects_by_tag)
        if (projects.contains(id)) return FileProject{id};
    const auto found = project_in(cloud.snapshot, written);
    if (found) return FileProject{ProjectId{*found}};
    if (found.error().code != Errc::not_found) return found.error();
    if (!cloud.snapshot.project_names.empty())
        return Error{Errc::not_found,
                     "the snapshot has no project of the id or name " + in_quotes(written)};
    return FileProject{id, "the snapshot has no server of project " + in_quotes(written) +
                               ", and no names of projects; it is to be named by its id"};
}

}  // namespace reaper::cli
