// What Placement says to a search (`GET /allocation_candidates`), without room that is promised to
// other requests.
#pragma once

#include <cstddef>
#include <optional>

#include "reaper/gateway/candidates.hpp"
#include "reaper/gateway/gateway_call.hpp"
#include "reaper/gateway/gateway_log.hpp"
#include "reaper/gateway/gateway_ports.hpp"
#include "reaper/gateway/promised_room.hpp"

namespace reaper {

/// An answer of Placement's, and what it says; there are no candidates if it is not known.
struct SearchAnswer {
    ProxyAnswer answer;
    std::optional<Candidates> candidates{};
    bool had_hosts = false;  ///< before room that is promised to others was taken off
    bool enough = false;     ///< it is known that all servers of the request find room
    bool withheld = false;   ///< some of what it said is promised to others
    std::size_t told = 0;    ///< candidates that Placement named
};

/// References must outlive it.
class PlacementAnswers {
public:
    PlacementAnswers(const boost::asio::any_io_executor& executor, const GatewayPorts& ports,
                     GatewayLog& log, PromisedRoom& promised);

    /// `only`: hosts that are not declared to be of the other kind. `whole`: it is read, however
    /// many hosts it names. Of a capped answer, what is promised to others may be all: then there
    /// may be more.
    Task<SearchAnswer> ask(HttpRequest request, GatewayCall& call, RequestId id,
                           std::optional<ResType> only = std::nullopt, bool whole = false);
    /// Placement may be set up to name only so many candidates, whatever it is asked
    /// (`max_allocation_candidates`). Hosts where the request has room by now, and that are not
    /// named, are asked for one by one.
    Task<void> add_hidden_hosts(HttpRequest request, GatewayCall& call, RequestId id,
                                std::optional<ResType> only, SearchAnswer& asked);

private:
    Task<SearchAnswer> ask_once(HttpRequest request, GatewayCall& call, RequestId id,
                                std::optional<ResType> only, bool every);
    bool names_many_hosts(std::string_view body, const RequestId& id) const;

    const GatewayPorts& ports_;
    GatewayLog& log_;
    PromisedRoom& promised_;
    AsyncSemaphore long_answers_;  ///< that are read whole at a time
};

}  // namespace reaper
