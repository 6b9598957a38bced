#include "reaper/daemon/reporting_journal.hpp"

#include <utility>

namespace reaper::cli {

ReportingJournal::ReportingJournal(Journal& inner, Report report)
    : inner_(inner), report_(std::move(report)) {}

ResultTask<Admission> ReportingJournal::admit(Request request, TimePoint now) {
    open_.try_emplace(request.id, request);
    co_return co_await inner_.admit(std::move(request), now);
}

ResultTask<void> ReportingJournal::add_plan(RequestId id, PlanEntry plan) {
    if (const auto found = open_.find(id); found != open_.end()) report_(found->second, plan);
    co_return co_await inner_.add_plan(std::move(id), std::move(plan));
}

ResultTask<void> ReportingJournal::add_step(RequestId id, StepEntry step) {
    return inner_.add_step(std::move(id), std::move(step));
}

ResultTask<void> ReportingJournal::finish(RequestId id, Outcome outcome) {
    open_.erase(id);
    co_return co_await inner_.finish(std::move(id), std::move(outcome));
}

ResultTask<void> ReportingJournal::note_message(MessageEntry message) {
    return inner_.note_message(std::move(message));
}

ResultTask<std::vector<Story>> ReportingJournal::unfinished() {
    return inner_.unfinished();
}

ResultTask<std::vector<Story>> ReportingJournal::culls_since(TimePoint since) {
    return inner_.culls_since(since);
}

ResultTask<std::vector<StoryLine>> ReportingJournal::list(int limit) {
    return inner_.list(limit);
}

ResultTask<std::optional<Story>> ReportingJournal::story(RequestId id) {
    return inner_.story(std::move(id));
}

ResultTask<std::vector<MessageEntry>> ReportingJournal::messages(int limit) {
    return inner_.messages(limit);
}

ResultTask<void> ReportingJournal::note_aftermath(RequestId id, Aftermath aftermath) {
    return inner_.note_aftermath(std::move(id), std::move(aftermath));
}

ResultTask<void> ReportingJournal::note_mark(Mark mark) {
    return inner_.note_mark(std::move(mark));
}

ResultTask<std::vector<VictimEntry>> ReportingJournal::victims_since(TimePoint since) {
    return inner_.victims_since(since);
}

ResultTask<std::vector<Story>> ReportingJournal::aftermaths_since(TimePoint since) {
    return inner_.aftermaths_since(since);
}

ResultTask<std::vector<Mark>> ReportingJournal::marks(int limit) {
    return inner_.marks(limit);
}

ResultTask<JournalTotals> ReportingJournal::totals(TimePoint since) {
    return inner_.totals(since);
}

ResultTask<void> ReportingJournal::add_hold(RoomHold hold) {
    return inner_.add_hold(std::move(hold));
}

ResultTask<void> ReportingJournal::end_hold(ProviderId provider, ResourceClass resource_class,
                                            HoldEnd end) {
    return inner_.end_hold(std::move(provider), std::move(resource_class), std::move(end));
}

ResultTask<std::vector<RoomHold>> ReportingJournal::holds() {
    return inner_.holds();
}

}  // namespace reaper::cli
