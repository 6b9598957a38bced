// pressure: a host whose CPU time is stolen, whose threads wait for a CPU (PSI), or one of whose
// regular servers waits, for several measurements in a row loses revocable servers. In the PSI of a
// host, revocable servers that wait for each other count too; in the last figure they do not.
#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/oversubscription/builtin.hpp"
#include "reaper/oversubscription/parameter_text.hpp"
#include "reaper/oversubscription/qos_evict.hpp"

namespace reaper {
namespace {

struct PressureThresholds {
    std::optional<double> steal;
    std::optional<double> pressure;
    std::optional<double> guest_steal;
    int in_a_row = 1;
};

/// One figure against its threshold.
struct PressureAbove {
    double over = 0;  ///< above 0: it is above
    std::string why;
};

class PressureQos : public QosController {
public:
    PressureQos(PressureThresholds thresholds, QosEvict evict)
        : thresholds_{thresholds}, evict_{evict} {}

    std::string_view name() const override { return "pressure"; }

    LoadFigures figures() const override {
        LoadFigures wanted;
        wanted.steal = thresholds_.steal.has_value();
        wanted.pressure = thresholds_.pressure.has_value();
        wanted.guest_steal = thresholds_.guest_steal.has_value();
        wanted.cores = true;
        return wanted;
    }

    QosVerdict look(const QosState& state, const HostLoad& load, TimePoint now) const override {
        QosVerdict verdict;
        verdict.state = state;
        if (!is_news(load, verdict)) return verdict;
        PressureAbove worst;
        for (PressureAbove each :
             {above("CPU steal", load.steal, thresholds_.steal, verdict.why),
              above("CPU pressure", load.pressure, thresholds_.pressure, verdict.why),
              above("CPU steal of a regular server", load.guest_steal, thresholds_.guest_steal,
                    verdict.why)})
            if (each.over > worst.over) worst = std::move(each);
        const double over = worst.over;
        if (over > 0)
            verdict.too_busy = true;
        else if (verdict.why.empty())
            verdict.too_busy = false;
        if (over <= 0) {
            verdict.state.in_a_row = 0;
            if (verdict.why.empty())
                verdict.why = "neither steal nor pressure is above its threshold";
            return verdict;
        }
        verdict.state.in_a_row = std::min(state.in_a_row + 1, thresholds_.in_a_row);
        std::string why = std::move(worst.why);
        if (verdict.state.in_a_row < thresholds_.in_a_row)
            verdict.why = why + ", but not for long enough";
        else if (settles(state, now, evict_.settle))
            verdict.why = "the last correction is still to show: " + why;
        else
            verdict.correction =
                correction_of(load.host, evict_, over * cores_of(load), std::move(why));
        return verdict;
    }

private:
    static PressureAbove above(const std::string& what, const std::optional<double>& figure,
                               const std::optional<double>& threshold, std::string& unknown) {
        if (!threshold) return {};
        if (!figure || !(*figure >= 0 && *figure <= most_part)) {
            unknown = "its " + what + " is not known";
            return {};
        }
        const double part = std::min(*figure, 1.0);
        return {part - *threshold, what + " is " + decimal_text(part * 100) + " %, above " +
                                       decimal_text(*threshold * 100) + " %"};
    }

    /// Not known: one vCPU goes at a time.
    static double cores_of(const HostLoad& load) {
        return load.cores && std::isfinite(*load.cores) && *load.cores > 0 ? *load.cores : 1;
    }

    PressureThresholds thresholds_;
    QosEvict evict_;
};

std::variant<std::optional<double>, ParameterError> part_threshold(const Parameters& parameters,
                                                                   std::string_view name) {
    if (std::get<std::string>(parameters.find(name)->second).empty())
        return std::optional<double>{};
    const auto value = decimal_parameter(parameters, name, 0.001, 1);
    if (!value) return ParameterError{std::string{name}, "a part from 0.001 to 1, like 0.1"};
    return value;
}

std::variant<std::unique_ptr<QosController>, ParameterError> make_pressure_qos(
    const Parameters& parameters) {
    const auto steal = part_threshold(parameters, "steal_threshold");
    if (const auto* const wrong = std::get_if<ParameterError>(&steal)) return *wrong;
    const auto pressure = part_threshold(parameters, "pressure_threshold");
    if (const auto* const wrong = std::get_if<ParameterError>(&pressure)) return *wrong;
    PressureThresholds thresholds;
    const auto guest_steal = part_threshold(parameters, "guest_steal_threshold");
    if (const auto* const wrong = std::get_if<ParameterError>(&guest_steal)) return *wrong;
    thresholds.steal = std::get<std::optional<double>>(steal);
    thresholds.pressure = std::get<std::optional<double>>(pressure);
    thresholds.guest_steal = std::get<std::optional<double>>(guest_steal);
    if (!thresholds.steal && !thresholds.pressure && !thresholds.guest_steal)
        return ParameterError{"pressure_threshold",
                              "this one, steal_threshold or guest_steal_threshold"};
    const auto in_a_row = in_a_row_of(parameters);
    if (const auto* const wrong = std::get_if<ParameterError>(&in_a_row)) return *wrong;
    thresholds.in_a_row = std::get<int>(in_a_row);
    const auto evict = qos_evict_of(parameters);
    if (const auto* const wrong = std::get_if<ParameterError>(&evict)) return *wrong;
    return std::make_unique<PressureQos>(thresholds, std::get<QosEvict>(evict));
}

}  // namespace

QosInfo pressure_qos() {
    return {"pressure",
            "evicts revocable servers from a host where CPU time is stolen, or threads or regular "
            "servers wait for a CPU, for several measurements in a row",
            {{"steal_threshold", ParameterKind::text, std::string{},
              "the part of CPU time that may be stolen, 0.001 to 1; at least one of the three is "
              "needed"},
             {"pressure_threshold", ParameterKind::text, std::string{},
              "the part of the time in which threads may wait for a CPU (PSI), 0.001 to 1"},
             {"guest_steal_threshold", ParameterKind::text, std::string{},
              "the part of the time in which the vCPUs of a regular server may wait, 0.001 to 1"},
             in_a_row_spec(3),
             evict_spec(),
             settle_spec()},
            make_pressure_qos};
}

}  // namespace reaper
