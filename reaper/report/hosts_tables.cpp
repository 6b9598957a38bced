#include "reaper/report/hosts_tables.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/notice.hpp"
#include "reaper/model/res_type.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

std::string state_of(const Host& host) {
    return std::string{host.up ? "up" : "down"} + (host.enabled ? "" : ", disabled");
}

std::size_t revocable_on(const Host& host) {
    return static_cast<std::size_t>(
        std::ranges::count_if(host.servers, [](const Server& s) { return s.revocable(); }));
}

Cell whole(std::size_t count) {
    return static_cast<std::int64_t>(count);
}

/// Those that any host has, uses, or might have.
std::vector<ResourceClass> classes_in(const Snapshot& snapshot, const EstimatedRoom& estimated) {
    std::vector<Resources> rooms;
    if (!estimated.wanted.empty()) rooms.emplace_back().add(estimated.of, 1);
    for (const Host& host : snapshot.hosts) {
        const Room room = room_of(host);
        rooms.push_back(room.capacity);
        rooms.push_back(room.used);
    }
    return classes_of(rooms);
}

bool is_usual(const ResourceClass& name, const Snapshot& snapshot) {
    return name.str() == "VCPU" || name.str() == "MEMORY_MB" || name.str() == "DISK_GB" ||
           snapshot.revocable_classes.contains(name);
}

Cell of_kind(const std::optional<WrappedHost>& room, const ResourceClass& name) {
    return room ? Cell{room->free.get(name)} : Cell{};
}

bool is_oversubscribed(const ResourceClass& name, const Snapshot& snapshot) {
    return snapshot.revocable_classes.contains(name) && !stands_for(name).empty();
}

Cell wanted_on(const Host& host, const ResourceClass& name, const EstimatedRoom& estimated) {
    const auto at = estimated.wanted.find(host.id);
    return estimated.of == name && at != estimated.wanted.end() ? Cell{at->second} : Cell{};
}

std::vector<Cell> host_cells(const Host& host, const Snapshot& snapshot,
                             const std::vector<ResourceClass>& classes,
                             const EstimatedRoom& estimated) {
    const std::size_t revocable = revocable_on(host);
    std::vector<Cell> cells{text_cell(host.name),
                            std::string{to_string(label_of(host, snapshot.revocable_classes))},
                            state_of(host),
                            text_cell(host.availability_zone),
                            whole(host.servers.size() - revocable),
                            whole(revocable),
                            text_cell(host.id.str()),
                            text_cell(host.service_host),
                            text_cell(joined(host.aggregates)),
                            text_cell(host.why_unavailable)};
    const Room room = room_of(host);
    const auto ordinary = wrap(host, ResType::regular, snapshot.revocable_classes);
    const auto offered = wrap(host, ResType::revocable, snapshot.revocable_classes);
    for (const auto& name : classes) {
        cells.emplace_back(room.capacity.get(name) - room.used.get(name));
        cells.emplace_back(room.capacity.get(name));
        cells.emplace_back(room.used.get(name));
        cells.push_back(of_kind(ordinary, name));
        cells.push_back(of_kind(offered, name));
        if (is_oversubscribed(name, snapshot)) cells.push_back(wanted_on(host, name, estimated));
    }
    return cells;
}

std::string counted_servers(std::size_t all, std::size_t revocable) {
    return std::to_string(all - revocable) + " regular and " +
           counted(revocable, "revocable server");
}

/// `3 hosts (1 regular, 2 any): 2 regular and 7 revocable servers`
std::string summary_of(const Snapshot& snapshot) {
    std::size_t all = 0;
    std::size_t revocable = 0;
    for (const Host& host : snapshot.hosts) {
        all += host.servers.size();
        revocable += revocable_on(host);
    }
    std::string labels;
    for (const auto& [label, count] : count_labels(snapshot))
        if (count > 0)
            labels += (labels.empty() ? " (" : ", ") + std::to_string(count) + " " +
                      std::string{to_string(label)};
    return counted(snapshot.hosts.size(), "host") + labels + (labels.empty() ? "" : ")") + ": " +
           counted_servers(all, revocable);
}

std::vector<Cell> server_cells(const Host& host, const Server& server, const ProjectNames& names) {
    return {text_cell(host.name),
            text_cell(server.name),
            text_cell(server.id.str()),
            std::string{server.revocable() ? "revocable" : "regular"},
            text_cell(server.status.str() + (server.locked ? " locked" : "") +
                      (server.protected_because.empty() ? "" : " protected") +
                      (server.metadata.contains(evict_at_key) ? " notice" : "")),
            server.created,
            project_cell(server.project, name_of_project(names, server.project)),
            text_cell(to_string(server.resources())),
            text_cell(server.flavor_name),
            text_cell(server.task_state),
            text_cell(server.revocable_by),
            text_cell(server.project.str()),
            server.protected_because.empty()
                ? (server.revocable_because ? text_cell(*server.revocable_because) : Cell{})
                : text_cell(server.protected_because.str())};
}

}  // namespace

std::vector<std::string> oversubscribed_words(const OversubscribedRooms& rooms) {
    std::vector<std::string> all;
    for (const auto& [name, room] : rooms) {
        all.push_back(name.str() + ": " + std::to_string(room.published) + " published on " +
                      counted(room.hosts, "host") + ", " + std::to_string(room.used) + " used, " +
                      std::to_string(room.free) + " free");
        if (room.wanted) all.back() += ", " + std::to_string(*room.wanted) + " wanted";
    }
    return all;
}

Table hosts_table(const Snapshot& snapshot, const EstimatedRoom& estimated) {
    Table table;
    table.columns = {column("host"),     column("label"),     column("state"), column("zone"),
                     number("regular"),  number("revocable"), wide("id"),      wide("service"),
                     wide("aggregates"), wide("unavailable")};
    const auto classes = classes_in(snapshot, estimated);
    for (const auto& name : classes) {
        using Place = Column::Place;
        table.columns.push_back(
            number(name.str() + "_free", is_usual(name, snapshot) ? Place::always : Place::wide));
        for (const char* const what : {"_capacity", "_used", "_free_regular", "_free_revocable"})
            table.columns.push_back(number(name.str() + what, Place::wide));
        if (is_oversubscribed(name, snapshot))
            table.columns.push_back(number(name.str() + "_wanted", Place::wide));
    }
    for (const Host& host : snapshot.hosts)
        table.rows.push_back(host_cells(host, snapshot, classes, estimated));
    table.none = "No hosts.";
    table.summary = summary_of(snapshot);
    for (const auto& words : oversubscribed_words(oversubscribed_room(snapshot, estimated)))
        table.summary += "; oversubscribed " + words;
    table.remarks = snapshot.remarks;
    return table;
}

Table servers_table(const Snapshot& snapshot) {
    Table table;
    table.columns = {column("host"),   column("server"),  column("id"),      column("type"),
                     column("status"), column("created"), column("project"), column("holds"),
                     wide("flavor"),   wide("task"),      wide("tagger"),    wide("project_id"),
                     under("because")};
    table.key = 2;
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers)
            table.rows.push_back(server_cells(host, server, snapshot.project_names));
    table.none = "No servers.";
    table.summary = summary_of(snapshot);
    table.remarks = snapshot.remarks;
    return table;
}

nlohmann::json servers_json(const Snapshot& snapshot) {
    nlohmann::json servers = nlohmann::json::array();
    for (const Host& host : snapshot.hosts)
        for (const Server& server : host.servers) {
            servers.push_back(to_json(server, snapshot.project_names));
            servers.back()["host"] = host.name;
        }
    return {{"version", json_version},
            {"taken_at", iso_time(snapshot.taken_at)},
            {"servers", std::move(servers)},
            {"remarks", snapshot.remarks}};
}

}  // namespace reaper::report
