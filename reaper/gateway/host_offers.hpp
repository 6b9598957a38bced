// Hosts without free room that a search is offered, and what was claimed of them.
//
// Several requests may be waiting, and it is not known which one asks, as when revocable
// servers of the same flavor are asked for all the time; or Nova's list takes too long. If a
// regular one could be helped, the search is offered the hosts where room could be freed, and no
// server is deleted yet: nova-scheduler's filters look at them, and its claim names the server.
//
// A search whose room is kept gets the hosts where it is. One whose time is over while its victims
// are going gets their hosts, and its claim waits for the room.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "reaper/gateway/patience.hpp"
#include "reaper/gateway/room_waits.hpp"
#include "reaper/gateway/search_pairs.hpp"

namespace reaper {

/// Hosts that a search was offered, of any request, while room is scarce.
struct HostOffer {
    std::vector<CandidatesQuery> queries;  ///< the newest last: two of a pair
    std::set<HostId> hosts;
    Duration at{};                     ///< on the steady clock
    bool nothing_free = false;         ///< it is known that Placement has no room there
    std::set<ServerId> looked_into{};  ///< claimed without room; served if they are regular
    std::set<ServerId> claimed{};      ///< these have their room
    /// Hosts that nova-scheduler was refused for a server, and will not claim for it again.
    std::map<ServerId, std::set<HostId>> refused{};

    /// The one that a claim of so much follows.
    const CandidatesQuery& query_of(const Resources& amounts) const;
    bool was_refused(const ServerId& server, const HostId& host) const;
    /// Has the server claimed one of its hosts, or been asked for with one that has?
    bool knows(const ServerId& server) const;
    bool is_claimed() const { return !looked_into.empty() || !claimed.empty() || !refused.empty(); }
    /// Would nova-scheduler claim one of these for the server?
    bool has_for(const ServerId& server, const Allocations& asked) const;
};

/// References must outlive it.
class HostOffers {
public:
    HostOffers(const GatewayPorts& ports, GatewayLog& log, const Patience& patience,
               const SearchPairs& pairs, RoomWaits& waits)
        : ports_(ports), log_(log), patience_(patience), pairs_(pairs), waits_(waits) {}

    /// Adds hosts where room could be freed for any of them. False: that would help no request.
    bool offer(const RequestId& id, const CandidatesQuery& query, std::vector<Request> may_be,
               SearchAnswer& asked);
    /// Adds the hosts where room is kept for the request. False: it is kept in a way that a
    /// candidate can't tell.
    bool tell_of_escrow(const RequestId& id, const CandidatesQuery& query, SearchAnswer& asked);
    /// The call's time is over, and what is freed for the request is not gone yet: its claim waits
    /// for that. False: nothing is, or a candidate can't tell.
    bool tell_of_room_on_its_way(const RequestId& id, const CandidatesQuery& query,
                                 SearchAnswer& asked);
    /// Some that know of room in escrow have not claimed it yet.
    bool awaits_claims() const;

    void note(const RequestId& id, HostOffer offer);
    void note_claim(const RequestId& id, const ServerId& server, const Allocations& asked,
                    int status);
    bool none() const { return offers_.empty(); }
    bool contains(const RequestId& id) const { return offers_.contains(id); }
    /// The one that the server's claim follows: searches of several requests may share an id. Null:
    /// none, or it is forgotten. Lives until the next one is noted.
    HostOffer* find(const RequestId& id, const ServerId& server, const Allocations& asked);
    /// The server no longer holds any room.
    void note_release(const RequestId& id, const ServerId& server);

private:
    bool tell_of_hosts(const std::set<HostId>& hosts, const CandidatesQuery& query,
                       SearchAnswer& asked) const;
    std::vector<const Host*> rooms_for_any(const RequestId& id, const CandidatesQuery& query,
                                           std::vector<Request> may_be,
                                           const std::set<HostId>& besides) const;
    std::vector<const Host*> rooms_for(Request wanted, const std::set<HostId>& besides) const;

    const GatewayPorts& ports_;
    GatewayLog& log_;
    const Patience& patience_;
    const SearchPairs& pairs_;
    RoomWaits& waits_;
    std::map<RequestId, std::vector<HostOffer>> offers_;  ///< the newest last
    std::map<RequestId, Duration> told_kept_;             ///< since when, on the steady clock
};

}  // namespace reaper
