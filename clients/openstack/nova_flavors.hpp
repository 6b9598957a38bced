// Nova's list of flavors. Internal to clients/openstack.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "clients/openstack/service.hpp"
#include "reaper/model/flavor.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::openstack {

/// All flavors by id, all pages; those that are not public too, where we may see them.
ResultTask<std::map<std::string, Flavor>> list_flavors(std::shared_ptr<Service> nova);

}  // namespace reaper::openstack
