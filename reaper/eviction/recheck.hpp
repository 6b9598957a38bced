// The last look at the victims of one cull: what Nova, Placement and Keystone say of them now.
#pragma once

#include <memory>
#include <optional>

#include "reaper/eviction/fresh_check.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/cloud_reader/snapshot_reader.hpp"

namespace reaper {

/// A verdict, and when the first question that it rests on went out (steady).
struct Look {
    FreshVerdict verdict;
    Duration began{};
};

/// The ports must outlive it, and it its coroutines.
class LastLook {
public:
    LastLook(CloudPorts cloud, std::shared_ptr<const CompiledPolicy> policy);

    Task<Result<Look>> at(const Victim& victim);
    /// One that is fresh when it is there; Errc::timeout if the cloud is too slow for that.
    Task<Result<Look>> fresh_at(const Victim& victim);
    /// May a deletion still rest on it?
    bool is_fresh(const Look& look) const;

private:
    Task<Result<void>> read_facts();

    CloudPorts cloud_;
    std::shared_ptr<const CompiledPolicy> policy_;
    TagFacts facts_;
    std::optional<Duration> facts_at_;  ///< when they were read; steady
};

}  // namespace reaper
