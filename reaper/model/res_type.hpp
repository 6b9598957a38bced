// The two kinds of room, and which of them a request will have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace reaper {

/// Of a server, a request or room.
enum class ResType { regular, revocable };

std::string_view to_string(ResType type);
std::optional<ResType> res_type_from(std::string_view text);
/// The one that it is not.
ResType other_than(ResType type);

/// The kinds of room that a request admits, in the order in which they are tried: one or both.
struct Phases {
    ResType first = ResType::regular;
    bool both = false;  ///< the other kind comes second

    bool admits(ResType type) const noexcept { return both || type == first; }
    friend bool operator==(const Phases&, const Phases&) = default;
};

/// As a constraint is written: `regular`, `~regular`, `revocable`, `~revocable`.
std::string to_string(const Phases& phases);
/// The inverse, of these four words alone.
std::optional<Phases> phases_from(std::string_view text);

}  // namespace reaper
