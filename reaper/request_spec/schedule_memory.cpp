#include "reaper/request_spec/schedule_memory.hpp"

#include <utility>

namespace reaper {

void ScheduleMemory::note(Schedule schedule, TimePoint arrived) {
    const auto [at, is_new] = by_request_.try_emplace(schedule.request);
    if (is_new) order_.push_back(schedule.request);
    at->second.schedule = std::move(schedule);
    at->second.arrived = arrived;
    while (!order_.empty()) {
        const auto oldest = by_request_.find(order_.front());
        if (order_.size() <= most && arrived - oldest->second.arrived <= kept_for) break;
        by_request_.erase(oldest);
        order_.pop_front();
    }
}

const Schedule* ScheduleMemory::find(const RequestId& request) const {
    const auto at = by_request_.find(request);
    return at == by_request_.end() ? nullptr : &at->second.schedule;
}

}  // namespace reaper
