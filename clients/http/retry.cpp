#include "clients/http/retry.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace reaper::http {

namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0)
        return std::nullopt;
    return value;
}

}  // namespace

std::optional<TimePoint> http_date(std::string_view text) {
    static constexpr std::array<std::string_view, 12> months{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT")
        return std::nullopt;
    const auto* const month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const auto day = number(text.substr(5, 2));
    const auto year = number(text.substr(12, 4));
    const auto hour = number(text.substr(17, 2));
    const auto minute = number(text.substr(20, 2));
    const auto second = number(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(*year),
        std::chrono::month(static_cast<unsigned>(month - months.begin()) + 1),
        std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return TimePoint(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
           std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

bool is_repeatable(const Request& request) {
    if (request.repeat != Repeat::by_method) return request.repeat == Repeat::safe;
    return request.method == Method::get || request.method == Method::head;
}

bool is_retryable(const Request& request, int status) {
    if (!is_repeatable(request)) return false;
    if (status == 500) return request.method == Method::get || request.method == Method::head;
    return status == 429 || status == 502 || status == 503 || status == 504;
}

Duration backoff_pause(Duration base, Duration limit, int retry, double random) {
    const double grown = static_cast<double>(base.count()) * std::pow(2.0, std::max(0, retry - 1));
    const double most = std::min(grown, static_cast<double>(limit.count()));
    return Duration(static_cast<Duration::rep>(most * std::clamp(random, 0.0, 1.0)));
}

std::optional<Duration> retry_after(std::string_view value, TimePoint now) {
    if (const auto seconds = number(value)) return std::chrono::seconds(*seconds);
    if (const auto date = http_date(value)) return std::max(Duration(0), *date - now);
    return std::nullopt;
}

}  // namespace reaper::http
