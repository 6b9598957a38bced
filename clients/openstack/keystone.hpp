// Keystone as the Identity port.
#pragma once

#include <memory>

#include "clients/openstack/session.hpp"
#include "reaper/ports/identity.hpp"

namespace reaper::openstack {

std::unique_ptr<Identity> make_identity(std::shared_ptr<Session> session);

/// Address and version of Keystone's API.
ResultTask<EndpointInfo> keystone_info(std::shared_ptr<Session> session);

}  // namespace reaper::openstack
