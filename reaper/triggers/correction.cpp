#include "reaper/triggers/correction.hpp"

#include <memory>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {
namespace {

RequestSource source_of(CorrectionSource source) {
    switch (source) {
        case CorrectionSource::watermark: return RequestSource::watermark;
        case CorrectionSource::life_span: return RequestSource::life_span;
        case CorrectionSource::qos:
        case CorrectionSource::estimator: break;
    }
    return RequestSource::oversubscription;
}

}  // namespace

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
    request.source = source_of(source);
    request.slots = 0;
    request.sent_at = now;
    request.deadline = now + valid_for;
    request.correction = std::move(correction);
    triggered.event_type = to_string(request.source);
    triggered.event_id = triggered.event_type + "/" + request.id.str();
    triggered.lease = std::move(lease);
    triggered.done = std::move(done);
    log_about(about(request), spdlog::level::info, "{}: {}: {}", request.id.str(),
              to_string(request), printable(request.correction->servers.front().reason));
    dependencies_.sink.submit(std::move(triggered));
    return true;
}

}  // namespace reaper
