#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper::api {

// How a host is used, class by class: by whom, and what of it is spoken for. Pure.
//
// For each class:  capacity = free + regular + revocable + lent + evicting + reserved + other
// so that the parts can be drawn side by side. `free` is negative on a host that is overcommitted.
// `promised` overlaps: it is part of what is free, or of what is being evicted.

struct HostUseNow {
    Resources capacity;
    Resources free;
    Resources regular;    ///< held by regular servers
    Resources revocable;  ///< by revocable ones that stay
    Resources lent;       ///< by revocable ones in room that is reserved for a role
    Resources evicting;   ///< by those whose deletion has begun, for any client
    Resources reserved;   ///< by a reservation alone
    Resources other;      ///< by whatever else Placement lists: migrations, other programs
    Resources promised;   ///< to requests that the reaper makes room for
    int regular_servers = 0;
    int revocable_servers = 0;  ///< with those that are lent to
    int evicting_servers = 0;   ///< of either kind
};

/// `reserved`: what consumers of reservations hold on the host.
HostUseNow use_of(const Host& host, const Ledger& ledger, const Resources& reserved) {
    HostUseNow use;
    const report::Room room = report::room_of(host);
    use.capacity = room.capacity;
    use.free = room.capacity - room.used;
    use.other = room.used;
    for (const Server& server : host.servers) {
        const Resources held = held_on(server, host);
        use.other -= held;
        if (comes_free(server, ledger)) {
            use.evicting += held;
            ++use.evicting_servers;
        } else if (!server.revocable()) {
            use.regular += held;
            ++use.regular_servers;
        } else {
            (ledger.reserved().lender_of(server.id) != nullptr ? use.lent : use.revocable) += held;
            ++use.revocable_servers;
        }
    }
    // A server that Nova lists no more, and that is ours to wait for.
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers) {
            if (!ledger.evicting(consumer) || ledger.given_up(consumer)) continue;
            use.evicting += held;
            use.other -= held;
        }
    // Another reading than that of the host: no more than is there.
    use.reserved = common(above_none(use.other), reserved);
    use.other -= use.reserved;
    use.promised = ledger.promised_to_requests(host.id);
    return use;
}

namespace {

using nlohmann::json;

constexpr std::size_t most_hosts = 1000;  ///< in one answer
/// Hosts that are looked at before others run again: about a millisecond.
constexpr std::size_t hosts_at_a_time = 50;

/// What consumers of reservations hold, by host.
using ReservedOn = std::map<HostId, Resources>;

ReservedOn reserved_on(const Backend& backend) {
    ReservedOn reserved;
    const ReservationController* const reservations = backend.daemon.reservations();
    if (reservations == nullptr || reservations->why_not_known()) return reserved;
    for (const ReservationView& view : reservations->list())
        reserved[view.reservation.identity.host] += view.balance.held;
    return reserved;
}

std::string_view state_of(const Host& host) {
    if (!host.enabled) return "disabled";
    return host.up ? "up" : "down";
}

json amounts_json(const HostUseNow& use, const std::string& only) {
    json all = json::object();
    const auto add = [&](const ResourceClass& name) {
        if (!only.empty() && name.str() != only) return;
        all[name.str()] = {
            {"capacity", use.capacity.get(name)}, {"free", use.free.get(name)},
            {"regular", use.regular.get(name)},   {"revocable", use.revocable.get(name)},
            {"lent", use.lent.get(name)},         {"evicting", use.evicting.get(name)},
            {"reserved", use.reserved.get(name)}, {"other", use.other.get(name)},
            {"promised", use.promised.get(name)}};
    };
    // Of a class without capacity something may still be held.
    for (const auto& [name, amount] : use.capacity) add(name);
    for (const auto& [name, amount] : use.free)
        if (use.capacity.get(name) == 0) add(name);
    return all;
}

json host_json(const Host& host, const DaemonView& view, const ReservedOn& reserved,
               const std::string& only) {
    const auto held = reserved.find(host.id);
    const HostUseNow use =
        use_of(host, view.ledger, held == reserved.end() ? Resources{} : held->second);
    return {{"id", host.id.str()},
            {"name", host.name},
            {"service_host", host.service_host},
            {"state", std::string{state_of(host)}},
            {"why_unavailable", host.why_unavailable},
            {"zone", host.availability_zone},
            {"aggregates", host.aggregates},
            {"res_type", std::string{to_string(label_of(host, view.policy.revocable_classes))}},
            {"estimated", host.estimated},
            {"read_at", iso_time(host.read_at)},
            {"servers",
             {{"regular", use.regular_servers},
              {"revocable", use.revocable_servers},
              {"evicting", use.evicting_servers}}},
            {"resources", amounts_json(use, only)}};
}

/// The order in which commands list hosts.
bool listed_before(const Host* a, const Host* b) {
    if (report::natural_less(a->name, b->name)) return true;
    return !report::natural_less(b->name, a->name) && a->id < b->id;
}

/// What hosts are listed; what is empty leaves none out.
struct HostsWanted {
    std::string name;  ///< a part of it
    std::string zone;
    ProjectId project;  ///< has servers there

    bool fits(const Host& host) const {
        const auto has = [this](const std::string& text) { return text.find(name) != text.npos; };
        if (!name.empty() && !has(host.name) && !has(host.service_host)) return false;
        if (!zone.empty() && host.availability_zone != zone) return false;
        return project.empty() || std::ranges::any_of(host.servers, [this](const Server& server) {
                   return server.project == project;
               });
    }
};

/// Those of the page, and one more if there is one.
std::vector<HostId> chosen(const CloudCache& cache, const PageAsked& page,
                           const HostsWanted& wanted, bool& marker_known) {
    const Host* const marker = page.marker.empty() ? nullptr : cache.find(HostId{page.marker});
    marker_known = page.marker.empty() || marker != nullptr;
    std::vector<const Host*> hosts;
    for (const Host* const host : cache.hosts()) {
        if (marker != nullptr && !listed_before(marker, host)) continue;
        if (wanted.fits(*host)) hosts.push_back(host);
    }
    const std::size_t count = std::min(hosts.size(), page.limit + 1);
    std::partial_sort(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(count),
                      hosts.end(), listed_before);
    std::vector<HostId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(hosts[i]->id);
    return ids;
}

json server_json(const Server& server, const Host& host, const DaemonView& view) {
    const Ledger& ledger = view.ledger;
    json object = report::to_json(server, view.cache.project_names());
    object["resources"] = report::to_json(held_on(server, host));
    object["evicting"] = comes_free(server, ledger);
    const Role* const lender = ledger.reserved().lender_of(server.id);
    object["lent_by"] = lender == nullptr ? json(nullptr) : json(lender->str());
    return object;
}

}  // namespace

Task<HttpResponse> get_hosts(const Backend& backend, ApiRequest request) {
    const Query query{request, {"limit", "marker", "name", "zone", "project", "resource_class"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, most_hosts, most_hosts);
    if (!page) co_return refuse(400, page.error().what);
    const std::string& only = query.text("resource_class");
    if (!only.empty() && !is_upper_name(only))
        co_return refuse(400,
                         "resource_class: expected one such as VCPU, found " + in_quotes(only));
    ProjectId project;
    if (std::string written = query.text("project"); !written.empty()) {
        auto found = co_await project_of(backend, std::move(written));
        if (auto* const refused = std::get_if<HttpResponse>(&found)) co_return std::move(*refused);
        project = std::get<ProjectId>(found);
    }
    std::vector<HostId> ids;
    TimePoint taken_at;
    {
        const auto view = backend.daemon.view();
        if (!view) co_return cloud_not_read();
        bool marker_known = false;
        HostsWanted wanted{query.text("name"), query.text("zone"), {}};
        auto no_zone =
            wanted.zone.empty() ? std::nullopt : why_unknown_zone(wanted.zone, view->cache.index());
        if (no_zone) co_return refuse(404, *no_zone);
        wanted.project = project;
        ids = chosen(view->cache, *page, wanted, marker_known);
        if (!marker_known)
            co_return refuse(400, "marker: there is no host " + in_quotes(page->marker) +
                                      "; begin again without one");
        taken_at = view->cache.ages().oldest_read_at;
    }
    const bool more = ids.size() > page->limit;
    if (more) ids.pop_back();
    const ReservedOn reserved = reserved_on(backend);
    json hosts = json::array();
    const HostVisit add = [&](const Host& host, const DaemonView& view) {
        hosts.push_back(host_json(host, view, reserved, only));
    };
    const bool read = co_await visit_hosts(backend, ids, hosts_at_a_time, add);
    if (!read) co_return cloud_not_read();
    json links = more ? next_link(request, ids.back().str()) : json::array();
    co_return answered({{"hosts", std::move(hosts)},
                        {"hosts_links", std::move(links)},
                        {"taken_at", iso_time(taken_at)}});
}

Task<HttpResponse> get_host(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto view = backend.daemon.view();
    if (!view) co_return cloud_not_read();
    const auto found = host_named(view->cache.hosts(), request.id);
    if (!found)
        co_return refuse(found.error().code == Errc::not_found ? 404 : 400, found.error().what);
    const Host* const host = *found;
    json servers = json::array();
    Host told = *host;
    note_protection(view->policy.protection, told);
    for (const Server& server : told.servers) servers.push_back(server_json(server, told, *view));
    co_return answered({{"host", host_json(*host, *view, reserved_on(backend), "")},
                        {"servers", std::move(servers)}});
}

}  // namespace reaper::api
