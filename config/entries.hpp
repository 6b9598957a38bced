// Lists of mappings in the file, such as `scheduler.cells`: their members, read one by one, each
// mistake with its place. A reader reports what is wrong itself, and returns whether nothing was.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"

namespace reaper::config {

/// Reads one value; its key's path is for messages.
using EntryMember = std::function<bool(const YAML::Node&, const std::string& path)>;
/// By the member's name.
using EntryMembers = std::map<std::string, EntryMember>;

/// Each item of a list, with its path, `key[0]`. `expected` says what the list is.
void for_each_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                    Findings& findings,
                    const std::function<void(const YAML::Node&, const std::string& path)>& read);

/// A mapping that has no other members than these, and none twice.
bool read_entry(const YAML::Node& node, const std::string& key, const std::string& expected,
                const EntryMembers& members, Findings& findings);
/// A mapping with any keys.
bool read_mapping(const YAML::Node& node, const std::string& key, const std::string& expected,
                  Findings& findings,
                  const std::function<bool(const std::string& name, const std::string& path,
                                           const YAML::Node&)>& read);

bool read_entry_text(const YAML::Node& node, const std::string& key, std::string& into,
                     Findings& findings);
/// Items are texts of 1 to 255 bytes; wrong ones are left out.
bool read_entry_texts(const YAML::Node& node, const std::string& key,
                      std::vector<std::string>& into, Findings& findings);
bool read_entry_flag(const YAML::Node& node, const std::string& key, bool& into,
                     Findings& findings);

}  // namespace reaper::config
