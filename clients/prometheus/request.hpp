// What Prometheus is sent, as text. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/prometheus/prometheus.hpp"

namespace reaper::prometheus {

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
