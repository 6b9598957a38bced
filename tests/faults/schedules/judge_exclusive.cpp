#include "faults/schedules/judge_exclusive.hpp"

#include <algorithm>

namespace reaper::faults {

using cloudsim::Host;
using cloudsim::Server;
using cloudsim::TaskState;

namespace {

/// A search that began so shortly before may still be one that could be meant.
constexpr Duration just_before = std::chrono::seconds{1};

/// Where Nova's list takes longer, hosts are offered to every search.
constexpr Duration list_awaited_for = std::chrono::seconds{1};

/// What a server holds on the host.
Resources held_on(const HostState* state, const Uuid& server) {
    const Holder* const holder = state == nullptr ? nullptr : state->holder(server);
    return holder == nullptr ? Resources{} : holder->held;
}

/// Of the classes that are asked for.
bool has(const Resources& room, const Resources& asked) {
    return std::all_of(asked.begin(), asked.end(), [&](const auto& each) {
        return each.second <= 0 || room.get(each.first) >= each.second;
    });
}

}  // namespace

ExclusiveRoom::ExclusiveRoom(const SchedulePlan& plan, const Timeline& timeline,
                             cloudsim::Site& site, const Truth& truth, Checker& checker,
                             Tally& tally)
    : plan_(plan),
      timeline_(timeline),
      site_(site),
      truth_(truth),
      checker_(checker),
      tally_(tally),
      calm_(plan, timeline.true_now()) {}

/// Where Placement fails, it is not known what belongs to whom: its own answers pass.
bool ExclusiveRoom::is_judged(const Demand* demand, TimePoint asked_at) const {
    return demand != nullptr && !plan_.dry_run && !plan_.lies() &&
           calm_.all_of(asked_at, timeline_.true_now());
}

/// May the caller be a regular requester, for which servers could be deleted? Then hosts are
/// offered where that can be.
bool ExclusiveRoom::may_be_offered(const Demand& demand, TimePoint asked_at) const {
    if (timeline_.true_now() - asked_at >= list_awaited_for) return true;
    const bool tagged = truth_.revocable_since(demand.project).has_value();
    if (!site_.world().is_revocable(tagged, demand.asks_class)) return true;
    for (const Server* const server : site_.world().nova.listed())
        if (server->task == TaskState::scheduling && !demand.servers.contains(server->id))
            return true;
    const auto& demands = truth_.demands();
    return std::any_of(demands.begin(), demands.end(), [&](const auto& each) {
        return each.first != demand.id && each.second.refused_at >= asked_at - just_before;
    });
}

bool ExclusiveRoom::fitted_since(const std::string& host, TimePoint from, const Fits& fits) const {
    const TimePoint now = timeline_.true_now();
    const auto states = truth_.states(host, from, now);
    // What is promised may end without a change.
    for (std::size_t i = 0; i < states.size(); ++i) {
        const TimePoint until = i + 1 < states.size() ? states[i + 1]->at : now;
        if (fits(*states[i], std::max(from, states[i]->at)) || fits(*states[i], until)) return true;
    }
    return false;
}

/// For the request: what is free, and what is about to be, without what is surely another's.
Resources ExclusiveRoom::room_on(const Host& host, const HostState& state,
                                 const std::string& request, TimePoint at, bool if_all_die) const {
    Resources room = state.free;
    for (const Holder& holder : state.holders) {
        const Server* const server = site_.world().nova.find_server(holder.consumer);
        const bool reserved = Reservations::is_record(holder);
        const bool may_go =
            if_all_die && !reserved && (server == nullptr || checker_.is_revocable(*server));
        const bool going = holder.released || holder.leaving_since;
        if (may_go || going || checker_.victim_of(holder.consumer, at)) room += holder.held;
    }
    room -= withheld(host.name, request, at);
    return room;
}

/// What is surely another's.
Resources ExclusiveRoom::withheld(const std::string& host, const std::string& request,
                                  TimePoint at) const {
    return checker_.surely_promised_on(host, request, at) +
           checker_.surely_owed_to_others(host, request, at);
}

/// For people.
std::string ExclusiveRoom::arithmetic(const std::string& host, const std::string& request) const {
    const TimePoint now = timeline_.true_now();
    return to_string(truth_.state_at(host, now)->free) + " free, " +
           to_string(withheld(host, request, now)) + " promised or owed";
}

void ExclusiveRoom::told(const std::string& request, const cloudsim::Candidates& candidates,
                         TimePoint asked_at) {
    const Demand* const demand = truth_.demand(request);
    if (!is_judged(demand, asked_at)) return;
    checker_.sync_plans();
    const bool offered = may_be_offered(*demand, asked_at);
    std::set<const Host*> hosts;
    for (const auto& candidate : candidates.requests)
        hosts.insert(site_.world().nova.host_of(*candidate.held.front().provider->root));
    for (const Host* const host : hosts) {
        if (host == nullptr) continue;
        ++tally_.told;
        const auto places = [&](bool with_promised) {
            return fitted_since(host->name, asked_at, [&](const auto& state, TimePoint at) {
                Resources room = room_on(*host, state, request, at, offered);
                if (with_promised) room += withheld(host->name, request, at);
                return has(room, demand->slot);
            });
        };
        // Hosts are offered by what was read of them a while ago, too.
        if (!places(false) && places(true))
            checker_.blame("exclusive-room",
                           request + " gets " + host->name +
                               ", where all that is free is promised to others: " +
                               arithmetic(host->name, request));
    }
}

void ExclusiveRoom::claimed(const std::string& request, const Uuid& server, TimePoint asked_at) {
    const Demand* const demand = truth_.demand(request);
    if (!is_judged(demand, asked_at)) return;
    checker_.sync_plans();
    const TimePoint now = timeline_.true_now();
    for (const auto& host : site_.world().nova.hosts) {
        const Resources taken = held_on(truth_.state_at(host->name, now), server);
        if (taken.empty()) continue;
        ++tally_.claims;
        const bool own = fitted_since(host->name, asked_at, [&](const auto& state, TimePoint at) {
            // As if it had not claimed.
            Resources room = room_on(*host, state, request, at, false);
            room += held_on(&state, server);
            // What is kept for it is its own, however little there is for the others.
            const Resources kept = checker_.kept_for(request, *host, state);
            Resources asked;
            for (const auto& [name, amount] : taken)
                if (amount > kept.get(name)) asked.set(name, amount);
            return has(room, asked);
        });
        if (!own)
            checker_.blame("exclusive-room",
                           server.text() + " of " + request + " takes room on " + host->name +
                               " that is promised to others: " + arithmetic(host->name, request));
    }
}

}  // namespace reaper::faults
