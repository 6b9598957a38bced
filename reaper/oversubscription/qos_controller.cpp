#include "reaper/oversubscription/qos_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace reaper {

void QosState::shift(Duration by) {
    if (measured_at) *measured_at += by;
    if (corrected_at) *corrected_at += by;
}

QosState after_correction(QosState state, Amount vcpus, TimePoint at) {
    const ShedLoad left = shed_load(state, at);
    const auto shed = static_cast<double>(std::max<Amount>(vcpus, 0));
    state.in_a_row = 0;
    state.corrected_at = at;
    state.shed = {left.load5 + shed, left.load15 + shed};
    return state;
}

ShedLoad shed_load(const QosState& state, TimePoint now) {
    if (!state.corrected_at) return {};
    const auto decayed = [&](double shed, std::chrono::minutes span) {
        const double spans = std::chrono::duration<double>(now - *state.corrected_at) /
                             std::chrono::duration<double>(span);
        return shed * std::exp(-std::max(spans, 0.0));
    };
    return {decayed(state.shed.load5, std::chrono::minutes{5}),
            decayed(state.shed.load15, std::chrono::minutes{15})};
}

}  // namespace reaper
