#include "reaper/controllers/freed_room/ledger_journal.hpp"

#include <algorithm>
#include <map>
#include <variant>

namespace reaper {
namespace {

bool was_sent(Step step) {
    return sends_eviction(step) || step == Step::delete_accepted || step == Step::gone ||
           step == Step::vanished;
}

/// What the last word on each server was.
std::map<ServerId, Step> last_steps(const RequestRecord& record) {
    std::map<ServerId, Step> steps;
    for (const StepEntry& entry : record.steps) steps[entry.server] = entry.step;
    return steps;
}

/// Enters all plans; of those that a later one replaced, only what was sent is on its way.
void enter_plans(Ledger& ledger, const RequestRecord& record, TimePoint now) {
    const auto steps = last_steps(record);
    const bool any_deleted = std::any_of(
        steps.begin(), steps.end(), [](const auto& step) { return step.second == Step::gone; });
    for (const PlanEntry& entry : record.plans) {
        const TimePoint at = std::min(entry.at, now);
        const auto* const nothing = std::get_if<NothingToDo>(&entry.decision);
        if (nothing != nullptr && promises_room(record.request.source, *nothing, any_deleted))
            ledger.enter(record.request, nothing->hosts, at);
        if (std::holds_alternative<NotEnough>(entry.decision))
            ledger.release_promises(record.request.id);
        const auto* const plan = std::get_if<Plan>(&entry.decision);
        if (plan == nullptr) continue;
        ledger.enter(record.request, *plan, at);
        const bool replaced = &entry != &record.plans.back();
        for (const Victim& victim : plan->victims()) {
            const auto step = steps.find(victim.server);
            const bool stays = step == steps.end() ? replaced : !was_sent(step->second);
            if (stays) ledger.drop_eviction(victim.server);
        }
    }
}

}  // namespace

Ledger ledger_of(const std::vector<RequestRecord>& unfinished,
                 const std::vector<RequestRecord>& finished, TimePoint now, Duration promise) {
    Ledger ledger;
    for (const RequestRecord& record : finished) {
        if (!record.outcome || record.freed_room) continue;  // then its room is promised no more
        // A reservation takes its room as soon as it is free.
        if (record.request.source == RequestSource::reservation) continue;
        const OutcomeKind kind = record.outcome->kind;
        if (kind != OutcomeKind::freed && kind != OutcomeKind::incomplete) continue;
        enter_plans(ledger, record, now);
        const TimePoint ended = std::min(record.outcome->at, now);
        ledger.settle(record.request.id, ended, ended + promise);
    }
    for (const RequestRecord& record : unfinished) enter_plans(ledger, record, now);
    return ledger;
}

ResultTask<Ledger> read_ledger(JournalReader& journal, TimePoint now, Duration promise) {
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    auto finished = co_await journal.culls_since(now - promise);
    if (!finished) co_return finished.error();
    co_return ledger_of(*unfinished, *finished, now, promise);
}

}  // namespace reaper
