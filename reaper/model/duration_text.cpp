#include "reaper/model/duration_text.hpp"

#include <chrono>
#include <cstddef>

namespace reaper {
namespace {

std::string two_digits(unsigned number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
}

}  // namespace

std::string words_of(Duration duration) {
    using namespace std::chrono_literals;
    if (duration == 0ms) return "0s";
    if (duration % 1h == 0ms) return std::to_string(duration / 1h) + "h";
    if (duration % 1min == 0ms) return std::to_string(duration / 1min) + "min";
    if (duration % 1s == 0ms) return std::to_string(duration / 1s) + "s";
    return std::to_string(duration.count()) + "ms";
}

std::string words_of(TimePoint time) {
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss clock{std::chrono::floor<std::chrono::minutes>(time - day)};
    return std::to_string(static_cast<int>(date.year())) + "-" +
           two_digits(static_cast<unsigned>(date.month())) + "-" +
           two_digits(static_cast<unsigned>(date.day())) + " " +
           two_digits(static_cast<unsigned>(clock.hours().count())) + ":" +
           two_digits(static_cast<unsigned>(clock.minutes().count())) + " UTC";
}

}  // namespace reaper
