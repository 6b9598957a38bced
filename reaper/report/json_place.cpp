#include "reaper/report/json_place.hpp"

#include <cmath>

#include "reaper/model/text.hpp"
#include "reaper/report/time_text.hpp"

namespace reaper::report {

std::string JsonPlace::path() const {
    if (from_ == nullptr) return root_;
    const std::string before = from_->path();
    if (index_) return before + "[" + std::to_string(*index_) + "]";
    return (before.empty() ? before : before + ".") + printable(name_, 100);
}

void JsonPlace::fail(const std::string& why) const {
    const std::string where = path();
    throw WrongPlace{where.empty() ? why : where + ": " + why};
}

void JsonPlace::expected(const char* what) const {
    fail(std::string("expected ") + what + ", found " + value_->type_name());
}

JsonPlace JsonPlace::at(std::string_view name) const {
    if (!value_->is_object()) expected("an object");
    const auto found = value_->find(std::string(name));
    if (found == value_->end()) {
        const std::string where = path();
        throw WrongPlace{(where.empty() ? where : where + ".") + std::string(name) + ": missing"};
    }
    return {*found, this, name};
}

const std::string& JsonPlace::text() const {
    if (!value_->is_string()) expected("a text");
    return value_->get_ref<const std::string&>();
}

const std::string& JsonPlace::id() const {
    const std::string& found = text();
    if (found.empty()) fail("is empty");
    return found;
}

bool JsonPlace::boolean() const {
    if (!value_->is_boolean()) expected("true or false");
    return value_->get<bool>();
}

std::int64_t JsonPlace::integer(std::int64_t low, std::int64_t high) const {
    if (!value_->is_number_integer()) expected("a whole number");
    const bool huge = value_->is_number_unsigned() &&
                      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
    const std::int64_t found = huge ? INT64_MAX : value_->get<std::int64_t>();
    if (huge || found < low || found > high)
        fail(value_->dump() + " is not in the range from " + std::to_string(low) + " to " +
             std::to_string(high));
    return found;
}

double JsonPlace::number() const {
    if (!value_->is_number()) expected("a number");
    return value_->get<double>();
}

TimePoint JsonPlace::time() const {
    const auto found = time_from_iso(text());
    if (!found)
        fail("expected a time like 2024-05-01T12:00:00.000Z, found '" + printable(text(), 50) +
             "'");
    return *found;
}

std::optional<TimePoint> JsonPlace::time_or_null() const {
    return is_null() ? std::nullopt : std::optional(time());
}

Resources JsonPlace::resources() const {
    Resources all;
    each_member([&](const std::string& resource_class, const JsonPlace& amount) {
        all.set(ResourceClass{resource_class}, amount.integer());
    });
    return all;
}

}  // namespace reaper::report
