#include "reaper/cli/plan_ledger.hpp"

#include <utility>
#include <variant>

namespace reaper::cli {
namespace {

void enter_plans(Ledger& ledger, const Story& story) {
    for (const PlanEntry& entry : story.plans)
        if (const auto* plan = std::get_if<Plan>(&entry.decision))
            ledger.enter(story.request, *plan, entry.at);
}

bool ends_eviction(Step step) {
    return step == Step::gone || step == Step::vanished || step == Step::spared ||
           step == Step::failed;
}

}  // namespace

Ledger ledger_of(const std::vector<Story>& unfinished, const std::vector<Story>& finished,
                 Duration promise) {
    Ledger ledger;
    for (const Story& story : finished) {
        if (!story.outcome) continue;
        const OutcomeKind kind = story.outcome->kind;
        if (kind != OutcomeKind::freed && kind != OutcomeKind::incomplete) continue;
        enter_plans(ledger, story);
        ledger.settle(story.request.id, story.outcome->at, story.outcome->at + promise);
    }
    for (const Story& story : unfinished) {
        enter_plans(ledger, story);
        for (const StepEntry& step : story.steps)
            if (ends_eviction(step.step)) ledger.drop_eviction(step.server);
    }
    return ledger;
}

ResultTask<Ledger> read_ledger(Journal& journal, TimePoint now, Duration promise) {
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    auto finished = co_await journal.finished_since(now - promise);
    if (!finished) co_return finished.error();
    co_return ledger_of(*unfinished, *finished, promise);
}

}  // namespace reaper::cli
