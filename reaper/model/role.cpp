#include "reaper/model/role.hpp"

#include <algorithm>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

bool is_allowed(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
}

bool is_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.front() != '-' &&
           std::ranges::all_of(name, is_allowed);
}

}  // namespace

Result<Role> Role::parse(std::string_view text) {
    const auto wrong = [&](const std::string& why) {
        return Error{Errc::bad_input, "role " + in_quotes(text) + ": " + why};
    };
    if (text.size() > max_length)
        return wrong("longer than " + std::to_string(max_length) + " bytes");
    std::string_view rest = text;
    while (true) {
        const auto slash = rest.find('/');
        if (!is_name(rest.substr(0, slash)))
            return wrong(
                "expected a path of names of letters, digits, _, . and - (example: "
                "engineering/backend)");
        if (slash == rest.npos) break;
        rest.remove_prefix(slash + 1);
    }
    Role role;
    role.path_ = text;
    return role;
}

std::size_t Role::depth() const {
    if (path_.empty()) return 0;
    return 1 + static_cast<std::size_t>(std::ranges::count(path_, '/'));
}

std::optional<Role> Role::parent() const {
    const auto slash = path_.rfind('/');
    if (slash == path_.npos) return std::nullopt;
    Role above;
    above.path_ = path_.substr(0, slash);
    return above;
}

bool Role::is_above(const Role& other) const {
    return !path_.empty() && other.path_.size() > path_.size() && other.path_.starts_with(path_) &&
           other.path_[path_.size()] == '/';
}

}  // namespace reaper
