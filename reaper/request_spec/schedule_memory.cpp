#include "reaper/request_spec/schedule_memory.hpp"

namespace reaper {

void ScheduleMemory::note(Schedule schedule, TimePoint arrived) {
    const auto [at, is_new] = searches_.try_emplace(Key{schedule.request, schedule.server});
    if (is_new) order_.push_back(at->first);
    names_ += names_in(schedule);
    names_ -= names_in(at->second.schedule);
    at->second.schedule = std::move(schedule);
    at->second.arrived = arrived;
    while (!order_.empty()) {
        const auto oldest = searches_.find(order_.front());
        const bool fits = order_.size() <= most && (names_ <= most_names || order_.size() == 1);
        if (fits && arrived - oldest->second.arrived <= kept_for) break;
        names_ -= names_in(oldest->second.schedule);
        searches_.erase(oldest);
        order_.pop_front();
    }
}

std::size_t ScheduleMemory::names_in(const Schedule& schedule) {
    const PlacementConstraints& placement = schedule.placement;
    std::size_t names = schedule.ignored_hosts.size() + schedule.required_traits.size() +
                        placement.only_hosts.size() + placement.with.size() +
                        placement.apart_from.size();
    for (const auto& any_of : placement.aggregates) names += any_of.size();
    return names;
}

const Schedule* ScheduleMemory::find(const RequestId& request, const ServerId& server) const {
    const auto at = searches_.find(Key{request, server});
    return at == searches_.end() ? nullptr : &at->second.schedule;
}

}  // namespace reaper
