#include "reaper/cloud_cache/reading_order.hpp"

#include <algorithm>

namespace reaper {
namespace {

const HostId& first_of_all() {
    static const HostId id;
    return id;
}

}  // namespace

std::vector<HostId> ReadingOrder::due(std::size_t count, TimePoint settled,
                                      TimePoint expired) const {
    std::vector<HostId> found;
    const auto until = [&](Kind kind) {
        if (kind == Kind::touched) return settled + Duration{1};
        return kind == Kind::estimated ? TimePoint::max() : expired;
    };
    for (const Kind kind : {Kind::touched, Kind::estimated, Kind::exact}) {
        const Place first{kind, TimePoint::min(), {}, &first_of_all()};
        for (auto at = order_.lower_bound(first); found.size() < count; ++at) {
            if (at == order_.end() || at->kind != kind || at->since >= until(kind)) break;
            found.push_back(*at->host);
        }
    }
    return found;
}

TimePoint ReadingOrder::oldest_read_at(TimePoint none) const {
    if (order_.empty()) return none;
    TimePoint oldest = TimePoint::max();
    for (const auto& place : order_) {
        if (place.kind != Kind::touched) break;
        oldest = std::min(oldest, place.read_at);
    }
    for (const Kind kind : {Kind::estimated, Kind::exact}) {
        const auto at = order_.lower_bound(Place{kind, TimePoint::min(), {}, &first_of_all()});
        if (at != order_.end()) oldest = std::min(oldest, at->read_at);
    }
    return oldest;
}

}  // namespace reaper
