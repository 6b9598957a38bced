// Timestamps of OpenStack's messages.
#pragma once

#include <optional>
#include <string_view>

#include "reaper/model/time.hpp"

namespace reaper::amqp {

/// `2026-11-20 13:07:19.426801` (oslo.messaging, UTC), or the ISO forms with `T`, `Z` and `+02:00`.
/// Without a zone it is UTC; digits after milliseconds are cut off. None for anything else, dates
/// that don't exist and years before 1970 included.
std::optional<TimePoint> parse_utc_time(std::string_view text);

}  // namespace reaper::amqp
