#include "reaper/model/nova_release.hpp"

#include <algorithm>

namespace reaper {
namespace {

constexpr bool tried = true;
constexpr bool not_tried = false;

constexpr ReleaseFacts releases[] = {
    {NovaRelease::zed, "zed", 26, 93, 39, tried},
    {NovaRelease::r2023_1, "2023.1", 27, 95, 39, not_tried},
    {NovaRelease::r2023_2, "2023.2", 28, 95, 39, not_tried},
    {NovaRelease::r2024_1, "2024.1", 29, 96, 39, not_tried},
    {NovaRelease::r2024_2, "2024.2", 30, 96, 39, not_tried},
    {NovaRelease::r2025_1, "2025.1", 31, 100, 39, tried},
    {NovaRelease::r2025_2, "2025.2", 32, 100, 39, not_tried},
    {NovaRelease::r2026_1, "2026.1", 33, 103, 39, tried},
    {NovaRelease::r2026_2, "2026.2", 34, 104, 39, not_tried},
};

constexpr std::string_view tried_brokers[] = {"3.10", "4.0", "4.3"};

}  // namespace

std::span<const ReleaseFacts> known_releases() {
    return releases;
}

std::span<const std::string_view> tried_rabbitmq() {
    return tried_brokers;
}

std::string_view to_string(NovaRelease release) {
    for (const ReleaseFacts& each : releases)
        if (each.release == release) return each.name;
    return "";
}

std::optional<NovaRelease> nova_release_from(std::string_view text) {
    for (const ReleaseFacts& each : releases)
        if (each.name == text) return each.release;
    return std::nullopt;
}

std::span<const ReleaseFacts> releases_of_api(int minor) {
    const auto less = [](const ReleaseFacts& each, int than) { return each.compute_minor < than; };
    const auto* const first =
        std::lower_bound(std::begin(releases), std::end(releases), minor, less);
    if (first == std::end(releases)) return {};
    const auto* const last =
        std::lower_bound(first, std::end(releases), first->compute_minor + 1, less);
    return {first, last};
}

NovaRelease release_of_api(int minor) {
    const auto found = releases_of_api(minor);
    return found.empty() ? std::end(releases)[-1].release : found.back().release;
}

}  // namespace reaper
