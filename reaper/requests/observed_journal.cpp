#include "reaper/requests/observed_journal.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace reaper {
namespace {

class ObservedJournal final : public Journal {
public:
    ObservedJournal(Journal& inner, std::vector<JournalObserver*> observers)
        : inner_(inner), observers_(std::move(observers)) {}

    ResultTask<Admission> admit(Request request, TimePoint now) override {
        const Request written = request;
        Tell nothing;
        auto write = observed(inner_.admit(std::move(request), now), std::move(nothing));
        auto admission = co_await std::move(write);
        if (!admission || admission->outcome) co_return admission;
        for (JournalObserver* const each : observers_)
            admission->first ? each->admitted(written, now) : each->already_admitted(written);
        co_return admission;
    }
    ResultTask<void> readmit(Request request, TimePoint now) override {
        Tell tell = [request, now](JournalObserver& each) { each.admitted_again(request, now); };
        return observed(inner_.readmit(std::move(request), now), std::move(tell));
    }
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override {
        Tell tell = [request, outcome](JournalObserver& each) {
            each.ended_at_once(request, outcome);
        };
        return observed(inner_.admit_ended(std::move(request), std::move(outcome), now),
                        std::move(tell));
    }
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override {
        Tell tell = [id, plan](JournalObserver& each) { each.planned(id, plan); };
        return observed(inner_.add_plan(std::move(id), std::move(plan)), std::move(tell));
    }
    ResultTask<void> add_step(RequestId id, StepEntry step) override {
        Tell tell = [id, step](JournalObserver& each) { each.stepped(id, step); };
        return observed(inner_.add_step(std::move(id), std::move(step)), std::move(tell));
    }
    ResultTask<void> finish(RequestId id, Outcome outcome) override {
        Tell tell = [id, outcome](JournalObserver& each) { each.ended(id, outcome); };
        return observed(inner_.finish(std::move(id), std::move(outcome)), std::move(tell));
    }
    ResultTask<void> note_message(MessageEntry message) override {
        Tell tell = [message](JournalObserver& each) { each.noted_message(message); };
        return observed(inner_.note_message(std::move(message)), std::move(tell));
    }
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override {
        Tell tell = [id, freed_room](JournalObserver& each) { each.freed_room(id, freed_room); };
        return observed(inner_.note_freed_room(std::move(id), std::move(freed_room)),
                        std::move(tell));
    }
    ResultTask<void> note_event(JournalEvent event) override {
        Tell tell = [event](JournalObserver& each) { each.noted_event(event); };
        return observed(inner_.note_event(std::move(event)), std::move(tell));
    }
    ResultTask<void> note_protection(ServerProtection protection) override {
        return observed(inner_.note_protection(std::move(protection)), {});
    }
    ResultTask<void> end_protection(ServerId server, TimePoint since) override {
        return observed(inner_.end_protection(std::move(server), since), {});
    }
    ResultTask<void> add_hold(InventoryHold hold) override {
        return observed(inner_.add_hold(std::move(hold)), {});
    }
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              InventoryHoldEnd end) override {
        return observed(
            inner_.end_hold(std::move(provider), std::move(resource_class), std::move(end)), {});
    }
    ResultTask<std::int64_t> note_order(OrderRecord order) override {
        return observed(inner_.note_order(std::move(order)), {});
    }
    ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                       std::vector<ReservationId> gone) override {
        return observed(inner_.note_reservations(std::move(there), std::move(gone)), {});
    }

    ResultTask<std::vector<RequestRecord>> unfinished() override {
        return read_back(inner_.unfinished());
    }
    ResultTask<std::vector<RequestRecord>> culls_since(TimePoint since) override {
        return read_back(inner_.culls_since(since));
    }
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since,
                                                         TimePoint until) override {
        return read_back(inner_.culls_between(since, until));
    }
    ResultTask<std::vector<RequestSummary>> list(int limit) override {
        return read(inner_.list(limit));
    }
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override {
        return read(inner_.find_requests(std::move(query)));
    }
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override {
        return read(inner_.find_victims(std::move(query)));
    }
    ResultTask<KnownValues> known_values(JournalQuery query) override {
        return read(inner_.known_values(std::move(query)));
    }
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override {
        return read(inner_.chosen(std::move(server), limit));
    }
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override {
        return read(inner_.record(std::move(id)));
    }
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override {
        return read(inner_.find_messages(std::move(query)));
    }
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override {
        return read(inner_.victims_since(since));
    }
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override {
        return read(inner_.freed_rooms_since(since));
    }
    ResultTask<std::vector<JournalEvent>> events(int limit) override {
        return read(inner_.events(limit));
    }
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override {
        return read(inner_.find_events(std::move(query)));
    }
    ResultTask<JournalTotals> totals(TimePoint since) override {
        return read(inner_.totals(since));
    }
    ResultTask<Timeline> timeline(TimePoint since, Duration slot) override {
        return read(inner_.timeline(since, slot));
    }
    ResultTask<std::map<std::string, std::int64_t>> victims_by_flavor(TimePoint since) override {
        return read(inner_.victims_by_flavor(since));
    }
    ResultTask<std::vector<InventoryHold>> holds() override { return read(inner_.holds()); }
    ResultTask<std::vector<ServerProtection>> protections() override {
        return read(inner_.protections());
    }
    ResultTask<std::optional<OrderRecord>> order(std::string principal, std::string key) override {
        return read(inner_.order(std::move(principal), std::move(key)));
    }
    ResultTask<std::vector<OrderRecord>> orders(int limit) override {
        return read(inner_.orders(limit));
    }
    ResultTask<std::vector<KnownReservation>> reservations() override {
        return read(inner_.reservations());
    }

private:
    using Tell = std::function<void(JournalObserver&)>;

    /// Of any call.
    template <class T>
    ResultTask<T> read(ResultTask<T> call) {
        auto answer = co_await std::move(call);
        if (answer)
            for (JournalObserver* const each : observers_) each->answered();
        co_return answer;
    }
    /// `tell`: what each observer is to know of a write that succeeded; it may be empty.
    template <class T>
    ResultTask<T> observed(ResultTask<T> write, Tell tell) {
        const auto start = std::chrono::steady_clock::now();
        auto written = co_await read(std::move(write));
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::optional<std::string> trouble;
        if (!written) trouble = written.error().what;
        for (JournalObserver* const each : observers_) each->wrote(took, trouble);
        if (written && tell)
            for (JournalObserver* const each : observers_) tell(*each);
        co_return written;
    }
    /// What an earlier process left goes on here.
    ResultTask<std::vector<RequestRecord>> read_back(ResultTask<std::vector<RequestRecord>> call) {
        auto records = co_await read(std::move(call));
        if (records)
            for (const RequestRecord& record : *records)
                for (JournalObserver* const each : observers_) each->read_back(record);
        co_return records;
    }

    Journal& inner_;
    std::vector<JournalObserver*> observers_;
};

}  // namespace

std::unique_ptr<Journal> observed_journal(Journal& inner, std::vector<JournalObserver*> observers) {
    return std::make_unique<ObservedJournal>(inner, std::move(observers));
}

}  // namespace reaper
