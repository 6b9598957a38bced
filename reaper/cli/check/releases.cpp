// What this cloud is, whether the reaper was tried with it, and what of the configuration does not
// fit it.
#include <algorithm>
#include <charconv>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/nova_release.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

constexpr const char* release_check = "release";

/// 93 of `2.93`; none if it is no version of that API.
std::optional<int> minor_of(std::string_view version, std::string_view major) {
    if (!version.starts_with(major)) return std::nullopt;
    version.remove_prefix(major.size());
    int minor = 0;
    const char* const end = version.data() + version.size();
    const auto [stop, error] = std::from_chars(version.data(), end, minor);
    if (error != std::errc{} || stop != end || minor < 0) return std::nullopt;
    return minor;
}

/// `Nova 26 (zed)`.
std::string title_of(const ReleaseFacts& release) {
    return "Nova " + std::to_string(release.nova) + " (" + std::string{release.name} + ")";
}

/// `not tried (tried: Nova 26 (zed))`.
std::string other_than_tried() {
    std::string all;
    for (const ReleaseFacts& each : known_releases())
        if (each.tried) all += (all.empty() ? "" : ", ") + title_of(each);
    return "not tried (tried: " + all + ")";
}

/// `Nova 31 (2025.1): tried, or Nova 32 (2025.2): not tried; ...`
Finding of_several(std::span<const ReleaseFacts> releases, const std::string& ends) {
    const bool any =
        std::ranges::any_of(releases, [](const ReleaseFacts& each) { return each.tried; });
    const bool all =
        std::ranges::all_of(releases, [](const ReleaseFacts& each) { return each.tried; });
    std::string text;
    for (const ReleaseFacts& each : releases) {
        text += (text.empty() ? "" : " or ") + title_of(each);
        if (any != all) text += each.tried ? ", tried," : ", not tried,";
    }
    if (text.ends_with(',')) text.pop_back();
    text += ", as " + ends;
    if (any == all) text += ": " + (any ? std::string{"tried"} : other_than_tried());
    return {any ? Verdict::ok : Verdict::info, release_check, text};
}

std::string names_of(std::span<const ReleaseFacts> releases) {
    const std::string text =
        joined(releases, " or ", [](const ReleaseFacts& each) { return each.name; });
    return text.empty() ? "newer than " + std::string{known_releases().back().name} : text;
}

}  // namespace

Finding nova_tried(std::string_view newest, std::optional<NovaRelease> configured) {
    const auto minor = minor_of(newest, "2.");
    if (!minor)
        return {Verdict::info, release_check, "Nova of an unknown version: " + other_than_tried()};
    const std::string ends = "its API ends at " + printable(newest);
    const auto releases = releases_of_api(*minor);
    if (releases.empty())
        return {Verdict::warn, release_check,
                "Nova newer than " + std::string{known_releases().back().name} + ", as " + ends +
                    ": " + other_than_tried() +
                    "; what it asks Placement for besides is not known"};
    const ReleaseFacts& oldest = known_releases().front();
    if (*minor < oldest.compute_minor)
        return {Verdict::info, release_check,
                "Nova older than " + title_of(oldest) + ", as " + ends + ": " + other_than_tried()};
    const auto is_it = [&](const ReleaseFacts& each) { return each.release == configured; };
    const auto one = std::ranges::find_if(releases, is_it);
    return of_several(one == releases.end() ? releases : std::span{one, 1}, ends);
}

Finding placement_tried(std::string_view newest) {
    const auto minor = minor_of(newest, "1.");
    std::string tried;
    for (const ReleaseFacts& each : known_releases()) {
        const std::string version = "1." + std::to_string(each.placement_minor);
        if (!each.tried) continue;
        if (minor == each.placement_minor)
            return {Verdict::ok, release_check, "Placement " + version + ": tried"};
        if (tried.find(version) == std::string::npos)
            tried += (tried.empty() ? "" : ", ") + version;
    }
    return {Verdict::info, release_check,
            "Placement " + printable(newest) + ": not tried (tried: " + tried + ")"};
}

Finding broker_tried(std::string_view product) {
    std::string tried;
    for (const std::string_view version : tried_rabbitmq()) {
        if (product.starts_with("RabbitMQ " + std::string{version} + "."))
            return {Verdict::ok, release_check, printable(product) + ": tried"};
        tried += (tried.empty() ? "" : ", ") + std::string{version};
    }
    return {Verdict::info, release_check,
            printable(product) + ": not tried (tried: RabbitMQ " + tried + ")"};
}

std::vector<Finding> misfits(std::string_view newest, const SchedulerRules& rules) {
    const auto minor = minor_of(newest, "2.");
    if (!minor) return {};
    std::vector<Finding> found;
    const auto tell = [&](std::string detail) {
        found.push_back({Verdict::warn, "scheduler", std::move(detail)});
    };
    const auto releases = releases_of_api(*minor);
    const NovaRelease by_api = release_of_api(*minor);
    if (rules.release) {
        const std::string differs = "nova_release is " + std::string{to_string(*rules.release)} +
                                    ", but the API ends at " + printable(newest) + " (" +
                                    names_of(releases) + "): ";
        const bool older = releases.empty() || *rules.release < releases.front().release;
        if (older)
            tell(differs +
                 "keep it only while an upgrade runs; then set auto, or the reaper misses what the "
                 "new Nova asks for");
        else if (*rules.release > by_api)
            tell(differs + "the reaper requires what Nova does not ask for; set auto");
    }
    if (rules.pci_in_placement && rules.release.value_or(by_api) < NovaRelease::r2023_1)
        tell(
            "pci_in_placement is on, but Nova has it since 2023.1: before, devices are not asked "
            "for of Placement; set false");
    return found;
}

}  // namespace reaper::cli
