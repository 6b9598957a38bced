#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "reaper/model/cloud.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/oversubscription/parameter_text.hpp"
#include "reaper/oversubscription/plugin_tables.hpp"

namespace reaper {

// fixed: so many vCPUs on each host, whatever is in use there.

namespace {

constexpr Amount most_fixed_vcpus = 1'000'000;
constexpr std::string_view aggregate_prefix = "aggregate:";

/// Other vCPUs for some hosts.
struct Override {
    NamedHosts hosts;
    Amount vcpus = 0;
};

class FixedEstimator : public Estimator {
public:
    FixedEstimator(Amount vcpus, std::vector<Override> overrides, bool beyond)
        : vcpus_{vcpus}, overrides_{std::move(overrides)}, beyond_{beyond} {}

    std::string_view name() const override { return "fixed"; }

    std::vector<NamedHosts> named() const override {
        std::vector<NamedHosts> all;
        for (const Override& each : overrides_) all.push_back(each.hosts);
        return all;
    }

    Estimate estimate(const HostFacts& facts, const HostUsage&) const override {
        const auto at = std::ranges::find_if(
            overrides_, [&](const Override& each) { return each.hosts.cover(facts); });
        const Amount wanted = at == overrides_.end() ? vcpus_ : at->vcpus;
        const auto capacity =
            Inventory{.total = facts.vcpus, .allocation_ratio = facts.allocation_ratio}.capacity();
        Estimate estimate;
        estimate.known = true;
        estimate.rise_to = estimate.fall_to = beyond_ ? wanted : std::min(wanted, capacity);
        estimate.why = counted(wanted, "vCPU") + " by the configuration";
        if (at != overrides_.end())
            estimate.why += at->hosts.aggregate.empty()
                                ? " of hosts " + in_quotes(at->hosts.pattern)
                                : " of aggregate " + in_quotes(at->hosts.aggregate);
        if (capacity < wanted)
            estimate.why += (beyond_ ? ", beyond the " : ", but the host has ") +
                            std::to_string(capacity) +
                            (beyond_ ? " VCPU that the host has" : " VCPU in all");
        return estimate;
    }

private:
    Amount vcpus_;
    std::vector<Override> overrides_;
    bool beyond_;
};

std::optional<Override> override_of(std::string_view text) {
    const auto equals = text.rfind('=');
    if (equals == std::string_view::npos) return std::nullopt;
    Override read;
    read.hosts.key = "overrides";
    read.hosts.text = text;
    std::string_view name = text.substr(0, equals);
    const bool aggregate = name.starts_with(aggregate_prefix);
    if (aggregate) name.remove_prefix(aggregate_prefix.size());
    (aggregate ? read.hosts.aggregate : read.hosts.pattern) = name;
    const std::string_view number = text.substr(equals + 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), read.vcpus);
    if (name.empty() || error != std::errc{} || end != number.data() + number.size() ||
        read.vcpus < 0 || read.vcpus > most_fixed_vcpus)
        return std::nullopt;
    return read;
}

std::variant<std::unique_ptr<Estimator>, ParameterError> make_fixed_estimator(
    const Parameters& parameters) {
    const auto vcpus = std::get<std::int64_t>(parameters.at("vcpus"));
    if (vcpus < 0 || vcpus > most_fixed_vcpus)
        return ParameterError{"vcpus", "a number from 0 to 1000000"};
    std::vector<Override> overrides;
    for (const auto& text : std::get<std::vector<std::string>>(parameters.at("overrides"))) {
        auto read = override_of(text);
        if (!read)
            return ParameterError{"overrides",
                                  "PATTERN=VCPUS or aggregate:NAME=VCPUS, with 0 to 1000000 vCPUs; "
                                  "but " +
                                      in_quotes(text) + " is not"};
        overrides.push_back(std::move(*read));
    }
    const auto& beyond = std::get<std::string>(parameters.at("beyond"));
    if (beyond != "true" && beyond != "false") return ParameterError{"beyond", "true or false"};
    return std::make_unique<FixedEstimator>(vcpus, std::move(overrides), beyond == "true");
}

}  // namespace

EstimatorInfo fixed_estimator() {
    return {"fixed",
            "gives the configured vCPUs on each host, whatever is in use there; at most what the "
            "host has of VCPU, unless `beyond` is true",
            {{"vcpus", ParameterKind::integer, std::int64_t{0}, "vCPUs on each host, 0 to 1000000"},
             {"overrides", ParameterKind::text_list, std::vector<std::string>{},
              "other vCPUs for some hosts, the first that fits counts: PATTERN=VCPUS (`*` and `?` "
              "in the name of hypervisor or service) or aggregate:NAME=VCPUS (name or UUID)"},
             {"beyond", ParameterKind::text, std::string{"false"},
              "true: also more than the host has of VCPU, as Mesos' fixed estimator does"}},
            make_fixed_estimator};
}

// noop: nothing is ever sold beyond what is allocated.

namespace {

class NoopEstimator : public Estimator {
public:
    std::string_view name() const override { return "noop"; }
    Estimate estimate(const HostFacts&, const HostUsage&) const override {
        Estimate nothing;
        nothing.known = true;
        nothing.why = "the estimator noop gives no room";
        return nothing;
    }
};

std::variant<std::unique_ptr<Estimator>, ParameterError> make_noop_estimator(const Parameters&) {
    return std::make_unique<NoopEstimator>();
}

}  // namespace

EstimatorInfo noop_estimator() {
    return {"noop", "gives no room: nothing is oversubscribed", {}, make_noop_estimator};
}

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
        const UsageRange& peak = usage.peak;
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
            "time, as the metrics report it",
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
