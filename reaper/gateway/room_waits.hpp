// Calls of nova-scheduler's that wait for room: searches while their request is served, and claims
// while room for them is on its way.
//
// The request is leased as long as nova-scheduler waits and this reaper serves the queue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/gateway/gateway_call.hpp"
#include "reaper/gateway/gateway_log.hpp"
#include "reaper/gateway/gateway_ports.hpp"
#include "reaper/gateway/waiting_room.hpp"

namespace reaper {

/// References must outlive it.
class RoomWaits {
    struct Waiting;
    using WaitingPointer = std::shared_ptr<Waiting>;

public:
    /// Of an answer that told of room in escrow, or of room on its way, the claim comes within.
    static constexpr Duration claimed_within{5'000};

    /// A claim that is being answered, for a request that is served: nova-scheduler waits. While
    /// servers of the request have no room, the next one claims within `claimed_within` after it.
    class Claim {
    public:
        Claim(const RoomWaits& waits, const RequestId& id, const GatewayCall& call);
        ~Claim();
        Claim& operator=(Claim&&) = delete;

    private:
        const RoomWaits& waits_;
        const GatewayCall& call_;
        WaitingPointer waiting_;
    };

    RoomWaits(const GatewayPorts& ports, const GatewayLog& log, WaitingRoom& waiting_room)
        : ports_(ports), log_(log), waiting_room_(waiting_room) {}

    /// Why no call for the request may wait for room now.
    std::optional<std::string> why_no_place(const Request& wanted) const;
    /// Has the request served. None: not before the deadline, the client left, or the reaper stops
    /// and does nothing for it. A stop alone ends no wait: what was begun is finished, and gets its
    /// answer.
    Task<std::optional<Outcome>> wait_for(Request wanted, GatewayCall& call, bool had_hosts);
    /// Until its own room is there or can't come, for one deadline more than the call has: refused,
    /// nova-scheduler would not come back to this host. False: none is on its way.
    Task<bool> wait_for_its_room(RequestId id, Allocations asked, GatewayCall& call);

    /// All that is claimed is in escrow for the request.
    bool is_kept(const RequestId& id, const Allocations& asked) const;
    /// The request is being served.
    bool waits(const RequestId& id) const { return find(id) != nullptr; }
    /// It is served without a call until `claimed_within` is over: its claim comes by then.
    void expect_claim(const RequestId& id);
    /// A request whose servers have all of their room waits no more for what is on its way.
    void claimed(const RequestId& id, const ServerId& server);

private:
    class CallLease;
    class Teller;

    WaitingPointer find(const RequestId& id) const;
    void pass_over_paused_hosts(Request& wanted) const;

    const GatewayPorts& ports_;
    const GatewayLog& log_;
    WaitingRoom& waiting_room_;
    std::map<RequestId, std::weak_ptr<Waiting>> waits_;
    std::uint64_t calls_ = 0;
};

}  // namespace reaper
