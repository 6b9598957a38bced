#include "reaper/monitoring/room_values.hpp"

#include <algorithm>

#include "reaper/model/amount.hpp"
#include "reaper/planner/eligibility.hpp"

namespace reaper::monitoring {

namespace {

constexpr HostLabel host_labels[] = {HostLabel::regular, HostLabel::revocable, HostLabel::any};
constexpr const char* host_statuses[] = {"up", "disabled", "down"};

std::string text_of(HostLabel label) {
    return std::string{to_string(label)};
}

const char* status_of(const Host& host) {
    if (!host.up) return "down";
    return host.enabled ? "up" : "disabled";
}

void grow(Amount& sum, Amount by) {
    sum = saturating_add(sum, by);
}

double as_number(Amount amount) {
    return static_cast<double>(amount);
}

}  // namespace

RoomValues::Rooms RoomValues::rooms_of(const Host& host, const Ledger& ledger) {
    Rooms rooms;
    for (const Provider& provider : host.providers) {
        for (const auto& [resource_class, inventory] : provider.inventories) {
            Room& room = rooms[resource_class];
            const Amount capacity = provider.capacity(resource_class, inventory);
            const Amount used = provider.used.get(resource_class);
            grow(room.capacity, capacity);
            grow(room.free, std::max<Amount>(saturating_subtract(capacity, used), 0));
            grow(room.regular, used);
        }
    }
    for (const Server& server : host.servers) {
        const bool leaves = ledger.evicting(server.id) || is_being_deleted(server);
        if (!server.revocable() && !leaves) continue;
        for (const auto& [resource_class, amount] : server.resources()) {
            Room& room = rooms[resource_class];
            if (leaves) grow(room.evicting, amount);
            if (!server.revocable()) continue;
            grow(room.revocable, amount);
            room.regular = std::max<Amount>(saturating_subtract(room.regular, amount), 0);
        }
    }
    if (ledger.promises_anything_on(host.id))
        for (const auto& [resource_class, amount] : ledger.promised_to_requests(host.id))
            grow(rooms[resource_class].promised, amount);
    return rooms;
}

void RoomValues::add(const Host& host, const ResourceClasses& revocable_classes,
                     const Ledger& ledger) {
    const HostLabel label = label_of(host, revocable_classes);
    ++hosts_[{label, status_of(host)}];
    Servers& servers = servers_[label];
    for (const Server& server : host.servers)
        if (server.status != "DELETED")
            ++(server.revocable() ? servers.revocable : servers.regular);
    for (const auto& [resource_class, room] : rooms_of(host, ledger)) {
        Room& sum = sums_[label][resource_class];
        grow(sum.capacity, room.capacity);
        grow(sum.free, room.free);
        grow(sum.regular, room.regular);
        grow(sum.revocable, room.revocable);
        grow(sum.evicting, room.evicting);
        grow(sum.promised, room.promised);
        if (!per_host_) continue;
        const Labels of{{"hostname", label_value(host.name)},
                        {"resourcetype", resource_class.str()}};
        of_hosts_.gauge("reaper_host_capacity", "What the host offers.", as_number(room.capacity),
                        of);
        of_hosts_.gauge("reaper_host_free", "Unallocated resources on the host.",
                        as_number(room.free), of);
        of_hosts_.gauge("reaper_host_revocable", "What revocable servers hold on the host.",
                        as_number(room.revocable), of);
        of_hosts_.gauge("reaper_host_evicting", "Of the host, what servers hold that are deleted.",
                        as_number(room.evicting), of);
        of_hosts_.gauge("reaper_host_promised", "Of the host, what is promised to requests.",
                        as_number(room.promised), of);
    }
}

void RoomValues::give(Values& values) {
    for (const HostLabel label : host_labels) {
        const std::string text = text_of(label);
        for (const char* const status : host_statuses)
            values.gauge("reaper_hosts", "Hosts by their label and the status of nova-compute.",
                         static_cast<double>(hosts_[{label, status}]),
                         {{"host_label", text}, {"status", status}});
        const char* const help = "Servers on hosts of a label, by their kind.";
        values.gauge("reaper_servers", help, static_cast<double>(servers_[label].regular),
                     {{"host_label", text}, {"kind", "regular"}});
        values.gauge("reaper_servers", help, static_cast<double>(servers_[label].revocable),
                     {{"host_label", text}, {"kind", "revocable"}});
        for (const auto& [resource_class, room] : sums_[label]) {
            const Labels of{{"host_label", text}, {"resourcetype", resource_class.str()}};
            values.gauge("reaper_room_capacity",
                         "What hosts offer: (total - reserved) * allocation ratio, in Placement's "
                         "units.",
                         as_number(room.capacity), of);
            values.gauge("reaper_room_free", "Unallocated resources.", as_number(room.free), of);
            values.gauge("reaper_room_regular", "What regular servers and others hold.",
                         as_number(room.regular), of);
            values.gauge("reaper_room_revocable", "What revocable servers hold.",
                         as_number(room.revocable), of);
            values.gauge("reaper_room_evicting",
                         "What servers hold that are being deleted: part of what regular and "
                         "revocable ones hold.",
                         as_number(room.evicting), of);
            values.gauge("reaper_room_promised",
                         "What is promised to requests: part of what is free or comes free.",
                         as_number(room.promised), of);
        }
    }
    values.join(std::move(of_hosts_));
    *this = RoomValues{per_host_};
}

}  // namespace reaper::monitoring
