#include "reaper/report/name_changer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "reaper/model/text.hpp"

namespace reaper::report {
namespace {

constexpr std::string_view standard_tag = "preemptible";

/// By kind: what the word begins with.
constexpr std::array<const char*, name_kinds> kind_words{
    "host",      "provider", "consumer", "project", "request",     "server", "flavor", "zone",
    "aggregate", "key",      "value",    "tag",     "project-tag", "spec",   "image"};

bool is_hex(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// Says something about resources or traits, in Placement's words, and nothing else.
bool is_safe_to_keep(const std::string& key, const std::string& value) {
    const auto upper = [](std::string_view text) {
        return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
            return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_';
        });
    };
    const std::size_t colon = key.find(':');
    if (colon == std::string::npos || !upper(std::string_view(key).substr(colon + 1))) return false;
    std::string_view kind(key.data(), colon);
    while (!kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())) != 0)
        kind.remove_suffix(1);
    const bool digits =
        !value.empty() && value.size() < 19 &&
        std::ranges::all_of(value, [](unsigned char c) { return std::isdigit(c) != 0; });
    return (kind == "resources" && digits) ||
           (kind == "trait" && (value == "required" || value == "forbidden"));
}

}  // namespace

std::string pseudonym(NameKind kind, const std::string& original, std::string digits) {
    constexpr std::string_view of_request = "req-";
    constexpr std::size_t most = 22;
    const auto number = static_cast<std::size_t>(kind);
    const bool request = original.starts_with(of_request);
    const std::string bare = original.substr(request ? of_request.size() : 0);
    const std::string prefix(request ? of_request : "");
    const bool with_dashes = is_uuid(bare);
    if (!with_dashes && (bare.size() != 32 || !is_hex(bare))) {
        constexpr std::size_t short_ones = 6;
        if (digits.size() < short_ones) digits.insert(0, short_ones - digits.size(), '0');
        return prefix + kind_words[number] + "-" + digits;
    }
    if (digits.size() < most) digits.insert(0, most - digits.size(), '0');
    const std::string group = std::string("0000000") + "123456789abcdef"[number];
    const std::string dash = with_dashes ? "-" : "";
    return prefix + group + dash + digits.substr(0, 4) + dash + "4" + digits.substr(4, 3) + dash +
           "8" + digits.substr(7, 3) + dash + digits.substr(10, 12);
}

std::string NameChanger::of(NameKind kind, const std::string& original) const {
    return original.empty() ? original : rename_(kind, original);
}

/// The metadata that decides which requests may use it.
HostAggregates NameChanger::aggregates(const HostAggregates& all) const {
    HostAggregates changed;
    for (const auto& [uuid, aggregate] : all) {
        HostAggregate one;
        one.name = of(NameKind::aggregate, aggregate.name);
        for (const auto& [key, value] : aggregate.metadata) {
            if (key == "availability_zone") one.metadata.emplace(key, of(NameKind::zone, value));
            if (key.starts_with("filter_tenant_id"))
                one.metadata.emplace("filter_tenant_id" + std::to_string(one.metadata.size()),
                                     of(NameKind::project, value));
            if (is_safe_to_keep(key, value)) one.metadata.emplace(key, value);
        }
        changed.emplace(of(NameKind::aggregate, uuid), std::move(one));
    }
    return changed;
}

std::map<std::string, std::string> NameChanger::specs(
    const std::map<std::string, std::string>& all) const {
    std::map<std::string, std::string> changed;
    for (const auto& [key, value] : all) {
        if (is_safe_to_keep(key, value)) {
            changed.emplace(key, value);
        } else {
            const std::string replaced = of(NameKind::value, value);
            changed.emplace(of(NameKind::spec, key), replaced);
        }
    }
    return changed;
}

void NameChanger::change(TagData& tag_data) const {
    TagData changed;
    for (const auto& [tag, projects] : tag_data.projects_by_tag) {
        const std::string name = tag == standard_tag ? tag : of(NameKind::project_tag, tag);
        changed.projects_by_tag[name] = all_of(NameKind::project, projects);
    }
    tag_data = std::move(changed);
}

}  // namespace reaper::report
