// Serves one request: cache, plan, cull, and again where a victim turned out unfit.
//
// It deletes only while all of this holds: the reaper is not paused; its message is surely ours; no
// newer request of the same server is known; a requester waits for the room; the policy under which
// it planned is in force. After a loss of the broker another reaper may have the message: then it
// waits until the message comes again. After a reload it plans again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/eviction/cull.hpp"
#include "reaper/requests/services.hpp"
#include "reaper/requests/time_left.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {

/// How its event came.
struct Arrival {
    /// It was delivered before, and our journal does not know it: another reaper may
    /// have served it, and died before it could say so.
    bool maybe_served = false;
    /// Nova had found hosts; they failed (MaxRetriesExceeded).
    bool had_hosts = false;
    int rounds = 0;  ///< that the journal has of it, from before
};

/// What it is made with must outlive it, and it its coroutines.
class RequestRunner final : private EvictionGuard {
public:
    RequestRunner(RunnerDependencies dependencies, Request request, Arrival arrival = {});
    RequestRunner& operator=(RequestRunner&&) = delete;  // the executor knows its place

    /// Decides and acts until there is an outcome. None: the reaper is stopping and nothing was
    /// deleted; the request stays unfinished in the journal.
    Task<std::optional<Outcome>> serve();
    /// The same for a request that a former process left unfinished: what it sent is credited,
    /// what it planned and did not send is decided again.
    Task<std::optional<Outcome>> resume(RequestRecord record);

    const Request& request() const noexcept { return request_; }
    /// Where the last decision found the room to be there already.
    const std::vector<HostId>& ready_on() const noexcept { return ready_on_; }
    /// By its last plan that deleted servers, however many are still wanted.
    int slots_freed() const noexcept { return slots_freed_; }

private:
    // The eviction guard.
    std::optional<std::string> blocked_reason() const override;
    ResultTask<std::optional<std::string>> still_needed() override;
    ResultTask<std::optional<std::string>> who_left() override;
    bool stopping() const override { return services_.stopping; }

    Task<std::optional<Outcome>> rounds();
    /// Waits until the next round may begin. False: it never may; `ended` has the outcome, none
    /// when stopping.
    Task<bool> until_allowed(std::optional<Outcome>& ended);
    Task<std::optional<Outcome>> act_on(Decision decision);
    Task<bool> until_proven(const NotEnough& less);
    bool is_answered() const { return request_.source == RequestSource::gateway; }
    Task<std::optional<Outcome>> take_room(NothingToDo nothing);
    Task<std::optional<Outcome>> wait_for_room(NothingToDo nothing);
    /// A decision on a fresh cache, journalled and entered into the ledger; none when stopping.
    ResultTask<std::optional<Decision>> decide();
    Task<void> read_where_escrow_ended();
    Task<void> pause_if_unread();
    Task<void> read_where_escrow_ended(HostId host);
    ResultTask<Decision> decide_now();
    ResultTask<std::optional<std::string>> all_have_left();
    ResultTask<Decision> consult();
    Result<Decision> as_approved(Result<Decision> decided) const;
    ResultTask<void> prepare_search();
    ResultTask<void> refresh_group();
    /// Subtracts the slots that another reaper has freed for it; the reason, if none is left.
    std::optional<std::string> served_by_another();
    std::optional<Outcome> conclude(const NothingToDo& nothing) const;
    std::optional<Outcome> conclude(const NotEnough& not_enough) const;
    /// Carries a plan out; none: another round is needed.
    Task<std::optional<Outcome>> carry_out(Plan plan, std::map<ServerId, Progress> known);
    Outcome outcome(OutcomeKind kind, std::string reason, std::string safeguard = {}) const;
    /// `incomplete` if servers were deleted, else `none_deleted`; both with how many.
    Outcome cut_short(OutcomeKind none_deleted, const std::string& reason,
                      std::string safeguard = {}) const;
    /// Notice that was given for it gives it more time, and none of them endless time.
    bool out_of_time() const;

    RequestServices services_;
    const RequestLeases& leases_;
    const NewestRequests& newest_;
    RecentRefusals& refusals_;
    JournalTrouble& journal_trouble_;
    const LiveSettings& settings_;  ///< those in force; a reload changes them
    std::shared_ptr<const CompiledPolicy> planned_under_;  ///< the policy of the last decision
    Request request_;
    CullRoom room_;
    std::unique_ptr<PlanExecutor> executor_;
    const int slots_asked_;
    const Arrival arrival_;
    const TimeLeft time_left_;
    std::optional<Duration> group_read_at_;  ///< by the steady clock; none: not by this process
    bool unread_ = false;                    ///< some host where escrow ended could not be read
    Backoff backoff_;                        ///< after failures of the outside, over all rounds
    bool failing_ = false;                   ///< the last round ended by such a failure
    std::string last_reason_;                ///< why it planned again
    std::map<ServerId, std::string> skipped_;
    std::vector<HostId> ready_on_;
    int round_ = 0;         ///< decisions so far, those of a former process too
    int failed_plans_ = 0;  ///< plans that had to be made again for reasons of the cloud
    int deleted_ = 0;
    int slots_freed_ = 0;
    Duration asked_at_{};  ///< steady: when it was last asked whether a requester waits
};

}  // namespace reaper
