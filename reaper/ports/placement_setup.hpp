// Port: what `reaper setup` changes in Placement. The daemon never uses it.
#pragma once

#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// Each change is one that may be asked for again: what is done already is not done twice. A
/// missing right is `forbidden`, and the error names the policy.
class PlacementSetup {
public:
    virtual ~PlacementSetup() = default;
    virtual ResultTask<bool> has_class(ResourceClass name) = 0;
    virtual ResultTask<void> create_class(ResourceClass name) = 0;
    /// `conflict` while some provider has an inventory of it.
    virtual ResultTask<void> remove_class(ResourceClass name) = 0;
    /// A nested provider. `conflict` if there is one of that name.
    virtual ResultTask<ProviderId> create_provider(std::string name, ProviderId parent) = 0;
    /// A provider that has none above it, of that id. `conflict` if the name or the id is
    /// another's.
    virtual ResultTask<void> create_root(std::string name, ProviderId id) = 0;
    /// `conflict` while a consumer holds something there.
    virtual ResultTask<void> remove_provider(ProviderId provider) = 0;
    /// Makes the inventory, or changes its total; `reserved` is at most that afterwards, all else
    /// stays. Repeated a bounded number of times when the provider is changed at the same time.
    virtual ResultTask<void> set_total(ProviderId provider, ResourceClass name, Amount total) = 0;
};

}  // namespace reaper
