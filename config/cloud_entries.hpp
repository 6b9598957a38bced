// One cloud as flat entries (`auth.auth_url`, `region_name`, ...), each with where it was found.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/environment.hpp"
#include "config/findings.hpp"

namespace reaper::config {

struct CloudEntry {
    std::string text;
    std::string file;  ///< `environment` for a variable
    int line = 0;
    std::string key;  ///< for messages
};
using CloudEntries = std::map<std::string, CloudEntry>;

/// The cloud `name` of clouds.yaml, secure.yaml laid over, and below both the profile of
/// clouds-public.yaml that it names; `clouds_file` replaces the search if not empty. What belongs
/// into `auth` is there, and `region_name` is the region. `asked_by` is the key or variable that
/// named the cloud. None, with an error, if there is none.
std::optional<CloudEntries> cloud_of_file(const std::string& name, const std::string& clouds_file,
                                          const ConfigError& asked_by,
                                          const Environment& environment, Findings& findings);

/// What the OS_* variables say.
CloudEntries cloud_of_variables(const Environment& environment);

}  // namespace reaper::config
