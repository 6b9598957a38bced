// From the text of a snapshot file back to values, host by host. Exceptions end in this file.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/report/json_landing.hpp"
#include "reaper/report/json_place.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr int max_depth = 16;

Inventory inventory_of(const JsonPlace& in) {
    Inventory inventory;
    inventory.total = in.at("total").integer();
    inventory.reserved = in.at("reserved").integer();
    inventory.allocation_ratio = in.at("allocation_ratio").number();
    if (!(inventory.allocation_ratio >= 0) || !std::isfinite(inventory.allocation_ratio))
        in.at("allocation_ratio").fail("expected a number of 0 or more");
    inventory.min_unit = in.at("min_unit").integer();
    inventory.max_unit = in.at("max_unit").integer();
    inventory.step_size = in.at("step_size").integer(1);
    return inventory;
}

std::map<std::string, std::string> text_map(const JsonPlace& in) {
    std::map<std::string, std::string> all;
    in.each_member(
        [&](const std::string& name, const JsonPlace& value) { all.emplace(name, value.text()); });
    return all;
}

std::set<std::string> text_set(const JsonPlace& in) {
    std::set<std::string> all;
    in.each([&](const JsonPlace& each) { all.insert(each.text()); });
    return all;
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
    provider.id = ProviderId{in.at("id").id()};
    provider.name = in.at("name").text();
    provider.parent = ProviderId{in.at("parent").text()};
    in.at("inventories").each_member([&](const std::string& name, const JsonPlace& inventory) {
        provider.inventories.emplace(ResourceClass{name}, inventory_of(inventory));
    });
    provider.used = in.at("used").resources();
    in.at("traits").each([&](const JsonPlace& trait) { provider.traits.emplace(trait.id()); });
    provider.other_consumers = held_by<ServerId>(in.at("other_consumers"));
    return provider;
}

Server server_of(const JsonPlace& in) {
    Server server;
    server.id = ServerId{in.at("id").id()};
    server.name = in.at("name").text();
    server.project = ProjectId{in.at("project").text()};
    server.host = in.at("host").text();
    server.status = in.at("status").text();
    server.task_state = in.at("task_state").text();
    server.locked = in.at("locked").boolean();
    server.created = in.at("created").time();
    server.launched = in.at("launched").time_or_null();
    server.flavor_name = in.at("flavor").text();
    server.flavor_extra_specs = text_map(in.at("flavor_extra_specs"));
    server.metadata = text_map(in.at("metadata"));
    server.tags = text_set(in.at("tags"));
    server.allocations = held_by<ProviderId>(in.at("allocations"));
    const JsonPlace because = in.at("revocable_because");
    if (!because.is_null()) server.revocable_because = because.text();
    // Earlier versions did not tell.
    if (in.value().contains("revocable_by")) server.revocable_by = in.at("revocable_by").text();
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
    host.id = HostId{in.at("id").id()};
    host.name = in.at("name").text();
    host.service_host = in.at("service_host").text();
    host.enabled = in.at("enabled").boolean();
    host.up = in.at("up").boolean();
    host.why_unavailable = in.at("why_unavailable").text();
    host.availability_zone = in.at("availability_zone").text();
    host.aggregates = text_set(in.at("aggregates"));
    if (in.has("member_of")) host.member_of = aggregates_from(in.at("member_of"));
    const JsonPlace providers = in.at("providers");
    providers.each([&](const JsonPlace& each) { host.providers.push_back(provider_of(each)); });
    sort_providers(host, providers);
    in.at("servers").each([&](const JsonPlace& each) { host.servers.push_back(server_of(each)); });
    std::sort(host.servers.begin(), host.servers.end(),
              [](const Server& a, const Server& b) { return a.id < b.id; });
    return host;
}

Ledger ledger_of(const JsonPlace& in) {
    std::vector<Ledger::Eviction> evictions;
    in.at("evictions").each([&](const JsonPlace& each) {
        evictions.push_back({RequestId{each.at("request").id()}, HostId{each.at("host").id()},
                             ServerId{each.at("server").id()}, each.at("ended").time_or_null()});
    });
    std::vector<Ledger::Promise> promises;
    in.at("promises").each([&](const JsonPlace& each) {
        Ledger::Promise promise;
        promise.request = RequestId{each.at("request").id()};
        promise.project = ProjectId{each.at("project").text()};
        promise.host = HostId{each.at("host").id()};
        promise.slot = each.at("slot").resources();
        promise.slots = static_cast<int>(each.at("slots").integer(0, INT32_MAX));
        each.at("requesters").each([&](const JsonPlace& requester) {
            promise.requesters.emplace_back(requester.id());
        });
        promise.since = each.at("since").time();
        promise.until = each.at("until").time_or_null();
        if (each.has("group")) promise.group = each.at("group").text();
        promises.push_back(std::move(promise));
    });
    return {evictions, std::move(promises)};
}

TagFacts facts_of(const JsonPlace& in) {
    TagFacts facts;
    in.at("projects_by_tag").each_member([&](const std::string& tag, const JsonPlace& projects) {
        auto& ids = facts.projects_by_tag[tag];
        projects.each([&](const JsonPlace& project) { ids.emplace(project.id()); });
    });
    return facts;
}

void check_version(const json& version) {
    if (version == snapshot_version) return;
    throw WrongPlace{"version " + printable(version.dump(), 30) +
                     " of the format; this reaper reads " + std::to_string(snapshot_version)};
}

void check_format(const json& document) {
    if (!document.is_object() || document.value("format", json()) != "reaper-snapshot") {
        throw WrongPlace{
            "not a snapshot of the reaper (it has no \"format\": \"reaper-snapshot\")"};
    }
    check_version(JsonPlace(document, "").at("version").value());
}

/// Nobody twice: hosts, providers and servers have ids of their own.
void check_ids(const Snapshot& snapshot) {
    std::set<ProviderId> providers;
    std::set<ServerId> servers;
    for (const Host& host : snapshot.hosts) {
        const std::string on = " (host " + printable(host.name) + ")";
        for (const Provider& provider : host.providers)
            if (!providers.insert(provider.id).second)
                throw WrongPlace{"provider " + printable(provider.id.str()) + " is there twice" +
                                 on};
        for (const Server& server : host.servers)
            if (!servers.insert(server.id).second)
                throw WrongPlace{"server " + printable(server.id.str()) + " is there twice" + on};
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
            throw WrongPlace{"nested deeper than " + std::to_string(max_depth) + " levels"};
        if (event == ParseEvent::key && depth == 1) key_ = value.get<std::string>();
        if (event == ParseEvent::value && depth == 1 && key_ == "version") check_version(value);
        if (event == ParseEvent::array_start && depth == 1 && key_ == "hosts") in_list_ = true;
        if (event == ParseEvent::array_end && depth == 1) in_list_ = false;
        const bool ended = event == ParseEvent::object_end || event == ParseEvent::array_end ||
                           event == ParseEvent::value;
        if (!in_list_ || depth != 2 || !ended) return true;
        const JsonPlace place(value, "hosts[" + std::to_string(hosts_.size()) + "]");
        hosts_.push_back(host_of(place));
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
    const JsonPlace in(document, "");
    snapshot.taken_at = in.at("taken_at").time();
    file.anonymous = in.at("anonymous").boolean();
    file.facts = facts_of(in.at("facts"));
    // Absent in the files of earlier versions.
    if (document.contains("revocable_classes"))
        in.at("revocable_classes").each([&](const JsonPlace& each) {
            snapshot.revocable_classes.emplace(each.id());
        });
    file.ledger = ledger_of(in.at("ledger"));
    in.at("remarks").each(
        [&](const JsonPlace& remark) { snapshot.remarks.push_back(remark.text()); });
    in.at("hosts").each([](const JsonPlace&) {});
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
    } catch (const WrongPlace& wrong) {
        return Error{Errc::bad_input, wrong.what};
    } catch (const json::parse_error& error) {
        return Error{Errc::bad_input, "not JSON (at byte " + std::to_string(error.byte) + " of " +
                                          std::to_string(text.size()) + ")"};
    } catch (const json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

}  // namespace reaper::report
