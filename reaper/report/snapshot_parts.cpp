// The parts of a snapshot in JSON, there and back. Exceptions end in this file, but for those of
// what ends in `_in`.
#include "reaper/report/snapshot_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/model/amount.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/report/name_walk.hpp"

namespace reaper::report {
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
        std::sort(providers.begin(), providers.end(), [&](const Provider& a, const Provider& b) {
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
    std::sort(host.servers.begin(), host.servers.end(),
              [](const Server& a, const Server& b) { return a.id < b.id; });
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

}  // namespace reaper::report
