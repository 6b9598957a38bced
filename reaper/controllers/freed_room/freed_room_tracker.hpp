// After a cull: did the room help?
//
// The slots that a cull freed are watched until the requester, or its second try (a server of the
// same project and shape that came later), has taken them, or `watch` has passed; what came of it
// is journalled once. A request of the same project and shape that Nova refuses after the room was
// freed says that something we can't see keeps servers off those hosts: then the watch ends at
// once. The same is true for room that was there without a cull.
//
// For a request of the gateway, the requesters are checked too. The room is promised while a
// requester is searched for, and for `cull.promise` after it failed, as its user is likely to come
// back. The promise ends when all of them are gone, or have room elsewhere.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reaper/cloud/reader/cache_refresher.hpp"
#include "reaper/decision/live_settings.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/cloud_event.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room_keeper.hpp"

namespace reaper {

// Which servers got freed room before its request did. Pure.

/// Servers that came to hosts where room was freed, and without which it would be there.
struct RoomTakers {
    std::vector<ServerId> revocable;
    std::vector<ServerId> regular;
};

/// Created or started since then, as far as Nova's whole seconds show.
bool came_since(const Server& server, TimePoint since);

/// Which servers took the room of `request` on a host since it was decided. `neighbours`: the
/// servers that were there all the time; null: not known. False: no server took it; the room for a
/// slot is still there, or is gone for another reason.
bool note_takers(const Host& host, const Request& request, const Ledger& ledger, TimePoint decided,
                 const std::set<ServerId>* neighbours, RoomTakers& takers);

class FreedRoomTracker {
public:
    /// What it works with; all of it must outlive it.
    struct Dependencies {
        CloudPorts cloud;
        JournalWriter& journal;
        RoomKeeper& rooms;
        CacheRefresher& refresher;
        const LiveSettings& settings;
        const bool& stopping;
        /// Room of the request is kept in Placement: a server that Nova refuses could not have it.
        std::function<bool(const RequestId&)> keeps;
        /// The room of the first request goes to the second.
        std::function<void(const RequestId&, const RequestId&)> handed_over;
    };
    /// Called with each freed-room result once it is certain; `FreedRoomResult::untaken` are the
    /// hosts in cooldown.
    using OnFreedRoom = std::function<void(const Request&, const FreedRoomResult&)>;
    /// Called with hosts that have room which Nova refuses to use, though no servers were deleted
    /// for it.
    using OnCooldown = std::function<void(const std::vector<HostId>&, const Request&)>;

    /// Called with each server that is seen to have taken freed room.
    using OnTaken = std::function<void(const ServerId&)>;

    FreedRoomTracker(Dependencies dependencies, OnFreedRoom on_freed_room, OnCooldown on_cooldown,
                     OnTaken on_taken);

    /// The cull for `request`, whose slots are still wanted, freed `slots` and ended at `freed_at`;
    /// the ledger has its promises, settled.
    void watch_cull(Request request, int slots, TimePoint freed_at, Duration for_how_long);
    /// The request was offered the room on these hosts.
    void watch_room(Request request, std::vector<HostId> hosts, TimePoint told_at,
                    Duration for_how_long);
    /// Before a request is decided: earlier ones of the same project and shape that it disproves
    /// are concluded, and what is promised to one whose requesters are all gone, or are the very
    /// servers that ask here, is released.
    /// `refused`: Nova found no host for it, so that room which it could have had is no use.
    Task<void> make_way_for(const Request& request, bool refused);
    /// Nova was offered the freed room and still refused the request, for some other reason.
    Task<void> refused_anyway(RequestId id);
    /// Nova failed the request, whose room stays promised from now on.
    void came_to_nothing(const RequestId& id);
    /// Freed room was handed to the request.
    bool is_heir(const RequestId& id) const { return heirs_.contains(id); }
    /// Since `asked_at` (steady) an event showed that one of them left; or no events flow, and that
    /// is a while ago.
    bool may_have_left(const std::vector<ServerId>& requesters, Duration asked_at) const;
    /// A server waits for what the request asks: Nova said so when asked at `asked_at` (steady).
    void saw_waiting(const RequestId& request, Duration asked_at);
    /// Notes that a requester may have left, if one of these events is about it.
    void note_left(const std::vector<CloudEvent>& events);
    /// Servers of its project and shape that are younger than `since`, as the cache shows them.
    std::set<ServerId> second_tries(const Request& request, TimePoint since) const;
    /// Concludes what is due. To be called every `step`.
    ResultTask<void> check();
    /// Between two calls of `check`.
    static constexpr Duration step{2000};
    std::size_t watched() const noexcept { return watched_.size(); }

private:
    /// At a time; the one that would end first makes room.
    static constexpr std::size_t max_watched = 20'000;

    struct Watched {
        Request request;
        bool culled = false;
        int slots = 0;  ///< that were freed, some perhaps for servers that left meanwhile
        TimePoint since{};
        Duration until{};        ///< steady
        std::set<HostId> hosts;  ///< where room was freed, or is
        std::set<HostId> open;   ///< of these, with slots that no server took yet
        TimePoint decided_at{};  ///< when servers began to be chosen for it
        std::map<HostId, std::set<ServerId>> neighbours;  ///< servers that were there all the time
        std::vector<ServerId> takers;
        std::map<ServerId, TimePoint> taken_at;
        std::set<ServerId> there_before;       ///< look like second tries elsewhere, but are none
        bool as_fallback = false;              ///< room was freed for its fallback
        std::optional<std::string> handed_to;  ///< why and to which request its room went
        bool inherited = false;                ///< the room of a cull that was handed to it
        bool concluding = false;               ///< another coroutine is at it
        std::uint64_t number = 0;              ///< of all that were watched
        Duration asked_at{};                   ///< steady: whether its requesters still come for it
        std::optional<TimePoint> failed;       ///< since when none is searched for, and one failed
        bool left = false;                     ///< all of them went away before that
        std::string why_now;                   ///< it is to end, but its room could not be read

        bool all_taken() const {
            return takers.size() >= static_cast<std::size_t>(std::max(request.slots, 1));
        }
    };

    void observe();
    void count_settled();
    Task<void> conclude(RequestId id, std::string why_now);
    Task<bool> read_again(const Watched& watched);
    Task<std::string> found_elsewhere(const Watched& watched);
    Task<std::optional<bool>> is_awaited(const Request& request);
    std::vector<RequestId> to_ask_about(const std::map<RequestId, Request>& under_way) const;
    Task<void> take_over(const Request& request);
    Task<std::vector<RequestId>> given_up(const Request& request);
    Task<void> look_who_comes();
    bool is_promised(const RequestId& id) const;
    std::vector<RequestId> to_look_after() const;
    Task<void> look_after(RequestId id);
    bool serves(const Watched& watched, const Request& request) const;
    void note_landed(Watched& watched) const;
    void hand_over(const RequestId& id, const RequestId& to, const std::string& why);
    bool settled_since(const RequestId& id) const;
    void note_neighbours(Watched& watched) const;
    FreedRoomResult result_of(const Watched& ended, std::size_t needed, const std::string& where,
                              const std::string& why_now) const;
    Task<void> note(Request request, FreedRoomResult freed_room);

    Dependencies dependencies_;
    OnFreedRoom on_freed_room_;
    OnCooldown on_cooldown_;
    OnTaken on_taken_;
    std::map<RequestId, Watched> watched_;
    std::uint64_t watched_so_far_ = 0;
    std::map<RequestId, std::string> handed_;  ///< culls under way: why and where their room goes
    std::set<RequestId> heirs_;                ///< requests to whom freed room was handed
    std::map<RequestId, Duration> waiting_;    ///< when a server was last seen to wait; steady
    std::map<ServerId, Duration> left_;        ///< by events, and when; steady
    std::map<ServerId, Duration> failed_;      ///< the same of those that failed
};

}  // namespace reaper
