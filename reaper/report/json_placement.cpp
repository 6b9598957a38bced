#include "reaper/report/json_placement.hpp"

#include <string>
#include <utility>

#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json ids(const std::set<ServerId>& servers) {
    json array = json::array();
    for (const auto& server : servers) array.push_back(server.str());
    return array;
}

std::set<ServerId> ids(const JsonPlace& in) {
    std::set<ServerId> servers;
    in.each([&](const JsonPlace& each) { servers.emplace(each.id()); });
    return servers;
}

json group_json(const ServerGroup& group) {
    if (group == ServerGroup{}) return nullptr;
    return {{"id", group.id},
            {"name", group.name},
            {"policy", group.policy},
            {"max_on_a_host", group.max_on_a_host},
            {"members", ids(group.members)}};
}

ServerGroup group_from(const JsonPlace& in) {
    ServerGroup group;
    if (in.is_null()) return group;
    group.id = in["id"].text();
    group.name = in["name"].text();
    group.policy = in["policy"].text();
    group.max_on_a_host = in["max_on_a_host"].count();
    group.members = ids(in["members"]);
    return group;
}

}  // namespace

json to_json(const std::set<Trait>& traits) {
    json array = json::array();
    for (const auto& trait : traits) array.push_back(trait.str());
    return array;
}

std::set<Trait> traits_from(const JsonPlace& in) {
    std::set<Trait> traits;
    in.each([&](const JsonPlace& each) { traits.emplace(each.id()); });
    return traits;
}

json to_json(const SlotShape& shape) {
    return {{"resources", to_json(shape.resources)},
            {"required_traits", to_json(shape.required_traits)},
            {"forbidden_traits", to_json(shape.forbidden_traits)}};
}

SlotShape shape_from(const JsonPlace& in) {
    return {in["resources"].resources(), traits_from(in["required_traits"]),
            traits_from(in["forbidden_traits"])};
}

json to_json(const PlacementConstraints& placement) {
    json object = {
        {"group", group_json(placement.group)}, {"only_hosts", placement.only_hosts},
        {"why_only", placement.why_only},       {"aggregates", placement.aggregates},
        {"with", ids(placement.with)},          {"apart_from", ids(placement.apart_from)}};
    if (placement.only_offered) object["only_offered"] = true;
    return object;
}

PlacementConstraints placement_from(const JsonPlace& in) {
    PlacementConstraints placement;
    placement.group = group_from(in["group"]);
    placement.only_hosts = in["only_hosts"].text_set();
    placement.why_only = in["why_only"].text();
    placement.only_offered = in.boolean_or("only_offered", false);
    in["aggregates"].each(
        [&](const JsonPlace& each) { placement.aggregates.push_back(each.text_set()); });
    placement.with = ids(in["with"]);
    placement.apart_from = ids(in["apart_from"]);
    return placement;
}

json to_json(const HostAggregates& aggregates) {
    json array = json::array();
    for (const auto& [uuid, aggregate] : aggregates)
        array.push_back(
            {{"uuid", uuid}, {"name", aggregate.name}, {"metadata", aggregate.metadata}});
    return array;
}

HostAggregates aggregates_from(const JsonPlace& in) {
    HostAggregates aggregates;
    in.each([&](const JsonPlace& each) {
        HostAggregate aggregate;
        aggregate.name = each["name"].text();
        aggregate.metadata = each["metadata"].text_map();
        aggregates.emplace(each["uuid"].text(), std::move(aggregate));
    });
    return aggregates;
}

}  // namespace reaper::report
