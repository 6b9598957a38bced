// A QoS controller watches how regular servers fare on the hosts where oversubscribed room is sold,
// and says what must go: corrections are data, which another part carries out under the rules for
// all evictions. Which servers they are is `choose_corrected` (correction.hpp). Pure; the caller
// passes all times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "reaper/model/ids.hpp"
#include "reaper/model/parameters.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// What is known of how busy a host is. What is not asked for, or not known, is none.
struct HostLoad {
    HostId host;
    std::optional<double> load5{};     ///< load average of 5 minutes: runnable threads
    std::optional<double> load15{};    ///< of 15 minutes
    std::optional<double> cores{};     ///< above 0
    std::optional<double> steal{};     ///< the part of CPU time that was stolen, 0 to 1
    std::optional<double> pressure{};  ///< the part of the time in which threads waited for a CPU
    /// The part of the time in which a server's vCPUs waited for a core, 0 to 1: of the regular
    /// server that waits most; 0 if there is none.
    std::optional<double> guest_steal{};
    std::map<ServerId, double> guests{};  ///< the same of each server that is measured
    TimePoint measured_at{};
    Duration reach{};  ///< the figures are of this time before `measured_at`, like rate(...[2m])
    /// Not empty: nothing of the above counts (missing, stale, contradictory), and this says why.
    std::string why_unknown{};

    bool known() const noexcept { return why_unknown.empty(); }
};

/// Counters are read at slightly different times: a part up to this is all, not a contradiction.
inline constexpr double most_part = 1.1;

/// Which figures a controller looks at.
struct LoadFigures {
    bool load5 = false, load15 = false, cores = false, steal = false, pressure = false;
    bool guest_steal = false;

    bool any() const noexcept {
        return load5 || load15 || cores || steal || pressure || guest_steal;
    }
};

/// Revocable servers of the host must go.
struct HostCorrection {
    HostId host;
    bool all = false;       ///< every one of them; else as many as hold:
    Amount shed_vcpus = 0;  ///< at least 1
    std::string why;        ///< for people: the figure and its threshold

    friend bool operator==(const HostCorrection&, const HostCorrection&) = default;
};

/// Load that is still in the averages, though its source was shed.
struct ShedLoad {
    double load5 = 0;
    double load15 = 0;
};

/// What is remembered of one host between two looks.
struct QosState {
    int in_a_row = 0;                        ///< measurements above the threshold
    std::optional<TimePoint> measured_at{};  ///< of the last one that was looked at
    std::optional<TimePoint> corrected_at{};
    ShedLoad shed{};  ///< as of `corrected_at`

    void shift(Duration by);  ///< the wall clock was set forward by this duration (or back)
};

struct QosVerdict {
    std::optional<HostCorrection> correction{};
    std::string why;  ///< for people, where there is none: all is well, what is not known, ...
    /// A figure is above its threshold, or all are known and none is; none: unknown.
    std::optional<bool> too_busy{};
    QosState state;  ///< for the next time
};

class QosController {
public:
    virtual ~QosController() = default;

    /// As in the table of QoS controllers.
    virtual std::string_view name() const = 0;
    virtual LoadFigures figures() const { return {}; }
    /// What is to be corrected at `now`. Unknown figures correct nothing. The same measurement
    /// counts once.
    virtual QosVerdict look(const QosState& state, const HostLoad& load, TimePoint now) const = 0;
};

/// Servers with so many `vcpus` went from the host. Until that is noted, the controller asks for it
/// again with each new measurement. Times grow.
QosState after_correction(QosState state, Amount vcpus, TimePoint at);

/// A load average follows slowly: what was shed is still in it in part, if it was one runnable
/// thread for each vCPU (Linux damps the averages by e in 5 and 15 minutes).
ShedLoad shed_load(const QosState& state, TimePoint now);

// What the QoS controllers that evict have in common: after how many measurements, how many servers
// at a time, and how long they wait for an effect.

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
