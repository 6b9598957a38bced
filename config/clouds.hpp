// Credentials the way OpenStack users have them: clouds.yaml with secure.yaml, or OS_* variables.
//
// Searched as OpenStack's own tools do: the file that OS_CLIENT_CONFIG_FILE names, then clouds.yaml
// (or .yml, .json) in the working directory, ~/.config/openstack, /etc/openstack; the first one
// counts. secure.yaml is searched in the same places (OS_CLIENT_SECURE_FILE first) and laid over
// it; so is clouds-public.yaml, of which the `profile` that a cloud names lies below it.
#pragma once

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// Fills what the main file leaves open from the source that the draft names, and checks the
/// credentials, wherever they came from.
void resolve_credentials(const Environment& environment, Draft& draft, Findings& findings);

}  // namespace reaper::config
