// The nested providers with oversubscribed room, as exactly as they are known: as the cache has
// them, or as they were read or written by themselves since. Bulk answers do not tell what of an
// inventory is reserved, or that it is closed; such a host's provider is read by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/cloud_reader/cache_refresher.hpp"

namespace reaper {

struct NestedRoom {
    ProviderId provider;  ///< empty: there is none
    std::optional<Inventory> inventory{};
    Amount used = 0;
};

/// The ports and the refresher must outlive it.
class NestedRooms {
public:
    NestedRooms(CloudPorts cloud, const CacheRefresher& refresher)
        : cloud_(cloud), refresher_(refresher) {}

    /// None: it has to be read.
    std::optional<NestedRoom> of(const Host& host, const ResourceClass& room_class) const;
    /// Reads all that have to be; what can't be read, and why.
    Task<std::map<HostId, std::string>> read(ResourceClass room_class);
    /// It is so now. No provider: the one that the cache has is gone.
    void note(const HostId& host, NestedRoom room);
    /// The cache has providers that are gone, or has not all of them: a bulk reading is wanted.
    bool differ_from_cache() const;
    /// Those of hosts that the cache has no more.
    void prune();
    void clear() { exact_.clear(); }
    void shift(Duration by);

private:
    struct Exact {
        NestedRoom room;
        TimePoint at{};
        std::uint64_t build = 0;  ///< of the cache's bulk readings, which alone tell of providers
        bool differs = false;     ///< the cache has not this provider, or has one that is gone
    };
    Task<void> read_one(HostId id, ResourceClass room_class, std::map<HostId, std::string>& failed);

    CloudPorts cloud_;
    const CacheRefresher& refresher_;
    std::map<HostId, Exact> exact_;
};

}  // namespace reaper
