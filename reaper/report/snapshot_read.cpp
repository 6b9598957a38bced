// From the text of a snapshot file back to values, host by host. Exceptions end in this file.
#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "reaper/json/json_parts.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/model/amount.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json_placement.hpp"
#include "reaper/report/snapshot_file.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

/// One that no cloud reaches, for sums and capacities.
constexpr Amount max_sum = Amount{1} << 50;
constexpr std::size_t max_name = 255;         // of a resource class or trait
constexpr std::size_t max_classes = 500;      // of all inventories
constexpr std::size_t max_providers = 1'000;  // of one host
constexpr std::size_t max_remark = 16'384;    // bytes

/// A resource class or trait, as Placement admits them.
const std::string& upper_name(const JsonPlace& place, const std::string& name) {
    if (!is_upper_name(name) || name.size() > max_name)
        place.fail("names are written like VCPU or CUSTOM_GPU, with at most " +
                   std::to_string(max_name) + " characters");
    return name;
}

Amount kept_amount(const JsonPlace& in, Amount least = 0) {
    return in.integer(least, max_placement_amount);
}

Resources resources_of(const JsonPlace& in, Amount most = max_placement_amount) {
    Resources all;
    in.each_member([&](const std::string& name, const JsonPlace& amount) {
        all.set(ResourceClass{upper_name(amount, name)}, amount.integer(0, most));
    });
    return all;
}

double ratio_of(const JsonPlace& in, Amount units) {
    const double ratio = in.number();
    if (!(ratio >= 0) || !std::isfinite(ratio)) in.fail("expected a number of 0 or more");
    if (ratio > static_cast<double>(max_placement_amount) ||
        static_cast<double>(units) * ratio > static_cast<double>(max_sum))
        in.fail("makes more of it than any host has");
    return ratio;
}

Inventory inventory_of(const JsonPlace& in) {
    Inventory inventory;
    inventory.total = kept_amount(in["total"]);
    inventory.reserved = kept_amount(in["reserved"]);
    inventory.allocation_ratio = ratio_of(in["allocation_ratio"], inventory.total);
    inventory.min_unit = kept_amount(in["min_unit"]);
    inventory.max_unit = kept_amount(in["max_unit"]);
    inventory.step_size = kept_amount(in["step_size"], 1);
    return inventory;
}

template <class IdType>
std::map<IdType, Resources> held_by(const JsonPlace& in) {
    std::map<IdType, Resources> all;
    in.each_member([&](const std::string& id, const JsonPlace& resources) {
        all.emplace(IdType{id}, resources_of(resources));
    });
    return all;
}

Provider provider_of(const JsonPlace& in) {
    Provider provider;
    provider.id = ProviderId{in["id"].id()};
    provider.name = in["name"].text();
    provider.parent = ProviderId{in["parent"].text()};
    in["inventories"].each_member([&](const std::string& name, const JsonPlace& inventory) {
        provider.inventories.emplace(ResourceClass{upper_name(inventory, name)},
                                     inventory_of(inventory));
    });
    provider.used = resources_of(in["used"], max_sum);
    in["traits"].each(
        [&](const JsonPlace& trait) { provider.traits.emplace(upper_name(trait, trait.text())); });
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
    server.revocable_by = in.text_or_empty("revocable_by");
    server.unfinished_deletion = in.boolean_or("unfinished_deletion", false);
    server.protected_because = in.text_or_empty("protected");
    return server;
}

/// One tree: the root has the host's id and no parent, each other one a parent in it, in no circle.
void check_tree(const Host& host, const JsonPlace& in) {
    std::map<ProviderId, std::size_t> numbers;
    in.each([&](const JsonPlace& place) {
        if (!numbers.emplace(host.providers[numbers.size()].id, numbers.size()).second)
            place["id"].fail("is there twice");
    });
    if (!numbers.contains(host.id)) in.fail("none of them has the host's id");
    std::vector<bool> reaches_root(host.providers.size(), false);
    std::size_t number = 0;
    in.each([&](const JsonPlace& place) {
        std::vector<std::size_t> way;
        std::size_t at = number++;
        while (!reaches_root[at] && host.providers[at].id != host.id) {
            way.push_back(at);
            const auto parent = numbers.find(host.providers[at].parent);
            if (parent == numbers.end()) place["parent"].fail("is no provider of the host");
            if (way.size() > host.providers.size()) place["parent"].fail("goes in a circle");
            at = parent->second;
        }
        if (host.providers[at].id == host.id && !host.providers[at].parent.empty())
            place["parent"].fail("the provider with the host's id is the root, which has none");
        for (const std::size_t each : way) reaches_root[each] = true;
    });
}

/// The root first, then nested ones by id.
void sort_providers(Host& host) {
    std::sort(host.providers.begin(), host.providers.end(),
              [&](const Provider& a, const Provider& b) {
                  return std::pair(a.id != host.id, a.id) < std::pair(b.id != host.id, b.id);
              });
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
    providers.each([&](const JsonPlace& each) {
        if (host.providers.size() >= max_providers)
            providers.fail("more than " + std::to_string(max_providers));
        host.providers.push_back(provider_of(each));
    });
    check_tree(host, providers);
    sort_providers(host);
    in["servers"].each([&](const JsonPlace& each) { host.servers.push_back(server_of(each)); });
    std::sort(host.servers.begin(), host.servers.end(),
              [](const Server& a, const Server& b) { return a.id < b.id; });
    return host;
}

Ledger ledger_of(const JsonPlace& in) {
    std::vector<Ledger::Eviction> evictions;
    in["evictions"].each([&](const JsonPlace& each) {
        evictions.push_back({RequestId{each["request"].id()}, HostId{each["host"].id()},
                             ServerId{each["server"].id()}, each["ended"].time_or_null(),
                             each.boolean_or("counted", true)});
    });
    std::vector<Ledger::Promise> promises;
    in["promises"].each([&](const JsonPlace& each) {
        Ledger::Promise promise;
        promise.request = RequestId{each["request"].id()};
        promise.project = ProjectId{each["project"].text()};
        promise.host = HostId{each["host"].id()};
        promise.slot = resources_of(each["slot"]);
        promise.slots = each["slots"].count();
        each["requesters"].each(
            [&](const JsonPlace& requester) { promise.requesters.emplace_back(requester.id()); });
        promise.since = each["since"].time();
        promise.until = each["until"].time_or_null();
        promise.group = each.text_or_empty("group");
        if (const auto groups = each.maybe("groups"))
            groups->each(
                [&](const JsonPlace& group) { promise.groups.push_back(resources_of(group)); });
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

ProjectNames names_of(const JsonPlace& in) {
    ProjectNames names;
    in.each_member([&](const std::string& id, const JsonPlace& name) {
        names.emplace(ProjectId{id}, name.text());
    });
    return names;
}

void check_version(const json& version) {
    if (version == snapshot_version) return;
    throw WrongJson{"version " + printable(version.dump(), 30) +
                    " of the format; this reaper reads " + std::to_string(snapshot_version)};
}

void check_format(const json& document) {
    if (document.is_null() || document.value("format", json()) != "reaper-snapshot") {
        throw WrongJson{"not a snapshot of the reaper (it has no \"format\": \"reaper-snapshot\")"};
    }
    const JsonPlace top(document);
    check_version(top["version"].value());
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
        for (const Server& server : host.servers) {
            if (!servers.insert(server.id).second)
                throw WrongJson{"server " + printable(server.id.str()) + " is there twice" + on};
            if (!server.host.empty() && server.host != host.service_host)
                throw WrongJson{"server " + printable(server.id.str()) + on + " names the host " +
                                in_quotes(server.host) + ", where it stands under " +
                                in_quotes(host.service_host)};
        }
    }
}

using HeldOf = std::map<ResourceClass, Amount>;

void add_held(HeldOf& sum, const Resources& held) {
    for (const auto& [resource_class, amount] : held) {
        Amount& all = sum[resource_class];
        all = saturating_add(all, amount);
    }
}

/// What servers of the host hold on its providers is part of what is used, with what others hold.
void check_use(const Host& host) {
    std::map<ProviderId, HeldOf> by_servers;
    for (const Server& server : host.servers)
        for (const auto& [id, resources] : server.allocations) add_held(by_servers[id], resources);
    for (const Provider& provider : host.providers) {
        HeldOf& held = by_servers[provider.id];
        for (const auto& [consumer, resources] : provider.other_consumers)
            add_held(held, resources);
        for (const auto& [resource_class, amount] : held)
            if (amount > provider.used.get(resource_class))
                throw WrongJson{"provider " + printable(provider.id.str()) + " (host " +
                                printable(host.name) + ") has used " + resource_class.str() + "=" +
                                std::to_string(provider.used.get(resource_class)) +
                                ", but its consumers hold " + std::to_string(amount)};
    }
}

void check_holdings(const Snapshot& snapshot) {
    std::set<ProviderId> providers;
    std::set<ResourceClass> classes;
    for (const Host& host : snapshot.hosts)
        for (const Provider& provider : host.providers) {
            providers.insert(provider.id);
            for (const auto& [resource_class, inventory] : provider.inventories)
                classes.insert(resource_class);
        }
    if (classes.size() > max_classes)
        throw WrongJson{"inventories of " + std::to_string(classes.size()) +
                        " resource classes, where " + std::to_string(max_classes) +
                        " are the most"};
    for (const Host& host : snapshot.hosts) {
        for (const Server& server : host.servers)
            for (const auto& [provider, held] : server.allocations)
                if (!providers.contains(provider))
                    throw WrongJson{"server " + printable(server.id.str()) + " (host " +
                                    printable(host.name) + ") holds something on provider " +
                                    printable(provider.str()) + ", which no host has"};
        check_use(host);
    }
}

/// Takes each host as soon as it is read; the version stands before them.
json read_parts(std::string_view text, std::vector<Host>& hosts) {
    static const std::set<std::string> known{"format", "version",           "taken_at", "anonymous",
                                             "facts",  "revocable_classes", "ledger",   "remarks",
                                             "hosts",  "project_names"};
    JsonParts parts;
    parts.keeps = [](const std::string& member) { return known.contains(member); };
    parts.hands_out = [](const std::string& member) { return member == "hosts"; };
    parts.plain = [](const std::string& member, const json& value) {
        if (member == "version") check_version(value);
    };
    parts.element = [&](const std::string& member, std::size_t index, const json& value) {
        hosts.push_back(host_of(JsonPlace(value, member, index)));
    };
    return read_json_parts(text, parts);
}

/// Who holds something, or is, on which host of the snapshot.
std::map<HostId, std::set<ServerId>> holders_of(const Snapshot& snapshot) {
    std::map<HostId, std::set<ServerId>> holders;
    for (const Host& host : snapshot.hosts) {
        std::set<ServerId>& here = holders[host.id];
        for (const Server& server : host.servers) here.insert(server.id);
        for (const Provider& provider : host.providers)
            for (const auto& [consumer, held] : provider.other_consumers) here.insert(consumer);
    }
    return holders;
}

/// What the ledger has of servers and hosts that are not there frees and keeps nothing.
void remark_strangers(const Ledger& ledger, Snapshot& snapshot) {
    if (ledger.empty()) return;
    const auto holders = holders_of(snapshot);
    std::size_t evictions = 0;
    std::string first;
    for (const Ledger::Eviction& eviction : ledger.evictions()) {
        const auto host = holders.find(eviction.host);
        if (eviction.ended || (host != holders.end() && host->second.contains(eviction.server)))
            continue;
        if (evictions++ == 0)
            first = "server " + printable(eviction.server.str()) + " on host " +
                    printable(eviction.host.str());
    }
    std::size_t promises = 0;
    std::string where;
    for (const Ledger::Promise& promise : ledger.promises())
        if (!holders.contains(promise.host) && promises++ == 0)
            where = "host " + printable(promise.host.str());
    const auto remark = [&](std::size_t count, const char* what, const std::string& example) {
        if (count > 0)
            snapshot.remarks.push_back("ledger: " + std::to_string(count) + " of its " + what +
                                       " name what is not in the snapshot, the first " + example);
    };
    remark(evictions, "evictions", first);
    remark(promises, "promises", where);
}

void read_remarks(const JsonPlace& in, Snapshot& snapshot) {
    std::size_t more = 0;
    in.each([&](const JsonPlace& remark) {
        std::string text = remark.text(max_remark);
        if (snapshot.remarks.size() < max_snapshot_remarks)
            snapshot.remarks.push_back(std::move(text));
        else
            ++more;
    });
    if (more > 0) snapshot.remarks.back() = more_remarks(more + 1);
}

SnapshotFile read(std::string_view text) {
    SnapshotFile file;
    Snapshot& snapshot = file.snapshot;
    const json document = read_parts(text, snapshot.hosts);
    check_format(document);
    const JsonPlace in(document);
    snapshot.taken_at = in["taken_at"].time();
    file.anonymous = in["anonymous"].boolean();
    file.tag_data = facts_of(in["facts"]);
    if (const auto classes = in.maybe("revocable_classes"))
        classes->each([&](const JsonPlace& each) {
            snapshot.revocable_classes.emplace(upper_name(each, each.text()));
        });
    if (const auto names = in.maybe("project_names")) snapshot.project_names = names_of(*names);
    file.ledger = ledger_of(in["ledger"]);
    read_remarks(in["remarks"], snapshot);
    in["hosts"].each([](const JsonPlace&) {});
    check_ids(snapshot);
    check_holdings(snapshot);
    remark_strangers(file.ledger, snapshot);
    std::sort(snapshot.hosts.begin(), snapshot.hosts.end(), [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return file;
}

/// What `build` makes of the document, or what is wrong with it.
template <class Build>
auto guarded(Build build) -> Result<decltype(build())> {
    try {
        return build();
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    } catch (const std::bad_alloc&) {
        return Error{Errc::bad_input, "takes more memory to read than there is"};
    } catch (const json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

}  // namespace

Result<SnapshotFile> read_snapshot(std::string_view text) {
    return guarded([&] { return read(text); });
}

Result<Host> host_from_json(const json& document) {
    return guarded([&] { return host_of(JsonPlace(document, "host")); });
}

Result<Ledger> ledger_from_json(const json& document) {
    return guarded([&] { return ledger_of(JsonPlace(document, "ledger")); });
}

Result<TagData> tag_data_from_json(const json& document) {
    return guarded([&] { return facts_of(JsonPlace(document, "facts")); });
}

Result<ProjectNames> project_names_from_json(const json& document) {
    return guarded([&] { return names_of(JsonPlace(document, "project_names")); });
}

}  // namespace reaper::report
