// The table of QoS controllers: feeds construction, config errors, `reaper qos` and the docs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
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

}  // namespace reaper
