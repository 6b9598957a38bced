// What happened in a schedule, line by line: its hash tells whether a replay is the same, its text
// tells what went wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "faults/schedules/timeline.hpp"

namespace reaper::faults {

class Trace {
public:
    Trace(const Timeline& timeline, bool print) : timeline_(timeline), print_(print) {}

    void line(const std::string& text);
    std::uint64_t hash() const { return hash_; }

private:
    const Timeline& timeline_;
    bool print_;
    std::uint64_t hash_ = 1469598103934665603ULL;
};

}  // namespace reaper::faults
