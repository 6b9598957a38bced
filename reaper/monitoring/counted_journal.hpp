// A journal that tells the counters what is written, when it is durable, and how long that took.
#pragma once

#include "reaper/monitoring/journal_counters.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::monitoring {

class CountedJournal final : public Journal {
public:
    /// Both must outlive it.
    CountedJournal(Journal& inner, JournalCounters& counters)
        : inner_(inner), counters_(counters) {}

    ResultTask<Admission> admit(Request request, TimePoint now) override;
    ResultTask<void> admit_anew(Request request, TimePoint now) override;
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override;
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override;
    ResultTask<void> add_step(RequestId id, StepEntry step) override;
    ResultTask<void> finish(RequestId id, Outcome outcome) override;
    ResultTask<void> note_message(MessageEntry message) override;
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override;
    ResultTask<void> note_event(JournalEvent event) override;
    ResultTask<std::vector<RequestRecord>> unfinished() override;
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since, TimePoint until) override;
    ResultTask<std::vector<RequestSummary>> list(int limit) override;
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override;
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override;
    ResultTask<KnownValues> known_values(JournalQuery query) override;
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override;
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override;
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override;
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override;
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override;
    ResultTask<std::vector<JournalEvent>> events(int limit) override;
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override;
    ResultTask<JournalTotals> totals(TimePoint since) override;
    ResultTask<void> note_protection(ServerProtection protection) override;
    ResultTask<void> end_protection(ServerId server) override;
    ResultTask<std::vector<ServerProtection>> protections() override;
    ResultTask<void> add_hold(InventoryHold hold) override;
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              InventoryHoldEnd end) override;
    ResultTask<std::vector<InventoryHold>> holds() override;
    ResultTask<std::int64_t> note_order(OrderRecord order) override;
    ResultTask<std::optional<OrderRecord>> order(std::string principal, std::string key) override;
    ResultTask<std::vector<OrderRecord>> orders(int limit) override;
    ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                       std::vector<ReservationId> gone) override;
    ResultTask<std::vector<KnownReservation>> reservations() override;

private:
    Journal& inner_;
    JournalCounters& counters_;
};

}  // namespace reaper::monitoring
