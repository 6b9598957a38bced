// Points in time and durations, and their text: for JSON, the journal and people. Times are UTC.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace reaper {

// Time as data: the core never reads a clock; its caller passes the time.

/// A point in time in UTC, to the millisecond.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;
using Duration = std::chrono::milliseconds;

/// `2024-05-01T12:00:00`, or with a space for the `T`; then a fraction of 1 to 9 digits or none (it
/// is cut to milliseconds); then `Z`, `+02:00` or nothing. None for other text.
std::optional<TimePoint> parse_time(std::string_view text);

/// The same, or a date alone, which means its start.
std::optional<TimePoint> parse_time_or_date(std::string_view text);

/// `2024-05-01T12:00:00.000Z`: for programs and for people.
std::string iso_time(TimePoint time);

/// For people, two units at most: `850ms`, `12s`, `3min 5s`, `2h 10min`, `41d 3h`; negative ones
/// with a minus.
std::string format_duration(Duration duration);

/// As settings are written: `500ms`, `10s`, `5min`, `2h`: digits and a unit, nothing else; at most
/// 10 years.
std::optional<Duration> parse_duration(std::string_view text);

/// The inverse, in the largest unit that is exact.
std::string exact_duration(Duration duration);

}  // namespace reaper
