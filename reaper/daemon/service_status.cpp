#include <chrono>
#include <string>
#include <utility>

#include "reaper/daemon/running_service.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

// What the service reports about itself, and what it would do for a question.

std::optional<DaemonView> RunningService::view() const {
    if (!parts_ || !parts_->refresher.built()) return std::nullopt;
    return DaemonView{parts_->refresher.cache(), rooms_.ledger(), *settings_.policy,
                      parts_->safeguards.safeguards().notices()};
}

std::optional<DaemonState> RunningService::state() const {
    if (!parts_) return std::nullopt;
    DaemonState state{settings_,
                      clock_,
                      broker_,
                      ports_.messages,
                      ports_.events,
                      ports_.pause,
                      ports_.breaker,
                      parts_->refresher,
                      rooms_.ledger(),
                      parts_->safeguards,
                      parts_->coordinator,
                      parts_->reserver,
                      escrow_,
                      parts_->reservations,
                      parts_->gateway,
                      parts_->oversubscription.publisher(),
                      parts_->oversubscription.qos(),
                      parts_->oversubscription.reader(),
                      ports_.observer};
    state.listening = listening_;
    state.cloud_answered = cloud_answered_;
    state.cloud_refused = cloud_refused_;
    state.cloud_silent = cloud_silent();
    state.clock_trouble = clock_trouble();
    state.journal_trouble = journal_trouble();
    state.journal_answered = journal_answered_;
    state.credential_expires = credential_expires_;
    state.stopping = stopping_;
    // Reading a long journal is no step.
    state.stepped_at = listening_ ? stepped_at_ : clock_.steady();
    return state;
}

DaemonStatus RunningService::status() const {
    DaemonStatus state;
    state.dry_run = settings_.dry_run;
    state.ready = told_.ready;
    state.line = told_.line;
    state.serving = !settings_.dry_run && ports_.messages.serving() != 0;
    state.paused = ports_.pause.paused();
    state.breaker = ports_.breaker.paused();
    state.broker_connected = broker_.consuming;
    state.broker = broker_.detail;
    state.strategy = settings_.policy->strategy_name;
    state.reservations = settings_.reservations.enabled;
    state.oversubscription = settings_.oversubscription != nullptr;
    state.no_help = "the daemon starts";
    if (!parts_) return state;
    state.no_help = why_no_help();
    const auto stopped = parts_->safeguards.paused_reason();
    if (!state.paused && !state.breaker) state.held_back = stopped;
    state.events_flow = parts_->refresher.flowing();
    state.cache = parts_->refresher.status();
    state.in_flight = in_flight();
    state.served = parts_->coordinator.served();
    if (state.reservations)
        state.reservations_unknown = parts_->decisions.why_without_reservations();
    state.approved_max_age = settings_.cull.approved_max_age;
    state.circuit = state.breaker
                        ? CircuitState::open
                        : parts_->safeguards.safeguards().breaker().state(ports_.cloud.clock.now());
    state.left_alone = parts_->safeguards.safeguards().left_alone(ports_.cloud.clock.now());
    state.notices = parts_->safeguards.safeguards().notices().told();
    return state;
}

Task<std::optional<Decision>> RunningService::would_decide(Request request) {
    if (!listening_ || !parts_->refresher.built()) co_return std::nullopt;
    auto policy = settings_.policy;
    co_return co_await parts_->decisions.would_decide(std::move(policy), std::move(request));
}

Task<std::optional<RoomAnswer>> RunningService::room_for(Request request) {
    if (!listening_ || !parts_->refresher.built()) co_return std::nullopt;
    auto policy = settings_.policy;
    co_return co_await parts_->decisions.room_for(std::move(policy), std::move(request));
}

/// Why no waiting request can be served now; none if all is well.
std::optional<std::string> RunningService::why_no_help() const {
    if (settings_.dry_run) return "a dry run changes nothing";
    if (const auto paused = parts_->safeguards.paused_reason()) return paused;
    if (const auto unknown = parts_->safeguards.not_known_yet()) return unknown;
    if (!broker_.consuming) return "the broker can't be reached";
    if (ports_.messages.serving() == 0) return not_serving;
    if (!cloud_answered_) return "the cloud does not answer";
    if (const auto silent = cloud_silent()) return silent;
    if (const auto wrong = clock_trouble()) return wrong;
    if (const auto trouble = journal_trouble()) return "the journal can't be written: " + *trouble;
    return std::nullopt;
}

std::optional<std::string> RunningService::journal_trouble() const {
    if (journal_gone_) return journal_gone_;
    return parts_ ? parts_->coordinator.journal_trouble() : std::nullopt;
}

/// Which service of the cloud has stopped answering.
std::optional<std::string> RunningService::cloud_silent() const {
    if (!parts_ || !cloud_answered_) return std::nullopt;
    return parts_->probe.why_silent();
}

/// Messages count as old, or as of the future, by our clock.
std::optional<std::string> RunningService::clock_trouble() const {
    constexpr Duration most{60'000};
    const auto ahead = ports_.clock_ahead ? ports_.clock_ahead() : std::nullopt;
    if (!ahead || std::chrono::abs(*ahead) <= most) return std::nullopt;
    return std::string{"the clock of this machine is "} +
           (*ahead > Duration{} ? "ahead of" : "behind") +
           " that of the cloud's services by more than a minute, so that messages are taken for " +
           (*ahead > Duration{} ? "old" : "newer than they are") + ": set it, and keep it by NTP";
}

/// By a wrong clock, nothing ends whose end is irrevocable. Before the cloud answers, it is
/// unknown.
bool RunningService::believes_clock() const {
    return cloud_answered_ && !clock_trouble();
}

/// What the service is not ready for; empty if it is.
std::string RunningService::waits_for() const {
    if (!broker_.consuming && broker_.detail.empty()) return "starting";
    if (!broker_.consuming) return "waiting for the broker: " + broker_.detail;
    if (!cloud_answered_) return "waiting for the cloud";
    if (const auto silent = cloud_silent()) return "waiting for the cloud: " + *silent;
    if (const auto wrong = clock_trouble()) return "not ready: " + *wrong;
    if (const auto lost = journal_trouble()) return "waiting for the journal: " + *lost;
    return "";
}

/// Where deletions hang; nothing if nowhere.
std::string RunningService::hanging_line() const {
    if (!parts_ || !parts_->refresher.built()) return "";
    std::string names;
    const auto& deletions = parts_->safeguards.safeguards().deletions();
    for (const auto& [id, why] : deletions.reasons(ports_.cloud.clock.now())) {
        const Host* const host = parts_->refresher.cache().find(id);
        names += (names.empty() ? "" : ", ") + printable(host ? host->name : id.str(), 64);
    }
    return names.empty() ? "" : "; deletions hang on " + names;
}

void RunningService::report() {
    if (preparing_) return;
    ServiceStatus status;
    const std::string waits = waits_for();
    status.ready = waits.empty();
    status.refused = cloud_refused_;
    if (broker_.refused) status.refused = broker_.detail;
    const std::string flight = "requests in flight: " + std::to_string(in_flight());
    const auto paused_reason = parts_ ? parts_->safeguards.paused_reason() : std::nullopt;
    if (stopping_)
        status.line = "stopping; " + flight;
    else if (!waits.empty())
        status.line = waits;
    else
        status.line = (paused_reason ? printable(*paused_reason) : std::string{"listening"}) +
                      "; " + flight +
                      ", served: " + std::to_string(parts_ ? parts_->coordinator.served() : 0) +
                      "; cache: " + (parts_ ? parts_->refresher.status() : "none") + hanging_line();
    told_ = status;
    if (on_status_) on_status_(std::move(status));
}

void RunningService::report_searches() const {
    const DurationHistogram& times = parts_->decisions.search_times();
    if (times.count() == 0) return;
    const auto ms = [](DurationHistogram::Length length) {
        return std::chrono::duration<double, std::milli>{length}.count();
    };
    spdlog::info(
        "{} searches for hosts and victims: median {:.2f} ms of processor time, 99 % within {:.2f} "
        "ms, longest {:.2f} ms",
        times.count(), ms(times.within(500)), ms(times.within(990)), ms(times.longest()));
}

}  // namespace reaper
