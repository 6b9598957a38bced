// fixed: so many vCPUs on each host, whatever is in use there.
#include <algorithm>
#include <charconv>
#include <utility>

#include "reaper/model/cloud.hpp"
#include "reaper/model/text.hpp"
#include "reaper/oversubscription/builtin.hpp"
#include "reaper/oversubscription/parameter_text.hpp"

namespace reaper {
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
        const auto at = std::find_if(overrides_.begin(), overrides_.end(),
                                     [&](const Override& each) { return each.hosts.cover(facts); });
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

}  // namespace reaper
