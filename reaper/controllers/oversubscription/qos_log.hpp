// What the log tells of busy hosts: when one becomes too busy, what is done about it, and when it
// is calm again. The same is not told again in each interval.
#pragma once

#include <map>
#include <set>
#include <string>

#include "reaper/controllers/oversubscription/busy_hosts.hpp"
#include "reaper/controllers/oversubscription/host_corrections.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

class QosLog {
public:
    void look(const Host& host, const QosVerdict& verdict, const BusyHosts::Seen& seen);
    void corrected(const Host& host, const HostCorrection& correction,
                   const OrderedCorrection& ordered, bool dry_run);
    /// Once for each reason, until a correction follows or the host is calm.
    void not_corrected(const Host& host, const HostCorrection& correction, std::string why);
    /// Nobody revocable is there any more, and it is busy still: once, until it is calm.
    void left(const Host& host);
    template <class Unwatched>
    void forget_if(Unwatched unwatched) {
        std::erase_if(not_corrected_, [&](const auto& each) { return unwatched(each.first); });
        std::erase_if(left_, unwatched);
    }
    void clear();

private:
    std::map<HostId, std::string> not_corrected_;  ///< why, as it was told last
    std::set<HostId> left_;
};

}  // namespace reaper
