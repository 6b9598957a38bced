// Consumers that keep room in Placement. The id of one that keeps a deleted server's room shows
// whose: it is the server's, but a UUID of version 8 (RFC 9562: defined by its user) where
// Nova's are of version 4. One that keeps room that was free already is named after its request
// and host in the same way. So no list of them is needed to find them again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reaper/model/ids.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

namespace escrow_consumer {

/// Of `xxxxxxxx-xxxx-Vxxx-xxxx-xxxxxxxxxxxx`.
inline constexpr std::size_t version_at = 14;
inline constexpr std::size_t length = 36;
inline constexpr std::size_t last_digits = 12;

inline std::optional<ServerId> with_version(const ServerId& id, char from, char to) {
    std::string text = id.str();
    if (text.size() != length || text[version_at] != from) return std::nullopt;
    text[version_at] = to;
    return ServerId{std::move(text)};
}

}  // namespace escrow_consumer

inline constexpr const char* escrow_consumer_type = "RESERVATION";
/// The project of all of them, and the user of those that no server had: Placement takes any text.
inline constexpr const char* escrow_project = "openstack-reaper";

/// With nothing held by it.
inline ConsumerChange emptied(ServerId id, Consumer consumer) {
    consumer.holds.clear();
    return {std::move(id), std::move(consumer)};
}

/// None if the server's id is none of Nova's.
inline std::optional<ServerId> escrow_consumer_of(const ServerId& server) {
    return escrow_consumer::with_version(server, '4', '8');
}

/// Whose room it keeps; none if it is no such consumer.
inline std::optional<ServerId> kept_of(const ServerId& consumer) {
    return escrow_consumer::with_version(consumer, '8', '4');
}

/// Stands for the server whose room a request finds free on a host; none if the ids are no UUIDs.
inline std::optional<ServerId> stand_in_on(const RequestId& request, const HostId& host) {
    constexpr std::string_view before = "req-";
    constexpr std::string_view digits = "0123456789abcdef";
    const std::string_view asked = request.str();
    std::string id = host.str();
    if (!asked.starts_with(before) || asked.size() < before.size() + escrow_consumer::length ||
        id.size() != escrow_consumer::length)
        return std::nullopt;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const auto one = digits.find(id[i]);
        const auto other = digits.find(asked[before.size() + i]);
        const bool both = one != digits.npos && other != digits.npos;
        if (!both && (id[i] != '-' || asked[before.size() + i] != '-')) return std::nullopt;
        if (both) id[i] = digits[one ^ other];
    }
    id[escrow_consumer::version_at] = '4';
    // A further request of the same API call (`req-UUID~2`) has its own.
    const std::string_view rest = asked.substr(before.size() + escrow_consumer::length);
    for (std::size_t i = 0; i < rest.size(); ++i) {
        char& digit = id[escrow_consumer::length - 1 - i % escrow_consumer::last_digits];
        digit = digits[digits.find(digit) ^ (static_cast<std::size_t>(rest[i]) & 0xf)];
    }
    return ServerId{std::move(id)};
}

}  // namespace reaper
