// How the past is asked for: in pieces, so that no answer is large, however many series there are.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reaper/model/time.hpp"

namespace reaper {

/// Between two values of the past.
inline constexpr Duration past_step = std::chrono::minutes{1};

/// A part of the past: both ends are asked for.
struct PastPiece {
    TimePoint from{};
    TimePoint to{};

    friend bool operator==(const PastPiece&, const PastPiece&) = default;
};

/// The past in pieces, the oldest first, of no more than 100,000 values each of so many series (or
/// one of each), and 3,000,000 together: of a longer past, its end.
std::vector<PastPiece> past_pieces(TimePoint from, TimePoint to, Duration step, std::size_t series);

/// All of a past that is too long to be read minute by minute: each value stands for the step that
/// ends with it. As many values at most.
struct OlderPast {
    Duration step{};
    std::vector<PastPiece> pieces;
};
OlderPast older_past(TimePoint from, TimePoint to, std::size_t series);

/// A query for the highest value within each step, of values a minute apart.
std::string highest_within(const std::string& query, Duration step);

}  // namespace reaper
