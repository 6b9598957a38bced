// OpenStack as the reaper sees it: the real Identity, Compute and Placement ports over one Keystone
// session and one HTTP client.
//
// Every call brings its token: it is fetched by the first call, renewed before it expires, and once
// more when a service answers 401. Calls that need a token at the same time share one
// authentication. Refused credentials are not sent again for a minute, then for longer: no
// account is locked because of us. Answers never lead to other addresses than the catalog's or the
// settings'.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "clients/http/client.hpp"
#include "config/settings.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/images.hpp"
#include "reaper/ports/placement.hpp"
#include "reaper/ports/setup_ports.hpp"
#include "reaper/runtime/clock.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

enum class CloudService { identity, compute, placement, image };
/// `identity`, `compute`, `placement`, `image`: the catalog's types, and the keys of the endpoint
/// overrides.
std::string_view to_string(CloudService service);

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

/// Sends nothing yet. `bad_input` if the settings can't work (no URL, no user, a certificate that
/// can't be read). `clock` must outlive the parts and their calls. Destroy the parts before the
/// executor's context, or with it. `on_try`: see http::Options.
Result<OpenStack> connect_openstack(boost::asio::any_io_executor executor,
                                    const config::Cloud& cloud, const config::Http& http,
                                    Clock& clock, http::CallObserver on_try = {});

/// The same over a client that is there already.
Result<OpenStack> connect_over(boost::asio::any_io_executor executor, const config::Cloud& cloud,
                               std::unique_ptr<http::Client> client, Clock& clock);

/// The client's options that these settings mean.
http::Options http_options(const config::Cloud& cloud, const config::Http& http);

}  // namespace reaper
