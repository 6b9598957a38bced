#include "reaper/report/time_text.hpp"

#include <array>
#include <charconv>
#include <cstdio>

namespace reaper::report {
namespace {

using namespace std::chrono;

/// The part up to the second, with `between` between date and time.
std::string to_the_second(TimePoint time, char between) {
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<seconds>(time - day)};
    std::array<char, 48> text{};
    const int size = std::snprintf(
        text.data(), text.size(), "%04d-%02u-%02u%c%02ld:%02ld:%02ld",
        static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()), between, static_cast<long>(clock.hours().count()),
        static_cast<long>(clock.minutes().count()), static_cast<long>(clock.seconds().count()));
    return std::string(text.data(), static_cast<std::size_t>(size));
}

/// `digits` decimal digits at `at`; -1 if they are not.
int number_at(std::string_view text, std::size_t at, std::size_t digits) {
    if (text.size() < at + digits) return -1;
    int value = 0;
    for (const char c : text.substr(at, digits)) {
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    return value;
}

/// Milliseconds of `.123456`; nothing else may follow. None if it is no fraction.
std::optional<milliseconds> fraction(std::string_view text) {
    if (text.empty()) return milliseconds{0};
    if (text.front() != '.' || text.size() < 2 || text.size() > 10) return std::nullopt;
    int value = 0;
    for (std::size_t i = 1; i < text.size() || i <= 3; ++i) {
        const char c = i < text.size() ? text[i] : '0';
        if (c < '0' || c > '9') return std::nullopt;
        if (i <= 3) value = value * 10 + (c - '0');
    }
    return milliseconds{value};
}

struct Unit {
    std::int64_t milliseconds;
    const char* name;
};
constexpr std::array<Unit, 4> units{
    {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}}};

}  // namespace

std::string iso_time(TimePoint time) {
    const auto part = (time - floor<seconds>(time)).count();
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), ".%03dZ", static_cast<int>(part));
    return to_the_second(time, 'T') + text.data();
}

std::optional<TimePoint> time_from_iso(std::string_view text) {
    constexpr std::size_t seconds_end = 19;
    if (text.size() <= seconds_end || text.back() != 'Z') return std::nullopt;
    if (text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
        return std::nullopt;
    const int year_number = number_at(text, 0, 4);
    const int hour = number_at(text, 11, 2);
    const int minute = number_at(text, 14, 2);
    const int second = number_at(text, 17, 2);
    const int month_number = number_at(text, 5, 2);
    const int day_number = number_at(text, 8, 2);
    if (year_number < 0 || month_number < 1 || day_number < 1 || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59 || second < 0 || second > 60)
        return std::nullopt;
    const year_month_day date{year{year_number}, month{static_cast<unsigned>(month_number)},
                              day{static_cast<unsigned>(day_number)}};
    const auto rest = fraction(text.substr(seconds_end, text.size() - seconds_end - 1));
    if (!date.ok() || !rest) return std::nullopt;
    return TimePoint{sys_days{date} + hours{hour} + minutes{minute} + seconds{second} + *rest};
}

std::string short_time(TimePoint time) {
    return to_the_second(time, ' ');
}

std::string span_text(Duration span) {
    if (span < Duration::zero()) return "-" + span_text(-span);
    const std::int64_t all = span.count();
    if (all < 1'000) return std::to_string(all) + "ms";
    for (std::size_t i = 0; i < units.size(); ++i) {
        const auto& [size, name] = units[i];
        if (all < size) continue;
        std::string text = std::to_string(all / size) + name;
        if (i + 1 < units.size())
            if (const auto rest = all % size / units[i + 1].milliseconds; rest > 0)
                text += " " + std::to_string(rest) + units[i + 1].name;
        return text;
    }
    return "0ms";
}

}  // namespace reaper::report
