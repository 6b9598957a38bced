// A decision that rests on fresh readings.
//
// A decision never trusts the cloud cache alone. Before it chooses a server or refuses the request,
// these are read again: which projects are revocable, and the deletions that a reaper left
// unfinished. So is each host that the decision rests on (room, servers, service). A correction
// rests only on its host. If that changes the cache, the planner decides again, until the decision
// rests only on fresh hosts. Before a server is chosen, or the request refused, idle room that is
// reserved for its role is released, or lent to it if it is revocable. So the calls for a decision
// depend on the hosts it uses, not on the size of the cloud.
//
// A question what would be decided (would_decide, room_for) is answered from the cache, without a
// reading.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/decision/decision_observer.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/duration_histogram.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper {

/// References must outlive it.
class FreshDecision {
public:
    /// What a correction has yet to free. An error: that is not known.
    using Needed = std::function<Result<CorrectionNeed>(const Request&)>;

    FreshDecision(CacheRefresher& refresher, Clock& clock, RoomKeeper& rooms,
                  Safeguards& safeguards, ReservationController* reservations = nullptr,
                  Needed needed = {})
        : refresher_(refresher),
          clock_(clock),
          rooms_(rooms),
          safeguards_(safeguards),
          reservations_(reservations),
          needed_(std::move(needed)) {}

    /// On hosts read since the call. `skipped`: servers that must not be victims, each with the
    /// reason. An error if the cloud can't be read, or changes faster than it can be. Calls must
    /// not overlap: the caller enters the plan into the ledger before the next one.
    /// `builds_known`: a later bulk reading than this one will do where no events flow; none: it
    /// has to be begun after the call. `request` has the role then whose reserved room is open to
    /// its project, and both have the names of projects, as far as these are known.
    ResultTask<Decision> decide(std::shared_ptr<const CompiledPolicy> policy, Request& request,
                                std::map<ServerId, std::string> skipped,
                                std::optional<std::uint64_t> builds_known = std::nullopt);

    /// Why every request of the project is refused, whatever else it is: it is revocable, and
    /// nothing is lent. None: not certain. By tags that were read a moment ago, for little.
    Task<std::optional<Refused>> refuse_project(std::shared_ptr<const CompiledPolicy> policy,
                                                ProjectId project);
    /// What would be decided now, and what there is room for. Nothing is written, promised or
    /// remembered, and nothing is read but the requester's role and who locked servers. The cloud
    /// was read before.
    Task<Decision> would_decide(std::shared_ptr<const CompiledPolicy> policy, Request request);
    Task<RoomAnswer> room_for(std::shared_ptr<const CompiledPolicy> policy, Request request);
    /// Why the two do not count room that reservations would release; none: they do, or nothing
    /// is reserved.
    std::optional<std::string> why_without_reservations() const;

    /// Sees each decision for a request; null: none. Must outlive this.
    void observed_by(DecisionObserver* observer) { observer_ = observer; }

    Result<CorrectionNeed> needed(const Request& correction) const {
        return needed_ ? needed_(correction) : CorrectionNeed{};
    }

    /// The decision is to be carried out.
    void decided(const Request& request, const Decision& decision);
    /// Processor time of each look for hosts and victims (several for a decision, if readings
    /// change the cloud).
    const DurationHistogram& search_times() const { return search_times_; }

private:
    ResultTask<bool> skip_locked(const Decision& decision, std::set<ServerId>& asked,
                                 std::map<ServerId, std::string>& skipped);
    ResultTask<Decision> decide_on_fresh(std::shared_ptr<const CompiledPolicy> policy,
                                         Request& request, std::map<ServerId, std::string> skipped,
                                         std::optional<std::uint64_t> builds_known);
    /// After a step: the next one, the next round from the first step on, or the answer.
    enum class Next { step, round, answer };
    struct State;
    ResultTask<void> prepare(State& state, Request& asked);
    ResultTask<Next> decide_by_cache(State& state);
    ResultTask<Next> read_what_it_rests_on(State& state);
    ResultTask<Next> use_reserved_room(State& state);
    ResultTask<Next> confirm_or_read(State& state);
    ResultTask<Next> confirm(State& state);
    /// What a decision needs read again: all of it beside each other.
    struct Together {
        std::vector<HostId> hosts{};
        std::shared_ptr<const CompiledPolicy>
            tags_by{};            ///< whose projects are tagged; null: known
        bool unfinished = false;  ///< which deletions a reaper began and did not finish
    };
    ResultTask<bool> read_tags_then_unfinished(std::shared_ptr<const CompiledPolicy> tags_by,
                                               bool unfinished);
    ResultTask<bool> read_together(Together what, HostDepth depth);
    Task<Decision> decide_on_cache(std::shared_ptr<const CompiledPolicy> policy, Request request);
    Task<RoomAnswer> room_on_cache(std::shared_ptr<const CompiledPolicy> policy, Request request);
    ResultTask<Decision> decide_correction(std::shared_ptr<const CompiledPolicy> policy,
                                           Request request,
                                           std::map<ServerId, std::string> skipped);
    using Giving = ReservationController::Giving;
    Task<ReservationController::Release> release_reserved(
        std::shared_ptr<const CompiledPolicy> policy, Request request, const Decision& decision,
        std::map<ServerId, std::string> skipped, Giving giving);
    Task<ReservationController::Release> borrow(std::shared_ptr<const CompiledPolicy> policy,
                                                Request request, Giving giving);
    ReservationController::Search search_under(std::shared_ptr<const CompiledPolicy> policy,
                                               bool in_cooldown_too,
                                               std::map<ServerId, std::string> skipped,
                                               Giving giving);
    Decision decide_now(const CompiledPolicy& policy, const Request& request,
                        std::map<ServerId, std::string> skipped);
    bool would_borrow(const CompiledPolicy& policy, const Request& request) const;
    Task<void> learn_role(Request& request);
    Task<void> look_up_role(Request& request);
    Decision own_tenants_first(const CompiledPolicy& policy, const Request& request,
                               Decision decision, const std::map<ServerId, std::string>& skipped);
    std::vector<HostId> unread_hosts(const Decision& decision, const RequestId& request,
                                     const std::set<HostId>& fresh, bool second_look) const;
    void forget_changed(State& state) const;
    std::vector<HostId> hosts_with_unknown_takers(const State& state) const;
    void add_offering(const CompiledPolicy& policy, const std::set<HostId>& fresh,
                      std::vector<HostId>& ids) const;

    CacheRefresher& refresher_;
    Clock& clock_;
    RoomKeeper& rooms_;
    Safeguards& safeguards_;
    ReservationController* reservations_;  ///< null: nothing is released
    Needed needed_;                        ///< null: what was ordered is
    DurationHistogram search_times_;
    DecisionObserver* observer_ = nullptr;
};

}  // namespace reaper
