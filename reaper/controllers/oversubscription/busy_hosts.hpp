// Which hosts are too busy, as a QoS controller sees it: nothing new is to start there. A figure
// that goes up and down around its threshold is one that is above it, so a host is calm when none
// was above for a minute. What is not known changes nothing. Pure; times are told.
#pragma once

#include <map>
#include <optional>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class BusyHosts {
public:
    enum class Change { none, too_busy, calm };
    struct Seen {
        Change change = Change::none;
        Duration lasted{};  ///< for so long a host that is calm now was too busy
    };

    Seen look(const HostId& host, std::optional<bool> too_busy, TimePoint now);
    bool contains(const HostId& host) const { return hosts_.contains(host); }
    std::size_t size() const noexcept { return hosts_.size(); }
    template <class Unwatched>
    void forget_if(Unwatched unwatched) {
        std::erase_if(hosts_, [&](const auto& each) { return unwatched(each.first); });
    }
    void clear() { hosts_.clear(); }
    /// The wall clock was set forward by so much (or back).
    void shift(Duration by);

private:
    struct Busy {
        TimePoint since{};
        std::optional<TimePoint> calm_since{};
    };
    std::map<HostId, Busy> hosts_;
};

}  // namespace reaper
