// `oversubscription`: its keys, and what must fit together in it and with the taggers.
#pragma once

#include <vector>

#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// For the table of keys.
std::vector<Section> oversubscription_sections();

/// The class stands for vCPUs; while it is enabled, its holders are revocable and what measures has
/// something to ask.
void check_oversubscription(const Settings& settings, Findings& findings);

}  // namespace reaper::config
