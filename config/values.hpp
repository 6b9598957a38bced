// Texts of the configuration as values: numbers, URLs; and words for messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <yaml-cpp/yaml.h>

#include "config/findings.hpp"

namespace reaper::config {

/// A decimal number with an optional minus; none for anything else or beyond 64 bits.
std::optional<std::int64_t> integer_of(std::string_view text);

/// A decimal number without an exponent; none for anything else.
std::optional<double> fraction_of(std::string_view text);
/// The inverse, as short as it can be.
std::string fraction_text(double fraction);

/// What is wrong with a URL of a service, without showing it (it may carry a password); none if
/// nothing. Accepts no more and no less than http::parse_url (reaper/ports/url.hpp), which later
/// takes it apart: a test compares the two.
std::optional<std::string> url_problem(std::string_view url,
                                       const std::vector<std::string_view>& schemes);

/// For messages: in quotes, control characters as `?`, cut after 60 bytes.
std::string shown(std::string_view text);

/// Text without newlines at its end.
std::string without_newline(std::string text);

// Lists of mappings in the file, such as `scheduler.cells`: their members, read one by one, each
// mistake with its place. A reader reports what is wrong itself, and returns whether nothing was.

/// Reads one value; its key's path is for messages.
using EntryMember = std::function<bool(const YAML::Node&, const std::string& path)>;
/// By the member's name.
using EntryMembers = std::map<std::string, EntryMember>;

/// The member that `read` puts into `into`, which must outlive it.
template <class Into>
EntryMember member(bool (*read)(const YAML::Node&, const std::string&, Into&, Findings&),
                   Into& into, Findings& findings) {
    return [read, &into, &findings](const YAML::Node& node, const std::string& path) {
        return read(node, path, into, findings);
    };
}

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
