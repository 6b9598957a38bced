// The judgement on room in escrow: what a victim holds goes to its escrow consumer and back, to the
// requester's claim, or comes free; nothing is made of nothing, and nothing stays kept.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "faults/schedules/checker.hpp"
#include "reaper/model/escrow_consumer.hpp"

namespace reaper::faults {
namespace {

using nlohmann::json;

/// Consumers that a `POST /allocations` names, or a `PUT /allocations/ID`.
std::vector<Uuid> consumers_in(const cloudsim::Request& request) {
    std::vector<Uuid> consumers;
    if (request.method != "POST") {
        if (const auto id = Uuid::parse(request.path.back())) consumers.push_back(*id);
        return consumers;
    }
    const json body = json::parse(request.body, nullptr, false);
    if (!body.is_object()) return consumers;
    for (const auto& [id, change] : body.items())
        if (const auto consumer = Uuid::parse(id)) consumers.push_back(*consumer);
    return consumers;
}

}  // namespace

bool Checker::sets_holdings(const cloudsim::Request& request) {
    const auto& path = request.path;
    if (path.size() < 2 || path[0] != "placement" || path[1] != "allocations") return false;
    return (request.method == "POST" && path.size() == 2) ||
           ((request.method == "PUT" || request.method == "DELETE") && path.size() == 3);
}

bool Checker::is_requester(const Uuid& consumer) const {
    const auto& demands = truth_.demands();
    return std::any_of(demands.begin(), demands.end(),
                       [&](const auto& entry) { return entry.second.servers.contains(consumer); });
}

bool Checker::is_requester_in(const cloudsim::Request& request) const {
    const auto consumers = consumers_in(request);
    return std::all_of(consumers.begin(), consumers.end(),
                       [this](const Uuid& consumer) { return is_requester(consumer); });
}

Resources Checker::held_by(const Uuid& consumer) const {
    Resources sum;
    const auto* const known = site_.world().placement.find_consumer(consumer);
    if (known == nullptr) return sum;
    for (const cloudsim::Held& held : known->held)
        sum.add(ResourceClass{site_.world().names.text(held.resource_class)}, held.amount);
    return sum;
}

/// Is it room that a request found free on a host that it was promised, and no more than that?
bool Checker::is_room_of_a_plan(const Uuid& stand_in, const Resources& held) const {
    for (const auto* const journal : journals_) {
        for (const auto& [id, record] : journal->records) {
            const Demand* const demand = truth_.demand(id.str());
            for (const PlanEntry& entry : record.plans) {
                for (const HostPlan& host : host_plans(entry.decision)) {
                    const auto its = stand_in_on(id, host.host);
                    if (its && its->str() == stand_in.text() && demand != nullptr &&
                        held.fits_in(demand->slot * host.slots))
                        return true;
                }
            }
        }
    }
    return false;
}

Resources Checker::kept_for(const std::string& request, const cloudsim::Host& host,
                            const HostState& state) const {
    const auto stand_in = stand_in_on(RequestId{request}, HostId{host.provider->uuid.text()});
    Resources sum;
    for (const auto& [id, room] : state.kept) {
        const std::string server = id.text();
        const bool its = (stand_in && stand_in->str() == server) ||
                         std::any_of(evictions_.begin(), evictions_.end(), [&](const auto& each) {
                             return each.request == request && each.server == server;
                         });
        if (its) sum += room;
    }
    return sum;
}

/// The host that a consumer holds room on; null: none.
const cloudsim::Provider* Checker::host_held_by(const Uuid& consumer) const {
    const auto* const known = site_.world().placement.find_consumer(consumer);
    if (known == nullptr || known->held.empty()) return nullptr;
    const cloudsim::Provider* const provider = known->held.front().provider;
    return provider->root != nullptr ? provider->root : provider;
}

/// Slots that plans for the request have on each host, at most.
std::map<std::string, std::ptrdiff_t> Checker::planned_for(const std::string& request) const {
    std::map<std::string, std::ptrdiff_t> most;
    for (const auto* const journal : journals_) {
        const auto record = journal->records.find(RequestId{request});
        if (record == journal->records.end()) continue;
        for (const PlanEntry& entry : record->second.plans)
            for (const HostPlan& plan : host_plans(entry.decision)) {
                auto& slots = most[plan.host.str()];
                slots = std::max<std::ptrdiff_t>(slots, plan.slots);
            }
    }
    return most;
}

/// Has the request of a claiming server more that wait than slots on other hosts?
bool Checker::awaits_claims_of(const Resources& rest, const std::vector<Uuid>& claiming) const {
    for (const Uuid& claims : claiming) {
        const cloudsim::Provider* const host = host_held_by(claims);
        for (const auto& [id, demand] : truth_.demands()) {
            if (host == nullptr || !demand.servers.contains(claims)) continue;
            auto planned = planned_for(id);
            std::ptrdiff_t waiting = 0;
            for (const Uuid& server : demand.servers) {
                const auto* const there = host_held_by(server);
                if (there == nullptr)
                    ++waiting;
                else
                    --planned[there->uuid.text()];
            }
            std::ptrdiff_t elsewhere = 0;
            for (const auto& [name, slots] : planned)
                if (name != host->uuid.text()) elsewhere += std::max<std::ptrdiff_t>(slots, 0);
            if (waiting > elsewhere && planned[host->uuid.text()] > 0 && demand.slot.fits_in(rest))
                return true;
        }
    }
    return false;
}

/// The cloud is about to work on it.
void Checker::note_holdings(const Exchange& call) {
    sync_plans();
    holdings_before_.clear();
    for (const Uuid& consumer : consumers_in(call.request))
        holdings_before_[consumer] = held_by(consumer);
    reservations_before_.clear();
    for (const Uuid& reservation : reservations_in(call.request))
        for (const auto& host : site_.world().nova.hosts)
            if (const HostState* const state = truth_.state_at(host->name, timeline_.true_now()))
                if (const Holder* const holder = state->holder(reservation))
                    reservations_before_[reservation][host->name] = holder->held;
}

void Checker::judge_holdings(const Exchange& call) {
    const auto reservations = reservations_in(call.request);
    if (!reservations.empty()) judge_reservation_write(call);
    auto consumers = consumers_in(call.request);
    std::erase_if(consumers, [&](const Uuid& each) { return reservations.contains(each); });
    if (plan_.with_reservations() && consumers.empty()) return;
    if (!plan_.with_gateway()) {
        blame("escrow", "the reaper may not set what consumers hold: " + call.request.target);
        return;
    }
    if (call.response.status >= 300) return;
    Resources before, after, gained;
    bool of_victim = false;
    const std::set<Uuid> named(consumers.begin(), consumers.end());
    for (const Uuid& consumer : consumers) {
        const auto server = kept_of(consumer);
        if (!server && !named.contains(escrow_consumer_of(consumer))) {
            const bool released =
                held_by(consumer).empty() && site_.world().nova.find_server(consumer) == nullptr;
            gained += held_by(consumer);
            if (!released && !is_requester(consumer))
                blame("escrow", consumer.text() + " claims room, and no request asked");
            continue;
        }
        if (server && is_room_of_a_plan(*server, held_by(consumer))) {
            before += held_by(consumer);  // free before
            after += held_by(consumer);
            continue;
        }
        const std::string victim = server.value_or(consumer).text();
        if (plan_for(victim, 0) == nullptr && plan_for(victim, 1) == nullptr)
            blame("escrow", "what " + victim +
                                " holds is changed, and no journal has it as "
                                "a victim");
        before += holdings_before_[consumer];
        after += held_by(consumer);
        of_victim = of_victim || !server;
    }
    // A reaper that read less gives less back.
    const bool less = of_victim && !before.fits_in(after) && !plan_.lies();
    // A claim takes from escrow consumers what it asks for; with the last one goes what is left.
    const bool lost = !gained.empty() && !before.fits_in(after + gained) &&
                      awaits_claims_of(before - after - gained, consumers);
    if (!after.fits_in(before) || less || lost)
        blame("escrow",
              "of " + to_string(before) + " became " + to_string(after) + ": " + call.request.body);
    ++tally_.kept;
}

/// Does it keep the held class for a server that is still there?
bool Checker::keeps_class_of_a_server(const cloudsim::Consumer& escrow_consumer) const {
    const auto& world = site_.world();
    const auto revocable = world.names.find(world.settings.revocable_class);
    const bool has_class = std::any_of(
        escrow_consumer.held.begin(), escrow_consumer.held.end(),
        [&](const cloudsim::Held& held) { return revocable && held.resource_class == *revocable; });
    const auto server = kept_of(escrow_consumer.uuid);
    return has_class && server && world.nova.find_server(*server) != nullptr;
}

std::vector<std::string> Checker::escrow() const {
    std::vector<std::string> kept;
    for (const auto* provider : site_.world().placement.providers())
        for (const auto* consumer : provider->consumers)
            // Where a machine that is no more holds the class, a server that had it can't have its
            // room back.
            if (kept_of(consumer->uuid) &&
                !(left_held(provider->uuid.text()) && keeps_class_of_a_server(*consumer)))
                kept.push_back(consumer->uuid.text() + " on " + provider->name);
    return kept;
}

/// Where a clock was set back, promises last for longer than we look.
bool Checker::awaits_end_of_keeping() const {
    return !plan_.has(Kind::clock_step) && !escrow().empty();
}

void Checker::judge_keeps_left() {
    if (plan_.has(Kind::clock_step)) return;
    for (const auto& kept : escrow()) blame("escrow", "still kept: " + kept);
}

}  // namespace reaper::faults
