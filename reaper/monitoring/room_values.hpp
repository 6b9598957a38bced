// The room of the cloud as values for Prometheus: summed over the hosts of each label, and, if it
// is wanted, of each host. Amounts are in Placement's units (VCPU: pieces, MEMORY_MB: MiB, ...).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "reaper/model/cloud.hpp"
#include "reaper/monitoring/exposition.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper::monitoring {

class RoomValues {
public:
    explicit RoomValues(bool per_host) : per_host_(per_host) {}

    /// Some microseconds; each host once.
    void add(const Host& host, const ResourceClasses& revocable_classes, const Ledger& ledger);
    /// All of it; nothing is left here.
    void give(Values& values);

private:
    /// Of one class.
    struct Room {
        Amount capacity = 0;
        Amount free = 0;
        Amount regular = 0;
        Amount revocable = 0;
        Amount evicting = 0;
        Amount promised = 0;
    };
    using Rooms = std::map<ResourceClass, Room>;
    struct Servers {
        std::size_t regular = 0;
        std::size_t revocable = 0;
    };

    static Rooms rooms_of(const Host& host, const Ledger& ledger);

    bool per_host_;
    std::map<HostLabel, Rooms> sums_;
    std::map<HostLabel, Servers> servers_;
    std::map<std::pair<HostLabel, std::string>, std::size_t> hosts_;  ///< by label and status
    Values of_hosts_;
};

}  // namespace reaper::monitoring
