#include "reaper/controllers/oversubscription/past_pieces.hpp"

#include <algorithm>
#include <chrono>

namespace reaper {
namespace {

/// What one answer, and the whole past, may have. Prometheus gives 11,000 points of a series.
constexpr std::size_t most_values = 100'000;
constexpr std::size_t most_points = 10'000;
constexpr std::size_t most_past_values = 3'000'000;

}  // namespace

std::vector<PastPiece> past_pieces(TimePoint from, TimePoint to, Duration step,
                                   std::size_t series) {
    std::vector<PastPiece> pieces;
    series = std::max<std::size_t>(series, 1);
    const auto most =
        static_cast<Duration::rep>(std::max<std::size_t>(most_past_values / series, 1));
    const auto points =
        static_cast<Duration::rep>(std::clamp<std::size_t>(most_values / series, 1, most_points));
    from = std::max(from, to - step * (most - 1));
    for (; from <= to; from += step * points)
        pieces.push_back({from, std::min(to, from + step * (points - 1))});
    return pieces;
}

OlderPast older_past(TimePoint from, TimePoint to, std::size_t series) {
    series = std::max<std::size_t>(series, 1);
    const auto most =
        static_cast<Duration::rep>(std::max<std::size_t>(most_past_values / series, 1));
    const Duration length = std::chrono::ceil<Duration>(to - from);
    const auto rounded_up = [](Duration all, Duration part) {
        return std::max<Duration::rep>((all + part - Duration{1}) / part, 1);
    };
    OlderPast older;
    older.step = past_step * rounded_up(length, past_step * most);
    const auto number = rounded_up(length, older.step);
    older.pieces = past_pieces(to - older.step * (number - 1), to, older.step, series);
    return older;
}

std::string highest_within(const std::string& query, Duration step) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(step).count();
    return "max_over_time((" + query + ")[" + std::to_string(seconds) + "s:1m])";
}

}  // namespace reaper
