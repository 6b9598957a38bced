// Reads JSON that people or other programs wrote: whatever is wrong is named by its place, such as
// `hosts[3].servers[17].created`. Internal to reaper/report; `WrongPlace` never leaves it.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper::report {

/// `hosts[3].name: expected a text, found null`.
struct WrongPlace {
    std::string what;
};

/// A value and how it was reached. The path is put together only when something is wrong. Refers to
/// the document and to the place that it came from; both must outlive it.
class JsonPlace {
public:
    JsonPlace(const nlohmann::json& value, std::string root) : value_(&value), root_(root) {}

    const nlohmann::json& value() const { return *value_; }
    std::string path() const;
    [[noreturn]] void fail(const std::string& why) const;

    /// The member; fails if this is no object or has no such member.
    JsonPlace at(std::string_view name) const;
    /// Is it an object with such a member?
    bool has(std::string_view name) const { return value_->contains(std::string(name)); }
    /// `visit(name, place)` for each member.
    template <class Visit>
    void each_member(Visit visit) const {
        if (!value_->is_object()) expected("an object");
        for (auto member = value_->begin(); member != value_->end(); ++member)
            visit(member.key(), JsonPlace(member.value(), this, member.key()));
    }
    /// `visit(place)` for each element.
    template <class Visit>
    void each(Visit visit) const {
        if (!value_->is_array()) expected("a list");
        std::size_t index = 0;
        for (const auto& element : *value_) {
            JsonPlace place(element, this, {});
            place.index_ = index++;
            visit(place);
        }
    }

    bool is_null() const { return value_->is_null(); }
    const std::string& text() const;
    /// A text that is not empty.
    const std::string& id() const;
    bool boolean() const;
    std::int64_t integer(std::int64_t low = 0,
                         std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;
    double number() const;
    TimePoint time() const;
    std::optional<TimePoint> time_or_null() const;
    /// Class to amount, none negative.
    Resources resources() const;

private:
    JsonPlace(const nlohmann::json& value, const JsonPlace* from, std::string_view name)
        : value_(&value), from_(from), name_(name) {}
    [[noreturn]] void expected(const char* what) const;

    const nlohmann::json* value_;
    const JsonPlace* from_ = nullptr;
    std::string_view name_;
    std::optional<std::size_t> index_;
    std::string root_;
};

}  // namespace reaper::report
