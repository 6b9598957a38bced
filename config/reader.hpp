// Walks the document along the table of keys and fills the draft.
#pragma once

#include <optional>
#include <string>
#include <yaml-cpp/yaml.h>

#include "config/environment.hpp"
#include "config/findings.hpp"
#include "config/keys.hpp"

namespace reaper::config {

/// Every key of the document into the draft; every mistake into the findings. Checks that concern
/// several keys are not made here (see checks.hpp).
void read_document(const YAML::Node& root, const Environment& environment, Draft& draft,
                   Findings& findings);

/// A plain value's text, if it is one that a text key may have: not empty, not too long, no control
/// characters. Else reports and returns none.
std::optional<std::string> read_text(const YAML::Node& node, const std::string& key,
                                     std::size_t longest, const std::string& expected,
                                     Findings& findings);

/// The error of a file that can't be read, in words.
std::string unreadable(const std::string& path, const Error& error);

}  // namespace reaper::config
