// Port: Placement, in the domain's words.
#pragma once

#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/records.hpp"
#include "reaper/ports/task.hpp"

namespace reaper {

class Placement {
public:
    virtual ~Placement() = default;
    virtual ResultTask<std::vector<ProviderRecord>> providers() = 0;
    /// Capacity, use and traits of every provider of each tree that has at least one unit of the
    /// class left, in one answer; full trees are left out.
    virtual ResultTask<std::vector<ProviderSummary>> summaries(ResourceClass resource_class) = 0;
    /// Inventories and allocations of one provider, without its traits; `not_found` if it is gone.
    virtual ResultTask<ProviderState> room(ProviderId id) = 0;
    /// Inventories, traits and allocations of one provider; `not_found` if it is gone.
    virtual ResultTask<ProviderState> provider(ProviderId id) = 0;
    /// What one consumer holds, on all providers; empty if nothing.
    virtual ResultTask<Allocations> allocations(ServerId consumer) = 0;
};

}  // namespace reaper
