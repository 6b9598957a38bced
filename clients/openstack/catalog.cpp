#include "clients/openstack/catalog.hpp"

#include <algorithm>
#include <set>

#include "clients/http/text.hpp"

namespace reaper {

std::string_view to_string(CloudService service) {
    switch (service) {
        case CloudService::identity: return "identity";
        case CloudService::compute: return "compute";
        case CloudService::placement: return "placement";
        case CloudService::image: return "image";
    }
    return "?";
}

}  // namespace reaper

namespace reaper::openstack {

namespace {

using Endpoints = std::vector<const CatalogEndpoint*>;

/// `compute`; old catalogs have the version in the type.
bool is_type(std::string_view type, CloudService service) {
    const std::string_view wanted = to_string(service);
    if (type == wanted) return true;
    return (service == CloudService::compute && type == "computev21") ||
           (service == CloudService::identity && type == "identityv3");
}

template <class Member>
std::set<std::string> all(const Endpoints& endpoints, Member member) {
    std::set<std::string> values;
    for (const CatalogEndpoint* endpoint : endpoints) values.insert((endpoint->*member));
    return values;
}

std::string listed(const std::set<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
    return list.empty() ? "nothing" : http::one_line(list, 300);
}

Endpoints where(const Endpoints& endpoints, auto condition) {
    Endpoints found;
    std::copy_if(endpoints.begin(), endpoints.end(), std::back_inserter(found),
                 [&](const CatalogEndpoint* endpoint) { return condition(*endpoint); });
    return found;
}

Error no_endpoint(CloudService service, const std::string& what) {
    const std::string name(to_string(service));
    return {Errc::bad_input, "no endpoint for " + name + ": " + what};
}

}  // namespace

Result<std::string> choose_endpoint(const Catalog& catalog, CloudService service,
                                    const std::string& region, const std::string& interface) {
    Endpoints everything;
    for (const CatalogEndpoint& endpoint : catalog.endpoints) everything.push_back(&endpoint);
    const std::string name(to_string(service));

    const auto regions = all(everything, &CatalogEndpoint::region);
    if (region.empty() && regions.size() > 1)
        return no_endpoint(service, "the catalog has several regions (" + listed(regions) +
                                        "); set cloud.region to one of them");
    if (!region.empty() && !everything.empty() && !regions.contains(region))
        return no_endpoint(service, "there is no region " + http::one_line(region, 100) +
                                        "; the catalog has " + listed(regions) +
                                        "; change cloud.region");
    const Endpoints typed = where(everything, [&](const CatalogEndpoint& endpoint) {
        return is_type(endpoint.type, service);
    });
    if (typed.empty())
        return no_endpoint(service, "the catalog has no such service, only " +
                                        listed(all(everything, &CatalogEndpoint::type)) +
                                        "; register it in Keystone or set cloud.endpoints." + name);
    const Endpoints here = where(typed, [&](const CatalogEndpoint& endpoint) {
        return region.empty() || endpoint.region == region;
    });
    if (here.empty())
        return no_endpoint(service, "it is not in region " + region + " but in " +
                                        listed(all(typed, &CatalogEndpoint::region)) +
                                        "; change cloud.region or set cloud.endpoints." + name);
    const Endpoints chosen = where(here, [&](const CatalogEndpoint& endpoint) {
        return endpoint.interface == interface || endpoint.interface == interface + "URL";
    });
    if (chosen.empty())
        return no_endpoint(service, "it has no " + interface + " interface, only " +
                                        listed(all(here, &CatalogEndpoint::interface)) +
                                        "; change cloud.interface");
    return chosen.front()->url;
}

}  // namespace reaper::openstack
