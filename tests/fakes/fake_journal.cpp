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

ResultTask<std::vector<Story>> FakeJournal::finished_since(TimePoint since) {
    co_await breathe();
    std::vector<Story> found;
    for (const auto& [id, story] : stories)
        if (story.outcome && story.outcome->at >= since) found.push_back(story);
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

bool FakeJournal::has_step(const std::string& server, Step step) const {
    return std::any_of(stories.begin(), stories.end(), [&](const auto& entry) {
        return std::any_of(
            entry.second.steps.begin(), entry.second.steps.end(),
            [&](const StepEntry& at) { return at.server.str() == server && at.step == step; });
    });
}

}  // namespace reaper::test
