#include "clients/openstack/openstack.hpp"

#include <algorithm>
#include <utility>

#include "clients/http/transport.hpp"
#include "clients/openstack/credentials.hpp"
#include "clients/openstack/glance.hpp"
#include "clients/openstack/parts.hpp"

namespace reaper {

namespace {

class SessionHandle final : public CloudSession {
public:
    SessionHandle(std::shared_ptr<openstack::Session> session,
                  std::shared_ptr<openstack::Service> nova,
                  std::shared_ptr<openstack::Service> placement)
        : session_(std::move(session)), nova_(std::move(nova)), placement_(std::move(placement)) {}

    ResultTask<AuthInfo> authenticate() override {
        return http::keeping(session_, session_->authenticate());
    }

    ResultTask<EndpointInfo> endpoint(CloudService service) override {
        if (service == CloudService::compute) return http::keeping(nova_, nova_->info());
        if (service == CloudService::placement)
            return http::keeping(placement_, placement_->info());
        if (service == CloudService::image) return openstack::glance_info(session_);
        return openstack::keystone_info(session_);
    }

private:
    std::shared_ptr<openstack::Session> session_;
    std::shared_ptr<openstack::Service> nova_;
    std::shared_ptr<openstack::Service> placement_;
};

}  // namespace

http::Options http_options(const config::Cloud& cloud, const config::Http& http) {
    http::Options options;
    options.tls.ca_file = cloud.ca_file;
    options.tls.cert_file = cloud.cert_file;
    options.tls.key_file = cloud.key_file;
    options.tls.verify = cloud.verify_tls;
    options.call_timeout = http.call_timeout;
    options.connect_timeout = http.connect_timeout;
    options.max_connections =
        static_cast<std::size_t>(std::max(1, http.max_connections_per_endpoint));
    options.max_retries = http.max_retries;
    options.backoff = http.retry_backoff;
    options.backoff_max = http.retry_backoff_max;
    options.max_body_bytes = http.max_body_bytes;
    return options;
}

Result<OpenStack> connect_openstack(boost::asio::any_io_executor executor,
                                    const config::Cloud& cloud, const config::Http& http,
                                    Clock& clock, http::CallObserver on_try) {
    // Wrong credentials are reported before a wrong certificate.
    if (auto checked = openstack::check_credentials(cloud.credentials); !checked)
        return checked.error();
    http::Options options = http_options(cloud, http);
    options.on_try = std::move(on_try);
    auto client = http::make_client(executor, std::move(options), clock);
    if (!client) return client.error();
    return connect_over(std::move(executor), cloud, std::move(*client), clock);
}

Result<OpenStack> connect_over(boost::asio::any_io_executor executor, const config::Cloud& cloud,
                               std::unique_ptr<http::Client> client, Clock& clock) {
    using openstack::Service;
    if (auto checked = openstack::check_credentials(cloud.credentials); !checked)
        return checked.error();
    auto keystone = openstack::keystone_root(cloud.credentials.auth_url);
    if (!keystone) return keystone.error();
    auto session = std::make_shared<openstack::Session>(executor, cloud, std::move(*keystone),
                                                        std::move(client), clock);
    auto nova = std::make_shared<Service>(session, CloudService::compute, openstack::nova_need);
    auto placement =
        std::make_shared<Service>(session, CloudService::placement, openstack::placement_need);
    OpenStack parts;
    parts.identity = openstack::make_identity(session);
    parts.compute = openstack::make_compute(nova, clock);
    parts.placement = openstack::make_placement(placement);
    parts.setup = openstack::make_placement_setup(placement);
    parts.flavors = openstack::make_flavor_setup(nova);
    parts.images = openstack::make_images(session, clock);
    parts.session = std::make_unique<SessionHandle>(session, nova, placement);
    return parts;
}

}  // namespace reaper
