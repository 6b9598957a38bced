#include "reaper/triggers/ended_loan.hpp"

#include <memory>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"
#include "reaper/triggers/requester.hpp"

namespace reaper {

void EndedLoanTrigger::submit(const EndedLoan& loan) {
    auto lease = std::make_shared<WhileServingLease>(dependencies_.messages);
    if (dependencies_.stopping || !lease->held() || loan.amounts.empty()) return;
    const TimePoint now = dependencies_.clock.now();
    TriggeredRequest triggered;
    Request& request = triggered.request;
    request.id = loan_request_id(loan.reservation, now, ++made_);
    request.operation = Operation::manual;
    request.source = RequestSource::reservation;
    request.resources = loan.amounts;
    request.placement.only_hosts = {loan.service_host};
    request.placement.why_only = "its tenants hold the room";
    request.sent_at = now;
    request.deadline = now + dependencies_.settings.max_age;
    request.role = loan.role;
    request.victims_among = loan.tenants;
    triggered.event_id = "reservation/" + request.id.str();
    triggered.event_type = "reservation";
    triggered.lease = std::move(lease);
    log_about(about(request), spdlog::level::info, "{}: role {} takes back {}: {}",
              printable(request.id.str()), loan.role.str(), to_string(loan.amounts), loan.why);
    dependencies_.sink.submit(std::move(triggered));
}

}  // namespace reaper
