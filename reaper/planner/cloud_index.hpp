// The planner's own picture of the cloud: every host once, kept from one decision to the next, so
// that a decision reads what changed and not the whole cloud.
//
// It points to the hosts and owns none: each must live, at its address and unchanged, until it is
// put again or erased. One thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "reaper/model/cloud.hpp"

namespace reaper {

class CloudIndex {
public:
    CloudIndex() = default;
    /// All hosts of the snapshot, which must outlive the index.
    explicit CloudIndex(const Snapshot& snapshot);

    /// A new host, or one that changed (its name too).
    void put(const Host& host);
    /// Nothing happens if it is not there.
    void erase(const HostId& host);
    void clear();

    std::size_t size() const noexcept { return hosts_.size(); }
    bool empty() const noexcept { return hosts_.empty(); }
    /// None if it is not there.
    const Host* find(const HostId& host) const;

    /// Name and id: the order in which hosts are compared and shown.
    using Key = std::pair<std::string, HostId>;
    const std::map<Key, const Host*>& hosts() const noexcept { return hosts_; }

private:
    std::map<Key, const Host*> hosts_;
    std::map<HostId, std::map<Key, const Host*>::iterator> by_id_;
};

}  // namespace reaper
