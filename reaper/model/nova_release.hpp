// Releases of Nova, as far as its scheduler asks Placement for more from one to the next.
#pragma once

#include <optional>
#include <string_view>

namespace reaper {

enum class NovaRelease {
    zed,  ///< and what came before
    r2023_1,
    r2023_2,
    r2024_1,  ///< packed virtqueues, physical address modes
    r2024_2,  ///< models of TPM, stateless firmware
    r2025_1,
    r2025_2,  ///< sound devices, kinds of memory encryption
    r2026_1,  ///< who may read a TPM's secret
    r2026_2,  ///< OWNER_NOVA
};

/// `zed`, `2023.1`, ...
std::string_view to_string(NovaRelease release);
std::optional<NovaRelease> nova_release_from(std::string_view text);

/// The newest release whose API has microversions up to 2.`minor`. Two releases may have the same:
/// what the newer one asks for besides is asked for by few flavors, and that no servers are deleted
/// for them without need matters more than that they are served.
NovaRelease release_of_api(int minor);

}  // namespace reaper
