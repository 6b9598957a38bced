// In which order the hosts of the cache are read again: kept up to date host by host, so that the
// next ones are found without a look at all.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class ReadingOrder {
public:
    /// Where a host stands: first those to which something happened since they were read, then
    /// those never read exactly, then the others.
    enum class Kind : unsigned char { touched, estimated, exact };
    struct Place {
        Kind kind = Kind::exact;
        TimePoint since{};  ///< touched: when something happened last; else when it was read
        TimePoint read_at{};
        const HostId* host = nullptr;
    };

    /// `place.host` must stay where it is until the host is taken out or all are.
    void put(const Place& place) { order_.insert(place); }
    void take(const Place& place) { order_.erase(place); }
    void clear() { order_.clear(); }

    /// At most `count` of the hosts that are due: touched, but not after `settled`; estimated; read
    /// before `expired`. O(count), and O(touched hosts) for those that are not settled.
    std::vector<HostId> due(std::size_t count, TimePoint settled, TimePoint expired) const;
    /// When the host was read that was not read for longest; `none` without hosts.
    TimePoint oldest_read_at(TimePoint none) const;

private:
    struct Before {
        bool operator()(const Place& a, const Place& b) const {
            if (a.kind != b.kind) return a.kind < b.kind;
            if (a.since != b.since) return a.since < b.since;
            return *a.host < *b.host;
        }
    };

    std::set<Place, Before> order_;
};

}  // namespace reaper
