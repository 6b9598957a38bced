// usage_slack: what is allocated on a host and not used, even at the peak of the last hour.
//
// Of C cores, A vCPUs are allocated in ordinary room, and P cores were in use at the peak. Three
// bounds, in vCPUs; the least counts:
//     A - P                          what is not allocated is ordinary room, and sold as such
//     (C * (1 - margin) - P) * r     cores that are idle at the peak; r: vcpus_per_core, at most
//                                    the host's allocation ratio
//     C * ceiling
// C is the least of what the metrics count and of what Placement has of VCPU, so that pinned and
// reserved cores are not sold. P is the upper end for what room may rise to, the lower for what it
// must fall to (measurement.hpp).
#include <algorithm>
#include <cmath>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/oversubscription/builtin.hpp"
#include "reaper/oversubscription/parameter_text.hpp"

namespace reaper {
namespace {

constexpr Duration longest_smoothing = std::chrono::hours{1};
constexpr Duration longest_peak = std::chrono::hours{24 * 7};
/// So that 2.9999999999 cores, which are 3 but for rounding, give 3.
constexpr double rounding = 1e-9;

struct SlackParameters {
    double margin = 0;
    double ceiling = 0;
    double vcpus_per_core = 0;
    UsageWindows windows;
};

class UsageSlackEstimator : public Estimator {
public:
    explicit UsageSlackEstimator(SlackParameters parameters) : parameters_{parameters} {}

    std::string_view name() const override { return "usage_slack"; }
    bool measures() const override { return true; }
    UsageWindows windows() const override { return parameters_.windows; }

    Estimate estimate(const HostFacts& facts, const HostUsage& given) const override {
        const HostUsage usage = checked(given);
        Estimate estimate;
        estimate.measured_at = usage.measured_at;
        estimate.coverage = usage.coverage;
        estimate.why = usage.why_unknown;
        if (!usage.known()) return estimate;
        estimate.known = true;
        const double cores =
            std::min(usage.cores, static_cast<double>(std::max<Amount>(facts.vcpus, 0)));
        estimate.rise_to = room_for(facts, cores, usage.peak.most);
        estimate.fall_to = room_for(facts, cores, usage.peak.least);
        // Where servers in ordinary room left, less is allocated, but no server lacks a CPU.
        estimate.keep_to = idle_room(facts, cores, usage.peak.least);
        estimate.why = words(facts, cores, usage);
        return estimate;
    }

private:
    Amount room_for(const HostFacts& facts, double cores, double peak) const {
        const double unused = static_cast<double>(facts.allocated) - peak;
        return std::min(whole(unused), idle_room(facts, cores, peak));
    }

    Amount idle_room(const HostFacts& facts, double cores, double peak) const {
        const double per_core = std::min(parameters_.vcpus_per_core, facts.allocation_ratio);
        const double idle = (cores * (1 - parameters_.margin) - peak) * per_core;
        return whole(std::min(idle, cores * parameters_.ceiling));
    }

    static Amount whole(double room) {
        return room > 0 ? static_cast<Amount>(std::floor(room + rounding)) : 0;
    }

    /// With what the use is now: a rise counts as the mean of it follows.
    std::string words(const HostFacts& facts, double cores, const HostUsage& usage) const {
        const UsageOf& peak = usage.peak;
        const UsageWindows& windows = parameters_.windows;
        std::string more;
        const auto add = [&](const std::string& part) {
            more += (more.empty() ? "" : "; ") + part;
        };
        if (windows.peak > Duration::zero())
            add("now " + decimal_text(usage.now.most) +
                (windows.smoothing > Duration::zero()
                     ? ", the mean of " + format_duration(windows.smoothing)
                     : ""));
        if (peak.least < peak.most)
            add("at least " + decimal_text(peak.least) + " not by oversubscribed room");
        std::string text =
            decimal_text(peak.most) + " of " + decimal_text(cores) + " cores in use at the peak";
        if (windows.peak > Duration::zero()) text += " of " + format_duration(windows.peak);
        if (!more.empty()) text += " (" + more + ")";
        return text + ", " + counted(facts.allocated, "vCPU") + " allocated";
    }

    SlackParameters parameters_;
};

std::variant<std::unique_ptr<Estimator>, ParameterError> make_usage_slack_estimator(
    const Parameters& parameters) {
    const auto margin = decimal_parameter(parameters, "margin", 0, 0.99);
    if (!margin) return ParameterError{"margin", "a part from 0 to 0.99, like 0.1"};
    const auto smoothing = duration_parameter(parameters, "smoothing", longest_smoothing);
    if (!smoothing) return ParameterError{"smoothing", "a duration up to 1h, like 1min"};
    const auto peak = duration_parameter(parameters, "peak", longest_peak);
    if (!peak) return ParameterError{"peak", "a duration up to 168h, like 1h"};
    const auto ceiling = decimal_parameter(parameters, "ceiling", 0, 16);
    if (!ceiling) return ParameterError{"ceiling", "a number from 0 to 16, like 1"};
    const auto per_core = decimal_parameter(parameters, "vcpus_per_core", 0.01, 16);
    if (!per_core) return ParameterError{"vcpus_per_core", "a number from 0.01 to 16, like 1"};
    SlackParameters read{*margin, *ceiling, *per_core, {}};
    read.windows.smoothing = *smoothing;
    read.windows.peak = *peak;
    return std::make_unique<UsageSlackEstimator>(read);
}

}  // namespace

EstimatorInfo usage_slack_estimator() {
    return {"usage_slack",
            "gives what is allocated on the host and was not used, even at the peak of a longer "
            "time, as the metrics tell it",
            {{"margin", ParameterKind::text, std::string{"0.1"},
              "the part of the host's cores that is kept back, 0 to 0.99"},
             {"smoothing", ParameterKind::text, std::string{"1min"},
              "use is averaged over this time, up to 1h"},
             {"peak", ParameterKind::text, std::string{"1h"},
              "the largest mean within this time counts, up to 168h"},
             {"ceiling", ParameterKind::text, std::string{"1"},
              "never more vCPUs than this many for each core of the host, 0 to 16"},
             {"vcpus_per_core", ParameterKind::text, std::string{"1"},
              "vCPUs for each idle core, 0.01 to 16; at most the host's allocation ratio of VCPU"}},
            make_usage_slack_estimator};
}

}  // namespace reaper
