// The last look at the victims of one cull: what Nova, Placement and Keystone say of them now.
#pragma once

#include <memory>
#include <optional>

#include "reaper/decision/policy.hpp"
#include "reaper/eviction/fresh_check.hpp"
#include "reaper/ports/cloud_ports.hpp"

namespace reaper {

/// A verdict, and when the first question that it rests on went out (steady).
struct RecheckResult {
    FreshVerdict verdict;
    Duration began{};
};

/// The ports must outlive it, and it its coroutines.
class Recheck {
public:
    Recheck(CloudPorts cloud, std::shared_ptr<const CompiledPolicy> policy);

    Task<Result<RecheckResult>> at(const Victim& victim);
    /// One that is fresh when it is there; Errc::timeout if the cloud is too slow for that.
    Task<Result<RecheckResult>> fresh_at(const Victim& victim);
    /// May a deletion still rest on it?
    bool is_fresh(const RecheckResult& look) const;

private:
    Task<Result<void>> refresh_tag_data();

    CloudPorts cloud_;
    std::shared_ptr<const CompiledPolicy> policy_;
    TagData tag_data_;
    std::optional<Duration> tag_data_at_;  ///< when they were read; steady
};

}  // namespace reaper
