// The keys that OpenStack's own tools know in a cloud of clouds.yaml, and what becomes of each
// here.
//
// Source: openstacksdk's openstack/config: loader.py, cloud_region.py, schema.json and
// vendor-schema.json; keystoneauth's plugins `password` and `v3applicationcredential`.
#pragma once

#include <string>
#include <string_view>

namespace reaper::config {

enum class CloudKeyUse {
    read,     ///< by config/clouds.cpp, which refuses what it can't go by
    idle,     ///< it is of no matter to the reaper: how to upload images, which network is public
    unused,   ///< it would change how the cloud is asked, and does not here: it is reported
    unknown,  ///< to OpenStack's tools too, as far as is known here: it is reported
};

/// `name`: with `_` for `-`, of what is in `auth` as `auth.NAME`.
CloudKeyUse use_of_cloud_key(std::string_view name);

/// For messages: the key that was meant, or what is expected.
std::string meant_cloud_key(std::string_view name);

}  // namespace reaper::config
