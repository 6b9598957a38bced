#include "faults/schedules/truth.hpp"

#include <algorithm>

namespace reaper::faults {

using cloudsim::Consumer;
using cloudsim::Held;
using cloudsim::Host;
using cloudsim::Names;
using cloudsim::Provider;
using cloudsim::RefusalEvent;
using cloudsim::Room;
using cloudsim::TaskState;
using cloudsim::VmState;

const Holder* HostState::holder(const Uuid& consumer) const {
    const auto found = std::find_if(holders.begin(), holders.end(),
                                    [&](const Holder& one) { return one.consumer == consumer; });
    return found == holders.end() ? nullptr : &*found;
}

namespace {

constexpr std::uint64_t version_bits = 0xf000;

}  // namespace

Uuid escrow_consumer_of(const Uuid& server) {
    return {(server.high & ~version_bits) | 0x8000U, server.low};
}

std::optional<Uuid> kept_of(const Uuid& consumer) {
    if ((consumer.high & version_bits) != 0x8000U) return std::nullopt;
    return Uuid{(consumer.high & ~version_bits) | 0x4000U, consumer.low};
}

Resources slot_of(const cloudsim::Flavor& flavor, bool from_volume) {
    Resources slot;
    const auto groups = cloudsim::resources_of(flavor, from_volume);
    for (const auto& [suffix, amounts] : groups)
        for (const auto& [name, amount] : amounts) slot.add(ResourceClass{name}, amount);
    return slot;
}

int fit(const Resources& room, const Resources& slot) {
    std::int64_t most = 1'000;
    for (const auto& [resource_class, amount] : slot)
        if (amount > 0)
            most = std::min(most, std::max<std::int64_t>(0, room.get(resource_class)) / amount);
    return static_cast<int>(most);
}

void Truth::record() {
    for (const auto& host : site_.world().nova.hosts) record_host(*host);
    record_projects();
    record_demands();
    if (told_) told_();
}

void Truth::record_host(const Host& host) {
    const Names& names = site_.world().names;
    HostState state;
    state.at = timeline_.true_now();
    state.usable = host.up() && !host.disabled;
    const auto add_rooms = [&](const Provider& provider) {
        for (const Room& room : provider.rooms)
            state.free.add(ResourceClass{names.text(room.resource_class)},
                           std::max<std::int64_t>(0, room.inventory.capacity() - room.used));
    };
    add_rooms(*host.provider);
    for (const Provider* child : host.provider->children) add_rooms(*child);
    for (const Consumer* consumer : host.provider->consumers) {
        Holder holder;
        const auto kept = kept_of(consumer->uuid);
        holder.consumer = kept.value_or(consumer->uuid);
        holder.project = names.text(consumer->project);
        const auto* server = site_.world().nova.find_server(holder.consumer);
        if (kept && server == nullptr) {
            // It is promised, as what is free is.
            Resources& room = state.kept[*kept];
            for (const Held& held : consumer->held)
                if (held.provider->root == host.provider)
                    room.add(ResourceClass{names.text(held.resource_class)}, held.amount);
            state.free += room;
            continue;
        }
        holder.released = kept && server != nullptr && server->state == VmState::deleted;
        if (server != nullptr && server->task == TaskState::deleting)
            holder.leaving_since =
                leaving_since_.try_emplace(holder.consumer, timeline_.true_now()).first->second;
        else
            leaving_since_.erase(holder.consumer);
        if (server != nullptr && server->host == &host) {
            const auto placed =
                std::max(server->created, server->launched.value_or(server->created));
            holder.placed_at = TimePoint{std::chrono::floor<Duration>(placed.time_since_epoch())};
        }
        for (const Held& held : consumer->held)
            if (held.provider->root == host.provider)
                holder.held.add(ResourceClass{names.text(held.resource_class)}, held.amount);
        state.holders.push_back(std::move(holder));
    }
    std::sort(state.holders.begin(), state.holders.end(),
              [](const Holder& a, const Holder& b) { return a.consumer < b.consumer; });
    auto& states = history_[host.name];
    if (states.empty() || !states.back().same(state)) states.push_back(std::move(state));
}

void Truth::record_projects() {
    for (const auto& project : site_.world().identity.projects) {
        const auto& tags = project->tags;
        if (std::find(tags.begin(), tags.end(), "preemptible") == tags.end())
            revocable_since_.erase(project->id);
        else
            revocable_since_.try_emplace(project->id, timeline_.true_now());
    }
}

void Truth::record_demands() {
    for (auto& [id, demand] : demands_) {
        if (demand.over_since) continue;
        const bool waits =
            std::any_of(demand.servers.begin(), demand.servers.end(), [&](const Uuid& server) {
                const cloudsim::Server* found = site_.world().nova.find_server(server);
                return found != nullptr && found->task != TaskState::deleting &&
                       found->task != TaskState::soft_deleting &&
                       found->state != VmState::soft_deleted;
            });
        if (!waits) demand.over_since = timeline_.true_now();
        if (demand.joins() && waits) record_limits(demand);
    }
}

/// Traits, zones, cells and aggregates stay as they are; who is where does not.
void Truth::record_limits(Demand& demand) {
    auto& world = site_.world();
    const auto note = [&](Demand::Limits& limits, const std::string& host, std::size_t limit) {
        auto& all = limits[host];
        if (all.empty() || all.back().second != limit)
            all.emplace_back(timeline_.true_now(), limit);
    };
    const bool first = demand.limits.empty();
    cloudsim::Placing told = demand.placing;
    if (demand.hints_hidden) {
        told.same_host.clear();
        told.different_host.clear();
    }
    cloudsim::ServerGroup shown;
    if (told.group && told.group->policy == "anti-affinity") {
        shown = *told.group;
        std::erase_if(shown.members, [&](const Uuid& id) {
            const cloudsim::Server* const member = world.nova.find_server(id);
            return member != nullptr && member->state == VmState::soft_deleted;
        });
        told.group = &shown;
    }
    for (const auto& host : world.nova.hosts) {
        if (first && !is_place(world, demand.placing, *host)) demand.never.insert(host->name);
        const bool never = demand.never.contains(host->name);
        note(demand.limits, host->name, never ? 0 : may_join(world, demand.placing, *host));
        note(demand.told, host->name, never ? 0 : may_join(world, told, *host));
    }
    for (auto* const limits : {&demand.limits, &demand.told})
        note(*limits, "", joins_others(world, demand.placing) ? 1 : 0);
}

std::size_t Demand::limit_at(const std::string& host, TimePoint at) const {
    return limit_in(limits, host, at, at);
}

std::size_t Demand::told_at(const std::string& host, TimePoint at) const {
    return limit_in(told, host, at, at);
}

std::size_t Demand::limit_in(const Limits& limits, const std::string& host, TimePoint from,
                             TimePoint to) {
    const auto known = limits.find(host);
    if (known == limits.end()) return 0;
    std::size_t most = from < known->second.front().first ? known->second.front().second : 0;
    for (const auto& [since, limit] : known->second) {
        if (since > to) break;
        if (since <= from) most = 0;
        most = std::max(most, limit);
    }
    return most;
}

const Demand* Truth::demand(const std::string& request) const {
    const auto at = demands_.find(request);
    return at == demands_.end() ? nullptr : &at->second;
}

std::vector<const HostState*> Truth::states(const std::string& host, TimePoint from,
                                            TimePoint to) const {
    std::vector<const HostState*> found;
    const auto at = history_.find(host);
    if (at == history_.end()) return found;
    for (const HostState& state : at->second) {
        if (state.at > to) break;
        if (state.at <= from) found.clear();
        found.push_back(&state);
    }
    return found;
}

const HostState* Truth::state_at(const std::string& host, TimePoint at) const {
    const auto all = states(host, at, at);
    return all.empty() ? nullptr : all.back();
}

int Truth::placed_besides(const std::string& host, const std::set<Uuid>& servers, TimePoint since,
                          TimePoint at) const {
    const HostState* const now = state_at(host, at);
    const auto is_there = [&](const Uuid& server) {
        return now != nullptr && now->holder(server) != nullptr;
    };
    const auto came = [&](const Uuid& server) {
        return std::any_of(history_.begin(), history_.end(), [&](const auto& each) {
            const HostState* const before = state_at(each.first, since);
            if (before != nullptr && before->holder(server) != nullptr) return false;
            const auto all = states(each.first, since, at);
            return std::any_of(all.begin(), all.end(), [&](const HostState* state) {
                return state->holder(server) != nullptr;
            });
        });
    };
    return static_cast<int>(std::count_if(servers.begin(), servers.end(), [&](const Uuid& server) {
        return !is_there(server) && came(server);
    }));
}

int Truth::placed_since(const std::set<Uuid>& servers, TimePoint since) const {
    return placed_besides("", servers, since, timeline_.true_now());
}

std::optional<TimePoint> Truth::revocable_since(const std::string& project) const {
    const auto at = revocable_since_.find(project);
    if (at == revocable_since_.end()) return std::nullopt;
    return at->second;
}

std::string Truth::host_of_provider(const Uuid& provider) const {
    const Provider* found = site_.world().placement.find(provider);
    return found ? found->name : "";
}

void Truth::on_refusal(const RefusalEvent& event) {
    Demand& demand = note(event.placing, event.by);
    if (demand.refused) return;  // a further message of the same request
    demand.refused = true;
    demand.refused_at = timeline_.true_now();
}

void Truth::on_search(const cloudsim::SearchEvent& event) {
    note(event.placing, event.by);
}

Demand& Truth::note(const cloudsim::Placing& placing, const cloudsim::ContextPtr& by) {
    Demand& demand = demands_[by->request_id()];
    if (!demand.id.empty()) return demand;
    demand.id = by->request_id();
    demand.project = site_.world().names.text(placing.project);
    demand.slot = slot_of(*placing.flavor, placing.image == nullptr);
    demand.slots = static_cast<int>(placing.count());
    demand.servers.insert(placing.servers.begin(), placing.servers.end());
    const auto* const first = site_.world().nova.find_server(placing.servers.front());
    demand.unshelves = first != nullptr && first->state == cloudsim::VmState::shelved_offloaded;
    demand.refused_at = timeline_.true_now();
    demand.asks_class = site_.world().asks_revocable(*placing.flavor);
    demand.placing = placing;
    // The zone of a shelved server is unknown where Nova does not show it. Its hints are in the
    // scheduler's messages, which may be lost.
    demand.hints_hidden = site_.world().settings.nova_minor < 100;
    if (demand.hints_hidden && demand.unshelves) demand.placing.zone.clear();
    record_limits(demand);
    return demand;
}

}  // namespace reaper::faults
