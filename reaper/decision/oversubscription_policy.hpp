// The configured oversubscription, compiled: estimator and QoS controller as objects.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "reaper/model/cloud.hpp"
#include "reaper/model/error.hpp"
#include "reaper/oversubscription/estimator_table.hpp"
#include "reaper/oversubscription/qos_table.hpp"

namespace reaper {

struct OversubscriptionPolicy {
    config::Oversubscription configured;
    ResourceClass room_class;
    std::unique_ptr<Estimator> estimator;
    std::unique_ptr<QosController> qos;

    /// Is the host one of those whose room may be sold?
    bool covers(const Host& host) const;
};

/// Null if nothing is to be sold. `bad_input` names the plugin or the parameter that can't be used.
Result<std::shared_ptr<const OversubscriptionPolicy>> compile_oversubscription(
    const config::Oversubscription& settings);

}  // namespace reaper
