#include "reaper/controllers/safeguard_controller.hpp"

#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/safeguards_journal.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/retry.hpp"

namespace reaper {
namespace {

constexpr const char* breaker_opened = "breaker-opened";
constexpr const char* resumed = "resumed";

}  // namespace

SafeguardController::SafeguardController(Dependencies dependencies, SafeguardSettings settings,
                                         Spawn spawn, std::function<void()> on_change)
    : dependencies_(dependencies),
      spawn_(std::move(spawn)),
      on_change_(std::move(on_change)),
      safeguards_(std::move(settings)) {}

ResultTask<void> SafeguardController::restore() {
    SafeguardSettings settings = safeguards_.settings();
    auto read = co_await read_safeguards(dependencies_.journal, std::move(settings),
                                         dependencies_.clock.now());
    if (!read) co_return read.error();
    safeguards_ = std::move(read->safeguards);
    was_paused_ = paused_reason().has_value();
    if (was_paused_) spdlog::warn("no servers will be deleted: the reaper is {}", *paused_reason());
    if (read->opens && !was_paused_) open_breaker(*read->opens);
    co_return Result<void>{};
}

std::optional<std::string> SafeguardController::paused_reason() const {
    if (auto paused = dependencies_.pause.paused()) return paused;
    if (unwritten_) return "paused by its circuit breaker: " + *unwritten_;
    return std::nullopt;
}

void SafeguardController::on_sent(const RequestId& request, const Victim& victim) {
    PastVictim sent;
    sent.at = dependencies_.clock.now();
    sent.request = request;
    sent.server = victim.server;
    sent.name = victim.name;
    sent.project = victim.project;
    sent.host = victim.host;
    sent.workload = victim.workload;
    safeguards_.note_victim(std::move(sent));
}

void SafeguardController::on_deletion(const RequestId& request, bool succeeded) {
    if (const auto why = safeguards_.breaker().note_deletion(succeeded, request))
        open_breaker(*why);
}

void SafeguardController::on_freed_room(const Request& request, const FreedRoomResult& freed_room) {
    const auto why = safeguards_.note_freed_room(request.id, worth_of(freed_room.kind),
                                                 freed_room.untaken, freed_room.at);
    if (why) open_breaker(*why);
}

void SafeguardController::on_cooldown(const std::vector<HostId>& hosts, const Request& request) {
    safeguards_.note_freed_room(request.id, CullWorth::needless, hosts, dependencies_.clock.now());
}

void SafeguardController::open_breaker(const std::string& why) {
    spdlog::critical("circuit breaker open, no servers are deleted: {}", why);
    auto kept = dependencies_.pause.pause("circuit breaker", why);
    if (!kept) {
        unwritten_ = why;
        spdlog::error("the pause can't be kept over a restart yet: {}", kept.error().what);
    } else {
        // Not before: failures before this event count no more after a restart, the file does.
        spawn_(note_event(breaker_opened, why));
    }
    was_paused_ = true;
    on_change_();
}

Task<void> SafeguardController::note_event(std::string kind, std::string reason) {
    JournalEvent event;
    event.kind = std::move(kind);
    event.reason = std::move(reason);
    event.at = dependencies_.clock.now();
    const auto write = [&]() { return dependencies_.journal.note_event(event); };
    co_await retry_until_journaled(dependencies_.clock, dependencies_.stopping, event.kind, write);
}

void SafeguardController::check() {
    if (unwritten_ && dependencies_.pause.pause("circuit breaker", *unwritten_)) {
        spawn_(note_event(breaker_opened, *unwritten_));
        unwritten_.reset();
    }
    const auto why = paused_reason();
    if (why.has_value() == was_paused_) return;
    was_paused_ = why.has_value();
    if (why) {
        spdlog::warn("no servers are deleted from now on: {}", *why);
        spawn_(note_event("paused", *why));
    } else {
        safeguards_.breaker().reset();
        spdlog::warn("the pause is over: culls go on");
        spawn_(note_event(resumed, "the pause is over"));
    }
    on_change_();
}

}  // namespace reaper
