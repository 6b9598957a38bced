// Words of a call of nova-scheduler's: targets, headers, answers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/gateway/candidates.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/proxy_handler.hpp"
#include "reaper/request_spec/placement_query.hpp"

namespace reaper {

// Requests by the id that nova-scheduler's calls carry.
//
// A client may send one id with several boots (`X-Openstack-Request-Id`), and a client that knows
// the id of another's request may send that. So the id alone says nothing: a request is that of its
// servers. The first request of an id has that id, further ones `ID~2`, `ID~3`, ...

class RequestIds {
public:
    /// Then the servers of a request have their room, or a request of their own.
    static constexpr Duration remembered_for{600'000};

    /// The id of the request of these servers, whose call has the id `call`. `now`: on the steady
    /// clock.
    RequestId of(const RequestId& call, const std::vector<ServerId>& servers, Duration now);
    /// The id of the request that the server is known to belong to; else the call's.
    RequestId of_server(const RequestId& call, const ServerId& server) const;

private:
    struct Known {
        RequestId id;
        std::set<ServerId> servers;
        Duration at{};
    };
    std::map<RequestId, std::vector<Known>> known_;  ///< by the id of the calls
};

/// Ends of paths: where hosts are searched for, and how the gateway is (Placement has no such one).
inline constexpr std::string_view candidates_path = "/allocation_candidates";
inline constexpr std::string_view gateway_state_path = "/reaper-gateway";

std::string_view path_of(std::string_view target);
/// The API request that it is for, as Nova names it; empty if it is not told.
RequestId request_of(const HttpHeaders& headers);
/// The parameters of a target's query, undone; none if they can't be read.
std::optional<PlacementQuery> parameters_of(std::string_view target);
/// The target with other parameters.
std::string with_query(std::string_view target, const PlacementQuery& query);
/// Most candidates that are asked for; none if that is not said.
std::optional<std::size_t> limit_of(std::string_view target);
/// The target with another one.
std::string with_limit(std::string_view target, std::size_t limit);
/// What Nova asks besides, for the same servers: dedicated CPUs as VCPU. The request has a
/// fallback.
PlacementQuery fallback_query(PlacementQuery query, const Request& request);
/// The server of `/allocations/SERVER`; none if the path is another one.
std::optional<ServerId> claimed_server(std::string_view path);
/// 0 for an Error.
int status_of(const ProxyAnswer& answer);
/// These, as Placement answers.
OwnAnswer own_answer(const Candidates& candidates);
/// Has the request its room, so that its search or claim is worth to be tried again?
bool has_room(const Outcome& outcome);

}  // namespace reaper
