#include "reaper/report/snapshot_file.hpp"

#include <set>
#include <vector>

#include "reaper/model/time_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_placement.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json time_or_null(const std::optional<TimePoint>& time) {
    return time ? json(iso_time(*time)) : json(nullptr);
}

json texts(const auto& ids) {
    json array = json::array();
    for (const auto& id : ids) array.push_back(id.str());
    return array;
}

/// Amounts by provider, or by consumer.
json held(const auto& by_id) {
    json object = json::object();
    for (const auto& [id, resources] : by_id) object[id.str()] = to_json(resources);
    return object;
}

json whole(const Inventory& inventory) {
    return {{"total", inventory.total},
            {"reserved", inventory.reserved},
            {"allocation_ratio", inventory.allocation_ratio},
            {"min_unit", inventory.min_unit},
            {"max_unit", inventory.max_unit},
            {"step_size", inventory.step_size}};
}

json whole(const Provider& provider) {
    json inventories = json::object();
    for (const auto& [resource_class, inventory] : provider.inventories)
        inventories[resource_class.str()] = whole(inventory);
    return {{"id", provider.id.str()},
            {"name", provider.name},
            {"parent", provider.parent.str()},
            {"inventories", std::move(inventories)},
            {"used", to_json(provider.used)},
            {"traits", texts(provider.traits)},
            {"other_consumers", held(provider.other_consumers)}};
}

using Providers = std::set<ProviderId>;

/// What is held on providers of no host here would lead nowhere; null: all may lead somewhere.
json holdings(const Allocations& allocations, const Providers* known) {
    json object = json::object();
    for (const auto& [id, resources] : allocations)
        if (known == nullptr || known->contains(id)) object[id.str()] = to_json(resources);
    return object;
}

json whole(const Server& server, const Providers* known) {
    json object{{"id", server.id.str()},
                {"name", server.name},
                {"project", server.project.str()},
                {"host", server.host},
                {"status", server.status},
                {"task_state", server.task_state},
                {"locked", server.locked},
                {"created", iso_time(server.created)},
                {"launched", time_or_null(server.launched)},
                {"flavor", server.flavor_name},
                {"flavor_extra_specs", server.flavor_extra_specs.get()},
                {"metadata", server.metadata.get()},
                {"tags", server.tags.get()},
                {"allocations", holdings(server.allocations, known)},
                {"revocable_because",
                 server.revocable_because ? json(*server.revocable_because) : json(nullptr)},
                {"revocable_by", server.revocable_by}};
    if (server.unfinished_deletion) object["unfinished_deletion"] = true;
    if (!server.protected_because.empty()) object["protected"] = server.protected_because;
    return object;
}

json whole(const Host& host, const Providers* known) {
    json providers = json::array();
    for (const Provider& provider : host.providers) providers.push_back(whole(provider));
    json servers = json::array();
    for (const Server& server : host.servers) servers.push_back(whole(server, known));
    json object{{"id", host.id.str()},
                {"name", host.name},
                {"service_host", host.service_host},
                {"enabled", host.enabled},
                {"up", host.up},
                {"why_unavailable", host.why_unavailable},
                {"availability_zone", host.availability_zone},
                {"aggregates", host.aggregates},
                {"providers", std::move(providers)},
                {"servers", std::move(servers)}};
    if (!host.member_of.empty()) object["member_of"] = to_json(host.member_of.get());
    return object;
}

json whole(const Ledger& ledger) {
    json evictions = json::array();
    for (const Ledger::Eviction& eviction : ledger.evictions()) {
        evictions.push_back({{"request", eviction.request.str()},
                             {"host", eviction.host.str()},
                             {"server", eviction.server.str()},
                             {"ended", time_or_null(eviction.ended)}});
        if (!eviction.counted) evictions.back()["counted"] = false;
    }
    json promises = json::array();
    ledger.each_promise([&](const Ledger::Promise& promise) {
        promises.push_back({{"request", promise.request.str()},
                            {"project", promise.project.str()},
                            {"host", promise.host.str()},
                            {"slot", to_json(promise.slot)},
                            {"slots", promise.slots},
                            {"requesters", texts(promise.requesters)},
                            {"since", iso_time(promise.since)},
                            {"until", time_or_null(promise.until)}});
        if (!promise.group.empty()) promises.back()["group"] = promise.group;
        if (!promise.groups.empty()) promises.back()["groups"] = array_of(promise.groups);
    });
    return {{"evictions", std::move(evictions)}, {"promises", std::move(promises)}};
}

json whole(const TagData& tag_data) {
    json projects = json::object();
    for (const auto& [tag, ids] : tag_data.projects_by_tag) projects[tag] = texts(ids);
    return {{"projects_by_tag", std::move(projects)}};
}

Providers providers_of(const Snapshot& snapshot) {
    Providers providers;
    for (const Host& host : snapshot.hosts)
        for (const Provider& provider : host.providers) providers.insert(provider.id);
    return providers;
}

json remarks_of(const Snapshot& snapshot) {
    const auto& all = snapshot.remarks;
    if (all.size() <= max_snapshot_remarks) return all;
    const std::size_t kept = max_snapshot_remarks - 1;
    json some(
        std::vector<std::string>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)));
    some.push_back(more_remarks(all.size() - kept));
    return some;
}

/// All but the hosts.
json frame(const SnapshotFile& file) {
    json members{{"format", "reaper-snapshot"},
                 {"version", snapshot_version},
                 {"taken_at", iso_time(file.snapshot.taken_at)},
                 {"anonymous", file.anonymous},
                 {"facts", whole(file.tag_data)},
                 {"revocable_classes", texts(file.snapshot.revocable_classes)},
                 {"ledger", whole(file.ledger)},
                 {"remarks", remarks_of(file.snapshot)}};
    json names = json::object();
    for (const Host& host : file.snapshot.hosts)
        add_project_names(names, host, file.snapshot.project_names);
    if (!names.empty()) members["project_names"] = std::move(names);
    return members;
}

}  // namespace

json host_json(const Host& host) {
    return whole(host, nullptr);
}

void add_project_names(json& object, const Host& host, const ProjectNames& names) {
    for (const Server& server : host.servers)
        if (const auto known = names.find(server.project); known != names.end())
            object[known->first.str()] = known->second;
}

json ledger_json(const Ledger& ledger) {
    return whole(ledger);
}

json tag_data_json(const TagData& tag_data) {
    return whole(tag_data);
}

std::string more_remarks(std::size_t count) {
    return "and " + std::to_string(count) + " more remarks";
}

json to_json(const SnapshotFile& file) {
    json document = frame(file);
    json hosts = json::array();
    const Providers providers = providers_of(file.snapshot);
    for (const Host& host : file.snapshot.hosts) hosts.push_back(whole(host, &providers));
    document["hosts"] = std::move(hosts);
    return document;
}

void write_snapshot(std::ostream& out, const SnapshotFile& file) {
    // What the file is comes first, so that its beginning tells.
    out << "{\n\"format\": \"reaper-snapshot\"";
    const json members = frame(file);
    for (const auto& [name, value] : members.items())
        if (name != "format") out << ",\n\"" << name << "\": " << dump(value);
    out << ",\n\"hosts\": [";
    const Providers providers = providers_of(file.snapshot);
    const char* separator = "\n";
    for (const Host& host : file.snapshot.hosts) {
        out << separator << dump(whole(host, &providers));
        separator = ",\n";
    }
    out << "\n]\n}\n";
}

}  // namespace reaper::report
