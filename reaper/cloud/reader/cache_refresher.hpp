// Keeps the cloud cache fresh. It does not decide.
//
// In the background: reads the cloud once in bulk, applies Nova's events, and reads again what is
// due, at a bounded rate: hosts to which something happened, hosts never read exactly, the oldest
// ones; the list of services; and everything in bulk when events were missed or the cache is old.
//
// For a decision, which never trusts the cache alone: what it needs read again is read here, on
// request. Without a flow of events the whole cloud is read in bulk for each decision.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/cloud/reader/lock_holders.hpp"
#include "reaper/cloud/reader/unfinished_deletions.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/message_source.hpp"
#include "reaper/runtime/async.hpp"

namespace reaper {

class CacheRefresher {
public:
    /// Between two calls of `refresh`.
    static constexpr Duration step{500};

    /// With `settings.events`, the first reading waits briefly for them to flow. `on_change` is
    /// called when `status` says something new. The ports and the executor's context must outlive
    /// it.
    CacheRefresher(boost::asio::any_io_executor executor, CloudPorts ports, config::Cache settings,
                   std::shared_ptr<const CompiledPolicy> policy, std::function<void()> on_change);

    /// What Nova reports, in the order in which it came.
    void on_events(std::vector<CloudEvent> events);
    /// Events begin to flow, or stop.
    void on_feed(const EventFeedState& state);

    /// What is due in the background, in a small step. An error: something could not be read.
    ResultTask<void> refresh();
    /// Other taggers from now on.
    void reload(std::shared_ptr<const CompiledPolicy> policy) { policy_ = std::move(policy); }
    /// The wall clock was set forward by this duration (or back).
    void on_clock_step(Duration by);

    /// As Nova reported them to another part.
    void name_projects(ProjectNames names) { cache_.set_project_names(std::move(names)); }
    /// What Keystone calls projects, in one call, when it is due: after each bulk reading; without
    /// the right to list them (403) once an hour. To be called every `step`, apart from `refresh`,
    /// which waits for no names.
    ResultTask<void> refresh_project_names();
    /// An operator may have granted a right: what was refused for lack of one is asked again at
    /// once.
    void ask_refused_again();

    // For a decision.

    /// The number of the bulk reading that was begun last; 0: none yet.
    std::uint64_t builds_begun() const noexcept { return builds_begun_; }
    /// The number of the one that the cache was made of; 0: none yet.
    std::uint64_t build() const noexcept { return build_; }
    /// The cache is good enough for a decision before which so many bulk readings had begun; reads
    /// the cloud if it is not.
    ResultTask<void> ensure_usable(std::uint64_t builds_before);
    /// Another bulk reading, unless one was tried just now.
    ResultTask<void> rebuild_unless_recent();
    ResultTask<void> refresh_tag_data(std::shared_ptr<const CompiledPolicy> policy);
    /// Besides the cache: by a reading that began no longer than `age` before the call, or since.
    /// All that wait share it, also if it failed.
    ResultTask<std::shared_ptr<const TagData>> recent_tag_data(
        std::shared_ptr<const CompiledPolicy> policy, Duration age);
    /// Aggregates, and the compute services, which contain the zone.
    ResultTask<void> refresh_aggregates();
    /// Without a flow of events, servers are asked for with the room.
    ResultTask<void> read_hosts(std::vector<HostId> ids, HostDepth depth);
    /// The reaper wrote this itself (CloudCache::set_holdings).
    void note_holdings(const HostId& host, const ServerId& consumer, const Allocations& holds) {
        cache_.set_holdings(host, consumer, holds);
        ++changes_;
    }
    /// Which deletions a reaper began and did not finish, as Nova reports now. True if that is
    /// not what the cache had.
    ResultTask<bool> refresh_unfinished();
    /// A server was seen soft-deleted since then.
    bool saw_soft_deletion() const;
    /// There may be some of which nothing was seen: servers are soft-deleted in this cloud, or no
    /// events report it. (The first one is looked for in the background, too.)
    bool may_miss_unfinished() const noexcept {
        return cache_.soft_deletes() || unfinished_.lists_any() || !flowing_;
    }
    /// What resizes left behind on hosts, as Nova reports it now. True if that is not what the
    /// cache had. Nothing is asked where no revocable server waits for its resize.
    ResultTask<bool> refresh_resizes();
    /// The same of what hosts hold, as far as it was asked.
    void link_resizes();
    /// Asks Nova which users hold the locks of these servers. Those that stay for it, each with the
    /// reason.
    ResultTask<std::map<ServerId, std::string>> ask_lock_holders(std::vector<Server> locked);
    /// The same of all revocable ones that are locked and were not asked about lately, so many at
    /// most; what can't be asked stays unknown.
    Task<void> learn_lock_holders();
    static constexpr std::size_t most_locks_learnt = 500;
    /// The same of servers that are locked, or being stopped, still, as far as it was asked lately.
    std::map<ServerId, std::string> kept_by_locks() const;
    /// The same, with those whose resizes Nova could not confirm.
    std::map<ServerId, std::string> kept_by_nova() const;
    /// Asks Nova where these servers are, and reads the hosts where the cache has it otherwise.
    ResultTask<void> locate(std::set<ServerId> servers);

    /// How old the cache is, for people; what is being read while it is built.
    std::string status() const;
    /// False until the cloud was read for the first time: the cache is empty then.
    bool built() const noexcept { return build_ != 0; }
    /// Nova's lists show more than one cell.
    bool several_cells() const noexcept { return !several_cells_.empty(); }
    const CloudCache& cache() const noexcept { return cache_; }
    /// Nova's events come in.
    bool flowing() const noexcept { return flowing_; }
    /// Grows with everything that changes the cache.
    std::uint64_t changes() const noexcept { return changes_; }

private:
    /// Missing names are no error.
    Task<void> read_project_names();
    /// Between two bulk readings that no request waits for.
    static constexpr Duration between_builds{30'000};

    // Bulk.
    bool usable(std::uint64_t builds_before) const;
    bool rebuild_due(TimePoint now) const;
    bool names_due() const;
    ResultTask<void> rebuild();
    void see_cells(std::string why, const CompiledPolicy& policy);
    // Parts.
    ResultTask<void> refresh_services();
    ResultTask<void> refresh_parts();
    void remember_soft_deletions();
    // Hosts.
    Task<void> read_one(HostId id, HostDepth depth, std::optional<Error>& error);
    Task<void> ask_for_unlisted(HostReading& reading);
    Task<void> reconcile();

    std::shared_ptr<const Taggers> taggers_of(
        const std::shared_ptr<const CompiledPolicy>& policy) const {
        return {policy, &policy->taggers};
    }

    CloudPorts ports_;
    config::Cache settings_;
    std::shared_ptr<const CompiledPolicy> policy_;
    std::function<void()> on_change_;
    AsyncSemaphore building_;  ///< one bulk reading at a time
    AsyncSemaphore tagging_;   ///< one reading of tag data of those that share it
    Result<std::shared_ptr<const TagData>> tags_{nullptr};  ///< of the last of these
    std::shared_ptr<const CompiledPolicy> tags_by_;         ///< by which it was asked for
    Duration tags_read_at_{};                               ///< steady: before that

    CloudCache cache_;
    UnfinishedDeletions unfinished_;
    LockHolders lock_holders_;
    std::set<ServerId> soft_deleted_;  ///< in the cache when the unfinished ones were asked for
    // Bulk readings are numbered, because several things may happen in the same millisecond.
    std::uint64_t builds_begun_ = 0;
    std::uint64_t build_ = 0;         ///< the one that the cache was made of; 0: none yet
    TimePoint built_at_{};            ///< when it was begun
    TimePoint tried_build_at_{};      ///< the last time, successful or not
    std::uint64_t clock_steps_ = 0;   ///< so far: what was read meanwhile is read again
    std::string doing_;               ///< what a bulk reading is at
    std::optional<Error> not_built_;  ///< why the last one that failed did

    std::string several_cells_;  ///< what shows them; empty: nothing

    TimePoint started_at_;
    bool flowing_ = false;
    std::uint64_t builds_before_flow_ = 0;

    bool recording_ = false;  ///< events are kept to be applied again after a bulk reading
    bool overflowed_ = false;
    std::vector<std::pair<CloudEvent, TimePoint>> recorded_;

    std::uint64_t changes_ = 0;
    TimePoint services_at_{};
    std::uint64_t names_build_ = 0;  ///< the bulk reading after which names were asked for last
    std::optional<Duration> names_asked_;  ///< when, steady; none: they are to be asked for
    bool names_refused_ = false;           ///< for want of the right
    double readable_ = 0;                  ///< hosts that may be read in the background now
};

}  // namespace reaper
