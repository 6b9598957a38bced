// What the keeper does while nobody asks: events, readings that are due, tables for the planner.
#include <algorithm>
#include <cmath>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/planner/planner.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/cloud_reader/cache_refresher.hpp"

namespace reaper {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration tick = duration_cast<Duration>(milliseconds{500});
/// A host is read again in the background only when nothing happened to it for so long.
constexpr Duration settling = duration_cast<Duration>(seconds{3});
constexpr Duration max_read_backoff = duration_cast<Duration>(std::chrono::minutes{2});
/// Hosts that the planner searches in advance for all shapes at each tick: some milliseconds of
/// work.
constexpr std::size_t warm_hosts = 200;
/// While a bulk reading goes on. More than that, and it is done again.
constexpr std::size_t most_recorded = 200'000;

}  // namespace

/// Who asks for a shape is likely to ask for it again.
void PictureKeeper::expect(const Request& request) {
    const auto like = [&](const Request& other) { return other.resources == request.resources; };
    cold_ = true;
    std::erase_if(expected_, like);
    expected_.push_front(request);
    if (expected_.size() > most_expected) expected_.pop_back();
}

void PictureKeeper::warm_planner() {
    if (!cold_) return;
    PlanOptions options;
    options.alternatives = policy_->alternatives;
    options.now = ports_.clock.now();
    const Ledger nothing;
    std::size_t left = warm_hosts;
    for (const Request& request : expected_) {
        if (left == 0) break;
        options.seed = seed_of(request.id);
        left -= std::min(
            left, warm_up(request, picture_.index(), nothing, *policy_->strategy, options, left));
    }
    cold_ = left < warm_hosts;
}

Task<void> PictureKeeper::run() {
    while (!stopping_) {
        co_await tend();
        co_await sleep_unless(stopping_, ports_.clock, tick);
    }
}

void PictureKeeper::on_feed(const EventFeedState& state) {
    if (state.flowing == flowing_) return;
    flowing_ = state.flowing;
    if (flowing_) {
        builds_before_flow_ = builds_begun_;
        spdlog::info("picture: Nova's events flow");
    } else {
        spdlog::warn("picture: no events, so the cloud is read for each decision: {}",
                     state.detail);
    }
    on_change_();
}

void PictureKeeper::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.clock.now();
    for (auto& event : events) {
        if (built()) picture_.apply(event, now);
        cold_ = true;
        if (!recording_) continue;
        if (recorded_.size() < most_recorded)
            recorded_.emplace_back(std::move(event), now);
        else
            overflowed_ = true;
    }
}

Task<void> PictureKeeper::tend() {
    const TimePoint now = ports_.clock.now();
    if (now < quiet_until_) co_return;
    const bool good = co_await tend_parts();
    if (good) {
        pause_ = Duration::zero();
        co_return;
    }
    pause_ = std::clamp(pause_ * 2, duration_cast<Duration>(seconds{1}), max_read_backoff);
    quiet_until_ = ports_.clock.now() + pause_;
}

/// False if something could not be read: the next try is later.
Task<bool> PictureKeeper::tend_parts() {
    const TimePoint now = ports_.clock.now();
    Result<void> done;
    if (rebuild_due(now)) {
        const auto permit = co_await building_.acquire();
        if (rebuild_due(ports_.clock.now())) done = co_await rebuild();
    } else if (!built() || !flowing_) {
        co_return true;
    } else if (picture_.aggregates_doubtful()) {
        done = co_await refresh_aggregates();
    } else if (now - services_at_ >= settings_.services_interval) {
        done = co_await refresh_services();
    }
    if (!done) {
        spdlog::warn("picture: not refreshed, trying again: {}", done.error().what);
        co_return false;
    }
    const double per_tick =
        settings_.hosts_per_second * duration_cast<milliseconds>(tick).count() / 1000.0;
    allowance_ = std::min(allowance_ + per_tick, std::max(1.0, per_tick * 2));
    co_await reconcile();
    warm_planner();
    co_return true;
}

Task<void> PictureKeeper::reconcile() {
    const auto count = static_cast<std::size_t>(std::floor(allowance_));
    if (count == 0 || !built()) co_return;
    const TimePoint now = ports_.clock.now();
    auto due = picture_.due(count, now - settling, now - settings_.host_max_age);
    if (due.empty()) co_return;
    allowance_ -= static_cast<double>(due.size());
    auto read = co_await read_hosts(std::move(due), HostDepth::all);
    if (!read) spdlog::debug("picture: a host was not read: {}", read.error().what);
}

std::string PictureKeeper::status() const {
    if (!built()) return doing_.empty() ? "no picture yet" : "reading the cloud: " + doing_;
    const PictureAges ages = picture_.ages();
    const auto age = duration_cast<seconds>(ports_.clock.now() - ages.oldest_read_at);
    return std::to_string(ages.hosts) + " hosts, " + std::to_string(ages.servers) +
           " servers, read within " + std::to_string(age.count()) + " s" +
           (flowing_ ? "" : ", no events");
}

}  // namespace reaper
