#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/oversubscription/parameter_text.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"
#include "reaper/oversubscription/qos_controller.hpp"

namespace reaper {

// load: a host whose load average of 5 or 15 minutes is above its threshold loses revocable servers
// (Mesos' load controller, which evicts all of them). The average of 1 minute is no figure of it.
//
// Step by step, as many vCPUs go as the load is above the threshold. The averages show that slowly,
// so what went already is taken off them (shed_load), as it fades: a step that freed less than it
// seemed to is followed by another, and no step is taken twice. Where all go at once, there is no
// step to be taken twice: while the average is above its threshold, servers that came since go too.
//
// One reading evicts no server, unless `for` says so, and a load that no host can have is none.

namespace {

/// Of thresholds and of what is measured: Linux has no more threads than 4 million, and no host
/// lives with a quarter of them.
constexpr double highest_load = 1e6;
/// What was shed is taken off with rounding: so little above the threshold is not above it.
constexpr double load_rounding = 1e-6;

struct LoadThresholds {
    std::optional<double> load5;
    std::optional<double> load15;
    bool per_core = false;
    int in_a_row = 1;
};

/// One average against its threshold.
struct Exceeded {
    double over = 0;        ///< in runnable threads; above 0: exceeded
    bool exceeded = false;  ///< with what was shed and is still in it
    std::string why;
};

class LoadQos : public QosController {
public:
    LoadQos(LoadThresholds thresholds, QosEvict evict) : thresholds_{thresholds}, evict_{evict} {}

    std::string_view name() const override { return "load"; }

    LoadFigures figures() const override {
        LoadFigures wanted;
        wanted.load5 = thresholds_.load5.has_value();
        wanted.load15 = thresholds_.load15.has_value();
        wanted.cores = thresholds_.per_core;
        return wanted;
    }

    QosVerdict look(const QosState& state, const HostLoad& load, TimePoint now) const override {
        QosVerdict verdict;
        verdict.state = state;
        if (!is_news(load, verdict)) return verdict;
        if (thresholds_.per_core &&
            !(load.cores && std::isfinite(*load.cores) && *load.cores > 0)) {
            verdict.why = "the number of its cores is not known";
            return verdict;
        }
        const ShedLoad shed = shed_load(state, now);
        const Exceeded five =
            against("5", load.load5, thresholds_.load5, shed.load5, load, verdict.why);
        const Exceeded fifteen =
            against("15", load.load15, thresholds_.load15, shed.load15, load, verdict.why);
        if (five.exceeded || fifteen.exceeded)
            verdict.too_busy = true;
        else if (verdict.why.empty())
            verdict.too_busy = false;
        const bool five_is_worse = five.exceeded && !(fifteen.exceeded && fifteen.over > five.over);
        const bool exceeded = five.exceeded || fifteen.exceeded;
        verdict.state.in_a_row = exceeded ? std::min(state.in_a_row + 1, thresholds_.in_a_row) : 0;
        if (exceeded)
            correct(load.host, five_is_worse ? five : fifteen, now, verdict);
        else if (verdict.why.empty())
            verdict.why = "the load is not above its threshold";
        return verdict;
    }

private:
    void correct(const HostId& host, const Exceeded& worse, TimePoint now,
                 QosVerdict& verdict) const {
        const QosState& state = verdict.state;
        if (!evict_.all && worse.over <= load_rounding)
            verdict.why = worse.why + ", but not without what was shed and is still in it";
        else if (state.in_a_row < thresholds_.in_a_row)
            verdict.why = worse.why + ", but not for long enough";
        else if (settles(state, now, evict_.settle))
            verdict.why = "the last correction is still to show: " + worse.why;
        else
            verdict.correction = correction_of(host, evict_, worse.over, worse.why);
    }

    Exceeded against(const std::string& minutes, const std::optional<double>& figure,
                     const std::optional<double>& threshold, double shed, const HostLoad& load,
                     std::string& unknown) const {
        if (!threshold) return {};
        const std::string average = "its load average of " + minutes + " minutes ";
        if (!figure || !std::isfinite(*figure) || *figure < 0) {
            unknown = average + "is not known";
            return {};
        }
        if (*figure > highest_load) {
            unknown = average + "is more than any host can have: above 1000000";
            return {};
        }
        const double limit = thresholds_.per_core ? *threshold * *load.cores : *threshold;
        std::string why = "the load average of " + minutes + " minutes is " +
                          decimal_text(*figure) + ", above " + decimal_text(limit);
        if (thresholds_.per_core) why += " (" + decimal_text(*threshold) + " for each core)";
        return {*figure - shed - limit, *figure > limit, std::move(why)};
    }

    LoadThresholds thresholds_;
    QosEvict evict_;
};

/// None: not given. A threshold of 0 would evict all servers, always.
std::variant<std::optional<double>, ParameterError> load_threshold(const Parameters& parameters,
                                                                   std::string_view name) {
    if (std::get<std::string>(parameters.find(name)->second).empty())
        return std::optional<double>{};
    const auto value = decimal_parameter(parameters, name, 0.01, highest_load);
    if (!value) return ParameterError{std::string{name}, "a load average from 0.01 to 1000000"};
    return value;
}

std::variant<std::unique_ptr<QosController>, ParameterError> make_load_qos(
    const Parameters& parameters) {
    LoadThresholds thresholds;
    const auto five = load_threshold(parameters, "load_threshold_5min");
    if (const auto* const wrong = std::get_if<ParameterError>(&five)) return *wrong;
    const auto fifteen = load_threshold(parameters, "load_threshold_15min");
    if (const auto* const wrong = std::get_if<ParameterError>(&fifteen)) return *wrong;
    thresholds.load5 = std::get<std::optional<double>>(five);
    thresholds.load15 = std::get<std::optional<double>>(fifteen);
    if (!thresholds.load5 && !thresholds.load15)
        return ParameterError{"load_threshold_5min", "this one, load_threshold_15min, or both"};
    const auto& per_core = std::get<std::string>(parameters.at("per_core"));
    if (per_core != "true" && per_core != "false")
        return ParameterError{"per_core", "true or false"};
    thresholds.per_core = per_core == "true";
    const auto in_a_row = in_a_row_of(parameters);
    if (const auto* const wrong = std::get_if<ParameterError>(&in_a_row)) return *wrong;
    thresholds.in_a_row = std::get<int>(in_a_row);
    const auto evict = qos_evict_of(parameters);
    if (const auto* const wrong = std::get_if<ParameterError>(&evict)) return *wrong;
    return std::make_unique<LoadQos>(thresholds, std::get<QosEvict>(evict));
}

}  // namespace

QosInfo load_qos() {
    return {
        "load",
        "evicts revocable servers from a host whose load average is above a threshold",
        {{"load_threshold_5min", ParameterKind::text, std::string{},
          "the load average of 5 minutes that is not to be exceeded; at least one of the two is "
          "needed"},
         {"load_threshold_15min", ParameterKind::text, std::string{},
          "the load average of 15 minutes that is not to be exceeded"},
         {"per_core", ParameterKind::text, std::string{"false"},
          "true: the thresholds are for each core of the host"},
         in_a_row_spec(2),
         evict_spec(),
         settle_spec()},
        make_load_qos};
}

// noop: nothing is corrected.

namespace {

class NoopQos : public QosController {
public:
    std::string_view name() const override { return "noop"; }
    QosVerdict look(const QosState& state, const HostLoad&, TimePoint) const override {
        QosVerdict verdict;
        verdict.why = "the QoS controller noop corrects nothing";
        verdict.state = state;
        return verdict;
    }
};

std::variant<std::unique_ptr<QosController>, ParameterError> make_noop_qos(const Parameters&) {
    return std::make_unique<NoopQos>();
}

}  // namespace

QosInfo noop_qos() {
    return {"noop", "corrects nothing, however busy a host is", {}, make_noop_qos};
}

// pressure: a host whose CPU time is stolen, whose threads wait for a CPU (PSI), or one of whose
// regular servers waits, for several measurements in a row loses revocable servers. In the PSI of a
// host, revocable servers that wait for each other count too; in the last figure they do not.

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
