// Times as text: for JSON, the journal and people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/time.hpp"

namespace reaper::report {

/// `2024-05-01T12:00:00.000Z`
std::string iso_time(TimePoint time);

/// The inverse; also without the fraction, and with 1 to 9 digits of it. None for other text.
std::optional<TimePoint> time_from_iso(std::string_view text);

/// For people: `2024-05-01 12:00:00` (UTC).
std::string short_time(TimePoint time);

/// For people, two units at most: `850ms`, `12s`, `3min 5s`, `2h 10min`, `41d 3h`; negative ones
/// with a minus.
std::string span_text(Duration span);

}  // namespace reaper::report
