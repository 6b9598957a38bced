// What `reaper setup` makes in Nova and Placement. The daemon never uses these ports.
#pragma once

#include <map>
#include <string>

#include "reaper/model/flavor.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

// Port: the flavors that `reaper setup` makes in Nova. The daemon never uses it.

/// A missing right is `forbidden`, and the error names the policy.
class FlavorSetup {
public:
    virtual ~FlavorSetup() = default;
    /// A public flavor without extra specs; its id. `conflict` if there is one of that name.
    virtual ResultTask<std::string> create_flavor(Flavor wanted) = 0;
    /// Others that the flavor has stay. May be asked for again.
    virtual ResultTask<void> set_extra_specs(std::string id,
                                             std::map<std::string, std::string> specs) = 0;
    /// Servers that have it keep what they are. What is gone already is no error.
    virtual ResultTask<void> remove_flavor(std::string id) = 0;
};

// Port: what `reaper setup` changes in Placement. The daemon never uses it.

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
