#include "reaper/planner/cloud_index.hpp"

namespace reaper {

CloudIndex::CloudIndex(const Snapshot& snapshot) {
    for (const auto& host : snapshot.hosts) put(host);
}

void CloudIndex::put(const Host& host) {
    erase(host.id);
    const auto at = hosts_.insert_or_assign(Key{host.name, host.id}, &host).first;
    by_id_.emplace(host.id, at);
}

void CloudIndex::erase(const HostId& host) {
    const auto at = by_id_.find(host);
    if (at == by_id_.end()) return;
    hosts_.erase(at->second);
    by_id_.erase(at);
}

void CloudIndex::clear() {
    hosts_.clear();
    by_id_.clear();
}

const Host* CloudIndex::find(const HostId& host) const {
    const auto at = by_id_.find(host);
    return at == by_id_.end() ? nullptr : at->second->second;
}

}  // namespace reaper
