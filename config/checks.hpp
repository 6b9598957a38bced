// Checks that concern several keys at once.
#pragma once

#include <string>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// Limits that contradict each other, certificates without keys, a queue that is not ours, ...
void check_settings(const Draft& draft, Findings& findings);

/// `small` must not be more than `large`; keys are paths.
void check_order(const std::string& small, milliseconds less, const std::string& large,
                 milliseconds more, Findings& findings);

/// Exactly one source of credentials is named.
void check_credential_source(const Draft& draft, Findings& findings);

/// Where credentials came from, for messages.
struct CredentialPlace {
    std::string file;
    int line = 0;
    std::string key;  ///< `cloud.auth`, `clouds.mycloud`, ...
};

/// Complete and unambiguous: a password with user and project, or an application credential. Fills
/// in the domain `default`, as OpenStack's own tools do.
void check_credentials(Credentials& credentials, const CredentialPlace& place, Findings& findings);

// Credentials the way OpenStack users have them: clouds.yaml with secure.yaml, or OS_* variables.
//
// Searched as OpenStack's own tools do: the file that OS_CLIENT_CONFIG_FILE names, then clouds.yaml
// (or .yml, .json) in the working directory, ~/.config/openstack, /etc/openstack; the first one
// counts. secure.yaml is searched in the same places (OS_CLIENT_SECURE_FILE first) and laid over
// it; so is clouds-public.yaml, of which the `profile` that a cloud names lies below it.

/// Fills what the main file leaves open from the source that the draft names, and checks the
/// credentials, wherever they came from.
void resolve_credentials(const Environment& environment, Draft& draft, Findings& findings);

}  // namespace reaper::config
