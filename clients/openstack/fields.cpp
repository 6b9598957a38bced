#include "clients/openstack/fields.hpp"

#include <chrono>

#include "clients/http/text.hpp"

namespace reaper::openstack {

namespace {

/// The number of exactly `count` digits at `at`; -1 if they are not all digits.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    int value = 0;
    for (const char c : text.substr(at, count)) {
        if (c < '0' || c > '9') return -1;
        value = value * 10 + (c - '0');
    }
    return value;
}

/// Milliseconds of `.123456` (1 to 9 digits); -1 if it is something else.
int fraction(std::string_view text) {
    if (text.size() < 2 || text.size() > 10 || text.front() != '.') return -1;
    int milliseconds = 0;
    int weight = 100;
    for (const char c : text.substr(1)) {
        if (c < '0' || c > '9') return -1;
        milliseconds += (c - '0') * weight;
        weight /= 10;
    }
    return milliseconds;
}

}  // namespace

bool parse_time(std::string_view text, TimePoint& time) {
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
        text[13] != ':' || text[16] != ':')
        return false;
    const int year = digits(text, 0, 4);
    const int month = digits(text, 5, 2);
    const int day = digits(text, 8, 2);
    const int hour = digits(text, 11, 2);
    const int minute = digits(text, 14, 2);
    const int second = digits(text, 17, 2);
    if (year < 0 || month < 0 || day < 0 || hour < 0 || minute < 0 || second < 0) return false;
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok() || hour > 23 || minute > 59 || second > 59) return false;
    std::string_view rest = text.substr(19);
    if (!rest.empty() && rest.back() == 'Z') rest.remove_suffix(1);
    const int milliseconds = rest.empty() ? 0 : fraction(rest);
    if (milliseconds < 0) return false;
    time = TimePoint(std::chrono::sys_days(date)) + std::chrono::hours(hour) +
           std::chrono::minutes(minute) + std::chrono::seconds(second) +
           std::chrono::milliseconds(milliseconds);
    return true;
}

nlohmann::json parse_json(std::string_view body) {
    nlohmann::json document = nlohmann::json::parse(body, nullptr, false);
    if (document.is_discarded())
        throw BadField("the answer is not JSON: \"" + http::one_line(body.substr(0, 200), 80) +
                       '"');
    return document;
}

std::string Field::path() const {
    if (above_ == nullptr) return {};
    const std::string before = above_->path();
    if (key_.data() == nullptr) return before + '[' + std::to_string(index_) + ']';
    const std::string name = http::one_line(key_, 60);
    return before.empty() ? name : before + '.' + name;
}

void Field::complain(const std::string& what, Errc code) const {
    const std::string name = path();
    throw BadField((name.empty() ? "the answer" : "field " + name) + ' ' + what, code);
}

void Field::expect(bool met, std::string_view kind) const {
    if (!met) complain("is not " + std::string(kind) + " but " + value_->type_name());
}

Field Field::operator[](std::string_view key) const {
    expect(value_->is_object(), "an object");
    const auto member = value_->find(key);
    if (member == value_->end()) Field(*value_, *this, key).complain("is missing");
    return {*member, *this, key};
}

bool Field::has(std::string_view key) const {
    expect(value_->is_object(), "an object");
    const auto member = value_->find(key);
    return member != value_->end() && !member->is_null();
}

std::string Field::text() const {
    expect(value_->is_string(), "a text");
    return value_->get<std::string>();
}

std::int64_t Field::integer() const {
    const bool fits = value_->is_number_integer() &&
                      (!value_->is_number_unsigned() ||
                       value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    expect(fits, "a whole number (64 bits)");
    return value_->get<std::int64_t>();
}

double Field::number() const {
    expect(value_->is_number(), "a number");
    return value_->get<double>();
}

bool Field::boolean() const {
    expect(value_->is_boolean(), "true or false");
    return value_->get<bool>();
}

TimePoint Field::time() const {
    const std::string written = text();
    TimePoint time;
    if (!parse_time(written, time))
        complain("is not a time such as 2026-11-20T13:12:30Z but \"" + http::one_line(written, 40) +
                 '"');
    return time;
}

std::string Field::text_or_empty(std::string_view key) const {
    return has(key) ? (*this)[key].text() : std::string();
}

bool Field::boolean_or(std::string_view key, bool otherwise) const {
    return has(key) ? (*this)[key].boolean() : otherwise;
}

std::map<std::string, std::string> Field::text_map() const {
    std::map<std::string, std::string> map;
    each_member(
        [&](const std::string& name, const Field& value) { map.emplace(name, value.text()); });
    return map;
}

std::set<std::string> Field::text_set() const {
    std::set<std::string> set;
    each([&](const Field& value) { set.insert(value.text()); });
    return set;
}

}  // namespace reaper::openstack
