// For the table of keys: where values go, and bounds that several sections have.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "config/keys.hpp"

namespace reaper::config {

/// The member of Settings at the end of a path of members.
template <auto... Path>
auto& member(Draft& draft) {
    return (draft.settings.*....*Path);
}

/// A member of the draft itself.
template <auto Member>
auto& own_member(Draft& draft) {
    return draft.*Member;
}

template <auto... Path>
Target at() {
    return Target{&member<Path...>};
}

template <auto Member>
Target draft_at() {
    return Target{&own_member<Member>};
}

inline const std::vector<std::string_view> http_urls{"http", "https"};

constexpr auto longest_wait = std::chrono::hours{1};

}  // namespace reaper::config
