#include "reaper/triggers/correction.hpp"

#include <memory>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {

bool CorrectionTrigger::submit(Correction correction, CorrectionSource source,
                               std::function<void(const Outcome&)> done) {
    auto lease = std::make_shared<WhileServingLease>(dependencies_.messages);
    const bool serves = dependencies_.dry_run || lease->held();
    if (dependencies_.stopping || !serves || correction.servers.empty()) return false;
    const TimePoint now = dependencies_.clock.now();
    TriggeredRequest triggered;
    Request& request = triggered.request;
    request.id = correction_request_id(source, now, ++made_);
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
    log_about(about(request), spdlog::level::info, "{}: {}: {}", request.id.str(),
              to_string(request), printable(request.correction->servers.front().reason));
    dependencies_.sink.submit(std::move(triggered));
    return true;
}

}  // namespace reaper
