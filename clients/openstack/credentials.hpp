// The checks and the wire form of the configured credentials. Pure.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "reaper/model/error.hpp"

namespace reaper::openstack {

/// `bad_input` if something that Keystone needs is not set. Never repeats a secret.
Result<void> check_credentials(const config::Credentials& credentials);

/// Keystone's version 3 root, without a slash at the end: `https://host:5000/v3`.
Result<std::string> keystone_root(const std::string& auth_url);

/// The body of `POST /v3/auth/tokens`. Holds the secret.
std::string auth_body(const config::Credentials& credentials);

/// `user "reaper" (domain Default)`, `application credential "..."`: for people.
std::string describe(const config::Credentials& credentials);

}  // namespace reaper::openstack
