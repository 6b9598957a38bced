#include "fakes/fake_journal.hpp"

#include "fakes/breathe.hpp"

namespace reaper::test {

std::optional<Error> FakeJournal::write(const std::string& what) {
    if (fails && fails(what)) return Error{Errc::storage, "disk full"};
    written.push_back(what);
    return std::nullopt;
}

ResultTask<Admission> FakeJournal::admit(Request request, TimePoint now) {
    co_await breathe();
    Admission admission;
    if (const auto known = stories.find(request.id); known != stories.end()) {
        admission.outcome = known->second.outcome;
        auto& requesters = known->second.request.requesters;
        requesters.insert(requesters.end(), request.requesters.begin(), request.requesters.end());
        co_return admission;
    }
    if (auto error = write("admit " + request.id.str())) co_return *error;
    Story story;
    story.received_at = now;
    story.request = request;
    stories[request.id] = story;
    admission.first = true;
    co_return admission;
}

ResultTask<void> FakeJournal::add_plan(RequestId id, PlanEntry plan) {
    co_await breathe();
    if (auto error = write("plan " + id.str())) co_return *error;
    stories.at(id).plans.push_back(std::move(plan));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::add_step(RequestId id, StepEntry step) {
    co_await breathe();
    if (auto error = write(std::string{to_string(step.step)} + " " + step.server.str()))
        co_return *error;
    stories.at(id).steps.push_back(std::move(step));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::finish(RequestId id, Outcome outcome) {
    co_await breathe();
    if (auto error = write("finish " + id.str())) co_return *error;
    stories.at(id).outcome = std::move(outcome);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::note_message(MessageEntry message) {
    co_await breathe();
    if (auto error = write("note " + message.verdict)) co_return *error;
    notes.push_back(std::move(message));
    co_return Result<void>{};
}

ResultTask<std::vector<Story>> FakeJournal::unfinished() {
    co_await breathe();
    std::vector<Story> found;
    for (const auto& [id, story] : stories)
        if (!story.outcome) found.push_back(story);
    co_return found;
}

ResultTask<std::vector<Story>> FakeJournal::culls_since(TimePoint since) {
    co_await breathe();
    std::vector<Story> found;
    for (const auto& [id, story] : stories)
        if (story.outcome && story.outcome->at >= since && !victims_of(story).empty())
            found.push_back(story);
    co_return found;
}

ResultTask<std::vector<StoryLine>> FakeJournal::list(int) {
    co_await breathe();
    co_return std::vector<StoryLine>{};
}

ResultTask<std::optional<Story>> FakeJournal::story(RequestId id) {
    co_await breathe();
    const auto found = stories.find(id);
    if (found == stories.end()) co_return std::optional<Story>{};
    co_return std::optional<Story>{found->second};
}

ResultTask<std::vector<MessageEntry>> FakeJournal::messages(int) {
    co_await breathe();
    co_return notes;
}

ResultTask<void> FakeJournal::note_aftermath(RequestId id, Aftermath aftermath) {
    co_await breathe();
    if (auto error = write("aftermath " + std::string{to_string(aftermath.kind)} + " " + id.str()))
        co_return *error;
    auto& known = stories.at(id).aftermath;
    if (!known) known = std::move(aftermath);
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::note_mark(Mark mark) {
    co_await breathe();
    if (auto error = write("mark " + mark.kind)) co_return *error;
    noted_marks.push_back(std::move(mark));
    co_return Result<void>{};
}

ResultTask<std::vector<VictimEntry>> FakeJournal::victims_since(TimePoint since) {
    co_await breathe();
    std::vector<VictimEntry> victims;
    for (const auto& [id, story] : stories)
        for (auto& victim : victims_of(story))
            if (victim.at >= since) victims.push_back(std::move(victim));
    std::stable_sort(victims.begin(), victims.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    co_return victims;
}

ResultTask<std::vector<Story>> FakeJournal::aftermaths_since(TimePoint since) {
    co_await breathe();
    std::vector<Story> found;
    for (const auto& [id, story] : stories)
        if (story.aftermath && story.aftermath->at >= since) found.push_back(story);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.aftermath->at < b.aftermath->at;
    });
    co_return found;
}

ResultTask<std::vector<Mark>> FakeJournal::marks(int limit) {
    co_await breathe();
    std::vector<Mark> newest{noted_marks.rbegin(), noted_marks.rend()};
    if (newest.size() > static_cast<std::size_t>(limit))
        newest.resize(static_cast<std::size_t>(limit));
    co_return newest;
}

ResultTask<JournalTotals> FakeJournal::totals(TimePoint since) {
    auto victims = co_await victims_since(since);
    JournalTotals totals;
    totals.victims = static_cast<std::int64_t>(victims->size());
    for (const auto& [id, story] : stories) {
        if (!story.outcome) ++totals.under_way;
        if (story.outcome && story.outcome->at >= since) {
            ++totals.outcomes[story.outcome->kind];
            if (!story.outcome->brake.empty()) ++totals.brakes[story.outcome->brake];
        }
        if (story.aftermath && story.aftermath->at >= since)
            ++totals.aftermaths[story.aftermath->kind];
    }
    for (const auto& note : notes)
        if (note.at >= since) ++totals.messages[note.verdict];
    for (const auto& mark : noted_marks)
        if (mark.at >= since) ++totals.marks[mark.kind];
    co_return totals;
}

ResultTask<void> FakeJournal::add_hold(RoomHold hold) {
    co_await breathe();
    if (auto error = write("hold " + hold.provider.str() + " " + hold.resource_class.str()))
        co_return *error;
    const bool open = std::any_of(open_holds.begin(), open_holds.end(), [&](const auto& known) {
        return known.provider == hold.provider && known.resource_class == hold.resource_class;
    });
    if (!open) open_holds.push_back(std::move(hold));
    co_return Result<void>{};
}

ResultTask<void> FakeJournal::end_hold(ProviderId provider, ResourceClass resource_class,
                                       HoldEnd end) {
    co_await breathe();
    if (auto error = write("hold " + std::string{to_string(end.kind)} + " " + provider.str() + " " +
                           resource_class.str()))
        co_return *error;
    std::erase_if(open_holds, [&](const auto& hold) {
        if (hold.provider != provider || hold.resource_class != resource_class) return false;
        ended_holds.emplace_back(hold, end);
        return true;
    });
    co_return Result<void>{};
}

ResultTask<std::vector<RoomHold>> FakeJournal::holds() {
    co_await breathe();
    co_return open_holds;
}

bool FakeJournal::has_step(const std::string& server, Step step) const {
    return std::any_of(stories.begin(), stories.end(), [&](const auto& entry) {
        return std::any_of(
            entry.second.steps.begin(), entry.second.steps.end(),
            [&](const StepEntry& at) { return at.server.str() == server && at.step == step; });
    });
}

}  // namespace reaper::test
