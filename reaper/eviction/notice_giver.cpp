#include "reaper/eviction/notice_giver.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "reaper/model/notice.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Nova is asked for that long to take a notice, or to take it back: a guest may still shut down.
constexpr Duration tried_for{120'000};

LogFields about(const Notice& notice) {
    return {.request = notice.request.str(),
            .server = notice.server.str(),
            .server_name = notice.name,
            .host = notice.host};
}

std::string label(const Notice& notice) {
    return notice.server.str() + " (" + printable(notice.name, 64) + ") on " +
           printable(notice.host, 64);
}

bool is_refusal(const Error& error) {
    return error.code == Errc::conflict || error.code == Errc::rejected ||
           error.code == Errc::forbidden;
}

}  // namespace

ResultTask<void> NoticeGiver::note(RequestId request, ServerId server, Step step,
                                   std::string detail) {
    StepEntry entry{std::move(server), step, std::move(detail), cloud_.clock.now()};
    co_return co_await journal_.add_step(std::move(request), std::move(entry));
}

ResultTask<void> NoticeGiver::give(Request request, Victim victim, TimePoint until) {
    Notice notice{victim.server, request.id,  until, false,         false, {},
                  victim.name,   victim.host, {},    request.source};
    const TimePoint now = cloud_.clock.now();
    const Notice* const before = notices_.find(victim.server);
    notice.tried_since = std::min(before != nullptr ? before->tried_since : now, now);
    const std::string time = iso_time(until);
    std::string detail = time;
    auto noted = co_await note(request.id, victim.server, Step::notice_sent, std::move(detail));
    if (!noted) co_return noted.error();
    notices_.set(notice);
    std::string value = time;
    notice.until_steady = cloud_.clock.steady() + (until - cloud_.clock.now());
    auto told = co_await cloud_.compute.set_metadata(victim.server, evict_at_key, std::move(value));
    const Duration enough = std::min(std::chrono::floor<Duration>(until - now), tried_for);
    const bool tried_enough = cloud_.clock.now() - notice.tried_since >= enough;
    if (!told && !is_refusal(told.error()) && !tried_enough) co_return told.error();
    if (told)
        log_about(about(notice), spdlog::level::info, "{}: {} has notice until {}: {}",
                  request.id.str(), label(notice), time, victim.reason);
    else
        log_about(about(notice), spdlog::level::warn,
                  "{}: {} ends at {}, and Nova does not say so in its metadata: {}",
                  request.id.str(), label(notice), time, told.error().what);
    detail = time;
    noted = co_await note(request.id, victim.server, Step::notified, std::move(detail));
    if (!noted) co_return noted.error();
    notice.told = true;
    notices_.set(std::move(notice));
    co_return Result<void>{};
}

Task<void> NoticeGiver::stop(Notice notice) {
    notice.stopped = true;
    notices_.set(notice);
    const auto noted = co_await note(notice.request, notice.server, Step::stop_sent, "");
    if (!noted) co_return;
    const auto stopped = co_await cloud_.compute.stop_server(notice.server);
    if (stopped)
        log_about(about(notice), spdlog::level::info, "{}: {} is stopped: it ends at {}",
                  notice.request.str(), label(notice), iso_time(notice.until));
    else
        log_about(about(notice), spdlog::level::warn, "{}: {} could not be stopped: {}",
                  notice.request.str(), label(notice), stopped.error().what);
}

Task<void> NoticeGiver::withdraw(RequestId request, std::set<ServerId> but, std::string reason) {
    std::vector<Task<void>> all;
    for (Notice& notice : notices_.of(request))
        if (!but.contains(notice.server)) all.push_back(withdraw_one(std::move(notice), reason));
    co_await run_all(std::move(all));
}

Task<void> NoticeGiver::withdraw_one(Notice notice, std::string reason) {
    Backoff backoff{cloud_.clock};
    const bool never = false;
    const Duration give_up = cloud_.clock.steady() + tried_for;
    auto noted = co_await note(notice.request, notice.server, Step::withdrawn, reason);
    while (!noted && noted.error().code != Errc::conflict && cloud_.clock.steady() < give_up) {
        co_await backoff.pause(never);
        noted = co_await note(notice.request, notice.server, Step::withdrawn, reason);
    }
    notices_.end(notice.server);
    if (!noted) {
        // After `conflict` another reaper has the journal, and the notice with it.
        if (noted.error().code != Errc::conflict)
            log_about(about(notice), spdlog::level::err,
                      "{}: the notice of {} could not be withdrawn, see its metadata and state: {}",
                      notice.request.str(), label(notice), noted.error().what);
        co_return;
    }
    log_about(about(notice), spdlog::level::info, "{}: the notice of {} is withdrawn: {}",
              notice.request.str(), label(notice), reason);
    auto taken = co_await take_back(notice);
    while (!taken && cloud_.clock.steady() < give_up) {
        co_await backoff.pause(never);
        taken = co_await take_back(notice);
    }
    if (taken) co_return;
    log_about(about(notice), spdlog::level::err,
              "{}: the notice of {} could not be taken back, see its metadata and state: {}",
              notice.request.str(), label(notice), taken.error().what);
}

/// Of what was not surely told, any time is taken back. Another time is another's notice.
ResultTask<void> NoticeGiver::take_back(Notice notice) {
    const auto record = co_await cloud_.compute.server(notice.server);
    if (!record) co_return record.error();
    if (!*record) co_return Result<void>{};
    const Server& server = (*record)->server;
    const auto there = server.metadata.find(evict_at_key);
    const bool says = there != server.metadata.end();
    if (says && notice.told && there->second != iso_time(notice.until)) co_return Result<void>{};
    if (says) {
        const auto removed = co_await cloud_.compute.remove_metadata(notice.server, evict_at_key);
        if (!removed && !is_refusal(removed.error())) co_return removed.error();
    }
    if (notice.stopped && server.task_state == "powering-off")
        co_return Error{Errc::conflict, "its guest still shuts down"};
    if (notice.stopped && server.status == "SHUTOFF") {
        const auto started = co_await cloud_.compute.start_server(notice.server);
        if (!started && !is_refusal(started.error())) co_return started.error();
    }
    co_return Result<void>{};
}

}  // namespace reaper
