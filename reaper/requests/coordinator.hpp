// The coordinator: what triggers submit is deduplicated, completed, served by a runner and closed,
// and what a former process left is taken up again. Every step is journaled before the next one.
//
// One request is served once (rule 4): what is submitted for a request in flight joins it, and all
// of them receive its outcome; a message that the journal knows as served receives its outcome at
// once.
//
// A request that is refused before it is known what it asks for settles no message but its own:
// otherwise anyone who knows a request id could use it up. Messages of other servers are looked
// into again. So messages join when the request is whole, and wait until then. What a former
// process left without a plan is not taken up: its source, which sends it again, is asked again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/requests/request_runner.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {

class RequestCoordinator final : public RequestSink {
public:
    using Spawn = std::function<void(Task<void>)>;

    /// `spawn` runs a coroutine of the coordinator; `on_change` is called when counts change. All
    /// of `services` must outlive it.
    RequestCoordinator(RequestServices services, Spawn spawn, std::function<void()> on_change);

    void submit(TriggeredRequest triggered) override;
    /// Takes up what the journal left unfinished. `lease_of`: the right to go on with a request of
    /// that source; null: it must be submitted again. An error if the journal can't be read.
    using LeaseOf = std::function<std::shared_ptr<const Lease>(RequestSource)>;
    ResultTask<void> restore(LeaseOf lease_of);

    std::size_t in_flight() const noexcept { return in_flight_.size(); }
    std::uint64_t served() const noexcept { return served_; }
    /// Why the journal does not take what has to be written, while something waits for that.
    std::optional<std::string> journal_trouble() const { return journal_trouble_.why(); }

private:
    /// A request that is being served, and the callers that wait for its outcome.
    struct InFlight {
        bool whole = false;                  ///< it is known what it asks for
        std::optional<Approval> approved{};  ///< a person's plan
        RequestSource source = RequestSource::nova_failure;
        std::string first_event;       ///< the one that is looked into until it is whole
        std::set<std::string> events;  ///< ids
        RequestLeases leases;
        std::vector<std::function<void(const Outcome&)>> done;
        std::vector<TriggeredRequest> waiting;  ///< to join it when it is whole
        /// Is its outcome that of this event too?
        bool takes(const TriggeredRequest& triggered) const;
        void add(TriggeredRequest& triggered);
    };
    /// How a request ended; no outcome if it did not.
    struct Ended {
        std::optional<Outcome> outcome;
        bool whole = true;  ///< it was known what it asked for
        Request request;
        std::vector<HostId> ready_on;
        int slots_freed = 0;
    };

    void begin(TriggeredRequest triggered);
    void join(InFlight& known, TriggeredRequest triggered);
    void let_join(const RequestId& id);
    void let_settle(const RequestId& id, const RequestRecord& record, const TriggeredRequest& as);
    void refuse_unserved(TriggeredRequest triggered, std::string verdict, std::string reason);
    Task<void> serve(TriggeredRequest triggered);
    Task<std::optional<RequestRecord>> known_as(RequestId id);
    /// What is known of a request that is looked into.
    struct Known {
        bool recorded = false;  ///< the journal has it, without a plan
        bool ended = false;     ///< and how another message of it ended
        bool maybe_served = false;
        int rounds = 0;  ///< that it has had
    };
    Task<Ended> run(TriggeredRequest triggered, Known known);
    ResultTask<std::variant<Request, Refused>> complete(const TriggeredRequest& triggered);
    Task<std::optional<std::string>> until_policy_known(const Request& request);
    template <class Write>
    Task<bool> until_journaled(std::string what, Write write);
    Task<bool> note(MessageEntry entry);
    Task<void> note_only(MessageEntry entry);
    Task<void> note_and_report(MessageEntry entry, std::function<void(const Outcome&)> done,
                               Outcome outcome);
    Task<bool> admit(Request request, bool recorded);
    Task<bool> finish(const Ended& ended);
    Task<void> close(RequestId id, Ended ended);
    void tell(const RequestId& id, const Outcome& outcome);
    void settle(const Ended& ended);
    Task<void> resume(RequestRecord record);
    Task<void> await_its_source(RequestRecord record);
    TimePoint deadline_of(const Request& request) const;
    RunnerDependencies runner_dependencies(const RequestId& id);

    RequestServices services_;
    Spawn spawn_;
    std::function<void()> on_change_;
    std::map<RequestId, InFlight> in_flight_;
    NewestRequests newest_;
    RecentRefusals refusals_;
    JournalTrouble journal_trouble_;
    std::uint64_t served_ = 0;
};

}  // namespace reaper
