#include "reaper/controllers/safeguards/safeguards_journal.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reaper {
namespace {

constexpr int max_events = 1'000;

/// Since when failures in a row are counted.
TimePoint last_reset(const std::vector<JournalEvent>& events) {
    TimePoint last{};
    for (const auto& mark : events)
        if (mark.kind == "resumed") last = std::max(last, mark.at);
    return last;
}

/// What the records say of their victims beside what the journal's lists do.
struct FromRecords {
    std::map<std::pair<RequestId, ServerId>, const Victim*> planned;
    std::map<RequestId, ProjectId> projects;

    explicit FromRecords(const std::vector<RequestRecord>& records) {
        for (const auto& record : records) {
            projects.insert_or_assign(record.request.id, record.request.project);
            for (const auto& entry : record.plans)
                if (const auto* const plan = std::get_if<Plan>(&entry.decision))
                    for (const auto& host : plan->hosts)
                        for (const auto& victim : host.victims)
                            planned.insert_or_assign({record.request.id, victim.server}, &victim);
        }
    }
    PastVictim victim(const VictimEntry& entry) const {
        PastVictim past = past_victim(entry);
        if (const auto at = planned.find({past.request, past.server}); at != planned.end()) {
            past.workload = at->second->workload;
            past.created = at->second->created;
            past.launched = at->second->launched;
        }
        if (const auto at = projects.find(past.request); at != projects.end())
            past.requester = at->second;
        return past;
    }
};

/// How long the room of a cull was used.
struct Use {
    TimePoint at{};
    const RequestRecord* record = nullptr;
    bool begins = false;  ///< its room is taken; else:
    std::optional<Duration> lived{};
};

/// Oldest first, without those whose end is not known yet.
std::vector<Use> uses_in(const std::vector<RequestRecord>& records, TimePoint after, TimePoint now,
                         Duration long_enough) {
    std::vector<Use> uses;
    for (const auto& record : records) {
        const FreedRoomResult& result = *record.freed_room;
        const bool taken = result.kind == FreedRoomResultKind::taken ||
                           result.kind == FreedRoomResultKind::short_lived;
        if (!taken || result.takers.empty() || result.at <= after) continue;
        const auto first =
            std::min_element(result.takers.begin(), result.takers.end(),
                             [](const RoomTaker& a, const RoomTaker& b) { return a.at < b.at; });
        uses.push_back({first->at, &record, true, {}});
        for (const RoomTaker& taker : result.takers) {
            const TimePoint ends = taker.at + taker.lived.value_or(long_enough);
            if (taker.lived || ends <= now) uses.push_back({ends, &record, false, taker.lived});
        }
    }
    std::stable_sort(uses.begin(), uses.end(),
                     [](const Use& a, const Use& b) { return a.at < b.at; });
    return uses;
}

/// What opened the breaker that is open, by the journal.
std::optional<JournalEvent> opening_in(const std::vector<JournalEvent>& events, TimePoint reset) {
    std::optional<JournalEvent> opened;
    TimePoint ended = reset;
    for (const auto& event : events) {
        if (event.kind == "breaker-opened" && (!opened || event.at > opened->at)) opened = event;
        if (event.kind == "breaker-half-open" || event.kind == "breaker-closed")
            ended = std::max(ended, event.at);
    }
    return opened && opened->at > ended ? opened : std::nullopt;
}

/// A cull whose result is not known, and can still become known.
bool may_still_help(const RequestRecord& record, TimePoint now) {
    const bool planned = std::any_of(
        record.plans.begin(), record.plans.end(),
        [](const PlanEntry& entry) { return std::holds_alternative<Plan>(entry.decision); });
    if (!planned || record.freed_room) return false;
    if (!record.outcome) return true;
    if (!is_awaited(record.request.source)) return false;
    const bool culled = record.outcome->kind == OutcomeKind::freed ||
                        record.outcome->kind == OutcomeKind::incomplete;
    return culled && now - record.outcome->at < std::chrono::days{1};
}

struct DeletionEnd {
    TimePoint at;
    bool succeeded;
    RequestId request;
    ServerId server;
};

/// How deletions went, oldest first.
std::vector<DeletionEnd> deletions_in(const std::vector<RequestRecord>& records, TimePoint after) {
    std::vector<DeletionEnd> ends;
    for (const auto& record : records)
        for (const auto& step : record.steps)
            if (step.at > after && (step.step == Step::failed || step.step == Step::gone))
                ends.push_back({step.at, step.step == Step::gone, record.request.id, step.server});
    std::stable_sort(ends.begin(), ends.end(),
                     [](const DeletionEnd& a, const DeletionEnd& b) { return a.at < b.at; });
    return ends;
}

/// What it shows of deletions that hang, and of how long they take.
void note_deletions(const RequestRecord& record, HangingDeletions& deletions) {
    std::map<ServerId, HostId> hosts;
    for (const PlanEntry& entry : record.plans)
        for (const HostPlan& host : host_plans(entry.decision))
            for (const Victim& victim : host.victims)
                hosts.insert_or_assign(victim.server, host.host);
    for (const StepEntry& step : record.steps) {
        const auto host = hosts.find(step.server);
        if (step.step == Step::gone)
            deletions.ended(step.server, step.at);
        else if (step.step == Step::skipped || step.step == Step::left_shelved)
            deletions.dropped(step.server);
        else if (begins_eviction(step.step) && host != hosts.end())
            deletions.sent(host->second, step.server, step.at);
    }
}

}  // namespace

PastVictim past_victim(const VictimEntry& entry) {
    return {entry.at, entry.request, entry.server, entry.name, entry.project, entry.host, ""};
}

CullWorth worth_of(FreedRoomResultKind kind) {
    switch (kind) {
        case FreedRoomResultKind::taken:
        case FreedRoomResultKind::short_lived: return CullWorth::helped;
        case FreedRoomResultKind::elsewhere:
        case FreedRoomResultKind::handed_over:
        case FreedRoomResultKind::taken_by_regular: return CullWorth::needless;
        case FreedRoomResultKind::taken_by_revocable: return CullWorth::lost;
        case FreedRoomResultKind::wasted: break;
    }
    return CullWorth::wasted;
}

std::optional<int> taken_slots(const FreedRoomResult& result) {
    if (result.takers.empty()) return std::nullopt;
    return static_cast<int>(result.takers.size());
}

std::optional<bool> move_taken(FreedRoomResultKind kind) {
    switch (kind) {
        case FreedRoomResultKind::taken:
        case FreedRoomResultKind::short_lived: return true;
        case FreedRoomResultKind::elsewhere:
        case FreedRoomResultKind::handed_over: return std::nullopt;
        // Which server took it proves nothing: a moving server may not even have been able to.
        case FreedRoomResultKind::taken_by_regular:
        case FreedRoomResultKind::taken_by_revocable:
        case FreedRoomResultKind::wasted: break;
    }
    return false;
}

ResultTask<JournaledSafeguards> read_safeguards(JournalReader& journal, SafeguardSettings settings,
                                                TimePoint now) {
    JournaledSafeguards read{Safeguards{settings}};
    const TimePoint since = now - read.safeguards.memory();
    auto victims = co_await journal.victims_since(since);
    if (!victims) co_return victims.error();
    auto freed_rooms = co_await journal.freed_rooms_since(since);
    if (!freed_rooms) co_return freed_rooms.error();
    auto events = co_await journal.events(max_events);
    if (!events) co_return events.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    auto records = co_await journal.culls_since(since);
    if (!records) co_return records.error();
    for (auto& record : *unfinished) records->push_back(std::move(record));

    const FromRecords known{*records};
    for (const auto& entry : *victims) read.safeguards.note_victim(known.victim(entry));
    const TimePoint reset = last_reset(*events);
    for (const auto& record : *freed_rooms) {
        const FreedRoomResult& freed_room = *record.freed_room;
        const CullWorth worth =
            freed_room.at > reset ? worth_of(freed_room.kind) : CullWorth::needless;
        read.safeguards.note_move(record.request, move_taken(freed_room.kind), freed_room.at);
        read.safeguards.note_freed_room(as_freed(record), worth, freed_room.untaken, freed_room.at,
                                        taken_slots(freed_room));
    }
    const Duration long_enough = read.safeguards.settings().short_lived.lived;
    for (const Use& use : uses_in(*freed_rooms, reset, now, long_enough)) {
        const auto takers = static_cast<int>(use.record->freed_room->takers.size());
        if (use.begins)
            read.safeguards.note_taken(use.record->request, takers, use.at);
        else
            read.safeguards.note_use(use.record->request, use.lived, use.at);
    }
    for (const auto& end : deletions_in(*records, reset))
        read.safeguards.note_deletion(end.succeeded, end.request, end.server, end.at);
    for (const auto& record : *records) note_deletions(record, read.safeguards.deletions());
    for (const auto& record : *records)
        if (may_still_help(record, now)) read.safeguards.note_cull(as_freed(record));
    if (const auto opening = opening_in(*events, reset)) {
        read.opened_at = opening->at;
        // Deletions that Nova refused opened it: the records do not count them.
        if (read.safeguards.breaker().state(now) == CircuitState::closed)
            read.safeguards.breaker().open_again(opening->at, opening->reason);
    }
    read.safeguards.prune(now);
    co_return read;
}

}  // namespace reaper
