#include "strategies/strategy.hpp"

namespace reaper {

ByPool room_without(const HostOption& option, const std::vector<std::size_t>& victims) {
    ByPool room = option.room.room_now();
    for (const std::size_t victim : victims)
        for (std::size_t pool = 0; pool < room.size(); ++pool)
            room[pool] += option.candidates.at(victim).gains[pool];
    return room;
}

}  // namespace reaper
