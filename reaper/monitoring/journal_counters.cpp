#include "reaper/monitoring/journal_counters.hpp"

#include <algorithm>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <utility>
#include <variant>

#include "reaper/monitoring/exposition.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::monitoring {

namespace {

using Buckets = prometheus::Histogram::BucketBoundaries;

const Buckets to_room_seconds{0.5, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600};
const Buckets to_taken_seconds{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600};
const Buckets lag_seconds{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600};
const Buckets write_seconds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5};

constexpr RequestSource all_sources[] = {
    RequestSource::nova_failure, RequestSource::unshelve,    RequestSource::operator_,
    RequestSource::gateway,      RequestSource::reservation, RequestSource::oversubscription,
    RequestSource::watermark,    RequestSource::life_span};
constexpr OutcomeKind all_outcomes[] = {
    OutcomeKind::freed,          OutcomeKind::already_there, OutcomeKind::not_enough,
    OutcomeKind::refused,        OutcomeKind::incomplete,    OutcomeKind::failed,
    OutcomeKind::dry_run,        OutcomeKind::superseded,    OutcomeKind::handed_over,
    OutcomeKind::revocable_room, OutcomeKind::revocable_only};
constexpr FreedRoomResultKind freed_room_results[] = {FreedRoomResultKind::taken,
                                                      FreedRoomResultKind::short_lived,
                                                      FreedRoomResultKind::elsewhere,
                                                      FreedRoomResultKind::handed_over,
                                                      FreedRoomResultKind::taken_by_regular,
                                                      FreedRoomResultKind::taken_by_revocable,
                                                      FreedRoomResultKind::wasted};
constexpr Step all_steps[] = {
    Step::skipped,     Step::delete_sent, Step::delete_accepted, Step::force_delete_sent,
    Step::gone,        Step::vanished,    Step::failed,          Step::unseen,
    Step::notified,    Step::withdrawn,   Step::notice_sent,     Step::stop_sent,
    Step::shelve_sent, Step::left_shelved};
constexpr std::string_view decision_kinds[] = {"plan", "nothing-to-do", "not-enough", "refused"};

prometheus::Family<prometheus::Counter>& new_counters(prometheus::Registry& registry,
                                                      const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Family<prometheus::Histogram>& new_histograms(prometheus::Registry& registry,
                                                          const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

double not_negative(Duration duration) {
    return std::max(std::chrono::duration<double>(duration).count(), 0.0);
}

Labels by(const char* label, std::string_view value) {
    return {{label, std::string{value}}};
}

/// Why nothing was freed, as one word; none if something was, or the room was there.
std::optional<std::string> refusal_of(const Outcome& outcome) {
    if (!outcome.safeguard.empty()) return outcome.safeguard;
    if (outcome.kind == OutcomeKind::not_enough || outcome.kind == OutcomeKind::refused ||
        outcome.kind == OutcomeKind::revocable_only)
        return std::string{to_string(outcome.kind)};
    return std::nullopt;
}

}  // namespace

JournalCounters::JournalCounters(prometheus::Registry& registry)
    : requests_(new_counters(registry, "reaper_requests_total",
                             "Requests for room that ended, by what asked and how they ended.")),
      refusals_(
          new_counters(registry, "reaper_refusals_total",
                       "Requests for which nothing was freed, by the safeguard or the outcome "
                       "that explains it.")),
      decisions_(new_counters(registry, "reaper_decisions_total",
                              "Rounds of requests that were decided, by decision.")),
      planned_victims_(new_counters(registry, "reaper_planned_victims_total",
                                    "Servers that plans chose, of a dry run too.")),
      victims_(new_counters(registry, "reaper_victims_total",
                            "Servers whose deletion was sent to Nova.")),
      steps_(new_counters(registry, "reaper_victim_steps_total",
                          "What happened to victims, step by step.")),
      freed_rooms_(new_counters(registry, "reaper_freed_rooms_total",
                                "Culls by who took the room that they freed.")),
      messages_(new_counters(registry, "reaper_messages_total",
                             "Messages that made no request of their own, by verdict.")),
      events_(new_counters(registry, "reaper_events_total",
                           "What happened to the reaper itself, by kind: paused, resumed, "
                           "breaker-opened and others.")),
      lag_(new_histograms(registry, "reaper_request_lag_seconds",
                          "From the refusal, by its sender's clock, until the request was taken "
                          "up: the lag of the queue.")),
      to_room_(new_histograms(registry, "reaper_request_room_seconds",
                              "From the refusal until Placement showed the freed room.")),
      to_taken_(new_histograms(registry, "reaper_request_taken_seconds",
                               "From the refusal until the requester was seen on the freed room.")),
      writes_(
          new_counters(registry, "reaper_journal_writes_total", "Writes to the journal.").Add({})),
      failed_writes_(new_counters(registry, "reaper_journal_write_failures_total",
                                  "Writes to the journal that failed.")
                         .Add({})),
      write_times_(new_histograms(registry, "reaper_journal_write_duration_seconds",
                                  "How long a write to the journal took.")
                       .Add({}, write_seconds)) {
    show_zeros();
}

/// What has not happened yet is 0, not absent: the first time counts as a rise.
void JournalCounters::show_zeros() {
    for (const RequestSource source : all_sources) {
        const std::string text{to_string(source)};
        for (const OutcomeKind kind : all_outcomes)
            requests_.Add({{"source", text}, {"outcome", std::string{to_string(kind)}}});
        lag_.Add(by("source", text), lag_seconds);
        to_room_.Add(by("source", text), to_room_seconds);
        to_taken_.Add(by("source", text), to_taken_seconds);
    }
    for (const std::string_view reason :
         {safeguard::limit_request, safeguard::limit_window, safeguard::limit_project,
          safeguard::limit_aggregate, safeguard::is_protected, safeguard::min_run_time,
          safeguard::thrash, safeguard::breaker, safeguard::project_breaker,
          safeguard::shape_cooldown, safeguard::cell_cooldown, std::string_view{"paused"},
          std::string_view{"unconfirmed"}, std::string_view{"not-enough"},
          std::string_view{"refused"}})
        refusals_.Add(by("reason", reason));
    for (const std::string_view kind : decision_kinds) decisions_.Add(by("decision", kind));
    for (const FreedRoomResultKind kind : freed_room_results)
        freed_rooms_.Add(by("result", to_string(kind)));
    for (const Step step : all_steps) steps_.Add(by("step", to_string(step)));
    for (const char* const verdict :
         {"joined", "duplicate", "retried", "refused", "ignored", "too-old", "malformed"})
        messages_.Add(by("verdict", verdict));
    for (const char* const kind : {"paused", "resumed", "held-back", "breaker-opened"})
        events_.Add(by("kind", kind));
}

void JournalCounters::admitted(const Request& request, TimePoint now) {
    const auto [at, added] = known_.try_emplace(request.id);
    if (!added && !at->second.ended) return;
    at->second = Known{request.source, request.sent_at, now};
    lag_.Add(by("source", to_string(request.source)), lag_seconds)
        .Observe(not_negative(now - request.sent_at));
}

void JournalCounters::read_back(const RequestRecord& record) {
    if (record.freed_room) return;
    const auto [at, added] = known_.try_emplace(record.request.id);
    if (!added) return;
    at->second = Known{record.request.source, record.request.sent_at, record.received_at};
    for (const StepEntry& step : record.steps)
        if (begins_eviction(step.step)) at->second.sent.insert(step.server);
    if (record.outcome) keep_until_judged(record.request.id);
}

void JournalCounters::planned(const RequestId& id, const PlanEntry& entry) {
    decisions_.Add(by("decision", decision_kinds[entry.decision.index()])).Increment();
    const auto* const plan = std::get_if<Plan>(&entry.decision);
    if (plan == nullptr) return;
    const auto known = known_.find(id);
    for (const HostPlan& host : plan->hosts)
        for (const Victim& victim : host.victims) {
            Chosen chosen{plan->strategy, ""};
            if (taggers_of_) chosen.taggers = taggers_of_(host.host, victim.server);
            planned_victims_.Add({{"strategy", chosen.strategy}, {"tagger", chosen.taggers}})
                .Increment();
            if (known != known_.end()) known->second.chosen[victim.server] = std::move(chosen);
        }
}

void JournalCounters::stepped(const RequestId& id, const StepEntry& step) {
    steps_.Add(by("step", to_string(step.step))).Increment();
    if (!begins_eviction(step.step)) return;
    const auto known = known_.find(id);
    if (known == known_.end() || !known->second.sent.insert(step.server).second) return;
    const Chosen& chosen = known->second.chosen[step.server];
    victims_
        .Add({{"source", std::string{to_string(known->second.source)}},
              {"strategy", chosen.strategy},
              {"tagger", chosen.taggers}})
        .Increment();
}

void JournalCounters::ended(const RequestId& id, const Outcome& outcome) {
    const auto known = known_.find(id);
    if (known == known_.end()) return count_end(RequestSource::nova_failure, outcome);
    count_end(known->second.source, outcome);
    if (outcome.kind == OutcomeKind::freed)
        to_room_.Add(by("source", to_string(known->second.source)), to_room_seconds)
            .Observe(not_negative(outcome.at - known->second.sent_at));
    keep_until_judged(id);
}

void JournalCounters::ended_at_once(const Request& request, const Outcome& outcome) {
    count_end(request.source, outcome);
    const auto known = known_.find(request.id);
    if (known != known_.end() && known->second.sent.empty()) known_.erase(known);
}

void JournalCounters::count_end(RequestSource source, const Outcome& outcome) {
    requests_
        .Add({{"source", std::string{to_string(source)}},
              {"outcome", std::string{to_string(outcome.kind)}}})
        .Increment();
    if (const auto reason = refusal_of(outcome)) refusals_.Add(by("reason", *reason)).Increment();
}

/// Requests without deletions freed no room that could be taken.
void JournalCounters::keep_until_judged(const RequestId& id) {
    Known& known = known_.at(id);
    known.ended = true;
    known.chosen.clear();
    if (known.sent.empty()) {
        known_.erase(id);
        return;
    }
    waiting_.push_back(id);
    while (waiting_.size() > most_ended) {
        const auto oldest = known_.find(waiting_.front());
        if (oldest != known_.end() && oldest->second.ended) known_.erase(oldest);
        waiting_.pop_front();
    }
}

void JournalCounters::freed_room(const RequestId& id, const FreedRoomResult& result) {
    freed_rooms_.Add(by("result", to_string(result.kind))).Increment();
    const auto known = known_.find(id);
    if (known == known_.end()) return;
    if (result.kind == FreedRoomResultKind::taken)
        to_taken_.Add(by("source", to_string(known->second.source)), to_taken_seconds)
            .Observe(not_negative(result.at - known->second.sent_at));
    if (known->second.ended) known_.erase(known);
}

void JournalCounters::noted_message(const MessageEntry& message) {
    messages_.Add(by("verdict", message.verdict)).Increment();
}

void JournalCounters::noted_event(const JournalEvent& event) {
    events_.Add(by("kind", event.kind)).Increment();
}

void JournalCounters::wrote(std::chrono::duration<double> took,
                            const std::optional<std::string>& trouble) {
    writes_.Increment();
    write_times_.Observe(took.count());
    write_trouble_ = trouble;
    if (write_trouble_) failed_writes_.Increment();
}

std::optional<TimePoint> JournalCounters::oldest_open() const {
    std::optional<TimePoint> oldest;
    for (const auto& [id, known] : known_)
        if (!known.ended) oldest = std::min(oldest.value_or(known.received_at), known.received_at);
    return oldest;
}

}  // namespace reaper::monitoring
