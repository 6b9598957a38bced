#include "reaper/oversubscription/qos_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "reaper/oversubscription/parameter_text.hpp"

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

namespace {

constexpr Duration longest_settle = std::chrono::hours{1};
/// More vCPUs than a host has: a figure that is beyond this sheds all.
constexpr double most_shed = 1e6;

}  // namespace

ParameterSpec evict_spec() {
    return {"evict", ParameterKind::text, std::string{"step"},
            "step: servers with as many vCPUs as the excess, the least harm first; all: every "
            "revocable server of the host at once"};
}

ParameterSpec settle_spec() {
    return {"settle", ParameterKind::text, std::string{"60s"},
            "wait between a correction and the next one, for its effect, up to 1h"};
}

ParameterSpec in_a_row_spec(std::int64_t standard) {
    return {"for", ParameterKind::integer, standard,
            "the number of measurements in a row that must be above it, 1 to 1000"};
}

std::variant<int, ParameterError> in_a_row_of(const Parameters& parameters) {
    const auto in_a_row = std::get<std::int64_t>(parameters.at("for"));
    if (in_a_row < 1 || in_a_row > 1000) return ParameterError{"for", "a number from 1 to 1000"};
    return static_cast<int>(in_a_row);
}

std::variant<QosEvict, ParameterError> qos_evict_of(const Parameters& parameters) {
    const auto& evict = std::get<std::string>(parameters.at("evict"));
    if (evict != "step" && evict != "all") return ParameterError{"evict", "step or all"};
    const auto settle = duration_parameter(parameters, "settle", longest_settle);
    if (!settle) return ParameterError{"settle", "a duration up to 1h, like 60s"};
    return QosEvict{evict == "all", *settle};
}

bool is_news(const HostLoad& load, QosVerdict& verdict) {
    if (!load.known()) {
        verdict.state.in_a_row = 0;
        verdict.why = load.why_unknown;
        return false;
    }
    auto& last = verdict.state.measured_at;
    if (last && load.measured_at <= *last) {
        verdict.why = "there is no new measurement";
        return false;
    }
    last = load.measured_at;
    return true;
}

bool settles(const QosState& state, TimePoint now, Duration settle) {
    return state.corrected_at && now - *state.corrected_at < settle;
}

HostCorrection correction_of(const HostId& host, const QosEvict& evict, double over,
                             std::string why) {
    HostCorrection correction;
    correction.host = host;
    correction.all = evict.all;
    if (!evict.all)
        correction.shed_vcpus =
            static_cast<Amount>(std::clamp(std::ceil(over - 1e-9), 1.0, most_shed));
    correction.why = std::move(why);
    return correction;
}

}  // namespace reaper
