// Estimators and QoS controllers by their configuration, and times, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "reaper/oversubscription/plugin_tables.hpp"

namespace reaper::testing {

inline const TimePoint noon =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + std::chrono::hours{12};

using MadeEstimator = std::variant<std::unique_ptr<Estimator>, ParameterError>;
using MadeQos = std::variant<std::unique_ptr<QosController>, ParameterError>;

inline MadeEstimator try_estimator(const std::string& name, Parameters parameters) {
    const EstimatorInfo* const info = find_estimator(name);
    return info->make(with_standards(info->parameters, std::move(parameters)));
}
inline std::unique_ptr<Estimator> estimator_of(const std::string& name,
                                               Parameters parameters = {}) {
    return std::get<0>(try_estimator(name, std::move(parameters)));
}
inline MadeQos try_qos(const std::string& name, Parameters parameters) {
    const QosInfo* const info = find_qos(name);
    return info->make(with_standards(info->parameters, std::move(parameters)));
}
inline std::unique_ptr<QosController> qos_of(const std::string& name, Parameters parameters = {}) {
    return std::get<0>(try_qos(name, std::move(parameters)));
}

/// Which parameter is refused; empty if none is.
template <class Made>
std::string refused_parameter(const Made& made) {
    const auto* const error = std::get_if<ParameterError>(&made);
    return error == nullptr ? std::string{} : error->parameter;
}

}  // namespace reaper::testing
