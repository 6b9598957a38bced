// Reads the whole cloud: lists from Nova, Keystone and Placement, and the room of each host; or one
// host of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reaper/cloud/cache/assemble.hpp"
#include "reaper/cloud/cache/host_parts.hpp"
#include "reaper/cloud/reader/unfinished_deletions.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

/// The answers to the taggers' questions, from Keystone.
ResultTask<TagData> read_tag_data(CloudPorts ports, TaggerInputs tagger_inputs);

enum class CloudDepth {
    /// In few calls: the room of thousands of hosts from Placement's summaries, which makes them
    /// `estimated`. Only hosts that no summary covers (full in every class) are read one by one.
    bulk,
    /// Three calls for each resource provider, as many at a time as the clients allow.
    exact,
};

/// Gets what is being read, for people; may be empty.
using ProgressCallback = std::function<void(const std::string&)>;

/// The first failure is the answer: a view with holes is no view. `taggers` and `unfinished` must
/// live until the end.
ResultTask<CloudView> read_cloud(CloudPorts ports, UnfinishedDeletions& unfinished,
                                 const Taggers& taggers, CloudDepth depth, ProgressCallback tell);

/// Of the soft-deleted servers, those that a reaper deleted and that may be revocable, marked as
/// such; asks Nova about those that are not known yet. Of `going`, what is soft-deleted counts too.
ResultTask<std::vector<ServerRecord>> find_unfinished(UnfinishedDeletions& unfinished,
                                                      const Taggers& taggers,
                                                      const TagData& tag_data,
                                                      std::vector<ServerRecord> soft_deleted,
                                                      const std::vector<ServerRecord>& going);

/// How much of one host is read.
enum class HostDepth {
    room,       ///< of each provider, and compute service: the servers are known by events
    state,      ///< room of each provider, servers, compute service: before a deletion
    all,        ///< traits too: in the background
    placement,  ///< and Placement's aggregates: before a deletion for a request bound to them
};

/// One host, exactly: as the cache has it. `not_found` if a provider of it is gone.
ResultTask<HostReading> read_host(CloudPorts ports, HostId id, std::string service_host,
                                  std::vector<ProviderId> providers, HostDepth depth);

// The lists that a cache is made of, one call (or one list of pages) each, and providers one by
// one.

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
