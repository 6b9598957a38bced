// Nova-scheduler's searches for a host (`GET /allocation_candidates`).
//
// Each is asked of Placement first. If nothing is left, or less than the request has servers, and
// the requester is certain, the request is served. Where that is not certain, hosts may be offered.
// In every other case Placement's answer passes as it came.
//
// Flavors and images may say by traits which kind of room they admit (res_type_query.hpp), also to
// a gateway that can't help now. These are taken out, and Placement is asked for each kind in its
// turn. The requester may say it elsewhere too; that is known when the requester is, and so goes
// first.
#pragma once

#include <optional>
#include <variant>

#include "reaper/gateway/call_words.hpp"
#include "reaper/gateway/host_offers.hpp"
#include "reaper/gateway/requester_resolver.hpp"

namespace reaper {

/// References must outlive it.
class PlacementSearches {
public:
    PlacementSearches(const GatewayPorts& ports, GatewayLog& log, Patience& patience,
                      RequesterResolver& resolver, RequestIds& request_ids,
                      PlacementAnswers& answers, SearchPairs& pairs, HostOffers& offers,
                      RoomWaits& waits)
        : ports_(ports),
          log_(log),
          patience_(patience),
          resolver_(resolver),
          answers_(answers),
          pairs_(pairs),
          offers_(offers),
          waits_(waits),
          request_ids_(request_ids) {}

    Task<ProxyAnswer> search(HttpRequest request, GatewayCall& call);

private:
    using Said = std::variant<std::monostate, Request, Refused>;

    std::optional<std::string> why_pass(const RequestId& id,
                                        const Result<CandidatesQuery>& query) const;
    Task<SearchAnswer> help(HttpRequest request, GatewayCall& call, CandidatesQuery query,
                            SearchAnswer first);
    Task<SearchAnswer> serve(HttpRequest request, GatewayCall& call, CandidatesQuery query,
                             Request wanted, SearchAnswer first);
    Task<SearchAnswer> ask_for_its_room(HttpRequest request, GatewayCall& call,
                                        CandidatesQuery query, RequestId id);
    Task<ProxyAnswer> search_by_type(HttpRequest request, GatewayCall& call, PlacementQuery query);
    Task<Said> who_says(HttpRequest request, GatewayCall& call, CandidatesQuery query);
    Task<SearchAnswer> in_phases(HttpRequest request, GatewayCall& call,
                                 Result<CandidatesQuery> query, Phases phases,
                                 std::optional<Request> wanted, std::optional<SearchAnswer> plain);
    Task<SearchAnswer> ask_for_regular(HttpRequest request, GatewayCall& call,
                                       Result<CandidatesQuery> query, std::optional<Request> wanted,
                                       std::optional<SearchAnswer> plain);
    Task<SearchAnswer> ask_for_revocable(HttpRequest request, GatewayCall& call,
                                         std::optional<Request> wanted);
    Task<bool> revocable_by_fallback(HttpRequest request, GatewayCall& call, Request wanted);

    const GatewayPorts& ports_;
    GatewayLog& log_;
    Patience& patience_;
    RequesterResolver& resolver_;
    PlacementAnswers& answers_;
    SearchPairs& pairs_;
    HostOffers& offers_;
    RoomWaits& waits_;
    RequestIds& request_ids_;
};

}  // namespace reaper
