#include "reaper/triggers/correction.hpp"

#include <memory>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/triggers/serving_lease.hpp"

namespace reaper {

bool CorrectionTrigger::submit(Correction correction, Source source,
                               std::function<void(const Outcome&)> done) {
    auto lease = std::make_shared<WhileServingLease>(dependencies_.messages);
    if (dependencies_.stopping || !lease->held() || correction.servers.empty()) return false;
    const TimePoint now = dependencies_.clock.now();
    const std::string_view word = source == Source::qos ? "qos" : "estimator";
    TriggeredRequest triggered;
    Request& request = triggered.request;
    request.id =
        RequestId{std::string{word} + "-" + std::to_string(now.time_since_epoch().count()) + "-" +
                  std::to_string(++made_)};
    request.operation = Operation::manual;
    request.source = RequestSource::oversubscription;
    request.slots = 0;
    request.sent_at = now;
    request.deadline = now + valid_for;
    request.correction = std::move(correction);
    triggered.event_id = "oversubscription/" + request.id.str();
    triggered.event_type = "oversubscription";
    triggered.lease = std::move(lease);
    triggered.done = std::move(done);
    spdlog::info("{}: {}: {}", request.id.str(), to_string(request),
                 printable(request.correction->servers.front().reason));
    dependencies_.sink.submit(std::move(triggered));
    return true;
}

}  // namespace reaper
