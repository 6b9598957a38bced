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
