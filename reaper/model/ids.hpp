// Identifiers as types of their own, so that a project can't be passed for a server.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "reaper/model/shared.hpp"

namespace reaper {

/// A name or UUID of one kind of thing. Empty means "none". Ordered and hashable by its text.
template <class Tag>
class Id {
public:
    Id() = default;
    explicit Id(std::string text) : text_(std::move(text)) {}

    /// Shares the text.
    static Id of(SharedText text) {
        Id id;
        id.text_ = std::move(text);
        return id;
    }

    const std::string& str() const noexcept { return text_.str(); }
    const SharedText& text() const noexcept { return text_; }
    bool empty() const noexcept { return text_.empty(); }

    friend auto operator<=>(const Id&, const Id&) = default;
    friend bool operator==(const Id&, const Id&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Id& id) { return out << id.text_; }

private:
    SharedText text_;
};

using ServerId = Id<struct ServerTag>;      ///< Nova's server UUID; also the consumer in Placement
using ProjectId = Id<struct ProjectTag>;    ///< Keystone's project id
using ProviderId = Id<struct ProviderTag>;  ///< Placement's resource provider UUID
using HostId = ProviderId;                  ///< a host is named by its root provider
using RequestId = Id<struct RequestTag>;    ///< Nova's `req-...`, or one that the reaper made
using ResourceClass = Id<struct ClassTag>;  ///< `VCPU`, `MEMORY_MB`, `CUSTOM_...`
using ReservationId = Id<struct ReservationTag>;  ///< a UUID; also the consumer in Placement
using Trait = Id<struct TraitTag>;                ///< `COMPUTE_...`, `CUSTOM_...`

}  // namespace reaper

template <class Tag>
struct std::hash<reaper::Id<Tag>> {
    std::size_t operator()(const reaper::Id<Tag>& id) const noexcept {
        return std::hash<std::string>{}(id.str());
    }
};
