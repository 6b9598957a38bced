// Claims of nova-scheduler's (`PUT /allocations/SERVER`): they name the requester, and room is the
// server's with them.
//
// Placement is asked for what is claimed. If it refuses, as nothing is free on a host that was
// offered, a regular server is served then, while its claim waits, and it is claimed again. Its
// room is on the host that it claims, if that can give all of it. Where Placement has few places,
// others may claim them first: a claim for which no room is left is served in the same
// way.
//
// A claim that would take room which is promised to others is refused as Placement refuses one for
// which there is no room; so is one that leaves the room that was freed for it elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/host_offers.hpp"
#include "reaper/gateway/promised_room.hpp"
#include "reaper/gateway/requester_resolver.hpp"

namespace reaper {

/// References must outlive it.
class ServerClaims {
public:
    ServerClaims(const GatewayPorts& ports, GatewayLog& log, Patience& patience,
                 RequesterResolver& resolver, RequestIds& request_ids, HostOffers& offers,
                 RoomWaits& waits, PromisedRoom& promised)
        : ports_(ports),
          log_(log),
          patience_(patience),
          resolver_(resolver),
          request_ids_(request_ids),
          offers_(offers),
          waits_(waits),
          promised_(promised) {}

    /// A claim, or one that is taken back.
    Task<ProxyAnswer> claim(HttpRequest request, GatewayCall& call);

private:
    Task<ProxyAnswer> refuse_elsewhere(HttpRequest request, GatewayCall& call, RequestId id,
                                       Allocations asked);
    bool may_be_regular(const std::optional<ProjectId>& project) const;
    RequestId claimed_for(const RequestId& call_id, const ServerId& server,
                          const std::optional<ProjectId>& project) const;
    void note_success(const RequestId& call_id, const RequestId& id, const ServerId& server,
                      const Allocations& asked);
    Task<ProxyAnswer> send(HttpRequest request, GatewayCall& call, RequestId id,
                           std::optional<Allocations> asked);
    Task<ProxyAnswer> send_with_escrow(HttpRequest request, GatewayCall& call, RequestId id,
                                       std::optional<Allocations> asked);
    Task<bool> help_claim(RequestId id, ServerId server, Allocations asked, GatewayCall& call);
    Task<std::optional<Request>> who_claims(RequestId id, ServerId server, Allocations asked,
                                            GatewayCall& call);

    const GatewayPorts& ports_;
    GatewayLog& log_;
    Patience& patience_;
    RequesterResolver& resolver_;
    RequestIds& request_ids_;
    HostOffers& offers_;
    RoomWaits& waits_;
    PromisedRoom& promised_;
};

}  // namespace reaper
