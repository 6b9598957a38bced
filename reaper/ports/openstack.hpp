// Port: OpenStack as a whole, with the session that its services share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/time.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/images.hpp"
#include "reaper/ports/placement.hpp"
#include "reaper/ports/setup_ports.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

enum class CloudService { identity, compute, placement, image };
/// `identity`, `compute`, `placement`, `image`: the catalog's types, and the keys of the endpoint
/// overrides.
constexpr std::string_view to_string(CloudService service) {
    switch (service) {
        case CloudService::identity: return "identity";
        case CloudService::compute: return "compute";
        case CloudService::placement: return "placement";
        case CloudService::image: return "image";
    }
    return "?";
}

/// Our identity, as Keystone reports it.
struct AuthInfo {
    std::string user_name, user_id, user_domain;
    std::string project_name, project_id, project_domain;
    std::vector<std::string> roles;  ///< names, in order
    TimePoint expires{};
    std::optional<TimePoint> password_expires{};  ///< none: never
    std::string application_credential{};         ///< its id; empty: a password, or it is not given
};

/// Where a service is, and which version of its API we speak with it.
struct EndpointInfo {
    std::string url;
    std::string version;          ///< `2.72`; `3` for Keystone
    std::string service_version;  ///< the newest that the service has
};

/// The session, for `reaper check`.
class CloudSession {
public:
    virtual ~CloudSession() = default;
    /// Authenticates again. `unauthorized` if the credentials are refused.
    virtual ResultTask<AuthInfo> authenticate() = 0;
    /// Picks the endpoint and agrees on a version. `bad_input` if the catalog and the settings
    /// don't lead to one, `rejected` if the service is too old.
    virtual ResultTask<EndpointInfo> endpoint(CloudService service) = 0;
};

/// The parts share what they stand on; each may be kept and destroyed on its own.
struct OpenStack {
    std::unique_ptr<Identity> identity;
    std::unique_ptr<Compute> compute;
    std::unique_ptr<Placement> placement;
    std::unique_ptr<PlacementSetup> setup;  ///< for `reaper setup` only
    std::unique_ptr<FlavorSetup> flavors;   ///< as above
    std::shared_ptr<Images> images;
    std::unique_ptr<CloudSession> session;
};

}  // namespace reaper
