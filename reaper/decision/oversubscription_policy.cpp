#include "reaper/decision/oversubscription_policy.hpp"

#include <utility>

#include "reaper/decision/make_plugin.hpp"
#include "reaper/oversubscription/host_facts.hpp"

namespace reaper {

bool OversubscriptionPolicy::covers(const Host& host) const {
    return sells_room(facts_of(host), configured.hosts, configured.aggregates);
}

Result<std::shared_ptr<const OversubscriptionPolicy>> compile_oversubscription(
    const config::Oversubscription& settings) {
    std::shared_ptr<const OversubscriptionPolicy> none;
    if (!settings.enabled) return none;
    auto compiled = std::make_shared<OversubscriptionPolicy>();
    compiled->configured = settings;
    compiled->room_class = ResourceClass{settings.room_class};
    auto estimator = make_plugin<EstimatorInfo, std::unique_ptr<Estimator>>(
        find_estimator(settings.estimator.name), "estimator", settings.estimator);
    if (!estimator) return estimator.error();
    compiled->estimator = std::move(*estimator);
    auto qos = make_plugin<QosInfo, std::unique_ptr<QosController>>(find_qos(settings.qos.name),
                                                                    "QoS controller", settings.qos);
    if (!qos) return qos.error();
    compiled->qos = std::move(*qos);
    return std::shared_ptr<const OversubscriptionPolicy>{std::move(compiled)};
}

}  // namespace reaper
