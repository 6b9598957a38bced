// Requests by the id that nova-scheduler's calls carry.
//
// A client may send one id with several boots (`X-Openstack-Request-Id`), and whoever knows the id
// of another's request may send that. So the id alone says nothing: a request is that of its
// servers. The first request of an id has that id, further ones `ID~2`, `ID~3`, ...
#pragma once

#include <map>
#include <set>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

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

}  // namespace reaper
