#include "reaper/planner/revocable_room.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "reaper/planner/filter.hpp"
#include "reaper/planner/pending_releases.hpp"

namespace reaper {
namespace {

/// Refused hosts that are listed in full, of each reason; the rest are counted.
constexpr int listed_per_kind = 20;

/// The request as one for a revocable server: a class that the slot has no more was replaced, in
/// its groups too.
Request as_revocable(Request request, const Resources& slot) {
    request.resources = slot;
    for (auto& group : request.groups)
        for (const auto& [resource_class, amount] : Resources{group.resources}) {
            if (slot.get(resource_class) > 0) continue;
            group.resources.set(resource_class, 0);
            for (const auto& [taken, count] : slot)
                if (stands_for(taken) == resource_class) group.resources.add(taken, amount);
        }
    return request;
}

std::string slots_text(Amount n) {
    return std::to_string(n) + " slot" + (n == 1 ? "" : "s");
}

class RevocableSearch {
public:
    RevocableSearch(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                    const ResourceClasses& classes, const SchedulerRules* scheduler)
        : request_(request),
          cloud_(cloud),
          ledger_(ledger),
          classes_(classes),
          checker_(request, scheduler, cloud, ledger),
          slots_(revocable_slots(request.resources, classes)) {}

    Decision run() {
        Amount open = request_.slots;
        for (const std::uint32_t row : cloud_.order()) {
            if (open <= 0) break;
            auto found = look_at(*cloud_.row(row).host, open);
            if (!found) continue;
            open -= found->slots;
            nothing_.hosts.push_back(std::move(*found));
        }
        if (open > 0) return not_enough(request_.slots - open);
        nothing_.room = ResType::revocable;
        nothing_.reason =
            "revocable room for " + slots_text(request_.slots) + " is free on " +
            (nothing_.hosts.size() == 1 ? nothing_.hosts.front().host_name
                                        : std::to_string(nothing_.hosts.size()) + " hosts") +
            "; ask again for a revocable server (" + nothing_.hosts.front().reason + ")";
        return std::move(nothing_);
    }

private:
    std::optional<HostPlan> look_at(const Host& host, Amount open) {
        const auto wrapped = wrap(host, ResType::revocable, classes_);
        if (!wrapped) {
            refuse(host, RejectionCode::no_such_class,
                   "is labelled " + std::string{to_string(label_of(host, classes_))} +
                       ": it has no revocable room");
            return std::nullopt;
        }
        std::optional<Rejection> refused;
        for (const Resources& slot : slots_) {
            auto looked = look_at(*wrapped, slot, open);
            if (auto* found = std::get_if<HostPlan>(&looked)) return std::move(*found);
            auto& rejection = std::get<Rejection>(looked);
            // The class that came nearest says most.
            if (!refused || refused->code == RejectionCode::no_such_class)
                refused = std::move(rejection);
        }
        if (refused)
            refuse(host, refused->code, refused->reason);
        else
            refuse(host, RejectionCode::not_enough_revocable,
                   "its revocable room is what its revocable servers hold: no tagger names a class "
                   "that would offer more");
        return std::nullopt;
    }

    std::variant<HostPlan, Rejection> look_at(const WrappedHost& wrapped, const Resources& slot,
                                              Amount open) {
        const Host& host = *wrapped.host;
        const Shape shape = shape_of(as_revocable(request_, slot));
        const std::map<ServerId, std::string> skipped;
        FilterInput input{request_, shape, ledger_, skipped};
        input.checker = &checker_;
        input.room = ResType::revocable;
        input.wanted = request_.slots;
        input.cut = &missed_.cut;
        auto filtered = filter_host(host, input);
        if (auto* rejection = std::get_if<Rejection>(&filtered)) return std::move(*rejection);
        const HostRoom& room = std::get<HostOption>(filtered).room;
        const Amount there = std::min(slots_at_once(room, shape, room.room_now(), input.wanted),
                                      std::get<HostOption>(filtered).max_slots);
        const Amount least = checker_.all_on_one_host() ? request_.slots : 1;
        if (there < least || !slot.fits_in(wrapped.free))
            return Rejection{host.id, host.name, RejectionCode::not_enough_revocable,
                             "has " + to_string(named(shape, room.totals(shape, room.room_now()))) +
                                 " free of the " + to_string(slot) +
                                 " that a revocable slot takes"};
        HostPlan plan;
        plan.host = host.id;
        plan.host_name = host.name;
        plan.slots = plan.slots_ready = static_cast<int>(std::min(there, open));
        plan.free_before = plan.free_after = named(shape, room.totals(shape, room.room_now()));
        plan.slot = slot;
        plan.reason = "a revocable slot takes " + to_string(slot);
        return plan;
    }

    void refuse(const Host& host, RejectionCode code, std::string reason) {
        auto& counts = missed_.rejected_counts;
        auto at = std::lower_bound(
            counts.begin(), counts.end(), code,
            [](const RejectionCount& each, RejectionCode key) { return each.code < key; });
        if (at == counts.end() || at->code != code)
            at = counts.insert(at, RejectionCount{code, 0, reason});
        if (++at->hosts <= listed_per_kind)
            missed_.rejected.push_back(Rejection{host.id, host.name, code, std::move(reason)});
    }

    Decision not_enough(Amount possible) {
        missed_.slots_requested = request_.slots;
        missed_.slots_possible = static_cast<int>(possible);
        std::string why;
        for (const auto& each : missed_.rejected_counts)
            why += (why.empty() ? "" : "; ") + std::to_string(each.hosts) + " " +
                   std::string{to_string(each.code)} + ", such as " + example(each.code);
        missed_.reason = "revocable room is free for " + std::to_string(possible) + " of " +
                         slots_text(request_.slots) + (why.empty() ? "" : " (" + why + ")");
        return std::move(missed_);
    }
    std::string example(RejectionCode code) const {
        for (const auto& each : missed_.rejected)
            if (each.code == code) return each.host_name + ": " + each.reason;
        return "";
    }

    const Request& request_;
    const CloudIndex& cloud_;
    const Ledger& ledger_;
    const ResourceClasses& classes_;
    const ConstraintChecker checker_;
    const std::vector<Resources> slots_;
    NothingToDo nothing_;
    NotEnough missed_;
};

/// What the one phase said, with what the other said that found too little.
Decision with_remark(Decision decision, const Decision& other) {
    const auto* const none = std::get_if<NotEnough>(&other);
    if (none == nullptr) return decision;
    if (auto* plan = std::get_if<Plan>(&decision))
        plan->note += (plan->note.empty() ? "" : "; ") + none->reason;
    if (auto* less = std::get_if<NotEnough>(&decision)) less->reason += "; " + none->reason;
    add_cut(decision, other);
    return decision;
}

}  // namespace

std::vector<Resources> revocable_slots(const Resources& slot,
                                       const ResourceClasses& revocable_classes) {
    std::vector<Resources> slots;
    for (const auto& revocable : revocable_classes) {
        Resources taken = slot;
        const ResourceClass replaced = stands_for(revocable);
        const Amount amount = slot.get(replaced);
        if (amount > 0) {
            taken.set(replaced, 0);
            taken.set(revocable, amount);
        } else if (slot.get(revocable) <= 0) {
            taken.set(revocable, 1);
        }
        slots.push_back(std::move(taken));
    }
    return slots;
}

Decision find_revocable_room(const Request& request, const CloudIndex& cloud, const Ledger& ledger,
                             const ResourceClasses& revocable_classes,
                             const SchedulerRules* scheduler) {
    if (request.slots <= 0) return Refused{"the request asks for no slot"};
    if (shape_of(request.resources).empty())
        return Refused{"the request takes no resources, so no room can help it"};
    return RevocableSearch{request, cloud, ledger, revocable_classes, scheduler}.run();
}

Decision decide_in_phases(const Phases& phases, const std::function<Decision(ResType)>& search) {
    Decision first = search(phases.first);
    const auto* const failed = std::get_if<NotEnough>(&first);
    if (!phases.both || failed == nullptr) return first;
    Decision second = search(other_than(phases.first));
    if (phases.first == ResType::revocable) return with_remark(std::move(second), first);
    if (auto* found = std::get_if<NothingToDo>(&second);
        found && found->room == ResType::revocable) {
        found->reason += "; regular room can't be freed: " + failed->reason;
        return second;
    }
    return with_remark(std::move(first), second);
}

}  // namespace reaper
