// Tells when the wall clock was set forward or back.
#pragma once

#include <optional>

#include "reaper/ports/clock.hpp"

namespace reaper {

class ClockWatch {
public:
    /// What an operator or NTP does not do by slewing.
    static constexpr Duration least{2000};

    explicit ClockWatch(const Clock& clock) : clock_(clock), offset_(offset()) {}

    /// By how much the wall clock was stepped since the last call; none if it was not.
    std::optional<Duration> step() {
        const Duration now = offset();
        const Duration by = now - offset_;
        offset_ = now;
        if (by < least && by > -least) return std::nullopt;
        return by;
    }

private:
    Duration offset() const { return clock_.now().time_since_epoch() - clock_.steady(); }

    const Clock& clock_;
    Duration offset_;
};

}  // namespace reaper
