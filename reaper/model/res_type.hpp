// The two kinds of room, and which of them a request will have.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "reaper/model/ids.hpp"

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

/// Traits of a host's root provider: the host has room of this kind alone, whatever it offers.
inline const Trait regular_trait{"CUSTOM_RES_TYPE_REGULAR"};
inline const Trait revocable_trait{"CUSTOM_RES_TYPE_REVOCABLE"};
/// What the traits of a root provider declare; none if they have neither, or both.
std::optional<ResType> declared_type(const std::set<Trait>& traits);

/// Of a class that is named `CUSTOM_REVOCABLE_X`, X: so many of it stand for so many of X
/// (oversubscribed room). Empty of any other, of which a revocable server takes one besides.
ResourceClass stands_for(const ResourceClass& revocable_class);

// Traits that OpenStack itself sets and that mean the same to every part.
// source: os-traits, compute/status.py

/// What Nova sets on the provider of a host whose compute service is disabled.
inline const Trait disabled_trait{"COMPUTE_STATUS_DISABLED"};

}  // namespace reaper
