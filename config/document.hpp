// One YAML document, bounded: size, depth and number of nodes are checked before the tree is built.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"

namespace reaper::config {

inline constexpr std::size_t max_document_bytes = 1024 * 1024;
inline constexpr int max_document_depth = 50;
inline constexpr int max_document_nodes = 20'000;

/// The document's root, a mapping; or why not. `name` stands for the file in the error.
std::variant<YAML::Node, ConfigError> parse_document(const std::string& name,
                                                     std::string_view text);

/// How much of a document is taken.
struct DocumentLimits {
    std::size_t bytes = max_document_bytes;
    int nodes = max_document_nodes;
};

/// The root of any document that is not empty; or why not. `wanted` says what an empty file lacks.
std::variant<YAML::Node, ConfigError> parse_yaml(const std::string& name, std::string_view text,
                                                 const std::string& wanted,
                                                 const DocumentLimits& limits);

/// From 1; 0 if yaml-cpp does not know (an empty value).
int line_of(const YAML::Node& node);

}  // namespace reaper::config
