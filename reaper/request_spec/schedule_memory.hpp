// The searches for hosts of the last while, by request and server: what a failure message lost is
// looked up here. Bounded in number and time.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "reaper/model/schedule.hpp"

namespace reaper {

class ScheduleMemory {
public:
    static constexpr std::size_t most = 10'000;
    /// Users write the hints: this many names in all.
    static constexpr std::size_t most_names = 500'000;
    /// A failure follows within seconds, and is not acted on when it is older than `max_age`.
    static constexpr Duration kept_for{3'600'000};

    /// `arrived`: now, on our clock. The latest of a request and server counts.
    void note(Schedule schedule, TimePoint arrived);
    /// Null if it was not seen, or is forgotten; valid until the next `note`.
    /// `server`: of several servers of one request the first.
    const Schedule* find(const RequestId& request, const ServerId& server) const;
    std::size_t size() const noexcept { return searches_.size(); }

private:
    using Key = std::pair<RequestId, ServerId>;
    struct Entry {
        Schedule schedule;
        TimePoint arrived;
    };
    static std::size_t names_in(const Schedule& schedule);

    std::map<Key, Entry> searches_;
    std::size_t names_ = 0;
    std::deque<Key> order_;  ///< of arrival, each once
};

}  // namespace reaper
