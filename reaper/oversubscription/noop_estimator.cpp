// noop: nothing is ever sold beyond what is allocated.
#include "reaper/oversubscription/builtin.hpp"

namespace reaper {
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

}  // namespace reaper
