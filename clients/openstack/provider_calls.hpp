// Placement's providers and what they have in all: the calls that change them. Internal to
// clients/openstack.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/openstack/service.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper::openstack {

/// A change that meets others' changes of the same provider is tried so often.
inline constexpr int max_collisions = 5;

/// A provider's inventories, and the generation that a change of them must name.
struct ProviderInventories {
    std::map<ResourceClass, Inventory> inventories;
    std::int64_t generation = 0;
    std::string where;  ///< the call that reported them
};
ResultTask<ProviderInventories> read_provider_inventories(
    std::shared_ptr<Service> placement, std::string path,
    std::optional<Duration> deadline = std::nullopt);

/// A nested provider, or the one of that name below that parent that there is.
ResultTask<ProviderId> create_nested(std::shared_ptr<Service> placement, std::string name,
                                     ProviderId parent, std::optional<Duration> deadline);
ResultTask<std::vector<ProviderRecord>> providers_named(
    std::shared_ptr<Service> placement, std::string name,
    std::optional<Duration> deadline = std::nullopt);
/// As Placement::change_total.
ResultTask<TotalAnswer> change_provider_total(std::shared_ptr<Service> placement,
                                              TotalChange change, Duration deadline);

/// An error that names the policy which a refused call needs.
Error refused_by_policy(const Service& placement, const Answer& answer, const char* policy);

/// Repeated as often as any call, but for a POST: of all others, a second one finds done what the
/// first one did.
ResultTask<Answer> send_to_placement(std::shared_ptr<Service> placement, http::Method method,
                                     std::string path, std::string body,
                                     std::optional<Duration> deadline = std::nullopt);

/// `/resource_providers/ID`, and below it.
std::string provider_path(const ProviderId& provider, const char* below = "");

}  // namespace reaper::openstack
