// A service with microversions: agrees on one, and sends it with every call.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "clients/openstack/session.hpp"
#include "clients/openstack/version.hpp"

namespace reaper::openstack {

/// Must outlive its calls (see `http::keeping`).
class Service {
public:
    Service(std::shared_ptr<Session> session, CloudService which, Need need);

    /// As Session::call, with the agreed version, or the newest that the service has up to
    /// `at_most`. Any status but 401 is an Answer.
    ResultTask<Answer> call(ServiceCall call, Version at_most = {});
    /// With this version, which every release has.
    ResultTask<Answer> call_with(ServiceCall call, Version version);
    ResultTask<EndpointInfo> info();
    /// The agreed version, for a caller whose text depends on it.
    ResultTask<Version> speaks();
    /// The newest version that the service has: asked again.
    ResultTask<Version> newest();
    Error refusal(const Answer& answer) const { return session_->refusal(answer); }

private:
    struct Agreed {
        std::string url;
        Version version;
        Version newest;
    };
    ResultTask<Answer> send(ServiceCall call, std::string url, Version version);
    /// Asks the service what it speaks, unless it was asked at this address before.
    ResultTask<Agreed> agreed();

    std::shared_ptr<Session> session_;
    CloudService which_;
    Need need_;
    std::optional<Agreed> agreed_;
};

/// Where a service reports its versions: the path up to its version segment (`/v2.1/`), or all of
/// it if there is none.
std::string version_root(const std::string& endpoint);

/// A GET; keeps `service` alive until it ends, also before it starts. Any status but 401 is an
/// Answer.
ResultTask<Answer> get(std::shared_ptr<Service> service, std::string path, Version at_most = {},
                       std::optional<Duration> deadline = std::nullopt);

}  // namespace reaper::openstack
