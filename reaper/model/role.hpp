// Roles: the projects that room is reserved for. A role is a path, `engineering/backend`; what is
// reserved for a role is open to all below it.
//
// Source: Mesos' roles and hierarchical roles, with their rules for names.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "reaper/model/error.hpp"

namespace reaper {

class Role {
public:
    static constexpr std::size_t max_length = 200;

    /// The empty role belongs to no project.
    Role() = default;
    /// `bad_input`: a path of names of letters, digits, `_`, `.` and `-`, none of which is `.` or
    /// `..` or begins with `-`; at most `max_length` bytes.
    static Result<Role> parse(std::string_view text);

    const std::string& str() const noexcept { return path_; }
    bool empty() const noexcept { return path_.empty(); }
    /// Names in the path.
    std::size_t depth() const;
    /// The role above; none at the top.
    std::optional<Role> parent() const;
    /// Is the other one below this one?
    bool is_above(const Role& other) const;
    /// Is what is reserved for this role open to the other one, which is the same or below?
    bool is_open_to(const Role& other) const { return *this == other || is_above(other); }

    friend auto operator<=>(const Role&, const Role&) = default;
    friend bool operator==(const Role&, const Role&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Role& role) {
        return out << role.path_;
    }

private:
    std::string path_;
};

}  // namespace reaper
