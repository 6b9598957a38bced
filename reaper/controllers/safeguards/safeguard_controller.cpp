#include "reaper/controllers/safeguards/safeguard_controller.hpp"

#include <utility>

#include "reaper/controllers/safeguards/safeguards_journal.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/backoff.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr const char* by_breaker = "circuit breaker";
constexpr const char* breaker_opened = "breaker-opened";

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
    resumed_at_ = dependencies_.pause.resumed_at();
    restore_breaker(read->opened_at);
    was_paused_ = dependencies_.pause.note().has_value() && !unknown_pause();
    was_held_back_ = held_back().has_value();
    if (const auto why = paused_reason())
        spdlog::warn("no servers will be deleted: the reaper is {}", *why);
    co_return Result<void>{};
}

ResultTask<void> SafeguardController::read_victims() {
    auto victims = co_await dependencies_.journal.victims_since(dependencies_.clock.now() -
                                                                safeguards_.memory());
    if (!victims) co_return victims.error();
    for (const auto& victim : *victims) safeguards_.note_victim(past_victim(victim));
    co_return Result<void>{};
}

/// The journal has what opened it, and its file says that it is open. Where another machine may
/// have opened or closed it, only the journal and their switch count.
void SafeguardController::restore_breaker(std::optional<TimePoint> opened_at) {
    const TimePoint now = dependencies_.clock.now();
    const bool file_counts = !dependencies_.shared_journal;
    const bool resumed = opened_at && resumed_at_ && *resumed_at_ > *opened_at;
    const bool removed = resumed && dependencies_.breaker.resume().has_value();
    const auto file = dependencies_.breaker.paused();
    const bool open = safeguards_.breaker().state(now) == CircuitState::open;
    if (open && !file && opened_at && (file_counts || removed)) {
        safeguards_.reset_circuits();
        spawn_(note_event("resumed", "the file of the circuit breaker is gone"));
    } else if (open && !file) {
        open_breaker(safeguards_.breaker().reason());
    } else if (file_counts && !open && file &&
               safeguards_.breaker().state(now) == CircuitState::closed) {
        // The journal was lost.
        safeguards_.breaker().open_again(now, *file);
        breaker_open_ = true;
    } else {
        breaker_open_ = file.has_value();  // `check` ends it when its time is over
    }
}

std::optional<std::string> SafeguardController::switched_off() const {
    if (auto paused = dependencies_.pause.paused()) return paused;
    if (auto open = dependencies_.breaker.paused()) return open;
    if (unwritten_) return std::string{"paused by its "} + by_breaker + ": " + *unwritten_;
    return std::nullopt;
}

std::optional<std::string> SafeguardController::paused_reason() const {
    if (auto off = switched_off()) return off;
    return held_back();
}

std::optional<std::string> SafeguardController::unknown_pause() const {
    const auto note = dependencies_.pause.note();
    return note && note->unknown ? std::optional{note->trouble} : std::nullopt;
}

std::optional<std::string> SafeguardController::held_back() const {
    if (auto why = unknown_pause()) return "held back: " + *why;
    const auto* const preconditions = dependencies_.preconditions;
    auto unmet = preconditions == nullptr ? std::nullopt : preconditions->unmet();
    if (unmet) return "held back: " + *unmet;
    return std::nullopt;
}

std::optional<std::string> SafeguardController::not_known_yet() const {
    if (auto why = unknown_pause()) return why;
    const auto* const preconditions = dependencies_.preconditions;
    return preconditions == nullptr ? std::nullopt : preconditions->not_known_yet();
}

void SafeguardController::on_not_done(const RequestId& request, const Victim& victim) {
    safeguards_.note_refused_deletion(victim.server, request);
    safeguards_.deletions().dropped(victim.server);
}

void SafeguardController::on_left_shelved(const Victim& victim) {
    safeguards_.deletions().dropped(victim.server);
}

void SafeguardController::on_sent(const Request& request, const Victim& victim,
                                  const HostId& host) {
    safeguards_.deletions().sent(host, victim.server, dependencies_.clock.now());
    PastVictim sent;
    sent.at = dependencies_.clock.now();
    sent.request = request.id;
    sent.requester = request.project;
    sent.created = victim.created;
    sent.launched = victim.launched;
    sent.server = victim.server;
    sent.name = victim.name;
    sent.project = victim.project;
    sent.host = victim.host;
    sent.workload = victim.workload;
    safeguards_.note_victim(std::move(sent));
}

void SafeguardController::on_deletion(const RequestId& request, const ServerId& server,
                                      bool succeeded) {
    if (succeeded) safeguards_.deletions().ended(server, dependencies_.clock.now());
    tell(safeguards_.note_deletion(succeeded, request, server, dependencies_.clock.now()));
}

void SafeguardController::on_freed_room(const Request& request, const FreedRoomResult& freed_room) {
    const auto taken = taken_slots(freed_room);
    tell(safeguards_.note_freed_room(request, worth_of(freed_room.kind), freed_room.untaken,
                                     freed_room.at, taken));
    safeguards_.note_move(request, move_taken(freed_room.kind), freed_room.at);
    if (freed_room.kind == FreedRoomResultKind::taken)
        safeguards_.note_taken(request, taken.value_or(0), freed_room.at);
}

void SafeguardController::on_use(const Request& request, std::optional<Duration> lived) {
    tell(safeguards_.note_use(request, lived, dependencies_.clock.now()));
}

void SafeguardController::on_cooldown(const std::vector<HostId>& hosts, const Request& request) {
    safeguards_.note_cooldown(request.id, hosts, dependencies_.clock.now());
}

void SafeguardController::tell(const std::vector<Safeguards::Change>& changes) {
    for (const auto& change : changes) {
        if (change.kind == breaker_opened) {
            open_breaker(change.reason);
            continue;
        }
        spdlog::warn("{}: {}", change.kind, change.reason);
        spawn_(note_event(std::string{change.kind}, change.reason));
    }
}

void SafeguardController::open_breaker(const std::string& why) {
    spdlog::critical("circuit breaker open, no servers are deleted: {}", why);
    breaker_open_ = true;
    auto kept = dependencies_.breaker.pause(by_breaker, why);
    if (!kept) {
        unwritten_ = why;
        spdlog::error("the breaker can't be kept over a restart yet: {}", kept.error().what);
    } else {
        // Not before: the journal's entry means that the file is there.
        spawn_(note_event(breaker_opened, why));
    }
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
    check_resumed();
    check_breaker();
    check_pause();
    check_preconditions();
    check_deletions();
}

/// `reaper resume` on another machine closes the breaker here.
void SafeguardController::check_resumed() {
    const auto at = dependencies_.pause.resumed_at();
    if (!at || at == resumed_at_) return;
    if (resumed_at_ && breaker_open_) {
        if (const auto ended = dependencies_.breaker.resume(); !ended) {
            spdlog::error("the circuit breaker stays open: {}", ended.error().what);
            return;
        }
        unwritten_.reset();
    }
    resumed_at_ = at;
}

void SafeguardController::check_breaker() {
    if (unwritten_ && dependencies_.breaker.pause(by_breaker, *unwritten_)) {
        spawn_(note_event(breaker_opened, *unwritten_));
        unwritten_.reset();
    }
    if (!breaker_open_) return;
    const bool file = dependencies_.breaker.paused().has_value();
    if (!file && !unwritten_) {
        breaker_open_ = false;
        safeguards_.reset_circuits();
        spdlog::warn("the circuit breaker is closed by an operator: culls go on");
        spawn_(note_event("resumed", "the circuit breaker is closed by an operator"));
        on_change_();
        return;
    }
    const CircuitState state = safeguards_.breaker().state(dependencies_.clock.now());
    if (state == CircuitState::open) return;
    if (const auto ended = dependencies_.breaker.resume(); !ended) {
        spdlog::error("the circuit breaker stays open: {}", ended.error().what);
        return;
    }
    unwritten_.reset();
    breaker_open_ = false;
    if (state == CircuitState::half_open) {
        const char* const what = "its pause is over: one cull at a time is tried";
        spdlog::warn("circuit breaker half open: {}", what);
        spawn_(note_event("breaker-half-open", what));
    }
    on_change_();
}

void SafeguardController::check_deletions() {
    auto hung = safeguards_.deletions().reasons(dependencies_.clock.now());
    if (hung == hung_) return;
    for (const auto& [host, why] : hung)
        if (!hung_.contains(host))
            spdlog::warn("host {} is used only if nothing else is enough: {}", host.str(), why);
    for (const auto& [host, why] : hung_)
        if (!hung.contains(host)) spdlog::info("host {}: no deletion hangs there", host.str());
    hung_ = std::move(hung);
    on_change_();
}

void SafeguardController::check_pause() {
    const auto note = dependencies_.pause.note();
    // Not known: no operator paused, and the end of it is no operator's word.
    if ((note && note->unknown) || note.has_value() == was_paused_) return;
    was_paused_ = note.has_value();
    if (note) {
        const std::string why = "paused " + note->line();
        spdlog::warn("no servers are deleted from now on: {}", why);
        spawn_(note_event("paused", why));
    } else {
        // An operator has looked.
        safeguards_.reset_circuits();
        spdlog::warn("the pause is over: culls go on");
        spawn_(note_event("resumed", "the pause is over"));
    }
    on_change_();
}

void SafeguardController::check_preconditions() {
    const auto why = held_back();
    if (why.has_value() == was_held_back_) return;
    was_held_back_ = why.has_value();
    if (why) {
        spdlog::warn("no servers are deleted from now on: {}", *why);
        spawn_(note_event("held-back", *why));
    } else {
        spdlog::warn("what held the reaper back is over: culls go on");
        spawn_(note_event("held-back-over", "what must be known before a cull is known"));
    }
    on_change_();
}

}  // namespace reaper
