// Placement's providers and what they have in all: the calls that change them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/openstack/service.hpp"
#include "reaper/ports/placement.hpp"

namespace reaper::openstack {

/// Must outlive its calls (see `http::keeping`).
class ProviderCalls {
public:
    explicit ProviderCalls(std::shared_ptr<Service> service) : service_(std::move(service)) {}

    /// A nested provider, or the one of that name below that parent that there is.
    ResultTask<ProviderId> create_nested(std::string name, ProviderId parent,
                                         std::optional<Duration> deadline);
    ResultTask<std::vector<ProviderRecord>> providers_named(
        std::string name, std::optional<Duration> deadline = std::nullopt);
    /// As Placement::change_total.
    ResultTask<TotalAnswer> change_total(TotalChange change, Duration deadline);
    /// An error that names the policy which a refused call needs.
    Error refused(const Answer& answer, const char* policy) const;

private:
    struct Found {
        std::map<ResourceClass, Inventory> inventories;
        std::int64_t generation = 0;
    };

    ResultTask<Found> look(std::string path, Duration deadline);
    ResultTask<Answer> send(http::Method method, std::string path, std::string body,
                            std::optional<Duration> deadline);

    std::shared_ptr<Service> service_;
};

}  // namespace reaper::openstack
