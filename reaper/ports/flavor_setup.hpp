// Port: the flavors that `reaper setup` makes in Nova. The daemon never uses it.
#pragma once

#include <map>
#include <string>

#include "reaper/model/flavor.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

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

}  // namespace reaper
