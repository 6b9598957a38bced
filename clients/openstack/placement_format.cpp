#include "clients/openstack/placement_format.hpp"

#include <nlohmann/json.hpp>

#include "clients/openstack/reading.hpp"
#include "reaper/json/fields.hpp"
#include "reaper/model/interner.hpp"

namespace reaper::openstack {

namespace {

ProviderRecord provider_from(const JsonPlace& row) {
    ProviderRecord record;
    record.id = ProviderId(row["uuid"].id());
    record.name = row["name"].text();
    record.parent = ProviderId(row.text_or_empty("parent_provider_uuid"));
    record.root = ProviderId(row["root_provider_uuid"].text());
    return record;
}

constexpr auto inventory_fields = fields_of<Inventory>([](auto& io, auto& inventory) {
    io.required("total", inventory.total, strict_json);
    io.required("reserved", inventory.reserved, strict_json);
    io.required("allocation_ratio", inventory.allocation_ratio);
    io.required("min_unit", inventory.min_unit, strict_json);
    io.required("max_unit", inventory.max_unit, strict_json);
    io.required("step_size", inventory.step_size, strict_json);
});

/// `{KEY: {"resources": {CLASS: amount}}}`
template <class Key>
std::map<Key, Resources> held_by(const JsonPlace& allocations) {
    std::map<Key, Resources> held;
    allocations.each_member([&](const std::string& key, const JsonPlace& entry) {
        held[Key(key)] = entry["resources"].resources();
    });
    return held;
}

ProviderSummary summary_from(const std::string& id, const JsonPlace& row, Interner& interner) {
    ProviderSummary summary;
    summary.id = ProviderId(id);
    summary.parent = ProviderId(row.text_or_empty("parent_provider_uuid"));
    summary.root = ProviderId(row["root_provider_uuid"].text());
    row["resources"].each_member([&](const std::string& name, const JsonPlace& counts) {
        summary.capacity.set(ResourceClass(name), counts["capacity"].amount());
        summary.used.set(ResourceClass(name), counts["used"].amount());
    });
    read_value(row["traits"], summary.traits, PlainJson{});
    interner.share(summary.traits);
    return summary;
}

}  // namespace

Result<std::set<ResourceClass>> read_resource_classes(std::string_view body,
                                                      const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::set<ResourceClass> classes;
        top["resource_classes"].each(
            [&](const JsonPlace& row) { classes.emplace(row["name"].text()); });
        return classes;
    });
}

Result<std::vector<ProviderSummary>> read_summaries(std::string_view body,
                                                    const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::vector<ProviderSummary> summaries;
        Interner interner;
        top["provider_summaries"].each_member([&](const std::string& id, const JsonPlace& row) {
            summaries.push_back(summary_from(id, row, interner));
        });
        return summaries;
    });
}

Result<std::vector<ProviderRecord>> read_providers(std::string_view body,
                                                   const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        return top["resource_providers"].list(provider_from);
    });
}

Result<std::map<ResourceClass, Inventory>> read_inventories(std::string_view body,
                                                            const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::map<ResourceClass, Inventory> inventories;
        read_value(top["inventories"], inventories, inventory_fields);
        return inventories;
    });
}

Result<std::int64_t> read_generation(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) -> std::int64_t {
        return top["resource_provider_generation"].integer();
    });
}

std::string write_inventory(const Inventory& inventory, std::int64_t generation) {
    nlohmann::json json = inventory_fields.write(inventory);
    json["resource_provider_generation"] = generation;
    return json.dump();
}

std::string write_inventories(const std::map<ResourceClass, Inventory>& inventories,
                              std::int64_t generation) {
    const nlohmann::json json = {{"resource_provider_generation", generation},
                                 {"inventories", json_of_value(inventories, inventory_fields)}};
    return json.dump();
}

Result<std::set<Trait>> read_traits(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        std::set<Trait> traits;
        read_value(top["traits"], traits, PlainJson{});
        return traits;
    });
}

Result<std::set<std::string>> read_aggregate_ids(std::string_view body, const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return top["aggregates"].text_set(); });
}

Result<std::map<ServerId, Resources>> read_provider_allocations(std::string_view body,
                                                                const std::string& where) {
    return read_answer(body, where,
                       [](const JsonPlace& top) { return held_by<ServerId>(top["allocations"]); });
}

Result<Allocations> read_consumer_allocations(std::string_view body, const std::string& where) {
    return read_answer(
        body, where, [](const JsonPlace& top) { return held_by<ProviderId>(top["allocations"]); });
}

Result<Resources> read_usages(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        Resources sum;
        const auto add = [&](const std::string& name, const JsonPlace& amount) {
            if (name != "consumer_count") sum.add(ResourceClass{name}, amount.amount());
        };
        top["usages"].each_member([&](const std::string& name, const JsonPlace& row) {
            if (row.is_group())
                row.each_member(add);
            else
                add(name, row);
        });
        return sum;
    });
}

Result<Consumer> read_consumer(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        Consumer consumer;
        consumer.holds = held_by<ProviderId>(top["allocations"]);
        if (consumer.holds.empty()) return consumer;
        if (const auto generation = top.maybe("consumer_generation"))  // since 1.28
            consumer.generation = generation->integer();
        consumer.project = top.text_or_empty("project_id");
        consumer.user = top.text_or_empty("user_id");
        consumer.type = top.text_or_empty("consumer_type");
        return consumer;
    });
}

}  // namespace reaper::openstack
