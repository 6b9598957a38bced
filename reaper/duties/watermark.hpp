// Watermark: some room is kept free for any request. What must come free, and which servers go for
// it. Pure.
#pragma once

#include <set>
#include <vector>

#include "reaper/duties/settings.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper {

/// Of one class, on some hosts.
struct Usage {
    Amount used = 0;  ///< without what is being deleted
    Amount capacity = 0;

    /// More than these per cent.
    bool above(int percent) const { return used > at(percent); }
    Amount at(int percent) const {
        return capacity / 100 * percent + capacity % 100 * percent / 100;
    }
};

/// Only the room of such hosts is room.
inline bool takes_servers(const Host& host) {
    return host.enabled && host.up;
}

/// Of the hosts that take servers.
Usage usage_of(const ResourceClass& resource_class, const std::vector<const Host*>& hosts,
               const Ledger& ledger);

/// Of each class whose usage is above its high mark, or was and is not at its low mark yet (`over`,
/// which this keeps): what must come free until it is. Empty: all is well.
Resources excess_of(const std::vector<Mark>& marks, const std::vector<const Host*>& hosts,
                    const Ledger& ledger, std::set<ResourceClass>& over);

/// A revocable server that may go.
struct WatermarkCandidate {
    ServerId server;
    const Host* host = nullptr;
    TimePoint started{};
    Resources held;  ///< on that host
};

/// The newest go first, which lose the least work: until so much is free, or none is left that
/// helps. None of them could be left out.
std::vector<WatermarkCandidate> choose_for(const Resources& excess,
                                           std::vector<WatermarkCandidate> candidates);

}  // namespace reaper
