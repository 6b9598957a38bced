#include "reaper/report/json.hpp"

#include <algorithm>

#include "reaper/json/fields.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/planner/oversubscribed_room.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json text_or_null(const std::optional<std::string>& text) {
    return text ? json(*text) : json(nullptr);
}

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
    return PlainJson::write(resources);
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

json host_view(const Host& host, const ResourceClasses& revocable_classes,
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
            host_view(host, snapshot.revocable_classes, estimated, snapshot.project_names));
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
