// The lists that a cache is made of, one call (or one list of pages) each, and providers one by
// one.
#pragma once

#include <functional>
#include <vector>

#include "reaper/cloud_reader/cloud_reader.hpp"

namespace reaper {

/// What the lists reported; the states of providers are not among them.
struct CloudLists {
    CloudRecords records;
    TagData tag_data;
    std::vector<ServerRecord> soft_deleted;  ///< not among the records' servers
};

/// All lists at once, or the first failure. `servers_read` may be empty.
ResultTask<CloudLists> read_lists(CloudPorts ports, UnfinishedDeletions& unfinished,
                                  TaggerInputs tagger_inputs, Compute::Progress servers_read);

/// States of the providers, as many at a time as the clients allow; one that is gone meanwhile is
/// left out. `progress` (may be empty) receives the providers read and their number.
ResultTask<std::map<ProviderId, ProviderState>> read_providers(
    CloudPorts ports, std::vector<ProviderId> ids,
    std::function<void(std::size_t, std::size_t)> progress);

}  // namespace reaper
