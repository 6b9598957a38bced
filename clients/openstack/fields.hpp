// Reading the fields of a JSON answer, with the path of the field in every complaint. JSON's own
// exceptions and ours stop in `read_answer`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/error.hpp"
#include "reaper/model/time.hpp"

namespace reaper::openstack {

/// Thrown by Field, caught by `read_answer`: `servers[3].flavor.vcpus is missing`.
class BadField : public std::runtime_error {
public:
    explicit BadField(const std::string& what, Errc code = Errc::bad_answer)
        : std::runtime_error(what), code_(code) {}
    Errc code() const { return code_; }

private:
    Errc code_;
};

/// A place in an answer. Refers to the place above it, so it must not outlive that one.
class Field {
public:
    explicit Field(const nlohmann::json& value) : value_(&value) {}
    Field(const nlohmann::json& value, const Field& above, std::string_view key)
        : value_(&value), above_(&above), key_(key) {}
    Field(const nlohmann::json& value, const Field& above, std::size_t index)
        : value_(&value), above_(&above), index_(index) {}

    /// A member that must be there.
    Field operator[](std::string_view key) const;
    /// Is the member there, and not null?
    bool has(std::string_view key) const;

    std::string text() const;
    std::int64_t integer() const;
    double number() const;
    bool boolean() const;
    bool is_text() const { return value_->is_string(); }
    bool is_null() const { return value_->is_null(); }
    /// `2026-11-20T13:12:30Z`, with or without a fraction and the Z; in UTC.
    TimePoint time() const;

    /// Members that may be absent or null.
    std::string text_or_empty(std::string_view key) const;
    bool boolean_or(std::string_view key, bool otherwise) const;

    std::map<std::string, std::string> text_map() const;
    std::set<std::string> text_set() const;

    /// Calls `visit(Field)` for each element of a list.
    template <class Visit>
    void each(Visit visit) const {
        expect(value_->is_array(), "a list");
        for (std::size_t i = 0; i < value_->size(); ++i) visit(Field((*value_)[i], *this, i));
    }
    /// Calls `visit(name, Field)` for each member of an object.
    template <class Visit>
    void each_member(Visit visit) const {
        expect(value_->is_object(), "an object");
        for (const auto& [name, value] : value_->items()) visit(name, Field(value, *this, name));
    }

    std::string path() const;
    [[noreturn]] void complain(const std::string& what, Errc code = Errc::bad_answer) const;

private:
    void expect(bool met, std::string_view kind) const;

    const nlohmann::json* value_;
    const Field* above_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

/// `2026-11-20T13:12:30[.123456][Z]`; false for anything else.
bool parse_time(std::string_view text, TimePoint& time);

nlohmann::json parse_json(std::string_view body);

/// What `read(Field)` makes of the body. `where` names the answer in the error: `GET nova ...`.
template <class Read>
auto read_answer(std::string_view body, const std::string& where, Read read)
    -> Result<decltype(read(std::declval<Field>()))> {
    try {
        const nlohmann::json document = parse_json(body);
        const Field top(document);
        return read(top);
    } catch (const BadField& bad) {
        return Error{bad.code(), where + ": " + bad.what()};
    }
}

}  // namespace reaper::openstack
