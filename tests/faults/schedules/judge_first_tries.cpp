#include "faults/schedules/judge_first_tries.hpp"

#include <algorithm>

namespace reaper::faults {

using cloudsim::Host;
using cloudsim::Server;
using cloudsim::TaskState;
using cloudsim::VmState;
using std::chrono::seconds;

namespace {

/// The first views are read.
constexpr Duration warm_after = seconds{15};
/// Everything passes for 30 s after three searches that were late.
constexpr Duration late_for = seconds{35};
/// A search that took longer than this after its deadline was late.
constexpr Duration in_time = seconds{1};

bool rests(const Server& server) {
    return server.task == TaskState::none &&
           (server.state == VmState::active || server.state == VmState::stopped);
}

}  // namespace

FirstTries::FirstTries(const SchedulePlan& plan, const Timeline& timeline, cloudsim::Site& site,
                       const Truth& truth, const Gateway& gateway, Checker& checker,
                       std::function<bool()> breaker_is_open, Tally& tally)
    : plan_(plan),
      timeline_(timeline),
      site_(site),
      truth_(truth),
      gateway_(gateway),
      checker_(checker),
      breaker_is_open_(std::move(breaker_is_open)),
      tally_(tally),
      calm_(plan, timeline.true_now()) {}

// ---- excuses ----

/// Who can't be helped, or of whom it is too much to say here whether there is a way.
std::string FirstTries::why_not_judged(const Demand& demand,
                                       const cloudsim::Placing& placing) const {
    const auto tagged = truth_.revocable_since(demand.project);
    if (plan_.dry_run) return "a dry run";
    if (plan_.lies()) return "lies";
    if (site_.world().is_revocable(tagged.has_value(), demand.asks_class)) return "revocable";
    // This is in the event's placing, whether Nova shows it or not.
    if (demand.unshelves && !placing.zone.empty()) return "unshelved into a zone";
    if (demand.joins()) return "groups and hints";
    if (placing.cell && !plan_.cloud.cells.empty()) return "moves in cells";
    if (demand.asks_class) return "the class may be held";
    if (placing.ignored != nullptr && plan_.by_class()) return "it may hold the class";
    if (placing.ignored != nullptr && has_twins(*placing.flavor)) return "flavors of one size";
    // Who boots again at once does not ask through the gateway.
    if (site_.world().respawn && !plan_.gateway.escrow) return "room is not kept";
    // The slot is compared with a host's sum.
    for (const auto& [key, value] : placing.flavor->extra_specs)
        if (key.starts_with("resources") && !key.starts_with("resources:")) return "nested";
    return "";
}

/// Nova does not tell to which flavor a server is resized, and several take the same.
bool FirstTries::has_twins(const cloudsim::Flavor& flavor) const {
    const auto& flavors = site_.world().nova.flavors;
    return std::any_of(flavors.begin(), flavors.end(), [&](const auto& other) {
        return other->id != flavor.id && slot_of(*other, false) == slot_of(flavor, false);
    });
}

/// Placement does not know, and so nor does the reaper for a while, that a host went down.
bool FirstTries::may_be_misled(const Demand& demand) const {
    const TimePoint now = timeline_.true_now();
    const auto& hosts = site_.world().nova.hosts;
    return std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) {
        const HostState* const state = truth_.state_at(host->name, now);
        return !state->usable && fit(state->free, demand.slot) > 0;
    });
}

/// Another boot whose servers fit into what is asked for (ports may ask for the rest) is for more
/// of them: hosts are offered to an unknown caller only where there is a way for the larger one.
bool FirstTries::may_be_a_larger_one(const Demand& demand) const {
    std::map<std::string, int> counts;
    for (const Server* const server : site_.world().nova.listed())
        if (server->task == TaskState::scheduling && !demand.servers.contains(server->id) &&
            slot_of(*server->flavor, server->image == nullptr).fits_in(demand.slot))
            ++counts[server->reservation];
    return std::any_of(counts.begin(), counts.end(),
                       [&](const auto& each) { return each.second > demand.slots; });
}

/// A requester that may have reserved room gets it when its identity is certain; offers are for
/// any caller.
bool FirstTries::may_have_reserved_room(const Demand& demand) const {
    const auto& servers = site_.world().nova.listed();
    return checker_.has_reserved(demand.id) &&
           std::any_of(servers.begin(), servers.end(), [&](const Server* server) {
               return server->task == TaskState::scheduling && !demand.servers.contains(server->id);
           });
}

std::string FirstTries::why_hindered(const Wait& wait, const std::string& request) const {
    const Duration waited = timeline_.true_now() - wait.since;
    const GatewayTrail* const trail = gateway_.trail(request);
    if (trail == nullptr || trail->broken) return "not by the reaper's gateway alone";
    if (trail->most_at_once > static_cast<std::size_t>(plan_.gateway.max_held)) return "max_held";
    if (breaker_is_open_() || checker_.breaker_is_open()) return "breaker";
    if (wait.larger_asked || may_be_a_larger_one(*truth_.demand(request)))
        return "a larger request may be the one that asks";
    if (may_be_misled(*truth_.demand(request))) return "room on a host that is down";
    if (may_have_reserved_room(*truth_.demand(request))) return "reserved room is not offered";
    if (plan_.with_notice()) return "notice";
    if (!wait.needs_help) return "there was room, and others were faster";
    if (checker_.started_at() + warm_after > wait.since) return "the reaper is young";
    if (!calm_.all_of(wait.since, timeline_.true_now())) return "faults";
    if (waited + in_time >= plan_.gateway.deadline) return "not in time";
    const auto late = gateway_.late_at(plan_.gateway.deadline - in_time);
    if (late && *late + late_for > wait.since) return "others were not in time";
    return "";
}

/// Of what others freed or are freeing, more than they need may be kept for them when it is
/// claimed.
bool FirstTries::counts_on_others(const RequestRecord& record) {
    return std::any_of(record.plans.begin(), record.plans.end(), [](const PlanEntry& plan) {
        if (std::holds_alternative<NothingToDo>(plan.decision)) return true;
        const auto hosts = host_plans(plan.decision);
        return std::any_of(hosts.begin(), hosts.end(),
                           [](const HostPlan& host) { return !host.pending_releases.empty(); });
    });
}

/// By a safeguard, whose own judge tells whether it was right to.
std::string FirstTries::why_refused(const std::string& request) const {
    const auto& limits = plan_.policy.safeguards.limits;
    const bool limited = limits.victims_per_request > 0 || limits.victims_per_project > 0 ||
                         limits.victims_per_window > 0;
    const auto& records = checker_.journal().records;
    const auto record = records.find(RequestId{request});
    // Hosts are offered within the limits, too.
    if (record == records.end() && limited) return "limits";
    if (record != records.end() && counts_on_others(record->second)) return "room of others";
    if (record == records.end() || !record->second.outcome) return "";
    const std::string& safeguard = record->second.outcome->safeguard;
    const bool of_servers = safeguard == "protected" || safeguard == "min-run-time";
    return of_servers || safeguard == "unconfirmed" ? "" : safeguard;
}

// ---- is there a way? ----

/// It has been up and enabled for a while, or the reaper may not know.
bool FirstTries::is_steady(const Host& host) const {
    const TimePoint now = timeline_.true_now();
    const auto states = truth_.states(host.name, now - Calm::recovered_after, now);
    return !states.empty() && std::all_of(states.begin(), states.end(),
                                          [](const HostState* state) { return state->usable; });
}

/// Such a host is left out for a while.
bool FirstTries::was_of_no_use(const Host& host) const {
    const auto& records = checker_.journal().records;
    const std::string id = host.provider->uuid.text();
    return std::any_of(records.begin(), records.end(), [&](const auto& each) {
        const auto& result = each.second.freed_room;
        return result && std::any_of(result->untaken.begin(), result->untaken.end(),
                                     [&](const HostId& untaken) { return untaken.str() == id; });
    });
}

bool FirstTries::may_die(const Server& server) const {
    if (!rests(server) || !checker_.is_revocable(server) || !checker_.why_spared(server).empty())
        return false;
    const auto started = server.launched.value_or(server.created).time_since_epoch();
    const Duration age =
        timeline_.true_now().time_since_epoch() - std::chrono::ceil<Duration>(started);
    return age >= plan_.policy.safeguards.protect.min_run_time + seconds{1};
}

int FirstTries::slots_on(const Demand& demand, const Host& host, bool by_deletions) const {
    const std::size_t limit = demand.limit_at(host.name, timeline_.true_now());
    if (limit == 0 || !is_steady(host) || was_of_no_use(host)) return 0;
    const HostState* const state = truth_.state_at(host.name, timeline_.true_now());
    Resources room = state->free;
    const Resources lacked = checker_.lacked_by_others(host.name, demand.id, *state);
    room -= lacked;
    for (const Holder& holder : state->holders) {
        const Server* const server = site_.world().nova.find_server(holder.consumer);
        // Some may borrow of others.
        if (!lacked.empty()) break;
        if (!by_deletions || server == nullptr || server->host != &host) continue;
        const auto whose = checker_.victim_of(holder.consumer, timeline_.true_now());
        if (whose ? *whose == demand.id : may_die(*server)) room += holder.held;
    }
    room -= checker_.promised_on(host.name, demand.id);
    return static_cast<int>(std::min(limit, static_cast<std::size_t>(fit(room, demand.slot))));
}

bool FirstTries::has_way(const Demand& demand, bool by_deletions) const {
    int slots = truth_.placed_since(demand.servers, waits_.at(demand.id).since);
    for (const auto& host : site_.world().nova.hosts)
        slots += slots_on(demand, *host, by_deletions);
    return slots >= demand.slots;
}

// ---- searches ----

void FirstTries::on_search(const cloudsim::SearchEvent& event) {
    const std::string id = event.by->request_id();
    const Demand* const demand = truth_.demand(id);
    if (!plan_.with_gateway() || demand == nullptr ||
        !why_not_judged(*demand, event.placing).empty())
        return;
    Wait& wait = waits_[id];
    wait = {timeline_.true_now()};
    wait.larger_asked = may_be_a_larger_one(*demand);
    wait.needs_help = !has_way(*demand, false);
    if (!has_way(*demand, true)) waits_.erase(id);
}

void FirstTries::look() {
    for (auto& [id, wait] : waits_)
        if (wait.excuse.empty() && !has_way(*truth_.demand(id), true)) wait.excuse = "no way";
}

void FirstTries::on_schedule(const cloudsim::ScheduleEvent& event) {
    if (!event.end) return;
    const auto wait = waits_.extract(event.by->request_id());
    if (!wait.empty() && wait.mapped().needs_help) ++tally_.first_tries_helped;
}

void FirstTries::on_refusal(const cloudsim::RefusalEvent& event) {
    refused(event.by->request_id());
}

/// Nova sends no other message about it.
void FirstTries::on_effect(const cloudsim::Effect& effect) {
    if (effect.what != "unshelving refused") return;
    for (const auto& [id, wait] : waits_)
        if (truth_.demand(id)->unshelves && truth_.demand(id)->servers.contains(effect.server)) {
            refused(id);
            return;
        }
}

void FirstTries::refused(const std::string& request) {
    const auto node = waits_.extract(request);
    if (node.empty()) return;
    const Wait& wait = node.mapped();
    const Duration waited = timeline_.true_now() - wait.since;
    std::string excuse = wait.excuse;
    if (excuse.empty()) excuse = why_hindered(wait, request);
    if (excuse.empty()) excuse = why_refused(request);
    if (!excuse.empty()) {
        ++tally_.first_tries_excused[excuse];
        return;
    }
    checker_.blame("first-try", request + " found no host after " + std::to_string(waited.count()) +
                                    " ms, though there was a way for it all the time");
}

}  // namespace reaper::faults
