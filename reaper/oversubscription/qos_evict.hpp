// What the QoS controllers that evict have in common: after how many measurements, how many servers
// at a time, and how long they wait for an effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "reaper/model/parameters.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

struct QosEvict {
    bool all = false;    ///< every revocable server of the host; else step by step
    Duration settle{0};  ///< between two corrections of a host
};

/// The parameters `evict` and `settle`.
ParameterSpec evict_spec();
ParameterSpec settle_spec();
/// `for`, a number of measurements.
ParameterSpec in_a_row_spec(std::int64_t standard);
std::variant<int, ParameterError> in_a_row_of(const Parameters& parameters);
std::variant<QosEvict, ParameterError> qos_evict_of(const Parameters& parameters);

/// Whether this measurement is to be looked at: it is known, and newer than the last one. If not,
/// the verdict says why. It remembers the measurement.
bool is_news(const HostLoad& load, QosVerdict& verdict);

/// Whether the last correction is still to show its effect.
bool settles(const QosState& state, TimePoint now, Duration settle);

/// At least 1 vCPU, and all that is `over`, which is above 0.
HostCorrection correction_of(const HostId& host, const QosEvict& evict, double over,
                             std::string why);

}  // namespace reaper
