// Prometheus as the Metrics port, by its HTTP API (version 1), which Thanos, Mimir and others speak
// too. Queries are POSTed, so that long ones fit; answers are JSON.
//
// An instant query is evaluated by Prometheus' own clock: `Sample::at` shows it. Warnings that come
// with an answer are logged, each text once. Nothing is tried again but a call that meets a kept
// connection which its server has closed.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/http/client.hpp"
#include "config/secret.hpp"
#include "reaper/ports/metrics.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

struct PrometheusOptions {
    /// http or https, with the path prefix that Prometheus is behind, if any; without `/api/v1`.
    std::string url = "http://127.0.0.1:9090";
    std::string username;  ///< with a password: basic authentication
    config::Secret password;
    config::Secret token;  ///< bearer token; instead of user and password
    std::string ca_file;   ///< PEM; empty: the system's certificates
    bool verify_tls = true;
    /// Of a call, all of it. Prometheus receives it, and then stops evaluating.
    Duration timeout{5'000};
    /// A larger answer is an error.
    std::uint64_t max_body_bytes = 32ULL * 1024 * 1024;
    /// Values of an answer; more are an error. A label counts as one too: it takes as much memory
    /// as several.
    std::size_t max_samples = 1'000'000;
};

/// `bad_input` names the setting that can't be: an address, user and token together, a file.
/// `clock` must outlive what is returned; calls under way keep what else they need.
Result<std::shared_ptr<Metrics>> connect_prometheus(boost::asio::any_io_executor executor,
                                                    const PrometheusOptions& options, Clock& clock);

/// The same over a given client.
Result<std::shared_ptr<Metrics>> connect_prometheus(const PrometheusOptions& options,
                                                    std::unique_ptr<http::Client> client);

}  // namespace reaper

namespace reaper::prometheus {

// What Prometheus is sent, as text. Pure.

/// What this client's settings are called in the configuration.
inline constexpr std::string_view settings_name = "oversubscription.prometheus";

/// `bad_input` names what can't be.
Result<void> check_options(const PrometheusOptions& options);

/// Where the API is, without a slash at its end: `http://host:9090/prefix/api/v1`.
std::string api_root(const PrometheusOptions& options);

/// The value of the Authorization header; empty if there is none.
std::string authorization(const PrometheusOptions& options);

/// As a web form: `name=value&...`.
std::string form(const std::vector<std::pair<std::string_view, std::string>>& fields);

/// Seconds with three decimals; the time since 1970.
std::string seconds_text(Duration duration);

}  // namespace reaper::prometheus
