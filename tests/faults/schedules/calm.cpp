#include "faults/schedules/calm.hpp"

#include <algorithm>

namespace reaper::faults {
namespace {

bool hinders(Kind kind) {
    switch (kind) {
        case Kind::retag:
        case Kind::deletion_lost:
        case Kind::deletion_held:
        case Kind::connection_lost:
        case Kind::disk_full:
        case Kind::paused:
        case Kind::clock_step:
        case Kind::lease_lost:
        case Kind::reload:
        case Kind::reservation_changed:
        case Kind::class_lost: return true;
        default: return is_network(kind);
    }
}

/// Until the end of the schedule, for all that the plan tells.
bool lasts(const Item& item) {
    return item.in_mid_cull || !item.at_write.empty() || item.kind == Kind::deletion_lost ||
           item.kind == Kind::clock_step || item.kind == Kind::retag;
}

}  // namespace

bool Calm::all_of(TimePoint since, TimePoint until) const {
    return std::none_of(plan_.items.begin(), plan_.items.end(), [&](const Item& item) {
        if (!hinders(item.kind)) return false;
        const TimePoint from = began_ + item.at;
        const bool over = !lasts(item) && from + item.length + recovered_after < since;
        return from <= until && !over;
    });
}

}  // namespace reaper::faults
