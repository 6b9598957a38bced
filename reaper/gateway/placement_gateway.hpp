// What the gateway decides: nova-scheduler's searches for a host (PlacementSearches), and its
// claims (ServerClaims). It owns their parts and brings them together.
//
// `GET /reaper-gateway`, a path that Placement does not have, tells how it is: 200, or 503 while
// everything passes through, and haproxy sends everything to Placement itself. Placement does not
// know of room in escrow. So it says 200 for a moment longer while an answer that told of such room
// is not claimed yet; and answers while it says 503 tell of room that was released.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reaper/gateway/placement_searches.hpp"
#include "reaper/gateway/server_claims.hpp"
#include "reaper/ports/proxy_handler.hpp"

namespace reaper {

class PlacementGateway final : public ProxyHandler {
public:
    PlacementGateway(const boost::asio::any_io_executor& executor, GatewayPorts ports);

    bool wants(std::string_view method, std::string_view target) const override;
    bool owns(std::string_view target) const override;
    std::string line() const override;
    Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) override;

    GatewayCounts counts() const {
        GatewayCounts now = log_.counts;
        now.held = waiting_room_.held();
        return now;
    }
    /// Of late, Placement had hosts for this request: nova-scheduler got them, or they were
    /// kept for others. That Nova refuses it says nothing against their room.
    bool had_hosts(const RequestId& id) const { return log_.had_hosts.contains(id); }
    /// Why everything passes through; none if not.
    std::optional<std::string> passes_through() const { return patience_.passes_through(); }
    /// A call that is helped has no answer yet, or what one was offered is not claimed yet.
    bool is_needed() const { return log_.counts.helping > 0 || offers_.awaits_claims(); }

private:
    OwnAnswer state() const;

    GatewayPorts ports_;
    GatewayLog log_;
    WaitingRoom waiting_room_;
    RequestIds request_ids_;
    RequesterResolver resolver_;
    PromisedRoom promised_;
    Patience patience_;
    PlacementAnswers answers_;
    SearchPairs pairs_;
    RoomWaits waits_;
    HostOffers offers_;
    PlacementSearches searches_;
    ServerClaims claims_;
};

}  // namespace reaper
