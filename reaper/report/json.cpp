#include "reaper/report/json.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/json_groups.hpp"
#include "reaper/report/json_placement.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json id_array(const auto& ids) {
    json array = json::array();
    for (const auto& id : ids) array.push_back(id.str());
    return array;
}

json text_or_null(const std::optional<std::string>& text) {
    return text ? json(*text) : json(nullptr);
}

json correction_json(const Correction& correction) {
    json servers = json::array();
    for (const auto& each : correction.servers)
        servers.push_back({{"server", each.server.str()}, {"reason", each.reason}});
    return {{"host", correction.host.str()},
            {"host_name", correction.host_name},
            {"servers", std::move(servers)}};
}

struct DecisionJson {
    json operator()(const Plan& plan) const {
        return {{"version", json_version},
                {"decision", "plan"},
                {"request", plan.request.str()},
                {"strategy", plan.strategy},
                {"slots_requested", plan.slots_requested},
                {"slots_wanted", plan.slots_wanted},
                {"slots_freed", plan.slots_freed},
                {"hosts", array_of(plan.hosts)},
                {"rejected", array_of(plan.rejected)},
                {"rejected_counts", array_of(plan.rejected_counts)},
                {"note", plan.note}};
    }
    json operator()(const NothingToDo& nothing) const {
        return {{"version", json_version},
                {"decision", "nothing-to-do"},
                {"reason", nothing.reason},
                {"room", std::string{to_string(nothing.room)}},
                {"hosts", array_of(nothing.hosts)}};
    }
    json operator()(const NotEnough& not_enough) const {
        return {{"version", json_version},
                {"decision", "not-enough"},
                {"slots_requested", not_enough.slots_requested},
                {"slots_possible", not_enough.slots_possible},
                {"reason", not_enough.reason},
                {"safeguard", not_enough.safeguard},
                {"rejected", array_of(not_enough.rejected)},
                {"rejected_counts", array_of(not_enough.rejected_counts)}};
    }
    json operator()(const Refused& refused) const {
        return {{"version", json_version}, {"decision", "refused"}, {"reason", refused.reason}};
    }
};

}  // namespace

Room room_of(const Host& host) {
    Room room;
    for (const auto& provider : host.providers) {
        for (const auto& [resource_class, inventory] : provider.inventories)
            room.capacity.add(resource_class, provider.capacity(resource_class, inventory));
        room.used += provider.used;
    }
    return room;
}

json to_json(const Resources& resources) {
    json object = json::object();
    for (const auto& [resource_class, amount] : resources) object[resource_class.str()] = amount;
    return object;
}

json to_json(const Request& request) {
    json object{{"version", json_version},
                {"id", request.id.str()},
                {"operation", std::string{to_string(request.operation)}},
                {"project", request.project.str()},
                {"resources", to_json(request.resources)},
                {"slots", request.slots},
                {"requesters", id_array(request.requesters)},
                {"availability_zone", text_or_null(request.availability_zone)},
                {"required_traits", id_array(request.required_traits)},
                {"forbidden_traits", id_array(request.forbidden_traits)},
                {"excluded_hosts", json(request.excluded_hosts)},
                {"flavor_extra_specs", json(request.flavor_extra_specs)},
                {"res_type", to_string(request.phases)},
                {"res_type_because", request.phases_because},
                {"source", std::string{to_string(request.source)}},
                {"sent_at", iso_time(request.sent_at)}};
    if (!request.project_name.empty()) object["project_name"] = request.project_name;
    for (const auto& [requester, name] : request.requester_names)
        object["requester_names"][requester.str()] = name;
    if (!request.flavor.empty()) object["flavor"] = request.flavor;
    if (!request.image.empty()) object["image"] = request.image;
    if (!request.root_required_traits.empty())
        object["root_required_traits"] = id_array(request.root_required_traits);
    if (request.fallback) object["fallback"] = to_json(*request.fallback);
    if (request.deadline != TimePoint{}) object["deadline"] = iso_time(request.deadline);
    if (!request.from_host.empty()) object["from_host"] = request.from_host;
    if (request.runs_revocable) object["runs_revocable"] = true;
    if (!request.groups.empty()) {
        object["groups"] = to_json(request.groups);
        if (request.group_policy)
            object["group_policy"] = std::string{to_string(*request.group_policy)};
    }
    if (request.placement != PlacementConstraints{})
        object["placement"] = to_json(request.placement);
    if (request.approved)
        object["approved"] = {{"by", request.approved->by},
                              {"planned_at", iso_time(request.approved->planned_at)},
                              {"victims", id_array(request.approved->victims)}};
    if (request.correction) object["correction"] = correction_json(*request.correction);
    return object;
}

json to_json(const Victim& victim) {
    json object{{"server", victim.server.str()},
                {"name", victim.name},
                {"project", victim.project.str()},
                {"host", victim.host},
                {"resources", to_json(victim.resources)},
                {"created", iso_time(victim.created)},
                {"reason", victim.reason}};
    if (!victim.workload.empty()) object["workload"] = victim.workload;
    if (!victim.flavor.empty()) object["flavor"] = victim.flavor;
    if (!victim.project_name.empty()) object["project_name"] = victim.project_name;
    if (!victim.held_by.empty()) object["held_by"] = victim.held_by.str();
    return object;
}

json to_json(const SparedServer& spared) {
    json object{{"server", spared.server.str()},
                {"name", spared.name},
                {"project", spared.project.str()},
                {"resources", to_json(spared.resources)},
                {"created", iso_time(spared.created)},
                {"reason", spared.reason},
                {"might_have_gone", spared.might_have_gone}};
    if (!spared.project_name.empty()) object["project_name"] = spared.project_name;
    return object;
}

json to_json(const PendingRelease& pending_release) {
    json object{{"server", pending_release.server.str()},
                {"name", pending_release.name},
                {"reason", pending_release.reason}};
    if (!pending_release.unfinished) return object;
    object["unfinished"] = true;
    object["project"] = pending_release.project.str();
    object["host"] = pending_release.host;
    return object;
}

json to_json(const HostPlan& host) {
    json object{{"host", host.host.str()},
                {"host_name", host.host_name},
                {"slots", host.slots},
                {"slots_ready", host.slots_ready},
                {"victims", array_of(host.victims)},
                {"pending_releases", array_of(host.pending_releases)},
                {"free_before", to_json(host.free_before)},
                {"free_after", to_json(host.free_after)},
                {"reason", host.reason}};
    if (!host.slot.empty()) object["slot"] = to_json(host.slot);
    if (host.spared_in_all) {
        object["spared"] = array_of(host.spared);
        object["spared_in_all"] = *host.spared_in_all;
    }
    return object;
}

json to_json(const Rejection& rejection) {
    return {{"host", rejection.host.str()},
            {"host_name", rejection.host_name},
            {"code", std::string{to_string(rejection.code)}},
            {"reason", rejection.reason}};
}

json to_json(const RejectionCount& count) {
    return {{"code", std::string{to_string(count.code)}},
            {"hosts", count.hosts},
            {"sample", count.sample}};
}

json to_json(const Decision& decision) {
    return std::visit(DecisionJson{}, decision);
}

json to_json(const Server& server) {
    json object{{"id", server.id.str()},
                {"name", server.name},
                {"project", server.project.str()},
                {"status", server.status},
                {"task_state", server.task_state},
                {"locked", server.locked},
                {"created", iso_time(server.created)},
                {"flavor", server.flavor_name},
                {"resources", to_json(server.resources())},
                {"revocable", server.revocable()},
                {"revocable_because", text_or_null(server.revocable_because)},
                {"revocable_by", server.revocable() ? json(server.revocable_by) : json(nullptr)}};
    if (!server.protected_because.empty()) object["protected"] = server.protected_because;
    return object;
}

json to_json(const Server& server, const ProjectNames& names) {
    json object = to_json(server);
    const std::string name = name_of_project(names, server.project);
    if (!name.empty()) object["project_name"] = name;
    return object;
}

namespace {

json wrapped_host(const Host& host, ResType type, const ResourceClasses& revocable_classes) {
    const auto room = wrap(host, type, revocable_classes);
    if (!room) return nullptr;
    return {{"total", to_json(room->total)}, {"free", to_json(room->free)}};
}

json oversubscribed_json(const OversubscribedRooms& rooms, bool of_all) {
    json object = json::object();
    for (const auto& [name, room] : rooms) {
        json one = {{"published", room.published}, {"used", room.used}, {"free", room.free}};
        one["wanted"] = room.wanted ? json(*room.wanted) : json(nullptr);
        if (of_all) one["hosts"] = room.hosts;
        object[name.str()] = std::move(one);
    }
    return object;
}

json servers_of(const Host& host, const ProjectNames& names) {
    json servers = json::array();
    for (const Server& server : host.servers) servers.push_back(to_json(server, names));
    return servers;
}

json host_json(const Host& host, const ResourceClasses& revocable_classes,
               const EstimatedRoom& estimated, const ProjectNames& names) {
    const Room room = room_of(host);
    return {{"id", host.id.str()},
            {"name", host.name},
            {"service_host", host.service_host},
            {"enabled", host.enabled},
            {"up", host.up},
            {"why_unavailable", host.why_unavailable},
            {"availability_zone", host.availability_zone},
            {"aggregates", host.aggregates},
            {"res_type", std::string{to_string(label_of(host, revocable_classes))}},
            {"capacity", to_json(room.capacity)},
            {"used", to_json(room.used)},
            {"free", to_json(room.capacity - room.used)},
            {"regular_room", wrapped_host(host, ResType::regular, revocable_classes)},
            {"revocable_room", wrapped_host(host, ResType::revocable, revocable_classes)},
            {"oversubscribed",
             oversubscribed_json(oversubscribed_room(host, revocable_classes, estimated), false)},
            {"servers", servers_of(host, names)}};
}

}  // namespace

json to_json(const OversubscribedRooms& rooms) {
    return oversubscribed_json(rooms, true);
}

json to_json(const Snapshot& snapshot, const EstimatedRoom& estimated) {
    json hosts = json::array();
    for (const auto& host : snapshot.hosts)
        hosts.push_back(
            host_json(host, snapshot.revocable_classes, estimated, snapshot.project_names));
    json labels = json::object();
    for (const auto& [label, count] : count_labels(snapshot))
        labels[std::string{to_string(label)}] = count;
    return {{"version", json_version},
            {"taken_at", iso_time(snapshot.taken_at)},
            {"hosts", std::move(hosts)},
            {"res_types", std::move(labels)},
            {"oversubscribed", to_json(oversubscribed_room(snapshot, estimated))},
            {"remarks", json(snapshot.remarks)}};
}

namespace {

void append_unit(std::string& text, char32_t unit) {
    constexpr std::string_view hex = "0123456789abcdef";
    text += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) text += hex[(unit >> shift) & 0x0fU];
}

/// JSON escapes what is below U+0020 alone; here, whatever a terminal obeys or does not show.
/// Outside of texts, a document has no such character.
std::string all_visible(std::string document) {
    const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
    if (std::all_of(document.begin(), document.end(), plain)) return document;
    std::string visible;
    for (std::string_view rest = document; !rest.empty();) {
        const auto [value, size] = first_character(rest);
        if (value < 0x7f || !is_invisible(value)) {
            visible += rest.substr(0, size);
        } else if (value < 0x10000) {
            append_unit(visible, value);
        } else {
            append_unit(visible, 0xd800 + ((value - 0x10000) >> 10U));
            append_unit(visible, 0xdc00 + ((value - 0x10000) & 0x3ffU));
        }
        rest.remove_prefix(size);
    }
    return visible;
}

}  // namespace

std::string dump(const json& document, int indent) {
    return all_visible(document.dump(indent, ' ', false, json::error_handler_t::replace));
}

}  // namespace reaper::report
