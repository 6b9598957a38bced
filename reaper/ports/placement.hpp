// Port: Placement, in the domain's words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/ports/task.hpp"

namespace reaper {

struct ProviderRecord {
    ProviderId id;
    std::string name;
    ProviderId parent;  ///< empty for a root
    ProviderId root;
};

/// One provider, read now.
struct ProviderState {
    std::map<ResourceClass, Inventory> inventories;
    std::set<Trait> traits;
    /// By consumer: servers, but also migrations and whatever else holds room.
    std::map<ServerId, Resources> allocations;
};

class Placement {
public:
    virtual ~Placement() = default;
    virtual ResultTask<std::vector<ProviderRecord>> providers() = 0;
    /// Inventories, traits and allocations of one provider; `not_found` if it is gone.
    virtual ResultTask<ProviderState> provider(ProviderId id) = 0;
    /// What one consumer holds, on all providers; empty if nothing.
    virtual ResultTask<Allocations> allocations(ServerId consumer) = 0;
};

}  // namespace reaper
