#include "reaper/planner/places.hpp"

#include <algorithm>
#include <map>
#include <variant>

#include "reaper/planner/filter.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/pending_releases.hpp"

namespace reaper {
namespace {

/// More than any host has.
constexpr Amount any_number = 1'000'000;

HostSlots slots_on(const HostOption& option, const Shape& shape) {
    const Amount at_once =
        std::min(slots_at_once(option.room, shape, option.room.room_now(), option.slots_ready),
                 option.slots_ready);
    return {option.host->id, option.host->name, to_int(std::max<Amount>(at_once, 0)),
            to_int(option.slots_ready)};
}

}  // namespace

std::vector<HostSlots> slots_there(const Request& request, const CloudIndex& cloud,
                                   const Ledger& ledger, const SchedulerRules* rules) {
    const Shape shape = shape_of(request);
    if (shape.empty()) return {};
    const ConstraintChecker checker{request, rules, cloud, ledger};
    const std::map<ServerId, std::string> no_servers;
    const FilterInput input{request, shape,   ledger,  no_servers, &cloud.protection(),
                            nullptr, nullptr, &checker};
    const HostFilter hosts{cloud, input, any_number};
    std::vector<HostSlots> there;
    for (std::size_t host = 0; host < hosts.size(); ++host)
        if (hosts.ready(host) > 0) there.push_back(slots_on(hosts[host], shape));
    return there;
}

namespace {

// As people read them: no class of Placement has a name with a space.
const ResourceClass group_place{"place of its server group"};
const ResourceClass place_apart{"place apart from the servers it names"};

/// More slots than any request has: one server to be apart from takes them all.
constexpr Amount all_places = 1'000'000'000;

bool any_revocable_of(const std::set<ServerId>& servers, const CloudIndex& cloud) {
    if (servers.empty()) return false;
    for (const std::uint32_t row : cloud.order())
        for (const Server& server : cloud.row(row).host->servers)
            if (server.revocable() && servers.contains(server.id)) return true;
    return false;
}

/// Gives the host so many places; each of `taken` is held by one of the servers, as long as it is
/// there, or by no server that may be deleted.
void add_places(Host& host, const ResourceClass& name, Amount places, Amount each, int taken,
                const std::set<ServerId>& holders) {
    if (host.providers.empty()) return;
    Provider& root = host.providers.front();
    root.inventories[name].total = places;
    root.used.set(name, each * taken);
    const auto hold = [&](const Allocations& held) {
        Allocations more = held;
        more[root.id].set(name, each);
        return more;
    };
    for (Server& server : host.servers)
        if (holders.contains(server.id)) server.allocations = hold(server.allocations);
    for (auto& [consumer, held] : root.other_consumers)
        if (holders.contains(consumer)) held.set(name, each);
}

std::set<ServerId> others_of(const std::set<ServerId>& servers, const Request& request) {
    std::set<ServerId> others = servers;
    for (const auto& requester : request.requesters) others.erase(requester);
    return others;
}

}  // namespace

std::unique_ptr<PlacesView> PlacesView::of(const Request& request, const CloudIndex& cloud,
                                           const ConstraintChecker& checker) {
    const PlacementConstraints& placement = request.placement;
    const bool grouped = placement.group.apart() &&
                         any_revocable_of(others_of(placement.group.members, request), cloud);
    if (!grouped && !any_revocable_of(placement.apart_from, cloud)) return nullptr;
    return std::unique_ptr<PlacesView>{new PlacesView{request, cloud, checker}};
}

PlacesView::PlacesView(const Request& request, const CloudIndex& cloud,
                       const ConstraintChecker& checker)
    : request_{request} {
    const PlacementConstraints& placement = request.placement;
    const std::set<ServerId> members = others_of(placement.group.members, request);
    hosts_.reserve(cloud.order().size());
    for (const std::uint32_t row : cloud.order()) {
        Host& host = hosts_.emplace_back(*cloud.row(row).host);
        if (placement.group.apart())
            add_places(host, group_place, placement.group.max_on_a_host, 1,
                       checker.group_members_on(host), members);
        if (!placement.apart_from.empty())
            add_places(host, place_apart, all_places, all_places, checker.apart_on(host),
                       placement.apart_from);
    }
    const auto ask = [&](Resources& resources) {
        if (placement.group.apart()) resources.set(group_place, 1);
        if (!placement.apart_from.empty()) resources.set(place_apart, 1);
    };
    ask(request_.resources);
    if (request_.fallback) ask(request_.fallback->resources);
    if (placement.group.apart()) request_.placement.group = {};
    request_.placement.apart_from.clear();
    index_.protect(cloud.protection());
    index_.name_projects(cloud.project_names());
    for (const Host& host : hosts_) index_.put(host);
}

void PlacesView::take_out(Decision& decision) {
    const auto strip = [](Resources& resources) {
        resources.set(group_place, 0);
        resources.set(place_apart, 0);
    };
    const auto strip_all = [&](std::vector<HostPlan>& hosts) {
        for (HostPlan& host : hosts) {
            strip(host.free_before);
            strip(host.free_after);
            strip(host.slot);
            for (Victim& victim : host.victims) strip(victim.resources);
            for (SparedServer& spared : host.spared) strip(spared.resources);
        }
    };
    if (auto* const plan = std::get_if<Plan>(&decision)) strip_all(plan->hosts);
    if (auto* const nothing = std::get_if<NothingToDo>(&decision)) strip_all(nothing->hosts);
}

std::vector<BesideOne> beside_one_each(const Request& request, const CloudIndex& cloud) {
    const PlacementConstraints& placement = request.placement;
    std::set<ServerId> company = placement.with;
    const bool by_hint = !company.empty();
    if (placement.group.together()) {
        // Both at once: all of them stay.
        if (by_hint) return {};
        company = others_of(placement.group.members, request);
    }
    std::vector<BesideOne> ways;
    for (const std::uint32_t row : cloud.order()) {
        const Host& host = *cloud.row(row).host;
        std::vector<const Server*> here;
        for (const Server& server : host.servers)
            if (company.contains(server.id)) here.push_back(&server);
        if (here.size() < 2 ||
            std::none_of(here.begin(), here.end(), [](const Server* s) { return s->revocable(); }))
            continue;
        const auto& only = placement.only_hosts;
        if (!only.empty() && !only.contains(host.name) && !only.contains(host.service_host))
            continue;
        Request there = request;
        (by_hint ? there.placement.with : there.placement.group.members).clear();
        if (!by_hint) there.placement.group = {};
        there.placement.only_hosts = {host.name};
        there.placement.why_only = "the servers that the request is to run beside are on";
        // A regular one stays by itself.
        if (!std::all_of(here.begin(), here.end(), [](const Server* s) { return s->revocable(); }))
            here = {nullptr};
        for (const Server* const stays : here) {
            if (ways.size() == max_beside) return ways;
            ways.push_back({there, {}});
            if (stays != nullptr) ways.back().stay[stays->id] = "the request is to run beside it";
        }
    }
    return ways;
}

}  // namespace reaper
