#include "reaper/model/time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace reaper {
namespace {

using namespace std::chrono;

struct DurationUnit {
    std::string_view name;
    std::int64_t milliseconds;
};
constexpr std::array<DurationUnit, 4> duration_units{
    {{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr DurationUnit one_day{"d", 24 * 3'600'000};  // read only
constexpr std::int64_t ten_years = 10LL * 365 * 24 * 3'600'000;

/// Takes pieces off the front of a text. After one that is not there, nothing is right.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    /// Was all as expected, and is nothing left?
    bool done() const { return ok_ && rest_.empty(); }

    bool skip(std::string_view one_of) {
        if (rest_.empty() || one_of.find(rest_.front()) == std::string_view::npos) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(std::string_view one_of) { ok_ = skip(one_of) && ok_; }
    /// A number of so many digits, not above `most`.
    int number(int digits, int most) {
        int value = 0;
        for (int i = 0; i < digits; ++i) value = value * 10 + digit();
        ok_ = ok_ && value <= most;
        return value;
    }
    milliseconds fraction() {
        int value = digit() * 100;
        for (int i = 1, weight = 10; i < 9 && at_digit(); ++i, weight /= 10)
            value += digit() * weight;
        return milliseconds{value};
    }

private:
    bool at_digit() const { return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; }
    int digit() {
        ok_ = ok_ && at_digit();
        if (!ok_) return 0;
        const int value = rest_.front() - '0';
        rest_.remove_prefix(1);
        return value;
    }

    std::string_view rest_;
    bool ok_ = true;
};

/// What a zone's clock is ahead of UTC.
minutes zone(Scanner& in) {
    const bool west = in.skip("-");
    if (!west && !in.skip("+")) {
        in.skip("Z");
        return {};
    }
    const hours whole{in.number(2, 23)};
    in.expect(":");
    const minutes ahead = whole + minutes{in.number(2, 59)};
    return west ? -ahead : ahead;
}

std::string padded(std::int64_t number, std::size_t digits) {
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

/// The part up to the second.
std::string to_the_second(TimePoint time) {
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{time - day};
    return padded(static_cast<int>(date.year()), 4) + "-" +
           padded(static_cast<unsigned>(date.month()), 2) + "-" +
           padded(static_cast<unsigned>(date.day()), 2) + "T" + padded(clock.hours().count(), 2) +
           ":" + padded(clock.minutes().count(), 2) + ":" + padded(clock.seconds().count(), 2);
}

struct Unit {
    Duration size;
    const char* name;
};
constexpr std::array<Unit, 5> units{{{days{1}, "d"},
                                     {hours{1}, "h"},
                                     {minutes{1}, "min"},
                                     {seconds{1}, "s"},
                                     {milliseconds{1}, "ms"}}};

std::string counted_in(const Unit& unit, Duration duration) {
    return std::to_string(duration / unit.size) + unit.name;
}

}  // namespace

std::optional<TimePoint> parse_time(std::string_view text) {
    Scanner in(text);
    const year in_year{in.number(4, 9999)};
    in.expect("-");
    const month in_month{static_cast<unsigned>(in.number(2, 12))};
    in.expect("-");
    const year_month_day date{in_year, in_month, day{static_cast<unsigned>(in.number(2, 31))}};
    in.expect("T ");
    const hours hour{in.number(2, 23)};
    in.expect(":");
    const minutes minute{in.number(2, 59)};
    in.expect(":");
    const seconds second{in.number(2, 59)};
    const milliseconds rest = in.skip(".") ? in.fraction() : milliseconds{};
    const minutes ahead = zone(in);
    if (!in.done() || !date.ok()) return std::nullopt;
    return sys_days{date} + hour + minute + second + rest - ahead;
}

std::optional<TimePoint> parse_time_or_date(std::string_view text) {
    constexpr std::size_t date_size = 10;
    return text.size() == date_size ? parse_time(std::string{text} + "T00:00:00")
                                    : parse_time(text);
}

std::string iso_time(TimePoint time) {
    const auto part = time - floor<seconds>(time);
    return to_the_second(time) + "." + padded(part.count(), 3) + "Z";
}

std::string format_duration(Duration duration) {
    if (duration < Duration::zero()) return "-" + format_duration(-duration);
    const auto* const largest = std::find_if(
        units.begin(), units.end() - 1, [&](const Unit& unit) { return duration >= unit.size; });
    std::string text = counted_in(*largest, duration);
    const Duration rest = duration % largest->size;
    // Seconds are exact enough for people.
    if (largest->size > seconds{1} && rest >= largest[1].size)
        text += " " + counted_in(largest[1], rest);
    return text;
}

std::optional<Duration> parse_duration(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
    if (error != std::errc{} || end != text.data() + digits) return std::nullopt;
    const auto in = [&](const DurationUnit& unit) -> std::optional<Duration> {
        if (number > ten_years / unit.milliseconds) return std::nullopt;
        return Duration{number * unit.milliseconds};
    };
    const std::string_view name = text.substr(digits);
    if (name == one_day.name) return in(one_day);
    for (const auto& unit : duration_units)
        if (name == unit.name) return in(unit);
    return std::nullopt;
}

std::string exact_duration(Duration duration) {
    const std::int64_t count = duration.count();
    if (count == 0) return "0s";
    for (const auto& unit : duration_units)
        if (count % unit.milliseconds == 0)
            return std::to_string(count / unit.milliseconds) + std::string{unit.name};
    return std::to_string(count) + "ms";
}

}  // namespace reaper
