#include "tests/cloudsim/core/clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace reaper::cloudsim {

Clock::Clock(std::function<Time()> real, std::optional<Time> start)
    : real_(std::move(real)), base_real_(real_()), base_(start.value_or(base_real_)) {}

Time Clock::now() const {
    if (manual_) return base_;
    const auto passed = static_cast<double>((real_() - base_real_).count());
    return base_ + Micros(static_cast<std::int64_t>(passed * speed_));
}

void Clock::rebase() {
    base_ = now();
    base_real_ = real_();
}

void Clock::set_speed(double speed) {
    rebase();
    speed_ = speed;
}

void Clock::set_manual(bool manual) {
    rebase();
    manual_ = manual;
}

void Clock::advance(Micros by) {
    rebase();
    base_ += by;
}

void Clock::after(Micros delay, Action action) {
    agenda_.push({now() + std::max(delay, Micros(0)), order_++, std::move(action)});
}

std::size_t Clock::run_due() {
    std::size_t count = 0;
    const Time until = now();
    while (!agenda_.empty() && agenda_.top().due <= until) {
        Action action = agenda_.top().action;
        agenda_.pop();
        action();
        ++count;
    }
    return count;
}

std::optional<Micros> Clock::until_next() const {
    if (agenda_.empty() || manual_) return std::nullopt;
    const auto left = static_cast<double>((agenda_.top().due - now()).count()) / speed_;
    return Micros(static_cast<std::int64_t>(std::ceil(std::max(left, 0.0))));
}

void Clock::clear() {
    agenda_ = {};
}

namespace {

std::string written(Time time, char between, bool micros, const char* end) {
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss<Micros> clock(time - day);
    char text[64];
    int length = std::snprintf(
        text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d", static_cast<int>(date.year()),
        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), between,
        static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
        static_cast<int>(clock.seconds().count()));
    std::string out(text, static_cast<std::size_t>(length));
    if (micros) {
        length =
            std::snprintf(text, sizeof text, ".%06d", static_cast<int>(clock.subseconds().count()));
        out.append(text, static_cast<std::size_t>(length));
    }
    return out + end;
}

}  // namespace

std::string iso_z(Time time) {
    return written(time, 'T', false, "Z");
}

std::string iso_micro(Time time) {
    return written(time, 'T', true, "");
}

std::string spaced_micro(Time time) {
    return written(time, ' ', true, "");
}

std::optional<Time> parse_iso_z(const std::string& text) {
    using namespace std::chrono;
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, end = 0;
    const int got =
        std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &y, &mo, &d, &h, &mi, &s, &end);
    if (got != 6 || static_cast<std::size_t>(end) != text.size()) return std::nullopt;
    const year_month_day date{year(y), month(static_cast<unsigned>(mo)),
                              day(static_cast<unsigned>(d))};
    if (!date.ok() || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 60) return std::nullopt;
    return Time(sys_days(date)) + hours(h) + minutes(mi) + seconds(s);
}

Time to_seconds(Time time) {
    return Time(std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace reaper::cloudsim
