#include "reaper/report/snapshot_file.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "reaper/json/fields.hpp"
#include "reaper/json/json_parts.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/name_changer.hpp"

namespace reaper::report {

// The parts of a snapshot in JSON, there and back. Functions ending in `_in` throw; all others
// return errors.

namespace {

using nlohmann::json;

/// One that no cloud reaches, for sums and capacities.
constexpr Amount max_sum = Amount{1} << 50;
constexpr std::size_t max_name = 255;         // of a resource class or trait
constexpr std::size_t max_providers = 1'000;  // of one host
constexpr const char* anonymous_reason = "it was revocable in the cloud that this was taken from";

Resources resources_of(const JsonPlace& in, Amount most) {
    Resources all;
    in.each_member([&](const std::string& name, const JsonPlace& amount) {
        all.set(ResourceClass{upper_name(amount, name)}, amount.integer(0, most));
    });
    return all;
}

constexpr JsonCoder<Resources> placement_resources{
    PlainJson::write, [](const JsonPlace& in) { return resources_of(in, max_placement_amount); }};
constexpr JsonCoder<Resources> placement_sums{
    PlainJson::write, [](const JsonPlace& in) { return resources_of(in, max_sum); }};
constexpr JsonCoder<Trait> placement_trait{
    PlainJson::write, [](const JsonPlace& in) { return Trait{upper_name(in, in.text())}; }};

/// An amount as Placement admits them.
struct PlacementAmount {
    Amount least = 0;

    static json write(const Amount& amount) { return amount; }
    void read(const JsonPlace& in, Amount& amount) const {
        amount = in.integer(least, max_placement_amount);
    }
};

/// An allocation ratio, of so many units.
struct Ratio {
    Amount units;

    static json write(const double& ratio) { return ratio; }
    void read(const JsonPlace& in, double& ratio) const {
        ratio = in.number();
        if (!(ratio >= 0) || !std::isfinite(ratio)) in.fail("expected a number of 0 or more");
        if (ratio > static_cast<double>(max_placement_amount) ||
            static_cast<double>(units) * ratio > static_cast<double>(max_sum))
            in.fail("makes more of it than any host has");
    }
};

constexpr auto inventory_fields = fields_of<Inventory>([](auto& io, auto& inventory) {
    io.required("total", inventory.total, PlacementAmount{});
    io.required("reserved", inventory.reserved, PlacementAmount{});
    io.required("allocation_ratio", inventory.allocation_ratio, Ratio{inventory.total});
    io.required("min_unit", inventory.min_unit, PlacementAmount{});
    io.required("max_unit", inventory.max_unit, PlacementAmount{});
    io.required("step_size", inventory.step_size, PlacementAmount{1});
    io.optional("capacity_only", inventory.capacity_only);
});

using Inventories = std::map<ResourceClass, Inventory>;

Inventories inventories_in(const JsonPlace& in) {
    Inventories inventories;
    in.each_member([&](const std::string& name, const JsonPlace& inventory) {
        inventories.emplace(ResourceClass{upper_name(inventory, name)},
                            inventory_fields.get(inventory));
    });
    return inventories;
}

constexpr JsonCoder<Inventories> inventories_coder{
    [](const Inventories& all) { return json_of_value(all, inventory_fields); }, inventories_in};

constexpr auto provider_fields = fields_of<Provider>([](auto& io, auto& provider) {
    io.required("id", provider.id, named<NameKind::provider, StrictJson>);
    io.required("name", provider.name, named<NameKind::machine>);
    io.required("parent", provider.parent, named<NameKind::provider>);
    io.required("inventories", provider.inventories, no_name_as(inventories_coder));
    io.required("used", provider.used, placement_sums);
    io.required("traits", provider.traits, no_name_as(placement_trait));
    io.required("other_consumers", provider.other_consumers,
                keyed<NameKind::consumer>(placement_resources));
});

constexpr auto server_fields = fields_of<Server>([](auto& io, auto& server) {
    io.required("id", server.id, named<NameKind::consumer, StrictJson>);
    io.required("name", server.name, named<NameKind::server>);
    io.required("project", server.project, named<NameKind::project>);
    io.required("host", server.host, named<NameKind::machine>);
    io.required("status", server.status, no_name);
    io.required("task_state", server.task_state, no_name);
    io.required("locked", server.locked);
    io.required("created", server.created);
    io.required("launched", server.launched);
    io.required("flavor", server.flavor_name, named<NameKind::flavor>);
    io.required("flavor_extra_specs", server.flavor_extra_specs, SpecsJson{});
    io.required("metadata", server.metadata, keyed<NameKind::key>(named<NameKind::value>));
    io.required("tags", server.tags, named<NameKind::tag>);
    io.required("allocations", server.allocations, keyed<NameKind::provider>(placement_resources));
    io.required("revocable_because", server.revocable_because,
                LeftOutJson{{}, true, anonymous_reason});
    io.lenient("revocable_by", server.revocable_by, no_name);
    io.optional("unfinished_deletion", server.unfinished_deletion);
    io.optional("protected", server.protected_because, LeftOutJson{{}, false, anonymous_reason});
});

struct AggregatesJson {
    static json write(const HostAggregates& aggregates) {
        json array = json::array();
        for (const auto& [uuid, aggregate] : aggregates)
            array.push_back(
                {{"uuid", uuid}, {"name", aggregate.name}, {"metadata", aggregate.metadata}});
        return array;
    }
    static void read(const JsonPlace& in, HostAggregates& aggregates) {
        in.each([&](const JsonPlace& each) {
            HostAggregate aggregate;
            aggregate.name = each["name"].text();
            aggregate.metadata = each["metadata"].text_map();
            aggregates.emplace(each["uuid"].text(), std::move(aggregate));
        });
    }
    static void rename(const NameChanger& changer, HostAggregates& aggregates) {
        aggregates = changer.aggregates(aggregates);
    }
};

/// One tree: the root has the host's id and no parent, each other one a parent in it, in no circle.
void check_tree(const std::vector<Provider>& providers, const HostId& root, const JsonPlace& in) {
    std::map<ProviderId, std::size_t> numbers;
    in.each([&](const JsonPlace& place) {
        if (!numbers.emplace(providers[numbers.size()].id, numbers.size()).second)
            place["id"].fail("is there twice");
    });
    if (!numbers.contains(root)) in.fail("none of them has the host's id");
    std::vector<bool> reaches_root(providers.size(), false);
    std::size_t number = 0;
    in.each([&](const JsonPlace& place) {
        std::vector<std::size_t> way;
        std::size_t at = number++;
        while (!reaches_root[at] && providers[at].id != root) {
            way.push_back(at);
            const auto parent = numbers.find(providers[at].parent);
            if (parent == numbers.end()) place["parent"].fail("is no provider of the host");
            if (way.size() > providers.size()) place["parent"].fail("goes in a circle");
            at = parent->second;
        }
        if (providers[at].id == root && !providers[at].parent.empty())
            place["parent"].fail("the provider with the host's id is the root, which has none");
        for (const std::size_t each : way) reaches_root[each] = true;
    });
}

/// The tree of a host: the root first, then nested ones by id.
struct ProviderTree {
    const HostId& root;

    static json write(const std::vector<Provider>& providers) {
        return json_of_value(providers, provider_fields);
    }
    void read(const JsonPlace& in, std::vector<Provider>& providers) const {
        in.each([&](const JsonPlace& each) {
            if (providers.size() >= max_providers)
                in.fail("more than " + std::to_string(max_providers));
            providers.push_back(provider_fields.get(each));
        });
        check_tree(providers, root, in);
        std::ranges::sort(providers, [&](const Provider& a, const Provider& b) {
            return std::pair(a.id != root, a.id) < std::pair(b.id != root, b.id);
        });
    }
    static void each(auto& io, std::vector<Provider>& providers) {
        for (Provider& provider : providers) provider_fields.each(io, provider);
    }
};

constexpr auto host_fields = fields_of<Host>([](auto& io, auto& host) {
    io.required("id", host.id, named<NameKind::provider, StrictJson>);
    io.required("name", host.name, named<NameKind::machine>);
    io.required("service_host", host.service_host, named<NameKind::machine>);
    io.required("enabled", host.enabled);
    io.required("up", host.up);
    io.required("why_unavailable", host.why_unavailable, cleared);
    io.required("availability_zone", host.availability_zone, named<NameKind::zone>);
    io.required("aggregates", host.aggregates, named<NameKind::aggregate>);
    io.optional("member_of", host.member_of, AggregatesJson{});
    io.required("providers", host.providers, ProviderTree{host.id});
    io.required("servers", host.servers, server_fields);
});

constexpr auto eviction_fields = fields_of<Ledger::Eviction>([](auto& io, auto& eviction) {
    io.required("request", eviction.request, named<NameKind::request, StrictJson>);
    io.required("host", eviction.host, named<NameKind::provider, StrictJson>);
    io.required("server", eviction.server, named<NameKind::consumer, StrictJson>);
    io.required("ended", eviction.ended);
    io.given(!eviction.counted, "counted", eviction.counted);
});

constexpr auto promise_fields = fields_of<Ledger::Promise>([](auto& io, auto& promise) {
    io.required("request", promise.request, named<NameKind::request, StrictJson>);
    io.required("project", promise.project, named<NameKind::project>);
    io.required("host", promise.host, named<NameKind::provider, StrictJson>);
    io.required("slot", promise.slot, placement_resources);
    io.required("slots", promise.slots);
    io.required("requesters", promise.requesters, named<NameKind::consumer, StrictJson>);
    io.required("since", promise.since);
    io.required("until", promise.until);
    io.optional("group", promise.group, named<NameKind::aggregate>);
    io.optional("groups", promise.groups, placement_resources);
});

constexpr auto tag_data_fields = fields_of<TagData>([](auto& io, auto& tag_data) {
    io.required("projects_by_tag", tag_data.projects_by_tag, strict_json);
});

/// What `read` makes of the document, or what is wrong with it.
template <class Read>
auto part_of(const json& document, const char* name, Read read)
    -> Result<decltype(read(JsonPlace(document)))> {
    return guarded([&] { return read(JsonPlace(document, name)); });
}

}  // namespace

const std::string& upper_name(const JsonPlace& place, const std::string& name) {
    if (!is_upper_name(name) || name.size() > max_name)
        place.fail("names are written like VCPU or CUSTOM_GPU, with at most " +
                   std::to_string(max_name) + " characters");
    return name;
}

json host_json(const Host& host) {
    return host_fields.write(host);
}

void NameChanger::change(Host& host) const {
    NameWalk walk(*this);
    host_fields.each(walk, host);
    if (host.placement_aggregates)
        host.placement_aggregates = all_of(NameKind::aggregate, *host.placement_aggregates);
}

void NameChanger::change(Ledger& ledger) const {
    NameWalk walk(*this);
    auto evictions = ledger.evictions();
    auto promises = ledger.promises();
    for (auto& eviction : evictions) eviction_fields.each(walk, eviction);
    for (auto& promise : promises) promise_fields.each(walk, promise);
    ledger = Ledger(evictions, std::move(promises));
}

json ledger_json(const Ledger& ledger) {
    json promises = json::array();
    ledger.each_promise(
        [&](const Ledger::Promise& promise) { promises.push_back(promise_fields.write(promise)); });
    return {{"evictions", json_of_value(ledger.evictions(), eviction_fields)},
            {"promises", std::move(promises)}};
}

json tag_data_json(const TagData& tag_data) {
    return tag_data_fields.write(tag_data);
}

void add_project_names(json& object, const Host& host, const ProjectNames& names) {
    for (const Server& server : host.servers)
        if (const auto known = names.find(server.project); known != names.end())
            object[known->first.str()] = known->second;
}

Host host_in(const JsonPlace& in) {
    Host host = host_fields.get(in);
    std::ranges::sort(host.servers, {}, &Server::id);
    return host;
}

Ledger ledger_in(const JsonPlace& in) {
    std::vector<Ledger::Eviction> evictions;
    std::vector<Ledger::Promise> promises;
    read_value(in["evictions"], evictions, eviction_fields);
    read_value(in["promises"], promises, promise_fields);
    return {evictions, std::move(promises)};
}

TagData tag_data_in(const JsonPlace& in) {
    return tag_data_fields.get(in);
}

ProjectNames project_names_in(const JsonPlace& in) {
    ProjectNames names;
    read_value(in, names, PlainJson{});
    return names;
}

Result<Host> host_from_json(const json& document) {
    return part_of(document, "host", host_in);
}

Result<Ledger> ledger_from_json(const json& document) {
    return part_of(document, "ledger", ledger_in);
}

Result<TagData> tag_data_from_json(const json& document) {
    return part_of(document, "facts", tag_data_in);
}

Result<ProjectNames> project_names_from_json(const json& document) {
    return part_of(document, "project_names", project_names_in);
}

// From the text of a snapshot file back to values, host by host.

namespace {

using nlohmann::json;

constexpr std::size_t max_classes = 500;    // of all inventories
constexpr std::size_t max_remark = 16'384;  // bytes

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

/// No duplicates: hosts, providers and servers have ids of their own.
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
        hosts.push_back(host_in(JsonPlace(value, member, index)));
    };
    return read_json_parts(text, parts);
}

/// The holders and servers on each host of the snapshot.
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

/// At most `max_snapshot_remarks`: where there are more, the last one says so.
struct RemarksJson {
    static json write(const std::vector<std::string>& all) {
        if (all.size() <= max_snapshot_remarks) return all;
        const std::size_t kept = max_snapshot_remarks - 1;
        json some(
            std::vector<std::string>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept)));
        some.push_back(more_remarks(all.size() - kept));
        return some;
    }
    static void read(const JsonPlace& in, std::vector<std::string>& remarks) {
        std::size_t more = 0;
        in.each([&](const JsonPlace& remark) {
            std::string text = remark.text(max_remark);
            if (remarks.size() < max_snapshot_remarks)
                remarks.push_back(std::move(text));
            else
                ++more;
        });
        if (more > 0) remarks.back() = more_remarks(more + 1);
    }
};

constexpr JsonCoder<ResourceClass> class_coder{
    PlainJson::write, [](const JsonPlace& in) { return ResourceClass{upper_name(in, in.text())}; }};

/// All but the hosts, and the names of their projects.
constexpr auto frame_fields = fields_of<SnapshotFile>([](auto& io, auto& file) {
    io.constant("format", "reaper-snapshot");
    io.constant("version", snapshot_version);
    io.required("taken_at", file.snapshot.taken_at);
    io.required("anonymous", file.anonymous);
    io.required("facts", file.tag_data, tag_data_fields);
    io.lenient("revocable_classes", file.snapshot.revocable_classes, class_coder);
    io.required("ledger", file.ledger, JsonCoder<Ledger>{ledger_json, ledger_in});
    io.required("remarks", file.snapshot.remarks, RemarksJson{});
});

SnapshotFile read(std::string_view text) {
    SnapshotFile file;
    Snapshot& snapshot = file.snapshot;
    const json document = read_parts(text, snapshot.hosts);
    check_format(document);
    const JsonPlace in(document);
    frame_fields.read(in, file);
    if (const auto names = in.maybe("project_names"))
        snapshot.project_names = project_names_in(*names);
    in["hosts"].each([](const JsonPlace&) {});
    check_ids(snapshot);
    check_holdings(snapshot);
    remark_strangers(file.ledger, snapshot);
    std::ranges::sort(snapshot.hosts, [](const Host& a, const Host& b) {
        return std::tie(a.name, a.id) < std::tie(b.name, b.id);
    });
    return file;
}

}  // namespace

Result<SnapshotFile> read_snapshot(std::string_view text) {
    return guarded([&] { return read(text); });
}

namespace {

using nlohmann::json;

/// By id.
using Providers = std::set<std::string>;

/// What is held on providers of no host here would lead nowhere.
json host_with_known(const Host& host, const Providers& known) {
    json object = host_json(host);
    for (json& server : object["servers"]) {
        json& held = server["allocations"];
        for (auto each = held.begin(); each != held.end();)
            each = known.contains(each.key()) ? std::next(each) : held.erase(each);
    }
    return object;
}

Providers providers_of(const Snapshot& snapshot) {
    Providers providers;
    for (const Host& host : snapshot.hosts)
        for (const Provider& provider : host.providers) providers.insert(provider.id.str());
    return providers;
}

/// All but the hosts.
json frame(const SnapshotFile& file) {
    json members = frame_fields.write(file);
    json names = json::object();
    for (const Host& host : file.snapshot.hosts)
        add_project_names(names, host, file.snapshot.project_names);
    if (!names.empty()) members["project_names"] = std::move(names);
    return members;
}

}  // namespace

std::string more_remarks(std::size_t count) {
    return "and " + std::to_string(count) + " more remarks";
}

void write_snapshot(std::ostream& out, const SnapshotFile& file) {
    // What the file is comes first, so that its beginning identifies it.
    out << "{\n\"format\": \"reaper-snapshot\"";
    const json members = frame(file);
    for (const auto& [name, value] : members.items())
        if (name != "format") out << ",\n\"" << name << "\": " << dump(value);
    out << ",\n\"hosts\": [";
    const Providers providers = providers_of(file.snapshot);
    const char* separator = "\n";
    for (const Host& host : file.snapshot.hosts) {
        out << separator << dump(host_with_known(host, providers));
        separator = ",\n";
    }
    out << "\n]\n}\n";
}

}  // namespace reaper::report
