// Releases of OpenStack: by which version of its API each is known, and whether the reaper was
// tried with it. Nova's scheduler asks Placement for more from one to the next.
#pragma once

#include <optional>
#include <span>
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

struct ReleaseFacts {
    NovaRelease release{};
    std::string_view name;  ///< `zed`, `2023.1`, ...
    int nova = 0;           ///< the major version of the program
    int compute_minor = 0;  ///< the newest microversion of its API is 2.`compute_minor`
    int placement_minor = 0;
    bool tried = false;  ///< the scenarios were run on it
};

/// The oldest first. The manual shows them (deploy/docs/releases.md).
std::span<const ReleaseFacts> known_releases();
/// `3.10`: the versions of RabbitMQ that the scenarios were run on.
std::span<const std::string_view> tried_rabbitmq();

/// `zed`, `2023.1`, ...
std::string_view to_string(NovaRelease release);
std::optional<NovaRelease> nova_release_from(std::string_view text);

/// The releases whose API has microversions up to 2.`minor`, or up to the next that a release ended
/// with; empty: it is newer than all.
std::span<const ReleaseFacts> releases_of_api(int minor);

/// The newest of these. Two releases may have the same: what the newer one asks for besides is
/// asked for by few flavors, and that no servers are deleted for them without need matters more
/// than that they are served.
NovaRelease release_of_api(int minor);

}  // namespace reaper
