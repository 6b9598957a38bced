// A QoS controller: where CPU time is stolen from a hypervisor (it is a guest itself), so many
// vCPUs go as that time is worth, not more often than `settle`.
#include <reaper/modules/module.hpp>

namespace {

using namespace reaper;

class StealQos final : public QosController {
public:
    StealQos(double most, QosEvict evict) : most_{most}, evict_{evict} {}

    std::string_view name() const override { return "steal"; }
    LoadFigures figures() const override {
        LoadFigures wanted;
        wanted.steal = wanted.cores = true;
        return wanted;
    }
    QosVerdict look(const QosState& state, const HostLoad& load, TimePoint now) const override {
        QosVerdict verdict;
        verdict.state = state;
        if (!is_news(load, verdict)) return verdict;
        if (!load.steal || !load.cores) {
            verdict.why = "its steal time is not known";
            return verdict;
        }
        const double over = (*load.steal - most_) * *load.cores;
        verdict.too_busy = over > 0;
        if (!*verdict.too_busy)
            verdict.why = "little CPU time is stolen";
        else if (settles(state, now, evict_.settle))
            verdict.why = "the last correction is still to show its effect";
        else
            verdict.correction = correction_of(load.host, evict_, over,
                                               decimal_text(*load.steal * 100) +
                                                   "% of the CPU time is stolen, above " +
                                                   decimal_text(most_ * 100) + "%");
        return verdict;
    }

private:
    double most_;
    QosEvict evict_;
};

std::variant<std::unique_ptr<QosController>, ParameterError> make_steal(
    const Parameters& parameters) {
    const auto most = decimal_parameter(parameters, "most", 0.001, 1);
    if (!most) return ParameterError{"most", "a number from 0.001 to 1"};
    const auto evict = qos_evict_of(parameters);
    if (const auto* const wrong = std::get_if<ParameterError>(&evict)) return *wrong;
    return std::make_unique<StealQos>(*most, std::get<QosEvict>(evict));
}

std::variant<ModuleParts, ParameterError> make(const Parameters&) {
    ModuleParts parts;
    parts.qos.push_back({"steal",
                         "evicts revocable servers where CPU time is stolen from the hypervisor",
                         {{"most", ParameterKind::text, std::string{"0.05"},
                           "the part of CPU time that may be stolen"},
                          evict_spec(),
                          settle_spec()},
                         make_steal});
    return parts;
}

ModuleInfo info() {
    return {"stolen-time", "1.0", {}, make};
}

}  // namespace

REAPER_MODULE(info);
