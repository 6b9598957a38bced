// The table of QoS controllers: feeds construction, config errors, `reaper qos` and the docs.
#pragma once

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

struct QosInfo {
    std::string_view name;
    std::string_view help;  ///< one sentence
    std::vector<ParameterSpec> parameters;
    /// `parameters` are complete and of the right kinds (see with_standards, check_parameters).
    std::variant<std::unique_ptr<QosController>, ParameterError> (*make)(
        const Parameters& parameters);
};

const std::vector<QosInfo>& qos_table();

/// None for an unknown name.
const QosInfo* find_qos(std::string_view name);

}  // namespace reaper
