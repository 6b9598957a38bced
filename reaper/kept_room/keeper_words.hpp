// Words and steps that all of KeptRooms uses.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "reaper/model/records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper::keeper_words {

/// Of one write.
inline constexpr Duration call_deadline{5'000};
inline constexpr const char* keeper_type = "RESERVATION";
/// The project of all keepers, and the user of those that no server had: Placement takes any text.
inline constexpr const char* own_name = "openstack-reaper";

inline std::string name_of(const ServerId& server) {
    return printable(server.str(), 64);
}

/// Has Nova let it go? It counts as gone from when Nova shows it as DELETED: its host gives its
/// CPUs and devices free next, before it takes another server.
inline bool is_gone(const std::optional<ServerRecord>& record) {
    return !record;
}

/// It is to hold nothing any more.
inline ConsumerChange emptied(ServerId id, Consumer consumer) {
    consumer.holds.clear();
    return {std::move(id), std::move(consumer)};
}

}  // namespace reaper::keeper_words
