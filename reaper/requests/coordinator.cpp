#include "reaper/requests/coordinator.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/ledger_journal.hpp"
#include "reaper/requests/requester.hpp"
#include "reaper/runtime/retry.hpp"

namespace reaper {
namespace {

Operation operation_of(FailureEvent event) {
    switch (event) {
        case FailureEvent::build_instances: return Operation::build;
        case FailureEvent::migrate_server: return Operation::migrate;
        case FailureEvent::rebuild_server: return Operation::rebuild;
        case FailureEvent::unshelve_server: return Operation::unshelve;
    }
    return Operation::build;
}

/// A request as far as the notice alone tells, to journal one that is not served.
Request bare_request(const FailureNotice& notice, const RequestId& key) {
    Request request;
    request.id = key;
    request.operation = operation_of(notice.event);
    request.project = notice.project;
    request.slots = notice.num_instances;
    request.requesters.push_back(notice.server);
    request.sent_at = notice.sent_at;
    if (notice.flavor) {
        const auto resources = resources_of(*notice.flavor, !notice.image_id);
        if (const auto* known = std::get_if<Resources>(&resources)) request.resources = *known;
    }
    return request;
}

}  // namespace

RequestDesk::RequestDesk(Parts parts, Spawn spawn, std::function<void()> on_change)
    : parts_(parts),
      spawn_(std::move(spawn)),
      on_change_(std::move(on_change)),
      intake_(Intake::Parts{parts_.cloud.clock, parts_.journal, parts_.messages,
                            parts_.options.trigger, parts_.stopping},
              spawn_, [this](FailureNotice notice, RequestId key, bool redelivered) {
                  on_change_();
                  spawn_(handle(std::move(notice), std::move(key), redelivered));
              }) {}

Workshop RequestDesk::workshop() {
    return Workshop{parts_.cloud,    parts_.journal,   parts_.ledger,   parts_.keeper,
                    parts_.planning, parts_.deletions, parts_.stopping, parts_.braking,
                    intake_,         newest_,          refusals_,       parts_.aftermaths,
                    parts_.holds};
}

Task<void> RequestDesk::handle(FailureNotice notice, RequestId key, bool redelivered) {
    newest_.note(notice.server, key, notice.sent_at);
    const Known known = co_await known_as(notice, key);
    if (known == Known::served) {
        intake_.close(key, true);
        on_change_();
        co_return;
    }
    Arrival arrival;
    arrival.maybe_served = redelivered && known == Known::no;
    arrival.had_hosts = notice.exception.starts_with("MaxRetriesExceeded");
    auto ended = co_await outcome_of(std::move(notice), key, arrival);
    co_await close(key, std::move(ended));
}

/// What the journal knows of the request. If a former message was served, this one is noted as a
/// duplicate.
Task<RequestDesk::Known> RequestDesk::known_as(FailureNotice notice, RequestId key) {
    std::optional<Story> known;
    const auto look = [&]() -> ResultTask<void> {
        auto story = co_await parts_.journal.story(key);
        if (!story) co_return story.error();
        known = std::move(*story);
        co_return Result<void>{};
    };
    const bool looked =
        co_await until_written(parts_.cloud.clock, parts_.stopping, key.str(), look);
    if (!looked || !known) co_return Known::no;
    if (!known->outcome) co_return Known::begun;
    MessageEntry entry = entry_for(notice, key, parts_.cloud.clock.now());
    entry.verdict = "duplicate";
    entry.reason =
        "the request was served already: " + std::string{to_string(known->outcome->kind)};
    spdlog::info("{}: message duplicate: {}", key.str(), entry.reason);
    const auto write = [&]() { return parts_.journal.note_message(entry); };
    const bool noted =
        co_await until_written(parts_.cloud.clock, parts_.stopping, key.str(), write);
    co_return noted ? Known::served : Known::begun;
}

/// No outcome: stopping, or nothing can be journalled; the message stays unacknowledged.
Task<RequestDesk::Ended> RequestDesk::outcome_of(FailureNotice notice, RequestId key,
                                                 Arrival arrival) {
    Ended ended;
    if (parts_.stopping) co_return ended;
    auto completed = co_await complete(notice);
    if (!completed && parts_.stopping) co_return ended;
    ended.request = bare_request(notice, key);
    Outcome outcome;
    outcome.kind = OutcomeKind::failed;
    outcome.at = parts_.cloud.clock.now();
    const bool whole = completed && std::holds_alternative<Request>(*completed);
    if (whole) {
        ended.request = std::get<Request>(std::move(*completed));
    } else if (completed) {
        outcome.kind = OutcomeKind::refused;
        outcome.reason = std::get<Refused>(*completed).reason;
    } else {
        outcome.reason = "nobody died: " + completed.error().what;
    }
    const bool admitted = co_await admit(ended.request);
    if (!admitted) co_return ended;
    if (!whole) {
        ended.outcome = std::move(outcome);
        co_return ended;
    }
    RequestServer server{workshop(), parts_.options, std::move(ended.request), arrival};
    ended.outcome = co_await server.serve();
    ended.request = server.request();
    ended.ready_on = server.ready_on();
    co_return ended;
}

/// Nova's own word on the requester, asked until it answers or the notice is too old.
ResultTask<std::variant<Request, Refused>> RequestDesk::complete(FailureNotice notice) {
    Backoff backoff{parts_.cloud.clock};
    const auto schedule = co_await schedule_of(notice);
    while (true) {
        auto completed = co_await complete_request(parts_.cloud, notice, schedule);
        if (completed || parts_.stopping) co_return completed;
        if (too_old(notice, parts_.cloud.clock.now(), parts_.options.trigger.max_age))
            co_return completed.error();
        spdlog::warn("{}: the requester is not known yet, trying again: {}",
                     notice.request_id.str(), completed.error().what);
        co_await backoff.pause(parts_.stopping);
    }
}

/// What the scheduler was asked. Its message came before that of the failure, but by another queue:
/// where there must be one, it is waited for a moment.
Task<std::optional<Schedule>> RequestDesk::schedule_of(FailureNotice notice) {
    constexpr Duration step{50};
    constexpr int most_steps = 20;
    const std::string_view line = notice.exception_line;
    const bool searched = line.find("There are not enough hosts available") != line.npos ||
                          notice.exception.starts_with("MaxRetriesExceeded");
    for (int i = 0; i <= most_steps && !parts_.stopping; ++i) {
        if (const Schedule* const known = parts_.schedules.find(notice.request_id))
            co_return *known;
        if (!searched || !parts_.keeper.flowing()) break;
        co_await parts_.cloud.clock.sleep(step);
    }
    co_return std::nullopt;
}

Task<bool> RequestDesk::admit(Request request) {
    const auto write = [&]() -> ResultTask<void> {
        auto admitted = co_await parts_.journal.admit(request, parts_.cloud.clock.now());
        if (!admitted) co_return admitted.error();
        co_return Result<void>{};
    };
    co_return co_await until_written(parts_.cloud.clock, parts_.stopping, request.id.str(), write);
}

Task<void> RequestDesk::close(RequestId key, Ended ended) {
    bool journalled = false;
    if (ended.outcome) {
        Request with_all;
        with_all.id = key;
        with_all.requesters = intake_.joined(key);
        // Known by now: this only adds requesters.
        if (!with_all.requesters.empty()) co_await admit(with_all);
        ended.request.requesters.insert(ended.request.requesters.end(), with_all.requesters.begin(),
                                        with_all.requesters.end());
        journalled = co_await finish(ended);
    }
    intake_.close(key, journalled);
    on_change_();
}

Task<bool> RequestDesk::finish(const Ended& ended) {
    const RequestId key = ended.request.id;
    const Outcome& outcome = *ended.outcome;
    const auto write = [&]() { return parts_.journal.finish(key, outcome); };
    const bool written =
        co_await until_written(parts_.cloud.clock, parts_.stopping, key.str(), write);
    if (!written) co_return false;
    ++served_;
    spdlog::info("{}: outcome {}: {}", key.str(), to_string(outcome.kind), outcome.reason);
    settle(ended);
    co_return true;
}

/// The freed room stays promised for a while, and is watched for longer.
void RequestDesk::settle(const Ended& ended) {
    const Outcome& outcome = *ended.outcome;
    const config::Cull& cull = parts_.options.cull;
    switch (outcome.kind) {
        case OutcomeKind::freed:
        case OutcomeKind::incomplete:
            parts_.ledger.settle(ended.request.id, outcome.at, outcome.at + cull.promise);
            parts_.aftermaths.watch_cull(ended.request, outcome.at, cull.watch);
            break;
        case OutcomeKind::already_there:
            parts_.ledger.settle(ended.request.id, outcome.at, outcome.at + cull.promise);
            parts_.aftermaths.watch_room(ended.request, ended.ready_on, outcome.at, cull.watch);
            break;
        default: parts_.ledger.release(ended.request.id);
    }
}

// ---- after a restart ----

ResultTask<void> RequestDesk::restore() {
    const config::Cull& cull = parts_.options.cull;
    const TimePoint now = parts_.cloud.clock.now();
    // Further back than anything is promised or watched: what became of culls that ended right
    // before a long pause is told now.
    const TimePoint since = now - std::max(cull.promise, cull.watch) - std::chrono::days{1};
    auto recent = co_await parts_.journal.culls_since(since);
    if (!recent) co_return recent.error();
    auto unfinished = co_await parts_.journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    parts_.ledger = ledger_of(*unfinished, *recent, cull.promise);
    for (const auto& story : *recent) {
        const bool culled = story.outcome->kind == OutcomeKind::freed ||
                            story.outcome->kind == OutcomeKind::incomplete;
        const Duration left = story.outcome->at + cull.watch - now;
        if (culled && !story.aftermath)
            parts_.aftermaths.watch_cull(story.request, story.outcome->at, left);
    }
    for (auto& story : *unfinished) {
        intake_.hold(story.request.id);
        spawn_(resume(std::move(story)));
    }
    co_return Result<void>{};
}

Task<void> RequestDesk::resume(Story story) {
    const RequestId key = story.request.id;
    for (const auto& requester : story.request.requesters)
        newest_.note(requester, key, story.request.sent_at);
    RequestServer server{workshop(), parts_.options, story.request};
    Ended ended;
    ended.outcome = co_await server.resume(std::move(story));
    ended.request = server.request();
    ended.ready_on = server.ready_on();
    co_await close(key, std::move(ended));
}

}  // namespace reaper
