// Times and numbers in the words of the brakes' reasons.
#pragma once

#include <string>
#include <string_view>

#include "reaper/model/time.hpp"

namespace reaper {

/// `90s`, `30min`, `8h`: the largest unit that is exact.
std::string words_of(Duration duration);

/// `2026-11-20 12:03 UTC`
std::string words_of(TimePoint time);

}  // namespace reaper
