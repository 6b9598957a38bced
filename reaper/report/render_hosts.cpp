#include <algorithm>

#include "reaper/model/text.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/planner/oversubscribed_room.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

std::string state_of(const Host& host) {
    std::string state = host.up ? "up" : "down";
    state += host.enabled ? ", enabled" : ", disabled";
    if (!host.why_unavailable.empty()) state += " (" + host.why_unavailable + ")";
    if (!host.availability_zone.empty()) state += ", zone " + host.availability_zone;
    for (const auto& aggregate : host.aggregates) state += ", aggregate " + aggregate;
    if (host.service_host != host.name && !host.service_host.empty())
        state += ", service " + host.service_host;
    return state;
}

/// What there is of one kind of room: all of it, and what is free.
std::string of_kind(const std::optional<WrappedHost>& room, const ResourceClass& resource_class) {
    if (!room) return "-";
    return std::to_string(room->free.get(resource_class)) + " of " +
           std::to_string(room->total.get(resource_class));
}

/// `CUSTOM_REVOCABLE_VCPU: 6 published, 4 used, 2 free`, and where it is of several hosts, on how
/// many.
std::string oversubscribed_line(const ResourceClass& name, const OversubscribedRoom& room,
                                bool of_all) {
    std::string text = name.str() + ": " + std::to_string(room.published) + " published";
    if (of_all) text += " on " + counted(room.hosts, "host");
    text += ", " + std::to_string(room.used) + " used, " + std::to_string(room.free) + " free";
    if (room.used > room.published)
        text += "; " + std::to_string(room.used - room.published) + " more than there is";
    return text;
}

std::string oversubscribed_lines(const OversubscribedRooms& rooms, std::size_t indent,
                                 std::size_t width, bool of_all) {
    std::string text;
    for (const auto& [name, room] : rooms)
        text += wrapped("oversubscribed " + oversubscribed_line(name, room, of_all), indent, width);
    return text;
}

TextTable room_lines(const Host& host, const ResourceClasses& revocable_classes) {
    using Align = TextTable::Align;
    const Room room = room_of(host);
    const auto regular = wrap(host, ResType::regular, revocable_classes);
    const auto revocable = wrap(host, ResType::revocable, revocable_classes);
    TextTable table{{{"ROOM"},
                     {"CAPACITY", Align::right},
                     {"USED", Align::right},
                     {"FREE", Align::right},
                     {"FREE REGULAR", Align::right},
                     {"FREE REVOCABLE", Align::right}}};
    for (const auto& each : classes_of({room.capacity, room.used}))
        table.row({each.str(), std::to_string(room.capacity.get(each)),
                   std::to_string(room.used.get(each)),
                   std::to_string(room.capacity.get(each) - room.used.get(each)),
                   of_kind(regular, each), of_kind(revocable, each)});
    return table;
}

std::string status_of(const Server& server) {
    std::string status = server.status;
    if (!server.task_state.empty()) status += " (" + server.task_state + ")";
    if (server.locked) status += " locked";
    return status;
}

TextTable server_lines(const Host& host, const RenderOptions& options) {
    TextTable table{{{"TYPE"},
                     {"TAGGER"},
                     {"SERVER"},
                     {"ID"},
                     {"STATUS"},
                     {age_head(options)},
                     {"PROJECT"},
                     {"HOLDS"}}};
    for (const bool revocable : {false, true})
        for (const auto& server : host.servers) {
            if (server.revocable() != revocable) continue;
            table.row({revocable ? "revocable" : "regular", safe(server.revocable_by),
                       shortened(safe(server.name), 40), server.id.str(), status_of(server),
                       age(server.created, options), server.project.str(),
                       to_string(server.resources())});
            if (revocable) table.note(*server.revocable_because);
        }
    return table;
}

std::size_t revocable_in(const Host& host) {
    return static_cast<std::size_t>(std::count_if(host.servers.begin(), host.servers.end(),
                                                  [](const Server& s) { return s.revocable(); }));
}

std::string counts(std::size_t all, std::size_t revocable) {
    return std::to_string(all - revocable) + " regular and " +
           counted(revocable, "revocable server");
}

/// ` (1 any, 2 regular)`: the hosts by label, those of which there are none left out.
std::string labels(const Snapshot& snapshot) {
    std::string text;
    for (const auto& [label, hosts] : count_labels(snapshot))
        if (hosts > 0)
            text += (text.empty() ? " (" : ", ") + std::to_string(hosts) + " " +
                    std::string{to_string(label)};
    return text.empty() ? text : text + ")";
}

}  // namespace

std::string render_hosts(const Snapshot& snapshot, const RenderOptions& options) {
    const Paint paint{options.color};
    const std::size_t width = width_of(options);
    std::string text;
    std::size_t all = 0;
    std::size_t revocable = 0;
    for (const auto& host : snapshot.hosts) {
        const std::size_t here = revocable_in(host);
        all += host.servers.size();
        revocable += here;
        text += paint.bold("Host " + safe(host.name)) + ": " +
                std::string{to_string(label_of(host, snapshot.revocable_classes))} + ", " +
                counts(host.servers.size(), here) + "\n" + wrapped(state_of(host), 2, width) +
                oversubscribed_lines(oversubscribed_room(host, snapshot.revocable_classes), 2,
                                     width, false);
        text += room_lines(host, snapshot.revocable_classes).text(2, width, paint);
        if (!host.servers.empty()) text += server_lines(host, options).text(2, width, paint);
        text += "\n";
    }
    for (const auto& remark : snapshot.remarks) text += wrapped("Remark: " + remark, 0, width);
    text += oversubscribed_lines(oversubscribed_room(snapshot), 0, width, true);
    return text + counted(snapshot.hosts.size(), "host") + labels(snapshot) + ": " +
           counts(all, revocable) + "\n";
}

}  // namespace reaper::report
