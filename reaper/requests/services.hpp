// What all requests are served with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/ports/trigger.hpp"
#include "reaper/requests/fresh_decision.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/turns.hpp"

namespace reaper {

// Which request of a server is the newest: an older one no longer counts.

/// Remembers the last `most` servers that were met; a forgotten server has no newer request.
class NewestRequests {
public:
    explicit NewestRequests(std::size_t most = 20'000) : max_(most) {}

    /// It is a request of its requesters.
    void note(const Request& request);
    /// A message says so, and it is being checked, until `drop_claim`.
    void claim(const Request& request);
    void drop_claim(const Request& request);

    /// The newer request that took the place of this one: for each of its requesters there is one.
    std::optional<RequestId> superseding(const Request& request) const;
    /// Would it be superseded if the claims prove true?
    bool may_be_superseded(const Request& request) const;

private:
    struct Known {
        RequestId request;
        TimePoint sent_at{};
    };
    std::optional<RequestId> newer(const Request& request, bool with_claims) const;

    std::size_t max_;
    std::map<ServerId, Known> known_;
    std::deque<ServerId> order_;  ///< as they were first met
    std::map<ServerId, std::map<RequestId, TimePoint>> claims_;
};

// Refusals of the last second: when many similar requests come at once, one answer serves them all.

/// A refusal deletes nothing, so a slightly older answer does no harm; a plan is always made
/// afresh.
class RecentRefusals {
public:
    static constexpr Duration fresh_for{1000};
    static constexpr std::size_t most = 64;

    using Policy = std::shared_ptr<const CompiledPolicy>;

    /// `now`: steady.
    void note(const Request& request, const NotEnough& answer, Policy policy, Duration now);
    /// The answer to a request of the same project, shape, number of slots (or fewer) and
    /// constraints, given under this policy less than `fresh_for` ago; without the list of hosts,
    /// and naming it.
    std::optional<NotEnough> find(const Request& request, const Policy& policy, Duration now) const;

private:
    struct Refusal {
        Request request;
        NotEnough answer;
        Policy policy;
        Duration at{};
    };
    std::deque<Refusal> refusals_;  ///< newest first
};

// Lets the planner search in advance for likely requests, while there are none.

class PlannerWarmer {
public:
    /// Between two calls of `warm_up`.
    static constexpr Duration step{500};

    /// A shape that was requested once is likely to be requested again.
    void expect(const Request& request);
    /// Some milliseconds of work, until nothing is left to search; again when the cache has
    /// changed.
    void warm_up(const CacheRefresher& refresher, const Ledger& ledger,
                 const CompiledPolicy& policy, TimePoint now);

private:
    /// Shapes of requests that are searched for in advance.
    static constexpr std::size_t max_expected = 8;

    std::deque<Request> expected_;  ///< the latest first
    bool seen_ = false;             ///< the cloud's common shapes are among them
    bool cold_ = false;             ///< something changed since nothing was left to search
    std::uint64_t changes_ = 0;     ///< of the cache, as of the last call
};

/// Of the whole daemon; all of it outlives the requests.
struct RequestServices {
    CloudPorts cloud;
    Journal& journal;
    RoomKeeper& rooms;
    CacheRefresher& refresher;
    FreshDecision& decisions;
    PlannerWarmer& warmer;
    CullPreconditions& preconditions;
    SafeguardController& safeguards;
    FreedRoomTracker& tracker;
    InventoryReserver& reserver;
    Escrow& escrow;
    Turns& planning;  ///< a plan is entered before the next one is made; a request that others wait
                      ///< for goes first
    AsyncSemaphore& deletions;  ///< bounds the deletions sent at a time
    const LiveSettings& settings;
    const bool& stopping;
};

/// The rights to act for one request in flight; one that is held is enough. None at all: a former
/// process left the request.
class RequestLeases {
public:
    void add(std::shared_ptr<const Lease> lease) { all_.push_back(std::move(lease)); }
    /// Why the right to act for it may not be ours, as text; none if it surely is.
    std::optional<std::string> why_not_held() const;
    /// The client that waited for its outcome has left for good.
    bool given_up() const;

private:
    std::vector<std::shared_ptr<const Lease>> all_;
};

/// What one runner works with.
struct RunnerDependencies {
    RequestServices services;
    const RequestLeases& leases;
    const NewestRequests& newest;
    RecentRefusals& refusals;
    JournalTrouble& journal_trouble;
};

}  // namespace reaper
