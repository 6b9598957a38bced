// noop: nothing is corrected.
#include "reaper/oversubscription/builtin.hpp"

namespace reaper {
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

}  // namespace reaper
