// Assembles what Nova, Placement and Keystone report to one view of the cloud. Pure.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/records.hpp"
#include "tagging/taggers.hpp"

namespace reaper {

/// A snapshot, with what Keystone answered to the taggers' questions.
struct CloudView {
    Snapshot snapshot;
    TagData tag_data;
    /// What shows that Nova has several cells (cells_seen.hpp); empty: nothing does.
    std::string several_cells{};
};

/// One reading of the APIs.
struct CloudRecords {
    std::vector<ProviderRecord> providers;
    std::map<ProviderId, ProviderState> states;  ///< one for each provider that was read
    std::vector<HypervisorRecord> hypervisors;
    std::vector<ComputeServiceRecord> services;
    std::vector<AggregateRecord> aggregates;
    std::vector<ServerRecord> servers;
    HostNumbers numbers;
};

/// Puts the records together. A host is a root provider with a hypervisor of the same UUID; the
/// service of its `host` says whether it is up. Servers belong to the host that Nova names, and
/// hold what Placement says, on any provider. Hosts come sorted by name, then id; servers and
/// nested providers by id. What does not match (a provider without a hypervisor, a server on an
/// unknown host, ...) is left out where it can't be used safely, and reported in the remarks. It is
/// never an error. The order of the records does not matter.
Snapshot assemble(const CloudRecords& records, const Taggers& taggers, const TagData& tag_data,
                  TimePoint taken_at);

/// The classes that the taggers go by (Tagger::marker_class).
std::set<ResourceClass> revocable_classes(const Taggers& taggers);

}  // namespace reaper
