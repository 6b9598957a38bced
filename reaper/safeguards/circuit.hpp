// A circuit that opens when something goes wrong and tries again by itself: open, it lets nothing
// through; after a while it is half open, and lets one try through, whose end closes it or opens it
// again, for twice as long. Pure; the caller passes all times.
#pragma once

#include <optional>
#include <string_view>

#include "reaper/model/time.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

enum class CircuitState { closed, open, half_open };
std::string_view to_string(CircuitState state);
std::optional<CircuitState> circuit_state_from(std::string_view text);

class Circuit {
public:
    /// Something went wrong. The first pause is `retry_after`, each one in a row twice the one
    /// before, up to `max_retry_after`; a `retry_after` of 0 never ends by itself.
    void open(TimePoint at, const RetrySettings& settings);
    /// It works.
    void close() { *this = Circuit{}; }

    CircuitState state(TimePoint now) const;
    /// Until when it is open; none if it is closed, or never half open by itself.
    std::optional<TimePoint> until() const;
    /// How often in a row it opened.
    int times() const { return times_; }
    void shift(Duration by);

private:
    int times_ = 0;
    bool by_itself_ = true;  ///< half open after `until_`
    TimePoint until_{};
};

}  // namespace reaper
