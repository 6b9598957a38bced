#include "reaper/requests/coordinator.hpp"

#include <algorithm>
#include <utility>

#include "reaper/controllers/freed_room/ledger_journal.hpp"
#include "reaper/eviction/notice_giver.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/text.hpp"
#include "reaper/request_spec/believed.hpp"
#include "reaper/requests/time_left.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// The journal's entry for an event, without verdict and reason.
MessageEntry entry_for(const TriggeredRequest& triggered, TimePoint at) {
    MessageEntry entry;
    entry.message_id = triggered.event_id;
    entry.event_type = triggered.event_type;
    entry.request = triggered.request.id;
    entry.at = at;
    return entry;
}

const char* const id_is_taken =
    "no servers deleted: a request with this id is known, and it does not belong to this plan; a "
    "new plan needs its own id";

/// Did a person approve another plan than that which is known by this id?
bool another_plan(const Request& request, const std::optional<Approval>& known) {
    return request.approved && request.approved != known;
}

/// Does the message of a failure name the project of its servers? Of a move, it is the caller's.
bool names_their_project(const Request& request) {
    return request.source == RequestSource::nova_failure && request.operation == Operation::build;
}

/// Is its outcome that of this event too? A refusal is that of its own servers and project alone,
/// and one of a message that Nova does not confirm that of the message.
bool settles(const RequestRecord& record, const TriggeredRequest& triggered) {
    const bool failure = triggered.request.source == RequestSource::nova_failure;
    if (!record.outcome || (failure && was_only_a_search(record))) return false;
    if (!not_served(record)) return true;
    if (record.outcome->safeguard == unconfirmed) return false;
    if (names_their_project(triggered.request) &&
        record.request.project != triggered.request.project)
        return false;
    const auto& settled = record.request.requesters;
    const auto& asking = triggered.request.requesters;
    return std::ranges::all_of(asking, [&](const ServerId& server) {
        return std::ranges::find(settled, server) != settled.end();
    });
}

}  // namespace

/// Who hears of the gateway's request from Nova waits for its end, and is looked at by himself
/// then.
bool RequestCoordinator::InFlight::takes(const TriggeredRequest& triggered) const {
    if (triggered.event_id == first_event) return true;
    const bool of_the_gateway =
        source == RequestSource::gateway && triggered.request.source == RequestSource::nova_failure;
    return whole && !of_the_gateway;
}

void RequestCoordinator::InFlight::add(TriggeredRequest& triggered) {
    leases.add(std::move(triggered.lease));
    if (triggered.done) done.push_back(std::move(triggered.done));
}

RequestCoordinator::RequestCoordinator(RequestServices services, Spawn spawn,
                                       std::function<void()> on_change)
    : services_(services), spawn_(std::move(spawn)), on_change_(std::move(on_change)) {}

RunnerDependencies RequestCoordinator::runner_dependencies(const RequestId& id) {
    return RunnerDependencies{services_, in_flight_[id].leases, newest_, refusals_,
                              journal_trouble_};
}

template <class Write>
Task<bool> RequestCoordinator::until_journaled(std::string what, Write write) {
    return retry_until_journaled(services_.cloud.clock, services_.stopping, std::move(what),
                                 std::move(write), &journal_trouble_);
}

// ---- waiting requests ----

void RequestCoordinator::submit(TriggeredRequest triggered) {
    const RequestId id = triggered.request.id;
    if (const auto known = in_flight_.find(id); known != in_flight_.end()) {
        if (another_plan(triggered.request, known->second.approved))
            return refuse_unserved(std::move(triggered), "other-plan", id_is_taken);
        return join(known->second, std::move(triggered));
    }
    // A step of the wall clock that is not noticed yet makes nothing old.
    const Clock& clock = services_.cloud.clock;
    if (auto expired = why_expired(triggered.request, std::min(clock.now(), clock.shown())))
        return refuse_unserved(std::move(triggered), "too-old", std::move(*expired));
    begin(std::move(triggered));
}

void RequestCoordinator::begin(TriggeredRequest triggered) {
    InFlight& request = in_flight_[triggered.request.id];
    request.first_event = triggered.event_id;
    request.source = triggered.request.source;
    request.approved = triggered.request.approved;
    request.events.insert(triggered.event_id);
    request.add(triggered);
    on_change_();
    spawn_(serve(std::move(triggered)));
}

/// It receives the outcome of the request that it joins.
void RequestCoordinator::join(InFlight& known, TriggeredRequest triggered) {
    MessageEntry entry = entry_for(triggered, services_.cloud.clock.now());
    const bool again = !known.events.insert(triggered.event_id).second;
    const auto& servers = triggered.request.requesters;
    entry.verdict = again ? "duplicate" : "joined";
    entry.reason = again ? "delivered again while its request is served"
                         : "server " + (servers.empty() ? "" : servers.front().str()) +
                               " waits for the same request";
    log_about({.request = entry.request.str()}, spdlog::level::info, "{}: message {}: {}",
              entry.request.str(), entry.verdict, entry.reason);
    if (known.takes(triggered))
        known.add(triggered);
    else
        known.waiting.push_back(std::move(triggered));
    spawn_(note_only(std::move(entry)));
}

/// The request is whole.
void RequestCoordinator::let_join(const RequestId& id) {
    const auto at = in_flight_.find(id);
    if (at == in_flight_.end()) return;
    InFlight& known = at->second;
    known.whole = true;
    std::vector<TriggeredRequest> later;
    for (auto& triggered : std::exchange(known.waiting, {})) {
        if (known.takes(triggered))
            known.add(triggered);
        else
            later.push_back(std::move(triggered));
    }
    known.waiting = std::move(later);
}

/// The request ended before. Who waited with this message is settled with it, if nothing else would
/// follow from his own: of a thousand, each would look by itself otherwise, and all others join it.
void RequestCoordinator::let_settle(const RequestId& id, const RequestRecord& record,
                                    const TriggeredRequest& as) {
    const auto at = in_flight_.find(id);
    if (at == in_flight_.end()) return;
    auto& waiting = at->second.waiting;
    const auto settled =
        std::stable_partition(waiting.begin(), waiting.end(), [&](const TriggeredRequest& each) {
            return each.had_hosts != as.had_hosts || each.request.source != as.request.source ||
                   !settles(record, each);
        });
    std::for_each(settled, waiting.end(), [&](TriggeredRequest& each) { at->second.add(each); });
    waiting.erase(settled, waiting.end());
}

void RequestCoordinator::refuse_unserved(TriggeredRequest triggered, std::string verdict,
                                         std::string reason) {
    MessageEntry entry = entry_for(triggered, services_.cloud.clock.now());
    entry.verdict = std::move(verdict);
    entry.reason = std::move(reason);
    log_about({.request = entry.request.str()}, spdlog::level::info, "{}: dropped: {}",
              entry.request.str(), entry.reason);
    Outcome outcome;
    outcome.kind = OutcomeKind::refused;
    outcome.reason = entry.reason;
    outcome.at = entry.at;
    spawn_(note_and_report(std::move(entry), std::move(triggered.done), std::move(outcome)));
}

/// The request is served no more, and its outcome is journaled.
void RequestCoordinator::tell(const RequestId& id, const Outcome& outcome) {
    auto node = in_flight_.extract(id);
    if (node.empty()) return;
    for (const auto& done : node.mapped().done) done(outcome);
    for (auto& triggered : node.mapped().waiting) submit(std::move(triggered));
}

Task<bool> RequestCoordinator::note(MessageEntry entry) {
    const std::string what = "message " + printable(entry.message_id);
    const auto write = [&]() { return services_.journal.note_message(entry); };
    co_return co_await until_journaled(what, write);
}

Task<void> RequestCoordinator::note_only(MessageEntry entry) {
    co_await note(std::move(entry));
}

Task<void> RequestCoordinator::note_and_report(MessageEntry entry,
                                               std::function<void(const Outcome&)> done,
                                               Outcome outcome) {
    const bool noted = co_await note(std::move(entry));
    if (noted && done) done(outcome);
}

// ---- from the submission to the outcome ----

Task<void> RequestCoordinator::serve(TriggeredRequest triggered) {
    const RequestId id = triggered.request.id;
    const Request claimed = triggered.request;
    newest_.claim(claimed);
    const auto record = co_await known_as(id);
    // What was served was confirmed when it came.
    if (record && !not_served(*record)) newest_.note(record->request);
    const bool settled = record && settles(*record, triggered);
    if (settled) newest_.drop_claim(claimed);
    Known known;
    known.recorded = record.has_value();
    known.ended = known.recorded && record->outcome.has_value();
    if (record) known.rounds = static_cast<int>(record->plans.size());
    known.maybe_served = triggered.maybe_served && (!known.recorded || known.ended);
    if (known.ended) {
        MessageEntry entry = entry_for(triggered, services_.cloud.clock.now());
        entry.verdict = settled ? "duplicate" : "retried";
        entry.reason =
            settled
                ? "the request was served already: " + std::string{to_string(record->outcome->kind)}
                : "served now, as the request was not before: " + record->outcome->reason;
        log_about({.request = id.str()}, spdlog::level::info, "{}: message {}: {}", id.str(),
                  entry.verdict, entry.reason);
        const bool noted = co_await note(std::move(entry));
        const bool failed = settled && record->request.source == RequestSource::gateway &&
                            triggered.request.source == RequestSource::nova_failure;
        // Who had room that was there tries again by another request.
        if (failed && record->outcome->kind == OutcomeKind::already_there)
            services_.rooms.handed_over(id);
        // What was freed is kept for who comes back.
        else if (failed)
            services_.tracker.came_to_nothing(id);
        // Nova found hosts when its search was answered, and took none.
        if (failed && triggered.had_hosts) {
            RequestId refused = id;
            co_await services_.tracker.refused_anyway(std::move(refused));
        }
        if (settled && noted) {
            let_settle(id, *record, triggered);
            Outcome outcome = *record->outcome;
            if (another_plan(triggered.request, record->request.approved)) {
                outcome = {};
                outcome.kind = OutcomeKind::refused;
                outcome.reason = id_is_taken;
                outcome.at = services_.cloud.clock.now();
            }
            tell(id, outcome);
            on_change_();
            co_return;
        }
    }
    auto ended = co_await run(std::move(triggered), known);
    co_await close(id, std::move(ended));
}

/// What the journal has of the request; none if nothing, or if that can't be determined before the
/// stop.
Task<std::optional<RequestRecord>> RequestCoordinator::known_as(RequestId id) {
    std::optional<RequestRecord> known;
    const auto look = [&]() -> ResultTask<void> {
        auto record = co_await services_.journal.record(id);
        if (!record) co_return record.error();
        known = std::move(*record);
        co_return Result<void>{};
    };
    const bool looked = co_await until_journaled(id.str(), look);
    if (!looked) known.reset();
    co_return known;
}

/// No outcome: stopping, or nothing can be journaled; it is not reported.
Task<RequestCoordinator::Ended> RequestCoordinator::run(TriggeredRequest triggered, Known known) {
    Ended ended;
    if (services_.stopping) co_return ended;
    auto completed = co_await complete(triggered);
    newest_.drop_claim(triggered.request);
    if (!completed && services_.stopping) co_return ended;
    ended.request = triggered.request;
    Outcome outcome;
    outcome.kind = OutcomeKind::failed;
    outcome.at = services_.cloud.clock.now();
    ended.whole = completed && std::holds_alternative<Request>(*completed);
    if (ended.whole) {
        ended.request = std::get<Request>(std::move(*completed));
        ended.request.source = triggered.request.source;
        if (ended.request.deadline == TimePoint{})
            ended.request.deadline = triggered.request.deadline;
        newest_.note(ended.request);
    } else if (completed) {
        outcome.kind = OutcomeKind::refused;
        outcome.reason = std::get<Refused>(*completed).reason;
        outcome.safeguard = std::get<Refused>(*completed).safeguard;
    } else {
        outcome.reason = "no servers deleted: " + completed.error().what;
    }
    if (!ended.whole && known.ended) {
        MessageEntry entry = entry_for(triggered, outcome.at);
        entry.verdict = "refused";
        entry.reason = outcome.reason;
        const bool noted = co_await note(std::move(entry));
        if (!noted) co_return ended;
    }
    if (!ended.whole) {
        ended.outcome = std::move(outcome);
        co_return ended;
    }
    let_join(ended.request.id);
    add_names(services_.refresher.cache().project_names(), ended.request);
    const bool admitted = co_await admit(ended.request, known.recorded);
    if (!admitted) co_return ended;
    const auto unknown = co_await until_policy_known(ended.request);
    if (unknown) {
        if (services_.stopping) co_return ended;
        outcome.reason = "no servers deleted: " + *unknown;
        outcome.at = services_.cloud.clock.now();
        ended.outcome = std::move(outcome);
        co_return ended;
    }
    const Arrival arrival{known.maybe_served, triggered.had_hosts, known.rounds};
    RequestRunner runner{runner_dependencies(triggered.request.id), std::move(ended.request),
                         arrival};
    ended.outcome = co_await runner.serve();
    ended.request = runner.request();
    ended.ready_on = runner.ready_on();
    ended.slots_freed = runner.slots_freed();
    co_return ended;
}

/// A request is served by the policy that holds when it begins: it begins when it is known whom
/// that protects. What is not known when its time is over, or the reaper stops; none if all is.
Task<std::optional<std::string>> RequestCoordinator::until_policy_known(const Request& request) {
    constexpr Duration poll_interval{250};
    const TimeLeft time_left{request, services_.cloud.clock};
    while (auto unknown = services_.preconditions.not_known_yet()) {
        if (services_.stopping || time_left.over()) co_return unknown;
        co_await services_.cloud.clock.sleep(poll_interval);
    }
    co_return std::nullopt;
}

/// What its source knows of it. Asks until it answers or the request's time is over.
ResultTask<std::variant<Request, Refused>> RequestCoordinator::complete(
    const TriggeredRequest& triggered) {
    if (!triggered.complete) co_return std::variant<Request, Refused>{triggered.request};
    // Revocable users may fail all the time: no call to Nova for them.
    if (names_their_project(triggered.request) && !services_.preconditions.not_known_yet()) {
        ProjectId project = triggered.request.project;
        auto policy = services_.settings.policy;
        auto refused =
            co_await services_.decisions.refuse_project(std::move(policy), std::move(project));
        if (refused) co_return std::variant<Request, Refused>{std::move(*refused)};
    }
    Backoff backoff{services_.cloud.clock};
    const TimeLeft time_left{triggered.request, services_.cloud.clock};
    while (true) {
        auto completed = co_await triggered.complete();
        if (completed || services_.stopping) co_return completed;
        if (time_left.over()) co_return completed.error();
        log_about(about(triggered.request), spdlog::level::warn,
                  "{}: the requester is not known yet, trying again: {}",
                  triggered.request.id.str(), completed.error().what);
        co_await backoff.pause(services_.stopping);
    }
}

/// `recorded`: what the journal has of it is not what its source reports now.
Task<bool> RequestCoordinator::admit(Request request, bool recorded) {
    const auto write = [&]() -> ResultTask<void> {
        if (recorded)
            co_return co_await services_.journal.readmit(request, services_.cloud.clock.now());
        auto admitted = co_await services_.journal.admit(request, services_.cloud.clock.now());
        if (!admitted) co_return admitted.error();
        co_return Result<void>{};
    };
    co_return co_await until_journaled(request.id.str(), write);
}

Task<void> RequestCoordinator::close(RequestId id, Ended ended) {
    bool journaled = false;
    if (ended.outcome) {
        NoticeGiver giver{services_.cloud, services_.journal,
                          services_.safeguards.safeguards().notices()};
        std::string why = "the request ended: " + ended.outcome->reason;
        std::set<ServerId> none;
        co_await giver.withdraw(ended.request.id, std::move(none), std::move(why));
        journaled = co_await finish(ended);
    }
    if (journaled)
        tell(id, *ended.outcome);
    else
        in_flight_.erase(id);
    on_change_();
}

Task<bool> RequestCoordinator::finish(const Ended& ended) {
    const RequestId id = ended.request.id;
    const Outcome& outcome = *ended.outcome;
    const auto write = [&]() {
        return ended.whole ? services_.journal.finish(id, outcome)
                           : services_.journal.admit_ended(ended.request, outcome,
                                                           services_.cloud.clock.now());
    };
    const bool written = co_await until_journaled(id.str(), write);
    if (!written) co_return false;
    ++served_;
    log_about(about(ended.request), spdlog::level::info, "{}: outcome {}: {}", id.str(),
              to_string(outcome.kind), outcome.reason);
    settle(ended);
    co_return true;
}

/// The freed room stays promised for a while, and is watched for longer.
void RequestCoordinator::settle(const Ended& ended) {
    const Outcome& outcome = *ended.outcome;
    const config::Cull& cull = services_.settings.cull;
    const RequestId& id = ended.request.id;
    const bool culled =
        outcome.kind == OutcomeKind::freed || outcome.kind == OutcomeKind::incomplete;
    const bool found = outcome.kind == OutcomeKind::already_there;
    // A reservation takes its room by itself, as soon as that is no longer promised.
    const bool reserved = ended.request.source == RequestSource::reservation;
    services_.rooms.ended(id, (culled || found) && !reserved, outcome.at, cull.promise);
    const bool awaited = is_awaited(ended.request.source);
    if (!culled || !awaited) services_.safeguards.on_no_cull(id);
    if (!awaited) return;
    if (culled)
        services_.tracker.watch_cull(ended.request, ended.slots_freed, outcome.at, cull.watch);
    // Where nothing is written, reserved room is not available to the recipient of this answer.
    const bool report_only = services_.settings.dry_run && services_.settings.reservations.enabled;
    if (found && !report_only)
        services_.tracker.watch_room(ended.request, ended.ready_on, outcome.at, cull.watch);
}

// What the previous process left.

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
        if (!culled || record.freed_room) continue;
        Request freed = as_freed(record);
        const int slots = freed.slots;
        services_.tracker.watch_cull(std::move(freed), slots, ended, left);
    }
    for (auto& record : *unfinished) {
        services_.safeguards.safeguards().notices().read_back(record);
        InFlight& request = in_flight_[record.request.id];
        request.approved = record.request.approved;
        request.source = record.request.source;
        auto lease = lease_of(record.request.source);
        request.whole = lease || !record.plans.empty();
        if (lease) request.leases.add(std::move(lease));
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
    RequestRunner runner{runner_dependencies(id), std::move(request)};
    Ended ended;
    ended.outcome = co_await runner.resume(std::move(record));
    ended.request = runner.request();
    ended.ready_on = runner.ready_on();
    ended.slots_freed = runner.slots_freed();
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
