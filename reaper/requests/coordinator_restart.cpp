// The coordinator's second part: what a former process left.
#include <algorithm>
#include <utility>

#include "reaper/controllers/freed_room/ledger_journal.hpp"
#include "reaper/requests/coordinator.hpp"
#include "reaper/requests/time_left.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {

ResultTask<void> RequestCoordinator::restore(LeaseOf lease_of) {
    const config::Cull& cull = services_.settings.cull;
    const TimePoint now = services_.cloud.clock.now();
    // Further back than anything is promised or watched: what happened to culls that ended right
    // before a long pause is reported now.
    const TimePoint since = now - std::max(cull.promise, cull.watch) - std::chrono::days{1};
    auto recent = co_await services_.journal.culls_since(since);
    if (!recent) co_return recent.error();
    auto unfinished = co_await services_.journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    services_.rooms.restore(ledger_of(*unfinished, *recent, now, cull.promise));
    for (const auto& record : *recent) {
        if (!is_awaited(record.request.source)) continue;
        const bool culled = record.outcome->kind == OutcomeKind::freed ||
                            record.outcome->kind == OutcomeKind::incomplete;
        // As for the ledger, where the clock was set back.
        const TimePoint ended = std::min(record.outcome->at, now);
        const Duration left = ended + cull.watch - now;
        if (culled && !record.freed_room) services_.tracker.watch_cull(record.request, ended, left);
    }
    for (auto& record : *unfinished) {
        InFlight& request = in_flight_[record.request.id];
        request.approved = record.request.approved;
        auto lease = lease_of(record.request.source);
        request.whole = lease || !record.plans.empty();
        if (lease) request.leases.push_back(std::move(lease));
        if (request.whole)
            spawn_(resume(std::move(record)));
        else
            spawn_(await_its_source(std::move(record)));
    }
    co_return Result<void>{};
}

/// Of a former process, perhaps of long ago. Where the clock was set back since, its age is
/// unknown: it counts as too old, rather than to be waited for until the clock is where it was.
TimePoint RequestCoordinator::deadline_of(const Request& request) const {
    constexpr Duration clocks_differ = std::chrono::minutes{2};
    const TimePoint now = services_.cloud.clock.now();
    if (request.sent_at > now + clocks_differ) return now - clocks_differ;
    // Of a journal that did not keep it yet.
    if (request.deadline == TimePoint{})
        return request.sent_at + services_.settings.trigger.max_age;
    return request.deadline;
}

Task<void> RequestCoordinator::resume(RequestRecord record) {
    const RequestId id = record.request.id;
    newest_.note(record.request);
    Request request = record.request;
    request.deadline = deadline_of(request);
    // Out of time or not, what was sent is waited for; nothing more is while it is not known.
    const auto unknown = co_await until_policy_known(request);
    if (unknown)
        log_about({.request = id.str()}, spdlog::level::warn, "{}: {}", id.str(), *unknown);
    RequestRunner runner{runner_dependencies(), std::move(request)};
    Ended ended;
    ended.outcome = co_await runner.resume(std::move(record));
    ended.request = runner.request();
    ended.ready_on = runner.ready_on();
    co_await close(id, std::move(ended));
}

/// What the journal has of it may never have been confirmed: nothing is done before its source
/// sends it again.
Task<void> RequestCoordinator::await_its_source(RequestRecord record) {
    constexpr Duration poll_interval{250};
    const RequestId id = record.request.id;
    Request request = record.request;
    request.deadline = deadline_of(request);
    const TimeLeft time_left{request, services_.cloud.clock};
    const bool too_old = time_left.over();
    while (!services_.stopping && !time_left.over()) {
        auto told = std::move(in_flight_[id].waiting);
        if (!told.empty()) in_flight_.erase(id);
        for (auto& triggered : told) submit(std::move(triggered));
        if (!told.empty() && in_flight_.contains(id)) co_return;
        in_flight_[id];  // those were too old
        co_await services_.cloud.clock.sleep(poll_interval);
    }
    Ended ended;
    ended.request = std::move(record.request);
    if (!services_.stopping) {
        Outcome outcome;
        outcome.kind = too_old ? OutcomeKind::failed : OutcomeKind::handed_over;
        outcome.reason = too_old ? "no servers deleted: interrupted, and too old now to go on"
                                 : "no servers deleted: interrupted, and it did not come again: "
                                   "another reaper has it, or the queue dropped its message";
        outcome.at = services_.cloud.clock.now();
        ended.outcome = std::move(outcome);
    }
    co_await close(id, std::move(ended));
}

}  // namespace reaper
