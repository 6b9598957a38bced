#include "reaper/planner/pending_releases.hpp"

#include <algorithm>
#include <numeric>

#include "reaper/model/resources.hpp"

namespace reaper {
namespace {

/// The room if only some of those that are going went.
ByPool room_if(const HostRoom& room, const ByPool& now, const std::vector<bool>& waits_for) {
    ByPool left = now;
    std::vector<ByPool> brought(room.claims.size(), ByPool(now.size(), 0));
    for (std::size_t i = 0; i < room.going.size(); ++i) {
        if (waits_for[i]) continue;
        const Going& going = room.going[i];
        for (std::size_t pool = 0; pool < left.size(); ++pool)
            left[pool] = saturating_subtract(left[pool], going.gains[pool]);
        for (std::size_t claim = 0; claim < room.claims.size(); ++claim)
            if (room.claims[claim].request == going.covers)
                for (std::size_t pool = 0; pool < left.size(); ++pool)
                    brought[claim][pool] = saturating_add(brought[claim][pool], going.gains[pool]);
    }
    for (std::size_t claim = 0; claim < room.claims.size(); ++claim)
        for (std::size_t pool = 0; pool < left.size(); ++pool)
            left[pool] = saturating_add(
                left[pool], std::min(room.claims[claim].amounts[pool], brought[claim][pool]));
    return left;
}

}  // namespace

std::vector<PendingRelease> pending_for(const HostRoom& room, const Shape& shape, const ByPool& now,
                                        Amount slots) {
    std::vector<std::size_t> order(room.going.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return room.going[a].by < room.going[b].by;
    });
    std::vector<bool> waits_for(room.going.size(), true);
    for (const std::size_t each : order) {
        waits_for[each] = false;
        if (!room.fits(shape, room_if(room, now, waits_for), slots)) waits_for[each] = true;
    }
    std::vector<PendingRelease> pending_releases;
    for (std::size_t i = 0; i < room.going.size(); ++i)
        if (waits_for[i])
            pending_releases.push_back(PendingRelease{
                room.going[i].server, room.going[i].name, room.going[i].reason,
                room.going[i].unfinished, room.going[i].project, room.going[i].host});
    return pending_releases;
}

Amount slots_at_once(const HostRoom& room, const Shape& shape, const ByPool& now, Amount most) {
    return room.slots(shape, room_if(room, now, std::vector<bool>(room.going.size(), false)), most);
}

}  // namespace reaper
