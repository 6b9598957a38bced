#include "reaper/controllers/safeguard_controller.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/runtime/backoff.hpp"
#include "reaper/controllers/safeguards_journal.hpp"
#include "reaper/runtime/retry.hpp"

namespace reaper {
namespace {

constexpr Duration between_pause_checks{1000};
constexpr const char* breaker_opened = "breaker-opened";
constexpr const char* resumed = "resumed";

}  // namespace

Braking::Braking(Parts parts, BrakeSettings settings, Spawn spawn, std::function<void()> on_change)
    : parts_(parts),
      spawn_(std::move(spawn)),
      on_change_(std::move(on_change)),
      brakes_(std::move(settings)) {}

ResultTask<void> Braking::restore() {
    BrakeSettings settings = brakes_.settings();
    auto read = co_await read_brakes(parts_.journal, std::move(settings), parts_.clock.now());
    if (!read) co_return read.error();
    brakes_ = std::move(read->brakes);
    was_thrown_ = thrown().has_value();
    if (was_thrown_) spdlog::warn("nobody will be killed: the reaper is {}", *thrown());
    if (read->opens && !was_thrown_) open_breaker(*read->opens);
    co_return Result<void>{};
}

std::optional<std::string> Braking::thrown() const {
    if (auto paused = parts_.pause.paused()) return paused;
    if (unwritten_) return "paused by its circuit breaker: " + *unwritten_;
    return std::nullopt;
}

void Braking::on_sent(const RequestId& request, const Victim& victim) {
    PastVictim sent;
    sent.at = parts_.clock.now();
    sent.request = request;
    sent.server = victim.server;
    sent.name = victim.name;
    sent.project = victim.project;
    sent.host = victim.host;
    sent.workload = victim.workload;
    brakes_.note_victim(std::move(sent));
}

void Braking::on_deletion(const RequestId& request, bool succeeded) {
    if (const auto why = brakes_.breaker().note_deletion(succeeded, request)) open_breaker(*why);
}

void Braking::on_aftermath(const Request& request, const Aftermath& aftermath) {
    const auto why = brakes_.note_aftermath(request.id, worth_of(aftermath.kind), aftermath.untaken,
                                            aftermath.at);
    if (why) open_breaker(*why);
}

void Braking::on_doubt(const std::vector<HostId>& hosts, const Request& request) {
    brakes_.note_aftermath(request.id, CullWorth::needless, hosts, parts_.clock.now());
}

void Braking::open_breaker(const std::string& why) {
    spdlog::critical("circuit breaker: nobody is killed any more: {}", why);
    auto thrown = parts_.pause.pause("circuit breaker", why);
    if (!thrown) {
        unwritten_ = why;
        spdlog::error("the pause can't be kept over a restart yet: {}", thrown.error().what);
    } else {
        // Not before: failures before this mark count no more after a restart, the file does.
        spawn_(mark(breaker_opened, why));
    }
    was_thrown_ = true;
    on_change_();
}

Task<void> Braking::mark(std::string kind, std::string reason) {
    Mark mark;
    mark.kind = std::move(kind);
    mark.reason = std::move(reason);
    mark.at = parts_.clock.now();
    const auto write = [&]() { return parts_.journal.note_mark(mark); };
    co_await until_written(parts_.clock, parts_.stopping, mark.kind, write);
}

Task<void> Braking::run() {
    while (!parts_.stopping) {
        look();
        co_await sleep_unless(parts_.stopping, parts_.clock, between_pause_checks);
    }
}

void Braking::look() {
    if (unwritten_ && parts_.pause.pause("circuit breaker", *unwritten_)) {
        spawn_(mark(breaker_opened, *unwritten_));
        unwritten_.reset();
    }
    const auto why = thrown();
    if (why.has_value() == was_thrown_) return;
    was_thrown_ = why.has_value();
    if (why) {
        spdlog::warn("nobody is killed any more: {}", *why);
        spawn_(mark("paused", *why));
    } else {
        brakes_.breaker().reset();
        spdlog::warn("the pause is over: culls go on");
        spawn_(mark(resumed, "the pause is over"));
    }
    on_change_();
}

}  // namespace reaper
