// Servers that were evicted from hosts, by the journal's record of a request. Whatever part found
// out that they had to go: the load that went with them is in the load averages for a while. Pure.
#pragma once

#include <vector>

#include "reaper/model/request_record.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

struct EvictedServer {
    HostId host;
    Amount vcpus = 0;  ///< of VCPU, PCPU and oversubscribed room together
    TimePoint at{};    ///< when it was gone; while it is being deleted: when its deletion was sent
    ServerId server{};
    bool gone = false;
};

/// Those that are deleted, or being deleted; without the spared ones and failed deletions.
std::vector<EvictedServer> evicted_servers(const RequestRecord& record,
                                           const ResourceClass& room_class);

/// A journal may have times of a clock that was set back since. What is `known` of a server
/// already, with times that moved with the clock, keeps them; else what is later than `now` was
/// now.
std::vector<EvictedServer> by_this_clock(std::vector<EvictedServer> read,
                                         const std::vector<EvictedServer>& known, TimePoint now);

/// What is remembered of a host when these went from it lately, and no others. A new one among them
/// is as a correction.
QosState after_evictions(QosState state, std::vector<EvictedServer> evicted);

}  // namespace reaper
