// A journal that tells each plan as it is written: the dry run's way to show what would happen.
#pragma once

#include <functional>
#include <map>

#include "reaper/ports/journal.hpp"

namespace reaper::cli {

class ReportingJournal final : public Journal {
public:
    using Report = std::function<void(const Request&, const PlanEntry&)>;

    /// `inner` must outlive it.
    ReportingJournal(Journal& inner, Report report);

    ResultTask<Admission> admit(Request request, TimePoint now) override;
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override;
    ResultTask<void> add_step(RequestId id, StepEntry step) override;
    ResultTask<void> finish(RequestId id, Outcome outcome) override;
    ResultTask<void> note_message(MessageEntry message) override;
    ResultTask<std::vector<Story>> unfinished() override;
    ResultTask<std::vector<Story>> culls_since(TimePoint since) override;
    ResultTask<std::vector<StoryLine>> list(int limit) override;
    ResultTask<std::optional<Story>> story(RequestId id) override;
    ResultTask<std::vector<MessageEntry>> messages(int limit) override;
    ResultTask<void> note_aftermath(RequestId id, Aftermath aftermath) override;
    ResultTask<void> note_mark(Mark mark) override;
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override;
    ResultTask<std::vector<Story>> aftermaths_since(TimePoint since) override;
    ResultTask<std::vector<Mark>> marks(int limit) override;
    ResultTask<JournalTotals> totals(TimePoint since) override;
    ResultTask<void> add_hold(RoomHold hold) override;
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              HoldEnd end) override;
    ResultTask<std::vector<RoomHold>> holds() override;

private:
    Journal& inner_;
    Report report_;
    std::map<RequestId, Request> open_;  // admitted and not finished
};

}  // namespace reaper::cli
