// One plan on its way: where each victim stands, what is recorded of it, what stopped the rest, and
// how its room is kept.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/cloud/reader/lock_holders.hpp"
#include "reaper/controllers/freed_room/freed_room_tracker.hpp"
#include "reaper/controllers/freed_room/inventory_reserver.hpp"
#include "reaper/controllers/safeguards/safeguard_controller.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/escrow/escrow.hpp"
#include "reaper/eviction/plan_executor.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/room_keeper.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/safeguards/protection.hpp"

namespace reaper {

// Rule 1: the last look at each victim, on data read just before its deletion: what Nova, Placement
// and Keystone say, and what the policy in force makes of it.

/// What a fresh read means for the deletion of a victim.
struct FreshVerdict {
    enum class Kind {
        fit,    ///< as planned: delete it
        going,  ///< another client deletes it already: nothing to send, it will free its room
        soft_deleted,  ///< deleted, but it keeps its room until it is reclaimed
        vanished,      ///< gone, and it holds nothing
        unfit,         ///< must live; `reason` says why
    };
    Kind kind{};
    std::string reason;
    Duration notice{};       ///< of a fit one: how much it is to have, if it has none yet
    std::string evict_at{};  ///< of a fit one: when it ends, by its metadata
    Departure departure{};   ///< of a fit one: how it goes
};

/// Which servers may be victims at all.
struct FreshRules {
    const Taggers& taggers;
    const TagData& tag_data;  ///< the answers to the taggers' questions
    const Protection& protection;
    Duration min_run_time{};
    const std::vector<AggregateRecord>& aggregates;  ///< if the protection goes by them
    const NoticeRules& notice;
    const ShelveRules& shelve;
    const LifeSpanSettings* life_span = nullptr;  ///< of those that go at its end
};

/// What was read of a victim.
struct FreshSight {
    const std::optional<ServerRecord>& record;  ///< none: Nova knows it no more
    const Allocations& allocations;             ///< what is to come free, by Placement
    const Allocations& own;                     ///< what the server itself holds
    LockHolder lock = LockHolder::unknown;      ///< of a locked one
};

/// Judges `victim` by what was read at `now`.
FreshVerdict judge_fresh(const Victim& victim, const FreshSight& sight, const FreshRules& rules,
                         TimePoint now);

/// A verdict, and what it rests on.
struct RecheckResult {
    FreshVerdict verdict;
    Duration began{};  ///< when its first question went out; steady
    Duration took{};   ///< until its last answer was there
    std::shared_ptr<const CompiledPolicy> policy;
    std::uint64_t tag_data = 0;  ///< the number of the answers to the taggers' questions
    Consumer held{};             ///< what is to come free, by Placement
    bool being_shelved = false;  ///< by Nova, whatever the rules say of it
    bool has_task = false;       ///< Nova does something with it
    bool shelved_next = false;   ///< it is being stopped, and Nova may shelve it after that
    bool shelved = false;        ///< and on its host still
};

/// The ports and the settings must outlive it, and it its coroutines.
class Recheck {
public:
    /// For a request of that source.
    Recheck(boost::asio::any_io_executor executor, CloudPorts cloud, const LiveSettings& settings,
            RequestSource source);

    Task<Result<RecheckResult>> at(const Victim& victim);
    /// The same where Placement was asked already, at `began`.
    Task<Result<RecheckResult>> at(const Victim& victim, Consumer held, Duration began);
    /// One that is fresh when it is there; Errc::timeout if the cloud is too slow for that, or the
    /// policy changes all the time.
    Task<Result<RecheckResult>> fresh_at(const Victim& victim);
    /// The same, and `earlier` is enough if it was just begun and is still valid.
    Task<Result<RecheckResult>> fresh_at(const Victim& victim,
                                         std::optional<RecheckResult> earlier);
    /// May a deletion still rest on it? Not if it is old, or if another policy is in force, or if
    /// Keystone has answered something else since.
    bool is_fresh(const RecheckResult& look) const;
    /// From now on this one is to be deleted. False: it was before.
    bool give_up_shelving(const ServerId& server) { return unshelvable_.insert(server).second; }

private:
    /// What Nova has of it, which user holds its lock, and why its deletion would hang.
    struct Seen {
        std::optional<ServerRecord> record{};  ///< none: Nova knows it no more
        LockHolder lock = LockHolder::none;
        std::optional<std::string> hangs{};
        std::optional<Allocations> own{};  ///< if another consumer holds the room of the victim
    };
    ResultTask<Seen> read_server(ServerId server);
    Task<Result<Seen>> see(const Victim& victim);
    RecheckResult judge(const Victim& victim, Consumer held, const Seen& seen,
                        Duration began) const;
    ResultTask<std::optional<std::string>> read_hanging(const std::optional<ServerRecord>& record);
    ResultTask<LockHolder> read_lock(const std::optional<ServerRecord>& record);
    Task<Result<void>> read_tag_data_after(std::uint64_t reading);

    CloudPorts cloud_;
    const LiveSettings& settings_;
    RequestSource source_;
    std::set<ServerId> unshelvable_;
    AsyncSemaphore reading_;  ///< one reading of tag data at a time
    std::shared_ptr<const CompiledPolicy> asked_by_;
    TagData tag_data_;
    std::vector<AggregateRecord> aggregates_;
    std::uint64_t begun_ = 0;   ///< readings of tag data so far
    std::uint64_t read_ = 0;    ///< the one that the answers are of
    std::uint64_t number_ = 0;  ///< grows with each answer that is not the one before
};

/// For logs: its id, name and host.
std::string label(const Victim& victim);

struct Cull {
    /// Where a victim stands. The order is the way it goes. `unfinished`: a reaper deleted it
    /// softly, and we have not begun to finish that.
    enum class State { planned, unfinished, sent, forced, gone, skipped, stuck };

    /// `known`: what the journal has of its victims.
    Cull(Request for_whom, const Plan& plan, const std::map<ServerId, Progress>& known,
         Recheck recheck, AsyncSemaphore one_asks);

    State& state(const Victim& victim) { return states[victim.server]; }
    std::size_t count(State wanted) const;
    /// Nothing was done yet about so many of them.
    std::size_t count_untouched() const { return count(State::planned) + count(State::unfinished); }
    std::vector<HostId> hosts_of_untouched();
    /// May Nova have heard of a deletion of this process?
    bool begun() const;
    /// No further deletion is sent; the first failure is reported.
    void fail(Error error);
    /// The same if there is a reason that no more may be sent. Returns whether there is one.
    bool block(std::optional<std::string> why_not);
    /// Notes whether it is off by now.
    void saw(const Victim& victim, const RecheckResult& seen);
    /// What it came to.
    Execution conclude() const;

    Request request;
    std::shared_ptr<const CompiledPolicy> planned_under{};
    std::set<HostId> planned_on{};  ///< hosts on whose room the plan rests
    std::vector<Victim> victims;  ///< those of the plan, and the unfinished deletions it counts on
    Recheck look;
    std::map<ServerId, HostId> hosts;  ///< where each victim and each pending server is
    std::map<ServerId, State> states;
    std::map<ServerId, std::string> skipped;
    std::map<ServerId, RecheckResult> looks;  ///< at those that are fit, before the first deletion
    Duration deadline{};                      ///< steady
    std::set<ServerId> ours;                  ///< whose deletion we sent, now or before a restart
    std::set<ServerId> unheard;               ///< of these, the ones whose answer was lost
    std::set<ServerId> sent;                  ///< deletions that went out, by this process
    std::set<ServerId> to_repeat;   ///< of the unheard ones: to be sent again, after another look
    std::map<ServerId, int> tries;  ///< how often a deletion went out
    std::set<ServerId> not_out;     ///< of the unheard ones: those of which nothing was written yet
    std::set<ServerId> erred;       ///< whose deletion was answered with an error, if at all
    std::set<ServerId> unfinished;  ///< a reaper's deletions, which are not the plan's
    std::set<ServerId> leaving;     ///< others delete them since the plan was made
    std::set<ServerId> shelving;    ///< Nova took the call to shelve them
    std::set<ServerId> shelved;     ///< of ours, those that are off, and on their hosts still
    std::set<ServerId> accepted;    ///< Nova took the call to delete them
    std::set<ServerId> undeleted;   ///< that are to be deleted, because Nova did not shelve them
    std::set<ServerId> withheld;    ///< that were not forced, because nothing might be written
    AsyncSemaphore asking;          ///< one asks at a time whether a requester waits
    Duration asked_at{};            ///< steady: when one asked last
    Duration question_took{};       ///< until the last answer
    /// When the last question was sent whose answer was that a requester waits; steady.
    std::optional<Duration> needed_at;
    std::set<ServerId> unwritten;  ///< that were not deleted, as the step could not be journalled
    bool stopped = false;          ///< no further deletion is sent
    std::vector<ServerId> pending_releases;  ///< deleted by others
    std::size_t overdue = 0;                 ///< of these, the ones that did not go in time
    std::optional<Error> failure;
    std::optional<std::string> no_longer_needed;  ///< why no requester waits for all of it
    std::optional<std::string> blocked;           ///< why no more may be sent
    std::optional<std::string> taken;             ///< why the plan's room is gone

private:
    void add_unfinished(const PendingRelease& other);
};

/// For logs: the victim, and the requester that it is deleted for.
LogFields about(const Cull& cull, const Victim& victim);

/// The values of the line begin with the id of the request and the label of the victim.
template <class... Values>
void log_about(const Cull& cull, const Victim& victim, spdlog::level::level_enum level,
               spdlog::format_string_t<const std::string&, std::string, Values...> format,
               Values&&... values) {
    log_about(about(cull, victim), level, format, cull.request.id.str(), label(victim),
              std::forward<Values>(values)...);
}

// How a request keeps others off its room: by `reserved`, and by escrow.

/// Of one request. All that it is made with must outlive it and its coroutines.
class CullRoom {
public:
    CullRoom(const RoomKeeper& rooms, const CacheRefresher& refresher, InventoryReserver& reserver,
             Escrow& escrow, const LiveSettings& settings, const Request& request)
        : rooms_(rooms),
          refresher_(refresher),
          reserver_(reserver),
          escrow_(escrow),
          settings_(settings),
          request_(request) {}

    /// Before any server is deleted on these hosts: keeps new servers off the room that comes free.
    /// False: there was nothing to do for that.
    Task<bool> hold(std::vector<HostId> hosts);
    /// Before any server is deleted: takes the room that the plan counts on and that is already
    /// free. Returns why not, if another consumer has it: the plan does not hold.
    Task<std::optional<std::string>> take_free(std::vector<HostPlan> hosts);
    /// Right before the deletion of the victim goes out: keeps what it holds for the requester.
    /// False: it holds something else than `held`, which the last look showed; nothing was done.
    Task<bool> put_in_escrow(ServerId victim, HostId host, Consumer held);
    /// Room came free on one of these hosts that was in escrow when it was read.
    bool came_free_on(const std::set<HostId>& hosts) const;

private:
    bool keeps_room() const;
    Resources free_part(const HostPlan& plan) const;
    bool others_free_room_on(const HostId& host) const;

    const RoomKeeper& rooms_;
    const CacheRefresher& refresher_;
    InventoryReserver& reserver_;
    Escrow& escrow_;
    const LiveSettings& settings_;
    const Request& request_;
};

// What carries a plan out, in parts that call one way (evicting_executor.hpp).

/// What the parts work with. Of one request; it outlives them and their coroutines.
struct CullServices {
    CloudPorts cloud;
    JournalWriter& journal;
    RoomKeeper& rooms;
    const CacheRefresher& refresher;
    SafeguardController& safeguards;
    const FreedRoomTracker& tracker;
    AsyncSemaphore& deletions;  ///< bounds what is sent at a time, over all requests
    const LiveSettings& settings;
    CullRoom& room;
    EvictionGuard& guard;
};

/// Records what becomes of victims: in the journal, for the safeguards, and for the ledger. Every
/// part of an executor calls it.
class CullRecorder {
public:
    explicit CullRecorder(const CullServices& services) : services_(services) {}

    /// False: it could not be written, and the cull is stopped.
    Task<bool> record(Cull& cull, const Victim& victim, Step step, std::string detail);
    /// It must live: it stops the cull.
    Task<void> skip(Cull& cull, const Victim& victim, std::string reason);
    /// The same of one that Nova refused to delete, or to shelve.
    Task<void> refused(Cull& cull, const Victim& victim, std::string reason);
    /// The same of one whose deletion is not ours to finish.
    Task<void> leave(Cull& cull, const Victim& victim, std::string reason);
    /// Nova never heard of its deletion, or shelved it and no more, and its plan is no more: the
    /// next plan decides.
    Task<void> abandon(Cull& cull, const Victim& victim);
    /// Placement shows its room as free.
    Task<void> gone(Cull& cull, const Victim& victim);
    /// Its room did not come in time. `held`: Placement's last answer.
    Task<void> stuck(Cull& cull, const Victim& victim, const Result<Consumer>& held);
    /// What was sent of it counts for nothing.
    void not_done(Cull& cull, const Victim& victim);

private:
    const CullServices& services_;
};

}  // namespace reaper
