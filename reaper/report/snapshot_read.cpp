// From the text of a snapshot file back to values, host by host. Exceptions end in this file.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "reaper/json/json_place.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json_placement.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr int max_depth = 16;

Inventory inventory_of(const JsonPlace& in) {
    Inventory inventory;
    inventory.total = in["total"].amount();
    inventory.reserved = in["reserved"].amount();
    inventory.allocation_ratio = in["allocation_ratio"].number();
    if (!(inventory.allocation_ratio >= 0) || !std::isfinite(inventory.allocation_ratio))
        in["allocation_ratio"].fail("expected a number of 0 or more");
    inventory.min_unit = in["min_unit"].amount();
    inventory.max_unit = in["max_unit"].amount();
    inventory.step_size = in["step_size"].integer(1);
    return inventory;
}

template <class IdType>
std::map<IdType, Resources> held_by(const JsonPlace& in) {
    std::map<IdType, Resources> all;
    in.each_member([&](const std::string& id, const JsonPlace& resources) {
        all.emplace(IdType{id}, resources.resources());
    });
    return all;
}

Provider provider_of(const JsonPlace& in) {
    Provider provider;
    provider.id = ProviderId{in["id"].id()};
    provider.name = in["name"].text();
    provider.parent = ProviderId{in["parent"].text()};
    in["inventories"].each_member([&](const std::string& name, const JsonPlace& inventory) {
        provider.inventories.emplace(ResourceClass{name}, inventory_of(inventory));
    });
    provider.used = in["used"].resources();
    in["traits"].each([&](const JsonPlace& trait) { provider.traits.emplace(trait.id()); });
    provider.other_consumers = held_by<ServerId>(in["other_consumers"]);
    return provider;
}

Server server_of(const JsonPlace& in) {
    Server server;
    server.id = ServerId{in["id"].id()};
    server.name = in["name"].text();
    server.project = ProjectId{in["project"].text()};
    server.host = in["host"].text();
    server.status = in["status"].text();
    server.task_state = in["task_state"].text();
    server.locked = in["locked"].boolean();
    server.created = in["created"].time();
    server.launched = in["launched"].time_or_null();
    server.flavor_name = in["flavor"].text();
    server.flavor_extra_specs = in["flavor_extra_specs"].text_map();
    server.metadata = in["metadata"].text_map();
    server.tags = in["tags"].text_set();
    server.allocations = held_by<ProviderId>(in["allocations"]);
    const JsonPlace because = in["revocable_because"];
    if (!because.is_null()) server.revocable_because = because.text();
    server.revocable_by = in.text_or_empty("revocable_by");  // earlier versions did not tell
    server.unfinished_deletion = in.boolean_or("unfinished_deletion", false);
    return server;
}

/// The root first, then nested ones by id.
void sort_providers(Host& host, const JsonPlace& place) {
    const auto root = [&](const Provider& provider) { return provider.id == host.id; };
    std::sort(host.providers.begin(), host.providers.end(),
              [&](const Provider& a, const Provider& b) {
                  return std::pair(!root(a), a.id) < std::pair(!root(b), b.id);
              });
    if (host.providers.empty() || !root(host.providers.front()))
        place.fail("none of them has the host's id");
}

Host host_of(const JsonPlace& in) {
    Host host;
    host.id = HostId{in["id"].id()};
    host.name = in["name"].text();
    host.service_host = in["service_host"].text();
    host.enabled = in["enabled"].boolean();
    host.up = in["up"].boolean();
    host.why_unavailable = in["why_unavailable"].text();
    host.availability_zone = in["availability_zone"].text();
    host.aggregates = in["aggregates"].text_set();
    if (const auto groups = in.maybe("member_of")) host.member_of = aggregates_from(*groups);
    const JsonPlace providers = in["providers"];
    providers.each([&](const JsonPlace& each) { host.providers.push_back(provider_of(each)); });
    sort_providers(host, providers);
    in["servers"].each([&](const JsonPlace& each) { host.servers.push_back(server_of(each)); });
    std::sort(host.servers.begin(), host.servers.end(),
              [](const Server& a, const Server& b) { return a.id < b.id; });
    return host;
}

Ledger ledger_of(const JsonPlace& in) {
    std::vector<Ledger::Eviction> evictions;
    in["evictions"].each([&](const JsonPlace& each) {
        evictions.push_back({RequestId{each["request"].id()}, HostId{each["host"].id()},
                             ServerId{each["server"].id()}, each["ended"].time_or_null()});
    });
    std::vector<Ledger::Promise> promises;
    in["promises"].each([&](const JsonPlace& each) {
        Ledger::Promise promise;
        promise.request = RequestId{each["request"].id()};
        promise.project = ProjectId{each["project"].text()};
        promise.host = HostId{each["host"].id()};
        promise.slot = each["slot"].resources();
        promise.slots = each["slots"].count();
        each["requesters"].each(
            [&](const JsonPlace& requester) { promise.requesters.emplace_back(requester.id()); });
        promise.since = each["since"].time();
        promise.until = each["until"].time_or_null();
        promise.group = each.text_or_empty("group");
        if (const auto groups = each.maybe("groups"))
            groups->each(
                [&](const JsonPlace& group) { promise.groups.push_back(group.resources()); });
        promises.push_back(std::move(promise));
    });
    return {evictions, std::move(promises)};
}

TagData facts_of(const JsonPlace& in) {
    TagData tag_data;
    in["projects_by_tag"].each_member([&](const std::string& tag, const JsonPlace& projects) {
        auto& ids = tag_data.projects_by_tag[tag];
        projects.each([&](const JsonPlace& project) { ids.emplace(project.id()); });
    });
    return tag_data;
}

void check_version(const json& version) {
    if (version == snapshot_version) return;
    throw WrongJson{"version " + printable(version.dump(), 30) +
                    " of the format; this reaper reads " + std::to_string(snapshot_version)};
}

void check_format(const json& document) {
    if (!document.is_object() || document.value("format", json()) != "reaper-snapshot") {
        throw WrongJson{"not a snapshot of the reaper (it has no \"format\": \"reaper-snapshot\")"};
    }
    check_version(JsonPlace(document)["version"].value());
}

/// Nobody twice: hosts, providers and servers have ids of their own.
void check_ids(const Snapshot& snapshot) {
    std::set<ProviderId> providers;
    std::set<ServerId> servers;
    for (const Host& host : snapshot.hosts) {
        const std::string on = " (host " + printable(host.name) + ")";
        for (const Provider& provider : host.providers)
            if (!providers.insert(provider.id).second)
                throw WrongJson{"provider " + printable(provider.id.str()) + " is there twice" +
                                on};
        for (const Server& server : host.servers)
            if (!servers.insert(server.id).second)
                throw WrongJson{"server " + printable(server.id.str()) + " is there twice" + on};
    }
}

/// Takes each host out of the document as soon as it is read; the version stands before them.
class HostCollector {
public:
    explicit HostCollector(std::vector<Host>& hosts) : hosts_(hosts) {}

    /// For nlohmann: whether the value is kept in the document.
    bool operator()(int depth, json::parse_event_t event, json& value) {
        using ParseEvent = json::parse_event_t;
        if (depth > max_depth)
            throw WrongJson{"nested deeper than " + std::to_string(max_depth) + " levels"};
        if (event == ParseEvent::key && depth == 1) key_ = value.get<std::string>();
        if (event == ParseEvent::value && depth == 1 && key_ == "version") check_version(value);
        if (event == ParseEvent::array_start && depth == 1 && key_ == "hosts") in_list_ = true;
        if (event == ParseEvent::array_end && depth == 1) in_list_ = false;
        const bool ended = event == ParseEvent::object_end || event == ParseEvent::array_end ||
                           event == ParseEvent::value;
        if (!in_list_ || depth != 2 || !ended) return true;
        hosts_.push_back(host_of(JsonPlace(value, "hosts", hosts_.size())));
        return false;
    }

private:
    std::vector<Host>& hosts_;
    std::string key_;
    bool in_list_ = false;
};

SnapshotFile read(std::string_view text) {
    SnapshotFile file;
    Snapshot& snapshot = file.snapshot;
    HostCollector collector(snapshot.hosts);
    const json document = json::parse(text, std::ref(collector));
    check_format(document);
    const JsonPlace in(document);
    snapshot.taken_at = in["taken_at"].time();
    file.anonymous = in["anonymous"].boolean();
    file.tag_data = facts_of(in["facts"]);
    // Absent in the files of earlier versions.
    if (const auto classes = in.maybe("revocable_classes"))
        classes->each(
            [&](const JsonPlace& each) { snapshot.revocable_classes.emplace(each.id()); });
    file.ledger = ledger_of(in["ledger"]);
    in["remarks"].each([&](const JsonPlace& remark) { snapshot.remarks.push_back(remark.text()); });
    in["hosts"].each([](const JsonPlace&) {});
    check_ids(snapshot);
    std::sort(snapshot.hosts.begin(), snapshot.hosts.end(), [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return file;
}

}  // namespace

Result<SnapshotFile> read_snapshot(std::string_view text) {
    try {
        return read(text);
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    } catch (const json::parse_error& error) {
        return Error{Errc::bad_input, "not JSON (at byte " + std::to_string(error.byte) + " of " +
                                          std::to_string(text.size()) + ")"};
    } catch (const json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

}  // namespace reaper::report
