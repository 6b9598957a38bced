#include "clients/openstack/version.hpp"

#include <algorithm>
#include <charconv>

#include "clients/openstack/reading.hpp"

namespace reaper::openstack {

namespace {

Version version_of(const JsonPlace& field) {
    const auto version = version_from(field.text());
    if (!version) field.fail("expected a version such as 2.1");
    return *version;
}

VersionRange range_of(const JsonPlace& entry) {
    const char* const newest = entry.has("max_version") ? "max_version" : "version";
    if (entry.text_or_empty("min_version").empty() || entry.text_or_empty(newest).empty())
        entry.fail("no microversions: the endpoint is of an older API (v2 instead of v2.1)");
    return {version_of(entry["min_version"]), version_of(entry[newest])};
}

}  // namespace

std::string to_string(Version version) {
    return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

std::optional<Version> version_from(std::string_view text) {
    Version version;
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, version.major);
    if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec != std::errc{} || minor.ptr != end) return std::nullopt;
    return version;
}

Result<VersionRange> read_versions(std::string_view body, const std::string& where) {
    return read_answer(body, where, [](const JsonPlace& top) {
        if (top.has("version")) return range_of(top["version"]);
        std::optional<VersionRange> found;
        top["versions"].each([&](const JsonPlace& entry) {
            if (!found) found = range_of(entry);
        });
        if (!found) top["versions"].fail("is empty");
        return *found;
    });
}

Result<Version> agree(const Need& need, const VersionRange& offered, std::string_view service,
                      const std::string& url) {
    const Version best = std::min(need.most, offered.newest);
    if (best >= need.least && best >= offered.oldest) return best;
    std::string text = std::string(service) + " at " + url + " speaks API versions " +
                       to_string(offered.oldest) + " to " + to_string(offered.newest) +
                       ", the reaper " + to_string(need.least) + " to " + to_string(need.most);
    if (best < need.least)
        text += ": it is too old, " + std::string(need.least_release) + " or later is needed";
    return Error{Errc::rejected, std::move(text)};
}

}  // namespace reaper::openstack
