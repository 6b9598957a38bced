// Room as bulk answers report it: Placement's summaries give capacity and use of each provider in
// one call for thousands of hosts, but neither unit limits nor the consumers; what a server holds
// is estimated from its flavor. Such hosts are marked `estimated`. Pure.
#pragma once

#include <map>
#include <vector>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"

namespace reaper {

/// The consumer under which an estimated provider keeps what is used beyond its servers' estimates
/// (less than nothing where they are too high), so that its use is always as Placement reported.
extern const ServerId unread_consumers;

/// What is used of each provider and not accounted for yet.
using Unexplained = std::map<ProviderId, Resources>;

/// What a server of that flavor takes, and from which providers of the tree: each class, and all of
/// each granular group, from the root if it offers it, else from the first one that does; those
/// come first of which as much is used, where that is known. Nothing if the flavor can't be
/// understood.
Allocations estimate_allocations(const ServerRecord& record, const std::vector<Provider>& tree,
                                 const Unexplained* unexplained = nullptr);

/// Fills `records.states` for every summary whose tree has one hypervisor of its own service.
/// Returns the hosts that can only be read exactly: no summary covers their root (Placement leaves
/// full ones out), or one service runs several hypervisors.
std::vector<HostId> estimate_states(CloudRecords& records,
                                    const std::vector<ProviderSummary>& summaries);

}  // namespace reaper
