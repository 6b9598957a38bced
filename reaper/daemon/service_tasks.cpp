#include <chrono>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/daemon/running_service.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {

// What the service does again and again, and what comes to it from the broker.

namespace {

constexpr Duration between_clock_checks{1000};
constexpr Duration between_journal_checks{2000};
constexpr Duration hour = std::chrono::hours{1};
constexpr Duration between_looks_at_credentials{5000};

std::function<Duration()> every(Duration interval) {
    return [interval] { return interval; };
}

}  // namespace

void RunningService::spawn_all(std::vector<PeriodicTask> tasks) {
    for (auto& task : tasks)
        spawn(run_periodically(std::move(task), ports_.cloud.clock, stopping_,
                               [this](const Error& why) { return handle_refusal(why); }));
}

/// What a standby does again and again, too.
std::vector<PeriodicTask> RunningService::reading_tasks() {
    std::vector<PeriodicTask> tasks;
    tasks.push_back({"reading the cloud", every(CacheRefresher::step),
                     [this] { return parts_->refresher.refresh(); }, std::chrono::seconds{5}});
    // A Keystone that hangs delays nothing else.
    tasks.push_back({"reading the names of projects", every(CacheRefresher::step),
                     [this] { return parts_->refresher.refresh_project_names(); }});
    for (auto& task : parts_->probe.tasks()) tasks.push_back(std::move(task));
    if (ports_.tell_others)
        tasks.push_back({"telling the other reapers", every(between_journal_checks),
                         [this]() -> ResultTask<void> {
                             ports_.tell_others(state_for_others());
                             co_return Result<void>{};
                         }});
    return tasks;
}

ReaperState RunningService::state_for_others() const {
    ReaperState state;
    if (parts_->refresher.built())
        state.cache_age = std::max(
            ports_.cloud.clock.now() - parts_->refresher.cache().ages().oldest_read_at, Duration{});
    state.in_flight = static_cast<std::int64_t>(parts_->coordinator.in_flight());
    if (listening_) state.broker = broker_.consuming;
    return state;
}

/// Everything else that is done again and again.
std::vector<PeriodicTask> RunningService::periodic_tasks() {
    const auto quietly = [](auto work) {
        return [work]() -> ResultTask<void> {
            work();
            co_return Result<void>{};
        };
    };
    std::vector<PeriodicTask> tasks;
    tasks.push_back({"looking into what culls rest on", every(CullPreconditions::step),
                     [this] { return parts_->preconditions.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"searching in advance", every(PlannerWarmer::step), quietly([this] {
                         parts_->warmer.warm_up(parts_->refresher, rooms_.ledger(),
                                                *settings_.policy, ports_.cloud.clock.now());
                     })});
    tasks.push_back({"watching the pause", every(SafeguardController::step),
                     quietly([this] { parts_->safeguards.check(); })});
    tasks.push_back({"ending protections of servers", every(ServerProtections::step),
                     [this]() -> ResultTask<void> {
                         if (!believes_clock()) co_return Result<void>{};
                         co_return co_await parts_->protections.check();
                     },
                     std::chrono::seconds{10}});
    tasks.push_back({"watching freed room", every(FreedRoomTracker::step),
                     [this] { return parts_->tracker.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"watching how long freed room is used", every(RoomLives::step),
                     [this] { return parts_->lives.check(); }, std::chrono::seconds{10}});
    tasks.push_back({"giving reserved inventory back", every(InventoryReserver::step),
                     [this] { return parts_->reserver.check(); }, std::chrono::seconds{5}});
    tasks.push_back({"keeping reservations", every(ReservationController::step),
                     [this] { return parts_->reservations.check(); }, std::chrono::seconds{30}});
    tasks.push_back({"ending what is kept of freed room", every(Escrow::step),
                     [this] { return escrow_.check(); }, std::chrono::seconds{5}});
    if (!settings_.gateway.listen.empty() && !settings_.dry_run)
        tasks.push_back({"looking for freed room that another reaper keeps",
                         every(Escrow::between_settlings),
                         [this] { return escrow_.settle_others(); }, hour});
    tasks.push_back(
        {"labeling servers", every(ServerLabels::step), [this] { return parts_->labels.check(); }});
    tasks.push_back({"looking for unshelvings that found no host",
                     [this] { return settings_.trigger.unshelve_interval; },
                     [this] { return parts_->unshelve.check(); }, std::chrono::minutes{2}, true});
    if (!settings_.dry_run)
        tasks.push_back({"bringing back shelved servers", every(ShelvedReturns::step),
                         [this] { return parts_->returns.look(); }, std::chrono::minutes{2}, true});
    if (!settings_.dry_run)
        tasks.push_back({"deleting images of servers that are no longer shelved",
                         every(ShelvedImages::step), [this] { return parts_->images.look(); },
                         std::chrono::minutes{30}});
    for (auto& task : parts_->oversubscription.tasks()) tasks.push_back(std::move(task));
    tasks.push_back({"looking for servers that have to go", every(DutyLoop::step),
                     [this] { return parts_->duties.look(); }, std::chrono::minutes{1}, true});
    if (ports_.observer != nullptr)
        tasks.push_back(
            {"recording the cloud", [this] { return ports_.observer->step(); }, quietly([this] {
                 if (parts_->refresher.built()) ports_.observer->keep_up(parts_->refresher.cache());
             })});
    tasks.push_back({"asking when the credentials expire", every(between_looks_at_credentials),
                     [this] { return ask_credential_expires(); }, hour});
    tasks.push_back({"looking after the journal", every(between_journal_checks),
                     [this] { return check_journal(); }, std::chrono::seconds{10}});
    tasks.push_back({"watching the clock", every(between_clock_checks),
                     quietly([this] { check_clock(); }), std::chrono::seconds{1}, true});
    return tasks;
}

void RunningService::listen_to_messages() {
    // Weak: a source that outlives us must not keep us alive beyond the executor.
    const std::weak_ptr<RunningService> weak = weak_from_this();
    MessageSource::Handlers handlers;
    handlers.message = [weak](Delivery delivery) {
        const auto self = weak.lock();
        if (!self || self->stopping_) return;
        // The sender had the time of the wall clock, which counts for how long it is served.
        if (auto step = self->notice_clock_step()) self->spawn(self->note(std::move(*step)));
        self->parts_->nova_failures.on_message(std::move(delivery));
    };
    handlers.state = [weak](BrokerState state) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_ = std::move(state);
        self->report();
    };
    ports_.messages.start(std::move(handlers));
}

void RunningService::listen_to_events() {
    if (ports_.events == nullptr) return;
    const std::weak_ptr<RunningService> weak = weak_from_this();
    EventSource::Handlers handlers;
    handlers.events = [weak](std::vector<CloudEvent> events) {
        if (const auto self = weak.lock()) self->on_events(std::move(events));
    };
    handlers.state = [weak](EventFeedState state) {
        if (const auto self = weak.lock()) self->parts_->refresher.on_feed(state);
    };
    ports_.events->start(std::move(handlers));
}

/// That a server is gone, or is being deleted.
static bool tells_end(const CloudEvent& event) {
    const auto* const seen = std::get_if<ServerSeen>(&event);
    return std::holds_alternative<ServerGone>(event) ||
           (seen != nullptr && seen->record.server.status == "DELETED");
}

/// Searches for hosts are remembered, everything else changes the cache. A server that leaves may
/// have waited for room.
void RunningService::on_events(std::vector<CloudEvent> events) {
    const TimePoint now = ports_.cloud.clock.now();
    std::erase_if(events, [&](CloudEvent& event) {
        auto* const schedule = std::get_if<Schedule>(&event);
        if (schedule == nullptr) return false;
        schedules_.note(std::move(*schedule), now);
        return true;
    });
    if (events.empty()) return;
    parts_->tracker.note_left(events);
    // A server that leaves took its slot before: count that while it is still visible.
    std::vector<CloudEvent> batch;
    for (CloudEvent& event : events) {
        if (tells_end(event) && rooms_.ledger().promises_anything()) {
            parts_->refresher.on_events(std::exchange(batch, {}));
            const CloudCache& cache = parts_->refresher.cache();
            rooms_.observe([&cache](const HostId& id) { return cache.find(id); },
                           cache.index().changes(), now);
        }
        batch.push_back(std::move(event));
    }
    parts_->refresher.on_events(std::move(batch));
}

/// Never waits for the journal.
void RunningService::check_clock() {
    const Duration now = clock_.steady();
    // A process that was frozen asks its journal first.
    if (now - std::exchange(stepped_at_, now) < journal_surely_ours) check_journal_silence();
    if (told_.ready != waits_for().empty()) report();
    if (auto step = notice_clock_step()) spawn(note(std::move(*step)));
}

/// What is remembered moves with the wall clock. The event to journal; none if it was not set.
std::optional<JournalEvent> RunningService::notice_clock_step() {
    const auto by = clock_.step();
    if (!by) return std::nullopt;
    JournalEvent event;
    event.kind = "clock-stepped";
    event.reason = "the wall clock was set " + std::string{*by > Duration{} ? "forward" : "back"} +
                   " by " + format_duration(std::chrono::abs(*by));
    event.at = ports_.cloud.clock.now();
    spdlog::warn("{}; promises move with it, and the cloud is read again", event.reason);
    rooms_.clock_stepped(*by);
    parts_->refresher.on_clock_step(*by);
    parts_->safeguards.safeguards().shift(*by);
    parts_->oversubscription.on_clock_step(*by);
    return event;
}

Task<void> RunningService::note(JournalEvent event) {
    auto noted = co_await ports_.journal.note_event(std::move(event));
    if (!noted) spdlog::error("not journaled: {}", noted.error().what);
}

/// A file that is removed or replaced is noticed before something has to be written.
ResultTask<void> RunningService::check_journal() {
    const Duration began = clock_.steady();
    auto read = co_await ports_.journal.holds();
    journal_gone_.reset();
    if (read) {
        journal_answered_ = began;
        co_return Result<void>{};
    }
    journal_gone_ = read.error().what;
    if (read.error().code == Errc::conflict) leave_journal(read.error());
    co_return read.error();
}

/// Another reaper may have it, and would serve if RabbitMQ gave it the messages. Asks nothing of
/// the journal: calls to a database that hangs wait for one another for minutes.
void RunningService::check_journal_silence() {
    const Duration silent = clock_.steady() - journal_heard_;
    if (!ports_.shared_journal || silent < journal_surely_free) return;
    // Alone, it waits until the database answers.
    if (ports_.others_stand_by && !ports_.others_stand_by()) return;
    leave_journal({Errc::storage, "the journal has not answered for " + format_duration(silent) +
                                      ", and another reaper may have it; this one ends" +
                                      (journal_gone_ ? ": " + *journal_gone_ : "")});
}

void RunningService::leave_journal(Error why) {
    if (displaced_) return;
    displaced_ = std::move(why);
    spdlog::critical("{}", displaced_->what);
    stop();
}

/// Else another reaper may have it, and act in our place.
bool RunningService::journal_is_ours() const {
    return !ports_.shared_journal || clock_.steady() < journal_answered_ + journal_surely_ours;
}

/// Once an hour, and after a reload: the right to see it may be granted, or taken away.
ResultTask<void> RunningService::ask_credential_expires() {
    const Duration now = ports_.cloud.clock.steady();
    if (credential_asked_ && now - *credential_asked_ < hour) co_return Result<void>{};
    credential_asked_ = now;
    auto told = co_await ports_.cloud.identity.credential_expires();
    if (!told) {
        credential_asked_.reset();
        co_return told.error();
    }
    if (credential_expires_ != *told) {
        if (*told)
            spdlog::info("what we log in with expires at {}", iso_time(**told));
        else
            spdlog::info("it is no longer known when what we log in with expires");
    }
    credential_expires_ = *told;
    co_return Result<void>{};
}

}  // namespace reaper
