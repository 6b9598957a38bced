#include "reaper/controllers/safeguards_journal.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace reaper {
namespace {

constexpr int most_marks = 1'000;

/// Since when failures in a row are counted.
TimePoint last_reset(const std::vector<Mark>& marks) {
    TimePoint last{};
    for (const auto& mark : marks)
        if (mark.kind == "resumed" || mark.kind == "breaker-opened") last = std::max(last, mark.at);
    return last;
}

/// What the plans said of their victims' workloads; those that have none are left out.
void read_workloads(const std::vector<Story>& stories, std::map<ServerId, std::string>& workloads) {
    for (const auto& story : stories)
        for (const auto& entry : story.plans)
            if (const auto* const plan = std::get_if<Plan>(&entry.decision))
                for (const auto& victim : plan->victims())
                    if (!victim.workload.empty())
                        workloads.insert_or_assign(victim.server, victim.workload);
}

struct DeletionEnd {
    TimePoint at;
    bool succeeded;
    RequestId request;
};

/// How deletions went, oldest first.
std::vector<DeletionEnd> deletions_in(const std::vector<Story>& stories, TimePoint after) {
    std::vector<DeletionEnd> ends;
    for (const auto& story : stories)
        for (const auto& step : story.steps)
            if (step.at > after && (step.step == Step::failed || step.step == Step::gone))
                ends.push_back({step.at, step.step == Step::gone, story.request.id});
    std::stable_sort(ends.begin(), ends.end(),
                     [](const DeletionEnd& a, const DeletionEnd& b) { return a.at < b.at; });
    return ends;
}

}  // namespace

PastVictim past_victim(const VictimEntry& entry) {
    return {entry.at, entry.request, entry.server, entry.name, entry.project, entry.host, ""};
}

CullWorth worth_of(AftermathKind kind) {
    switch (kind) {
        case AftermathKind::taken: return CullWorth::helped;
        case AftermathKind::elsewhere: return CullWorth::needless;
        case AftermathKind::wasted: break;
    }
    return CullWorth::wasted;
}

ResultTask<JournalledBrakes> read_brakes(Journal& journal, BrakeSettings settings, TimePoint now) {
    JournalledBrakes read{Brakes{settings}, {}};
    const TimePoint since = now - read.brakes.memory();
    auto victims = co_await journal.victims_since(since);
    if (!victims) co_return victims.error();
    auto aftermaths = co_await journal.aftermaths_since(since);
    if (!aftermaths) co_return aftermaths.error();
    auto marks = co_await journal.marks(most_marks);
    if (!marks) co_return marks.error();
    auto unfinished = co_await journal.unfinished();
    if (!unfinished) co_return unfinished.error();
    auto stories = co_await journal.culls_since(since);
    if (!stories) co_return stories.error();
    for (auto& story : *unfinished) stories->push_back(std::move(story));

    std::map<ServerId, std::string> workloads;
    read_workloads(*stories, workloads);
    for (const auto& entry : *victims) {
        PastVictim victim = past_victim(entry);
        if (const auto at = workloads.find(victim.server); at != workloads.end())
            victim.workload = at->second;
        read.brakes.note_victim(std::move(victim));
    }
    const TimePoint reset = last_reset(*marks);
    const auto opens = [&](std::optional<std::string> why) {
        if (why && !read.opens) read.opens = std::move(why);
    };
    for (const auto& story : *aftermaths) {
        const Aftermath& aftermath = *story.aftermath;
        const CullWorth worth =
            aftermath.at > reset ? worth_of(aftermath.kind) : CullWorth::needless;
        opens(read.brakes.note_aftermath(story.request.id, worth, aftermath.untaken, aftermath.at));
    }
    for (const auto& end : deletions_in(*stories, reset))
        opens(read.brakes.breaker().note_deletion(end.succeeded, end.request));
    read.brakes.prune(now);
    co_return read;
}

}  // namespace reaper
