#include "reaper/cli/daemon/settings_json.hpp"

#include <type_traits>

#include "config/broker_url.hpp"
#include "config/visit.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli {
namespace {

using nlohmann::json;

json json_of(const config::Plugin& plugin) {
    json object = {{"name", plugin.name}};
    for (const auto& [name, value] : plugin.parameters)
        object[name] = std::visit([](const auto& held) { return json(held); }, value);
    return object;
}

json json_of(const std::vector<config::Plugin>& plugins) {
    json list = json::array();
    for (const auto& plugin : plugins) list.push_back(json_of(plugin));
    return list;
}

json json_of(const std::vector<config::Module>& modules) {
    json list = json::array();
    for (const auto& module : modules) {
        json parameters = json::object();
        for (const auto& [name, value] : module.parameters)
            parameters[name] = std::visit([](const auto& held) { return json(held); }, value);
        list.push_back(
            {{"path", module.path}, {"sha256", module.sha256}, {"parameters", parameters}});
    }
    return list;
}

json json_of(const std::vector<Cell>& cells) {
    json list = json::array();
    for (const auto& cell : cells)
        list.push_back({{"name", cell.name},
                        {"hosts", cell.hosts},
                        {"aggregates", cell.aggregates},
                        {"disabled", cell.disabled}});
    return list;
}

json json_of(const Resources& resources) {
    json object = json::object();
    for (const auto& [name, amount] : resources) object[name.str()] = amount;
    return object;
}

json json_of(const std::vector<config::RoleProjects>& roles) {
    json list = json::array();
    for (const auto& each : roles)
        list.push_back({{"role", each.role.str()}, {"projects", each.projects}});
    return list;
}

json json_of(const std::vector<config::StaticReservation>& reserved) {
    json list = json::array();
    for (const auto& each : reserved)
        list.push_back({{"role", each.role.str()},
                        {"hosts", each.hosts},
                        {"aggregates", each.aggregates},
                        {"resources", json_of(each.resources)},
                        {"labels", json(each.labels)},
                        {"principal", each.principal},
                        {"lend", each.lending.lend},
                        {"floor", json_of(each.lending.floor)},
                        {"longest_loan_ms", each.lending.longest.count()}});
    return list;
}

json json_of(const std::vector<ReserveRule>& rules) {
    json list = json::array();
    for (const auto& rule : rules)
        list.push_back({{"principals", rule.principals}, {"roles", rule.roles}});
    return list;
}

json json_of(const std::vector<UnreserveRule>& rules) {
    json list = json::array();
    for (const auto& rule : rules)
        list.push_back({{"principals", rule.principals}, {"of", rule.of}});
    return list;
}

json json_of(const config::Secret& secret) {
    return secret.empty() ? "" : "***";
}

/// URLs of brokers: where they are, without user and password.
json json_of(const std::vector<config::Secret>& urls) {
    json names = json::array();
    for (const auto& url : urls) {
        const auto parsed = parse_broker_urls(url);
        if (!parsed) names.push_back("***");
        for (std::size_t i = 0; parsed && i < parsed->size(); ++i)
            names.push_back((*parsed)[i].name());
    }
    return names;
}

json json_of(std::chrono::milliseconds span) {
    return span.count();
}

template <class T>
json json_of(const T& value) {
    return value;
}

json& object_at(json& root, std::string_view path) {
    json* object = &root;
    while (!path.empty()) {
        const auto dot = path.find('.');
        object = &(*object)[std::string{path.substr(0, dot)}];
        path = dot == path.npos ? "" : path.substr(dot + 1);
    }
    return *object;
}

}  // namespace

json to_json(const config::Settings& settings) {
    json root = {{"version", report::json_version}};
    config::for_each_key([&](const config::Section& section, const config::Key& key) {
        // These only say where credentials come from.
        if (section.path == "cloud" &&
            (key.name == "name" || key.name == "clouds_file" || key.name == "from_environment"))
            return;
        const config::Value value = config::value_of(key, settings);
        const bool span = std::holds_alternative<std::chrono::milliseconds>(value);
        object_at(root, section.path)[std::string{key.name} + (span ? "_ms" : "")] =
            std::visit([](const auto& held) { return json_of(held); }, value);
    });
    return root;
}

}  // namespace reaper::cli
