// Nova's list of flavors. Internal to clients/openstack.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "clients/openstack/service.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper::openstack {

/// Names of all flavors, all pages; those that are not public too, where we may see them.
ResultTask<std::set<std::string>> list_flavor_names(std::shared_ptr<Service> nova);

}  // namespace reaper::openstack
