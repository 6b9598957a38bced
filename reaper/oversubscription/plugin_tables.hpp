// The tables of estimators and QoS controllers, by name: the built-in ones and those of modules.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/estimator.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

// The table of estimators: feeds construction, config errors, `reaper estimators` and the docs.

struct EstimatorInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::function<std::variant<std::unique_ptr<Estimator>, ParameterError>(
        const Parameters& parameters)>
        make;
    std::string module{};  ///< which one brings it, with its version; empty: it is built in
};

/// Entries stay where they are.
const std::deque<EstimatorInfo>& estimator_table();
/// Of a module (reaper/modules); its name must be new.
void add_estimator(EstimatorInfo info);

/// None for an unknown name.
const EstimatorInfo* find_estimator(std::string_view name);

// The table of QoS controllers: feeds construction, config errors, `reaper qos` and the docs.

struct QosInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::function<std::variant<std::unique_ptr<QosController>, ParameterError>(
        const Parameters& parameters)>
        make;
    std::string module{};  ///< which one brings it, with its version; empty: it is built in
};

/// Entries stay where they are.
const std::deque<QosInfo>& qos_table();
/// Of a module (reaper/modules); its name must be new.
void add_qos(QosInfo info);

/// None for an unknown name.
const QosInfo* find_qos(std::string_view name);

// Built in: estimators.cpp and qos_controllers.cpp.

EstimatorInfo noop_estimator();
EstimatorInfo fixed_estimator();
EstimatorInfo usage_slack_estimator();

QosInfo noop_qos();
QosInfo load_qos();
QosInfo pressure_qos();

}  // namespace reaper
