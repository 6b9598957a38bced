#include "reaper/planner/slots_there.hpp"

#include <algorithm>
#include <map>

#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/filter.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/pending_releases.hpp"

namespace reaper {
namespace {

/// More than any host has.
constexpr Amount any_number = 1'000'000;

HostSlots slots_on(const HostOption& option, const Shape& shape) {
    const Amount at_once = std::min({slots_at_once(option.room, shape, option.room.room_now()),
                                     option.slots_ready, option.max_slots});
    return {option.host->id, option.host->name, to_int(std::max<Amount>(at_once, 0)),
            to_int(option.slots_ready)};
}

}  // namespace

std::vector<HostSlots> slots_there(const Request& request, const CloudIndex& cloud,
                                   const Ledger& ledger, const SchedulerRules* rules) {
    const Shape shape = shape_of(request);
    if (shape.empty()) return {};
    const ConstraintChecker checker{request, rules, cloud, ledger};
    const std::map<ServerId, std::string> no_servers;
    const FilterInput input{request, shape,   ledger,  no_servers, &cloud.protection(),
                            nullptr, nullptr, &checker};
    const HostFilter hosts{cloud, input, any_number};
    std::vector<HostSlots> there;
    for (std::size_t host = 0; host < hosts.size(); ++host)
        if (hosts.ready(host) > 0) there.push_back(slots_on(hosts[host], shape));
    return there;
}

}  // namespace reaper
