#include "reaper/report/json_landing.hpp"

#include <limits>
#include <string>
#include <utility>

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

std::set<std::string> texts(const JsonPlace& in) {
    std::set<std::string> all;
    in.each([&](const JsonPlace& each) { all.insert(each.text()); });
    return all;
}

json group_json(const ServerGroup& group) {
    if (group == ServerGroup{}) return nullptr;
    return {{"id", group.id},
            {"name", group.name},
            {"policy", group.policy},
            {"most_on_a_host", group.most_on_a_host},
            {"members", ids(group.members)}};
}

ServerGroup group_from(const JsonPlace& in) {
    ServerGroup group;
    if (in.is_null()) return group;
    group.id = in.at("id").text();
    group.name = in.at("name").text();
    group.policy = in.at("policy").text();
    group.most_on_a_host =
        static_cast<int>(in.at("most_on_a_host").integer(0, std::numeric_limits<int>::max()));
    group.members = ids(in.at("members"));
    return group;
}

}  // namespace

json to_json(const Landing& landing) {
    return {{"group", group_json(landing.group)}, {"only_hosts", landing.only_hosts},
            {"why_only", landing.why_only},       {"aggregates", landing.aggregates},
            {"with", ids(landing.with)},          {"apart_from", ids(landing.apart_from)}};
}

Landing landing_from(const JsonPlace& in) {
    Landing landing;
    landing.group = group_from(in.at("group"));
    landing.only_hosts = texts(in.at("only_hosts"));
    landing.why_only = in.at("why_only").text();
    in.at("aggregates").each([&](const JsonPlace& each) {
        landing.aggregates.push_back(texts(each));
    });
    landing.with = ids(in.at("with"));
    landing.apart_from = ids(in.at("apart_from"));
    return landing;
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
        aggregate.name = each.at("name").text();
        each.at("metadata").each_member([&](const std::string& key, const JsonPlace& value) {
            aggregate.metadata.emplace(key, value.text());
        });
        aggregates.emplace(each.at("uuid").text(), std::move(aggregate));
    });
    return aggregates;
}

}  // namespace reaper::report
