// Places: how many more servers of a request a host may have, beyond what its resources allow. Hard
// anti-affinity (with max_server_per_host) and the hint `different_host` give a host so many, and
// other servers take them. Where those are revocable, their places come free with them, as their
// resources do: so places are planned as a class of their own, on copies of the hosts.
#pragma once

#include <memory>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/placement_constraints.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/room_answer.hpp"
#include "reaper/planner/cloud_index.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

// Where a request's slots are there without a deletion, and how many: the planner's own count of
// each host, for questions before there is a request.

/// The hosts that have room for at least one, by name, however many the request asks for. Room that
/// is promised to other requests does not count. `rules` may be null.
std::vector<HostSlots> slots_there(const Request& request, const CloudIndex& cloud,
                                   const Ledger& ledger, const SchedulerRules* rules);

/// The same cloud and request, with places among the resources in place of these two constraints.
class PlacesView {
public:
    /// Null where it would say nothing new: no revocable server takes a place.
    static std::unique_ptr<PlacesView> of(const Request& request, const CloudIndex& cloud,
                                          const ConstraintChecker& checker);

    const Request& request() const { return request_; }
    const CloudIndex& cloud() const { return index_; }

    /// Takes the places out of a decision: nothing outside the planner knows the class.
    static void take_out(Decision& decision);

private:
    PlacesView(const Request& request, const CloudIndex& cloud, const ConstraintChecker& checker);

    Request request_;
    std::vector<Host> hosts_;
    CloudIndex index_;
};

/// Requests that keep but one of the servers beside which this one is to be (affinity, the hint
/// `same_host`), on one of their hosts each: the others may go there. Empty where that leaves
/// no request.
struct BesideOne {
    Request request;
    std::map<ServerId, std::string> stay;  ///< with the reason
};
/// At most so many: each costs as much as a plan.
constexpr std::size_t max_beside = 32;
std::vector<BesideOne> beside_one_each(const Request& request, const CloudIndex& cloud);

}  // namespace reaper
