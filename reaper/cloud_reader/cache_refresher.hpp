// Keeps the live picture of the cloud, and decides on it.
//
// In the background: reads the cloud once in bulk, applies Nova's events, and reads again what is
// due, at a bounded rate: hosts to which something happened, hosts never read exactly, the oldest
// ones; the list of services; and everything in bulk when events were missed or the picture is old.
// And it lets the planner search in advance for what is likely to be asked.
//
// A decision never trusts the picture alone. Its answer to "which projects are revocable" is always
// read anew, and each host that the decision rests on is read again (room, servers, service) after
// the decision was begun; when that changes the picture, the planner decides again, until it
// decides on nothing but fresh hosts. So the calls for a decision depend on the hosts it uses, not
// on the size of the cloud. Without a flow of events the whole picture is read in bulk for each
// decision.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/safeguards/safeguards.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/cloud_cache/cloud_cache.hpp"
#include "reaper/ports/event_source.hpp"
#include "reaper/cloud_reader/host_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

class PictureKeeper {
public:
    /// With `settings.events`, the first reading waits a moment for them to flow. `on_change` is
    /// called when `status` says something new. The ports, `stopping` and the executor's context
    /// must outlive it.
    PictureKeeper(boost::asio::any_io_executor executor, CloudPorts ports,
                  config::LivePicture settings, std::shared_ptr<const CompiledPolicy> policy,
                  const bool& stopping, std::function<void()> on_change);

    /// What Nova tells, in the order in which it came.
    void on_events(std::vector<CloudEvent> events);
    /// Events begin to flow, or stop.
    void on_feed(const EventFeedState& state);

    /// Works in the background until `stopping`.
    Task<void> run();
    /// Other taggers from now on.
    void reload(std::shared_ptr<const CompiledPolicy> policy) { policy_ = std::move(policy); }

    /// A decision on hosts read since the call. An error if the cloud can't be read, or changes
    /// faster than it can be. Calls must not overlap: the caller enters the plan into the ledger
    /// before the next one.
    ResultTask<Decision> decide(std::shared_ptr<const CompiledPolicy> policy,
                                const Request& request, Ledger& ledger, Brakes& brakes,
                                std::map<ServerId, std::string> spared);

    /// What became of promised room since the last call, as the picture shows it now.
    std::vector<Ledger::Settled> settled(Ledger& ledger);
    /// Reads these hosts again.
    ResultTask<void> look_at(std::vector<HostId> hosts);
    /// Asks Nova where these servers are, and reads the hosts where the picture has it otherwise.
    ResultTask<void> locate(std::set<ServerId> servers);
    /// The wall clock was set forward by so much, or back.
    void on_clock_step(Duration by);

    /// How old the picture is, for people; what is being read while it is built.
    std::string status() const;
    /// False until the cloud was read for the first time: the picture is empty then.
    bool built() const noexcept { return build_ != 0; }
    const LivePicture& picture() const noexcept { return picture_; }
    /// Nova's events come in.
    bool flowing() const noexcept { return flowing_; }

private:
    /// Between two bulk readings that nobody waits for.
    static constexpr Duration between_builds{30'000};
    /// Shapes of requests that the planner searches for in advance.
    static constexpr std::size_t most_expected = 8;

    // Bulk.
    bool usable(std::uint64_t builds_before) const;
    bool rebuild_due(TimePoint now) const;
    ResultTask<void> ensure_usable(std::uint64_t builds_before);
    ResultTask<void> rebuild();
    // Parts.
    ResultTask<void> refresh_facts(std::shared_ptr<const CompiledPolicy> policy);
    ResultTask<void> refresh_services();
    ResultTask<void> refresh_aggregates();
    // Hosts.
    std::vector<HostId> unread_hosts(const Decision& decision, const std::set<HostId>& fresh,
                                     bool second_look) const;
    void add_offering(const CompiledPolicy& policy, const std::set<HostId>& fresh,
                      std::vector<HostId>& ids) const;
    ResultTask<void> read_hosts(std::vector<HostId> ids, HostDepth depth);
    Task<void> read_one(HostId id, HostDepth depth, std::optional<Error>& error);
    // Background.
    Task<void> tend();
    Task<bool> tend_parts();
    Task<void> reconcile();
    void expire(Ledger& ledger);
    void expect(const Request& request);
    void warm_planner();

    std::shared_ptr<const Taggers> taggers_of(
        const std::shared_ptr<const CompiledPolicy>& policy) const {
        return {policy, &policy->taggers};
    }

    CloudPorts ports_;
    config::LivePicture settings_;
    std::shared_ptr<const CompiledPolicy> policy_;
    const bool& stopping_;
    std::function<void()> on_change_;
    AsyncSemaphore building_;  ///< one bulk reading at a time

    LivePicture picture_;
    // Bulk readings are numbered, because several things may happen in the same millisecond.
    std::uint64_t builds_begun_ = 0;
    std::uint64_t build_ = 0;     ///< the one that the picture was made of; 0: none yet
    TimePoint built_at_{};        ///< when it was begun
    TimePoint tried_build_at_{};  ///< the last time, successful or not
    std::string doing_;           ///< what a bulk reading is at

    TimePoint started_at_;
    bool flowing_ = false;
    std::uint64_t builds_before_flow_ = 0;

    bool recording_ = false;  ///< events are kept to be applied again after a bulk reading
    bool overflowed_ = false;
    std::vector<std::pair<CloudEvent, TimePoint>> recorded_;

    /// What is likely to be asked, the latest first: the planner searches for it in advance.
    std::deque<Request> expected_;
    bool cold_ = false;  ///< something changed since it had nothing left to search

    std::vector<Ledger::Settled> settled_;  ///< not asked for yet

    TimePoint services_at_{};
    double allowance_ = 0;  ///< hosts that may be read in the background now
    TimePoint quiet_until_{};
    Duration pause_{};
};

}  // namespace reaper
