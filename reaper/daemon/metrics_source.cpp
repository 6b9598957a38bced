#include "reaper/daemon/metrics_source.hpp"

#include <utility>

#include "clients/prometheus/prometheus.hpp"

namespace reaper {

Result<std::shared_ptr<Metrics>> connect_metrics(boost::asio::any_io_executor executor,
                                                 const config::Prometheus& settings, Clock& clock) {
    if (settings.url.empty())
        return Error{Errc::bad_input,
                     "there is no oversubscription.prometheus.url in the configuration: where "
                     "Prometheus is, such as http://127.0.0.1:9090"};
    PrometheusOptions options;
    options.url = settings.url;
    options.username = settings.username;
    options.password = settings.password;
    options.token = settings.token;
    options.ca_file = settings.ca_file;
    options.verify_tls = settings.verify_tls;
    options.timeout = settings.timeout;
    return connect_prometheus(std::move(executor), options, clock);
}

}  // namespace reaper
