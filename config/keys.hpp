// The table of keys: every key of the file with its type, bounds, default and help. It drives the
// reader, the dump and the messages; deploy/reaper.yaml and settings.hpp say the same (a test
// compares all three).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/settings.hpp"

namespace reaper::config {

/// Settings in the making, with what the file says about where credentials come from.
struct Draft {
    Settings settings;
    std::string cloud_name;
    std::string clouds_file;
    bool from_environment = false;
    std::string broker_unknown;  ///< what is wrong with the section `broker`, first; empty: nothing
};

// Types of values, with their bounds.
struct WholeNumber {
    std::int64_t least, most;
    std::int64_t unit = 1;  ///< the member counts in units of which the file names `unit` at once
};
struct Span {
    std::chrono::milliseconds least, most;
    std::chrono::milliseconds step{1};  ///< a multiple of it
};
/// A decimal number, such as 0.25.
struct Fraction {
    double least, most;
};
struct Flag {};
struct Text {
    std::size_t longest = 1024;
};
struct Choice {
    std::vector<std::string> choices;
};
struct TextList {
    bool may_be_empty = false;
};
/// Of a service: no user information.
struct Url {
    std::vector<std::string_view> schemes;
};
/// A file that must be readable; `secret`: and not by everyone.
struct ReadableFile {
    bool secret = false;
};
/// K, K_file or K_env.
struct SecretText {};
/// K (a list), K_file (one a line) or K_env (separated by spaces).
struct SecretUrls {
    std::vector<std::string_view> schemes;
};
/// `name` of a plugin with its parameters; read by plugins.hpp.
struct OnePlugin {
    enum class Kind { strategy, estimator, qos };
    Kind kind = Kind::strategy;
};
struct PluginList {};
/// `path`, `sha256`, `parameters`; read by plugins.hpp.
struct ModuleList {};
/// `name`, `hosts`, `aggregates`, `disabled`; read by cells.hpp.
struct CellList {};
/// A list of mappings; read by the `read_entries` of its section.
struct EntryList {
    std::string_view expected;
};

using Type =
    std::variant<WholeNumber, Span, Fraction, Flag, Text, Choice, TextList, Url, ReadableFile,
                 SecretText, SecretUrls, OnePlugin, PluginList, ModuleList, CellList, EntryList>;

/// Where a value goes.
template <class T>
using Member = T& (*)(Draft&);
using Target = std::variant<
    Member<int>, Member<std::int64_t>, Member<std::uint64_t>, Member<std::chrono::milliseconds>,
    Member<std::chrono::seconds>, Member<double>, Member<bool>, Member<std::string>,
    Member<std::vector<std::string>>, Member<Secret>, Member<std::vector<Secret>>, Member<Plugin>,
    Member<std::vector<Plugin>>, Member<std::vector<Module>>, Member<std::vector<Cell>>,
    Member<std::vector<RoleProjects>>, Member<std::vector<StaticReservation>>,
    Member<std::vector<ReserveRule>>, Member<std::vector<UnreserveRule>>, Member<std::vector<Mark>>,
    Member<std::vector<TaggerSpan>>>;

struct Key {
    std::string_view name;
    Type type;
    std::string_view standard;  ///< the default as the file would say it; empty: none
    std::string_view help;
    Target target;
    std::optional<bool> live{};  ///< other than its section
};

/// A mapping of the file. `path` is empty for the whole file; `cloud.auth` stands inside `cloud`.
struct Section {
    std::string_view path;
    std::string_view help;
    std::vector<Key> keys;
    bool live = false;  ///< a change takes effect without a restart
};

/// The whole file first, a section before the sections inside it.
const std::vector<Section>& sections();

/// What a value of the type looks like: `a whole number from 1 to 100`.
std::string expectation(const Type& type);

/// The names under which the key may stand (a secret has three).
std::vector<std::string> spellings(const Key& key);

/// `a.b`, or `b` at the top.
std::string join_path(std::string_view section, std::string_view key);

// For the table of keys: where values go, and bounds that several sections have.

/// The member of Settings at the end of a path of members.
template <auto... Path>
auto& member(Draft& draft) {
    return (draft.settings.*....*Path);
}

/// A member of the draft itself.
template <auto Member>
auto& own_member(Draft& draft) {
    return draft.*Member;
}

template <auto... Path>
Target at() {
    return Target{&member<Path...>};
}

template <auto Member>
Target draft_at() {
    return Target{&own_member<Member>};
}

inline const std::vector<std::string_view> http_urls{"http", "https"};

constexpr auto longest_wait = std::chrono::hours{1};

}  // namespace reaper::config
