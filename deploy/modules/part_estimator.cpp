// A resource estimator: a part of each host's vCPUs is sold again, whatever is used. The module's
// own parameter bounds what the configuration may ask for.
#include <reaper/modules/module.hpp>

namespace {

using namespace reaper;

class PartEstimator final : public Estimator {
public:
    explicit PartEstimator(Amount percent) : percent_{percent} {}

    std::string_view name() const override { return "part"; }
    Estimate estimate(const HostFacts& facts, const HostUsage&) const override {
        Estimate estimate;
        estimate.known = true;
        estimate.rise_to = estimate.fall_to = facts.vcpus * percent_ / 100;
        estimate.why = std::to_string(percent_) + "% of " + std::to_string(facts.vcpus) + " VCPU";
        return estimate;
    }

private:
    Amount percent_;
};

std::variant<ModuleParts, ParameterError> make(const Parameters& parameters) {
    const auto most = std::get<std::int64_t>(parameters.at("most_percent"));
    if (most < 1 || most > 400) return ParameterError{"most_percent", "a number from 1 to 400"};
    const auto make_part =
        [most](
            const Parameters& of_part) -> std::variant<std::unique_ptr<Estimator>, ParameterError> {
        const auto percent = std::get<std::int64_t>(of_part.at("percent"));
        if (percent < 0 || percent > most)
            return ParameterError{"percent", "a number from 0 to " + std::to_string(most)};
        return std::make_unique<PartEstimator>(percent);
    };
    ModuleParts parts;
    parts.estimators.push_back(
        {"part",
         "sells a part of each host's vCPUs again, whatever is used",
         {{"percent", ParameterKind::integer, std::int64_t{25}, "of the host's vCPUs"}},
         make_part});
    return parts;
}

ModuleInfo info() {
    return {"part-of-host",
            "1.0",
            {{"most_percent", ParameterKind::integer, std::int64_t{100},
              "what `percent` may be at most, 1 to 400"}},
            make};
}

}  // namespace

REAPER_MODULE(info);
