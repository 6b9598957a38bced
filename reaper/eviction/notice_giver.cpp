#include "reaper/eviction/notice_giver.hpp"

#include <utility>
#include <vector>

#include "reaper/model/notice.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/async.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// So often Nova is asked to take a notice back.
constexpr int take_backs_at_most = 5;

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
    StepEntry entry;
    entry.server = std::move(server);
    entry.step = step;
    entry.detail = std::move(detail);
    entry.at = cloud_.clock.now();
    co_return co_await journal_.add_step(std::move(request), std::move(entry));
}

ResultTask<void> NoticeGiver::give(Request request, Victim victim, TimePoint until) {
    Notice notice{victim.server, request.id, until, false, false, {}, victim.name, victim.host};
    const std::string time = iso_time(until);
    std::string detail = time;
    auto noted = co_await note(request.id, victim.server, Step::notice_sent, std::move(detail));
    if (!noted) co_return noted.error();
    notices_.set(notice);
    std::string value = time;
    const Duration left = until - cloud_.clock.now();
    notice.until_steady = cloud_.clock.steady() + left;
    auto told = co_await cloud_.compute.set_metadata(victim.server, evict_at_key, std::move(value));
    if (!told && !is_refusal(told.error())) co_return told.error();
    if (told)
        log_about(about(notice), spdlog::level::info, "{}: {} has notice until {}: {}",
                  request.id.str(), label(notice), time, victim.reason);
    else
        log_about(about(notice), spdlog::level::warn,
                  "{}: {} ends at {}, and Nova refuses to say so in its metadata: {}",
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
    auto noted = co_await note(notice.request, notice.server, Step::withdrawn, reason);
    notices_.end(notice.server);
    // Another reaper may have the journal by now, and the notice with it.
    if (!noted) co_return;
    log_about(about(notice), spdlog::level::info, "{}: the notice of {} is withdrawn: {}",
              notice.request.str(), label(notice), reason);
    Backoff backoff{cloud_.clock};
    const bool never = false;
    for (int i = 1; i <= take_backs_at_most; ++i) {
        const auto taken = co_await take_back(notice);
        if (taken) co_return;
        log_about(about(notice), spdlog::level::warn,
                  "{}: the metadata of {} still say that it ends: {}", notice.request.str(),
                  label(notice), taken.error().what);
        if (i < take_backs_at_most) co_await backoff.pause(never);
    }
}

/// Of what was not surely told, any time is taken back.
ResultTask<void> NoticeGiver::take_back(Notice notice) {
    const auto record = co_await cloud_.compute.server(notice.server);
    if (!record) co_return record.error();
    if (!*record) co_return Result<void>{};
    const Server& server = (*record)->server;
    if (notice.stopped && server.status == "SHUTOFF") {
        const auto started = co_await cloud_.compute.start_server(notice.server);
        if (!started && !is_refusal(started.error())) co_return started.error();
    }
    const auto there = server.metadata.find(evict_at_key);
    if (there == server.metadata.end()) co_return Result<void>{};
    if (notice.told && there->second != iso_time(notice.until)) co_return Result<void>{};
    const auto removed = co_await cloud_.compute.remove_metadata(notice.server, evict_at_key);
    if (!removed && !is_refusal(removed.error())) co_return removed.error();
    co_return Result<void>{};
}

}  // namespace reaper
