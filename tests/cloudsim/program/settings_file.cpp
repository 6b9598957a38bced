#include "tests/cloudsim/program/settings_file.hpp"

#include <charconv>
#include <functional>
#include <stdexcept>
#include <yaml-cpp/yaml.h>

namespace reaper::cloudsim {

namespace {

using Readers = std::map<std::string, std::function<void(const YAML::Node&)>>;

[[noreturn]] void complain(const std::string& where, const std::string& what) {
    throw std::runtime_error(where + ": " + what);
}

void read_map(const YAML::Node& node, const std::string& where, const Readers& readers) {
    if (!node.IsMap()) complain(where, "must be a map of keys");
    for (const auto& entry : node) {
        const auto key = entry.first.as<std::string>();
        const auto reader = readers.find(key);
        if (reader == readers.end()) {
            std::string known;
            for (const auto& [name, read] : readers) known += (known.empty() ? "" : ", ") + name;
            complain(where, "unknown key \"" + key + "\"; known are " + known);
        }
        try {
            reader->second(entry.second);
        } catch (const YAML::Exception& wrong) {
            complain(where + "." + key, wrong.msg);
        }
    }
}

template <class T>
auto into(T& target) {
    return [&target](const YAML::Node& node) { target = node.as<T>(); };
}

template <class T>
auto into(std::optional<T>& target) {
    return [&target](const YAML::Node& node) { target = node.as<T>(); };
}

auto into_time(Micros& target) {
    return [&target](const YAML::Node& node) { target = duration_in(node.as<std::string>()); };
}

Readers host_readers(HostShape& host) {
    return {{"name", into(host.name)},
            {"vcpus", into(host.vcpus)},
            {"memory_mb", into(host.memory_mb)},
            {"disk_gb", into(host.disk_gb)},
            {"cpu_ratio", into(host.cpu_ratio)},
            {"memory_ratio", into(host.memory_ratio)},
            {"disk_ratio", into(host.disk_ratio)},
            {"reserved_memory_mb", into(host.reserved_memory_mb)},
            {"traits", into(host.traits)}};
}

Readers flavor_readers(FlavorEntry& flavor) {
    return {{"vcpus", into(flavor.vcpus)},     {"memory_mb", into(flavor.memory_mb)},
            {"disk_gb", into(flavor.disk_gb)}, {"ephemeral_gb", into(flavor.ephemeral_gb)},
            {"swap_mb", into(flavor.swap_mb)}, {"extra_specs", into(flavor.extra_specs)}};
}

/// A map of named entries, each read by `readers`.
template <class Entry>
auto named(std::map<std::string, Entry>& all, std::string where, Readers (*readers)(Entry&)) {
    return [&all, where = std::move(where), readers](const YAML::Node& node) {
        if (!node.IsMap()) complain(where, "must be a map of names");
        for (const auto& entry : node) {
            const auto name = entry.first.as<std::string>();
            read_map(entry.second, where + "." + name, readers(all[name]));
        }
    };
}

Readers aggregate_readers(AggregateEntry& aggregate) {
    return {{"hosts", into(aggregate.hosts)}, {"metadata", into(aggregate.metadata)}};
}

Readers user_readers(UserEntry& user) {
    return {{"password", into(user.password)},
            {"project", into(user.project)},
            {"roles", into(user.roles)}};
}

Readers delay_readers(Delays& delays) {
    return {{"schedule", into_time(delays.schedule)}, {"build", into_time(delays.build)},
            {"delete", into_time(delays.erase)},      {"forget", into_time(delays.forget)},
            {"resize", into_time(delays.resize)},     {"call", into_time(delays.call)},
            {"list", into_time(delays.list)}};
}

Readers all_readers(Settings& settings, const std::string& where) {
    return {
        {"hosts", into(settings.hosts)},
        {"fill", into(settings.fill)},
        {"revocable", into(settings.revocable)},
        {"revocable_per_host", into(settings.revocable_per_host)},
        {"seed", into(settings.seed)},
        {"host",
         [&, where](const YAML::Node& node) {
             read_map(node, where + ".host", host_readers(settings.host));
         }},
        {"flavors", named(settings.flavors, where + ".flavors", flavor_readers)},
        {"zones", into(settings.zones)},
        {"cells", into(settings.cells)},
        {"disabled_cells", into(settings.disabled_cells)},
        {"aggregates", named(settings.aggregates, where + ".aggregates", aggregate_readers)},
        {"projects", into(settings.projects)},
        {"users", named(settings.users, where + ".users", user_readers)},
        {"nested", into(settings.nested)},
        {"page_limit", into(settings.page_limit)},
        {"delays",
         [&, where](const YAML::Node& node) {
             read_map(node, where + ".delays", delay_readers(settings.delays));
         }},
        {"reclaim", into_time(settings.reclaim)},
        {"soft_region_reclaim", into_time(settings.soft_region_reclaim)},
        {"token_life", into_time(settings.token_life)},
        {"tenant_isolation", into(settings.tenant_isolation)},
        {"trait_isolation", into(settings.trait_isolation)},
        {"extra_specs_filter", into(settings.extra_specs_filter)},
        {"state_changes", into(settings.state_changes)},
        {"default_queues", into(settings.default_queues)},
        {"respawn", into(settings.respawn)},
        {"start",
         [&, where](const YAML::Node& node) {
             settings.start = parse_iso_z(node.as<std::string>());
             if (!settings.start) complain(where + ".start", "write it as 2026-01-31T12:00:00Z");
         }},
        {"speed", into(settings.speed)},
        {"log_limit", into(settings.log_limit)},
    };
}

void check(const Settings& settings, const std::string& where) {
    auto need = [&](bool good, const char* key, const char* what) {
        if (!good) complain(where + "." + key, what);
    };
    need(settings.hosts >= 1 && settings.hosts <= 100'000, "hosts", "must be 1 to 100000");
    need(settings.fill >= 0 && settings.fill <= 1, "fill", "must be 0 to 1");
    need(settings.revocable >= 0 && settings.revocable <= 1, "revocable", "must be 0 to 1");
    need(settings.revocable_per_host.value_or(0) >= 0, "revocable_per_host", "is negative");
    need(settings.page_limit >= 1, "page_limit", "must be at least 1");
    need(settings.speed > 0 && settings.speed <= 100'000, "speed", "must be in (0, 100000]");
    need(settings.log_limit >= 1, "log_limit", "must be at least 1");
    for (const auto& [name, flavor] : settings.flavors)
        if (flavor.vcpus < 1 || flavor.memory_mb < 1 || flavor.disk_gb < 0)
            complain(where + ".flavors." + name, "needs at least 1 VCPU and 1 MB of memory");
    need(settings.host.vcpus >= 1 && settings.host.memory_mb >= 1 && settings.host.disk_gb >= 1,
         "host", "needs at least 1 of each resource");
}

}  // namespace

Micros duration_in(const std::string& text) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit(read.ptr, text.data() + text.size());
    const std::map<std::string, double> units{{"", 1e6},  {"us", 1},    {"ms", 1e3},
                                              {"s", 1e6}, {"min", 6e7}, {"h", 3.6e9}};
    const auto known = units.find(unit);
    if (read.ec != std::errc{} || known == units.end() || !(number >= 0 && number <= 1e9))
        throw std::runtime_error("\"" + text + "\" is no duration such as 200ms, 2s, 5min or 1h");
    return Micros(static_cast<std::int64_t>(number * known->second));
}

void read_settings(const std::string& yaml, const std::string& where, Settings& settings) {
    YAML::Node document;
    try {
        document = YAML::Load(yaml);
    } catch (const YAML::Exception& wrong) {
        complain(where, wrong.what());
    }
    if (!document.IsNull()) read_map(document, where, all_readers(settings, where));
    check(settings, where);
}

}  // namespace reaper::cloudsim
