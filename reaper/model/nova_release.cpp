#include "reaper/model/nova_release.hpp"

#include <utility>

#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr std::pair<NovaRelease, std::string_view> release_names[] = {
    {NovaRelease::zed, "zed"},        {NovaRelease::r2023_1, "2023.1"},
    {NovaRelease::r2023_2, "2023.2"}, {NovaRelease::r2024_1, "2024.1"},
    {NovaRelease::r2024_2, "2024.2"}, {NovaRelease::r2025_1, "2025.1"},
    {NovaRelease::r2025_2, "2025.2"}, {NovaRelease::r2026_1, "2026.1"},
    {NovaRelease::r2026_2, "2026.2"},
};

/// The newest minor version of each release's API; of those that have the same, the newer one.
constexpr std::pair<int, NovaRelease> newest_minor[] = {
    {93, NovaRelease::zed},      {95, NovaRelease::r2023_2},  {96, NovaRelease::r2024_2},
    {100, NovaRelease::r2025_2}, {103, NovaRelease::r2026_1},
};

}  // namespace

std::string_view to_string(NovaRelease release) {
    return word_in(release_names, release, "");
}

std::optional<NovaRelease> nova_release_from(std::string_view text) {
    return value_in(release_names, text);
}

NovaRelease release_of_api(int minor) {
    for (const auto& [newest, release] : newest_minor)
        if (minor <= newest) return release;
    return NovaRelease::r2026_2;
}

}  // namespace reaper
