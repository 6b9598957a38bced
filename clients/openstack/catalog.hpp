// Keystone's catalog: which service is where. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "clients/openstack/openstack.hpp"
#include "reaper/model/error.hpp"

namespace reaper::openstack {

struct CatalogEndpoint {
    std::string type;  ///< of its service
    std::string region;
    std::string interface;
    std::string url;
};

struct Catalog {
    std::vector<CatalogEndpoint> endpoints;
};

/// The one endpoint of that service in that region (empty: there must be only one in the catalog)
/// and interface. `bad_input` says what there is instead, and which setting to change.
Result<std::string> choose_endpoint(const Catalog& catalog, CloudService service,
                                    const std::string& region, const std::string& interface);

}  // namespace reaper::openstack
