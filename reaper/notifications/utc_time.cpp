#include "reaper/notifications/utc_time.hpp"

namespace reaper::amqp {
namespace {

/// Takes pieces off the front of a text; after the first mismatch everything fails.
class TimeScanner {
public:
    explicit TimeScanner(std::string_view text) : rest_(text) {}

    bool ok() const { return ok_; }
    bool at_end() const { return rest_.empty(); }

    /// Exactly `digits` decimal digits, with a value in [low, high].
    int number(int digits, int low, int high) {
        int value = 0;
        for (int i = 0; i < digits; ++i) value = value * 10 + digit();
        ok_ = ok_ && value >= low && value <= high;
        return value;
    }
    void one_of(std::string_view choices) {
        ok_ = ok_ && !rest_.empty() && choices.find(rest_.front()) != std::string_view::npos;
        if (ok_) rest_.remove_prefix(1);
    }
    bool skip(char c) {
        if (!ok_ || rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool digit_next() const {
        return !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
    }
    int digit() {
        ok_ = ok_ && digit_next();
        if (!ok_) return 0;
        const int value = rest_.front() - '0';
        rest_.remove_prefix(1);
        return value;
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

/// `.426801` or nothing, as milliseconds.
std::chrono::milliseconds fraction(TimeScanner& in) {
    if (!in.skip('.')) return {};
    int millis = 0;
    int digits = 0;
    do {
        const int value = in.digit();
        if (digits < 3) millis = millis * 10 + value;
        ++digits;
    } while (in.digit_next() && digits < 9);
    for (int i = digits; i < 3; ++i) millis *= 10;
    return std::chrono::milliseconds(millis);
}

/// `Z`, `+02:00` or nothing, as what must be taken off to get UTC.
std::chrono::minutes zone(TimeScanner& in) {
    if (in.at_end() || in.skip('Z')) return {};
    const bool west = in.skip('-');
    if (!west) in.one_of("+");
    const int hours = in.number(2, 0, 23);
    in.one_of(":");
    const int minutes = in.number(2, 0, 59);
    const auto offset = std::chrono::minutes(hours * 60 + minutes);
    return west ? -offset : offset;
}

}  // namespace

std::optional<TimePoint> parse_utc_time(std::string_view text) {
    TimeScanner in(text);
    const std::chrono::year year(in.number(4, 1970, 9999));
    in.one_of("-");
    const std::chrono::month month(static_cast<unsigned>(in.number(2, 1, 12)));
    in.one_of("-");
    const std::chrono::day day(static_cast<unsigned>(in.number(2, 1, 31)));
    in.one_of(" T");
    const std::chrono::hours hour(in.number(2, 0, 23));
    in.one_of(":");
    const std::chrono::minutes minute(in.number(2, 0, 59));
    in.one_of(":");
    const std::chrono::seconds second(in.number(2, 0, 59));
    const auto millis = fraction(in);
    const auto offset = zone(in);
    const std::chrono::year_month_day date{year, month, day};
    if (!in.ok() || !in.at_end() || !date.ok()) return std::nullopt;
    return std::chrono::sys_days(date) + hour + minute + second + millis - offset;
}

}  // namespace reaper::amqp
