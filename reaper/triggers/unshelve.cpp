#include "reaper/triggers/unshelve.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/notifications/own_message.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {
namespace {

/// What Nova's clock may be behind ours, and a change may take to show.
constexpr Duration overlap{60'000};
/// Of one look; the others are the next look's.
constexpr std::size_t most_at_once = 200;
constexpr Duration idle{1'000};
/// A message that was sent so long before the connection broke has arrived.
constexpr Duration surely_there{60'000};

}  // namespace

Task<void> UnshelveWatch::run() {
    while (!parts_.stopping) {
        const Duration interval = parts_.settings.unshelve_interval;
        const Duration pause = interval > Duration::zero() ? interval : idle;
        co_await sleep_unless(parts_.stopping, parts_.cloud.clock, pause);
        if (parts_.stopping || interval <= Duration::zero() || !parts_.connected()) continue;
        auto looked = co_await look();
        if (!looked && !failing_)
            spdlog::warn("unshelved servers are not looked for now: {}", looked.error().what);
        failing_ = !looked;
    }
}

ResultTask<void> UnshelveWatch::look() {
    const TimePoint now = parts_.cloud.clock.now();
    const Duration max_age = parts_.settings.max_age;
    std::erase_if(told_, [&](const auto& told) { return now - told.second > max_age + overlap; });
    if (seen_.empty()) pass_began_ = now;
    TimePoint since = now - max_age;
    if (looked_at_ != TimePoint{}) since = std::max(since, looked_at_ - overlap);
    const std::uint64_t connection = connections_;
    auto shelved = co_await parts_.cloud.compute.shelved_since(since);
    if (!shelved) co_return shelved.error();
    std::size_t looks = 0;
    std::optional<Error> failed;
    for (auto& record : *shelved) {
        if (!record.server.task_state.empty() || !record.server.host.empty()) continue;
        if (!seen_.insert(record.server.id).second) continue;
        if (++looks > most_at_once || parts_.stopping) {
            seen_.erase(record.server.id);
            if (failed) co_return *failed;
            co_return Result<void>{};
        }
        auto looked = co_await look_at(std::move(record));
        if (!looked) failed = looked.error();  // one server must not hide the others
        missed_ = missed_ || !looked;
    }
    seen_.clear();
    // What was missed is looked at again, with all that changed since the last whole pass.
    const bool whole = !std::exchange(missed_, false) && connection == connections_;
    if (whole) looked_at_ = pass_began_;
    if (failed) co_return *failed;
    co_return Result<void>{};
}

void UnshelveWatch::on_connection() {
    ++connections_;
    const TimePoint now = parts_.cloud.clock.now();
    std::erase_if(told_, [&](const auto& told) { return now - told.second < surely_there; });
    seen_.clear();
    looked_at_ = {};
}

ResultTask<void> UnshelveWatch::look_at(ServerRecord record) {
    auto actions = co_await parts_.cloud.compute.actions(record.server.id);
    if (!actions) co_return actions.error();
    const auto last = std::max_element(
        actions->begin(), actions->end(),
        [](const ActionRecord& a, const ActionRecord& b) { return a.started < b.started; });
    const TimePoint now = parts_.cloud.clock.now();
    if (last == actions->end() || last->name != "unshelve" || !last->failed ||
        now - last->started > parts_.settings.max_age)
        co_return Result<void>{};
    const Schedule* const search = parts_.schedules.find(last->request);
    if (search != nullptr && search->ended) co_return Result<void>{};
    if (!told_.emplace(last->request, now).second) co_return Result<void>{};
    spdlog::info("{}: the unshelving of server {} found no host", printable(last->request.str()),
                 printable(record.server.id.str()));
    parts_.messages.publish(message_of(
        UnshelveFailure{last->request, record.server.id, record.server.project, last->started}));
    co_return Result<void>{};
}

}  // namespace reaper
