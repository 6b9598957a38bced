#include "reaper/rooms/room_keeper.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

namespace reaper {

void RoomKeeper::decided(const Request& request, const Decision& decision, bool has_deleted,
                         TimePoint now, const Ledger::HostLookup& host_of) {
    if (!acts_) return;
    const auto* const plan = std::get_if<Plan>(&decision);
    const auto* const nothing = std::get_if<NothingToDo>(&decision);
    if (plan != nullptr)
        ledger_.enter(request, *plan, now, has_deleted);
    else if (nothing != nullptr && promises_room(request.source, *nothing, has_deleted))
        ledger_.enter(request, nothing->hosts, now, has_deleted);
    else
        return;
    ledger_.note_there_before(request.id, host_of);
}

void RoomKeeper::promise_released(const Request& request, const std::vector<HostPlan>& plans,
                                  TimePoint now) {
    const bool victims = std::any_of(plans.begin(), plans.end(),
                                     [](const HostPlan& plan) { return !plan.victims.empty(); });
    if (!acts_ || victims || request.source != RequestSource::gateway) return;
    if (!ledger_.promises_of(request.id).empty() || ledger_.has_evictions_of(request.id)) return;
    ledger_.enter(request, plans, now);
    ledger_.mark_released(request.id);
}

void RoomKeeper::not_journaled(const RequestId& request, const Decision& decision,
                               bool has_deleted) {
    const auto* const plan = std::get_if<Plan>(&decision);
    if (plan == nullptr) return;
    for (const auto& victim : plan->victims()) ledger_.stays(victim.server);
    plans_again(request, has_deleted);
}

void RoomKeeper::plans_again(const RequestId& request, bool has_deleted) {
    if (!has_deleted) ledger_.release(request);
}

void RoomKeeper::ended(const RequestId& request, bool keeps_room, TimePoint at, Duration promise) {
    if (keeps_room)
        ledger_.settle(request, at, at + promise);
    else
        ledger_.release(request);
}

void RoomKeeper::observe(const Ledger::HostLookup& host_of, TimePoint now) {
    keep(ledger_.expire(host_of, now));
}

void RoomKeeper::observe(const Ledger::HostLookup& host_of, const ChangeLog<HostId>& hosts,
                         TimePoint now) {
    std::set<HostId> changed;
    const bool known = hosts.read(seen_, [&](const HostId& host) { changed.insert(host); });
    keep(known ? ledger_.expire(host_of, changed, now) : ledger_.expire(host_of, now));
}

void RoomKeeper::keep(std::vector<Ledger::Settled> settled) {
    settled_.insert(settled_.end(), std::make_move_iterator(settled.begin()),
                    std::make_move_iterator(settled.end()));
}

}  // namespace reaper
