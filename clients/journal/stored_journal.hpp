// The journal's port on a store, with any engine below it.
//
// An engine blocks, so its work runs one call after the other on a thread of the journal's own; a
// call resumes its coroutine on the coroutine's own executor. Destroying the journal waits for the
// work that was begun; do it before the io_context goes away.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "clients/journal/store.hpp"
#include "clients/journal/worker.hpp"

namespace reaper::journal {

/// Runs `work`, and turns what the engine and memory throw into an error of the journal.
template <class T, class Work>
Result<T> guarded(const std::string& path, const Work& work) {
    try {
        return work();
    } catch (const DatabaseFailure& failure) {
        return storage_error(path, failure);
    } catch (const std::exception& exception) {
        return Error{Errc::storage, "journal " + path + ": " + exception.what()};
    }
}

class StoredJournal final : public Journal {
public:
    explicit StoredJournal(std::unique_ptr<Store> store)
        : path_(store->path()), store_(std::move(store)) {}

    /// What `open` returns is the store of all calls after this one. `open` blocks, and may throw
    /// as an engine does; on an error the store stays.
    ResultTask<void> replace(std::function<Result<std::unique_ptr<Store>>()> open) {
        std::function<Result<void>()> job = [this, open = std::move(open)] {
            return guarded<void>(path_, [&]() -> Result<void> {
                auto opened = open();
                if (!opened) return opened.error();
                store_ = std::move(*opened);
                return {};
            });
        };
        return worker_.run<void>(std::move(job), overload());
    }

    ResultTask<Admission> admit(Request request, TimePoint now) override {
        return write(&Store::admit, std::move(request), now);
    }
    ResultTask<void> readmit(Request request, TimePoint now) override {
        return write(&Store::readmit, std::move(request), now);
    }
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override {
        return write(&Store::admit_ended, std::move(request), std::move(outcome), now);
    }
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override {
        return call(&Store::add_plan, std::move(id), std::move(plan));
    }
    ResultTask<void> add_step(RequestId id, StepEntry step) override {
        return call(&Store::add_step, std::move(id), std::move(step));
    }
    ResultTask<void> finish(RequestId id, Outcome outcome) override {
        return write(&Store::finish, std::move(id), std::move(outcome));
    }
    ResultTask<void> note_message(MessageEntry message) override {
        return write(&Store::note_message, std::move(message));
    }
    ResultTask<std::vector<RequestRecord>> unfinished() override {
        return call(&Store::unfinished);
    }
    ResultTask<std::vector<RequestRecord>> culls_since(TimePoint since) override {
        return call(&Store::culls_between, since, TimePoint::max());
    }
    // Without a limit: usage of a day with many culls must be counted, however long it takes.
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since,
                                                         TimePoint until) override {
        return call_in(Grouping::patient, false, &Store::culls_between, since, until);
    }
    ResultTask<std::vector<RequestSummary>> list(int limit) override {
        return call(&Store::list, limit);
    }
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override {
        return search(&Store::find_requests, std::move(query));
    }
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override {
        return search(&Store::find_victims, std::move(query));
    }
    ResultTask<KnownValues> known_values(JournalQuery query) override {
        return search(&Store::known_values, std::move(query));
    }
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override {
        return ask(&Store::chosen, std::move(server), limit);
    }
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override {
        return call_in(Grouping::reads, false, &Store::record, std::move(id));
    }
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override {
        return search(&Store::find_messages, std::move(query));
    }
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override {
        return call(&Store::note_freed_room, std::move(id), std::move(freed_room));
    }
    ResultTask<void> note_event(JournalEvent event) override {
        return call(&Store::note_event, std::move(event));
    }
    ResultTask<void> note_protection(ServerProtection protection) override {
        return call(&Store::note_protection, std::move(protection));
    }
    ResultTask<void> end_protection(ServerId server, TimePoint since) override {
        return call(&Store::end_protection, std::move(server), since);
    }
    ResultTask<std::vector<ServerProtection>> protections() override {
        return call(&Store::protections);
    }
    ResultTask<void> add_hold(InventoryHold hold) override {
        return call(&Store::add_hold, std::move(hold));
    }
    ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                              InventoryHoldEnd end) override {
        return call(&Store::end_hold, std::move(provider), std::move(resource_class),
                    std::move(end));
    }
    ResultTask<std::vector<InventoryHold>> holds() override { return call(&Store::holds); }
    ResultTask<std::int64_t> note_order(OrderRecord order) override {
        return call(&Store::note_order, std::move(order));
    }
    ResultTask<std::optional<OrderRecord>> order(std::string principal, std::string key) override {
        return call(&Store::order, std::move(principal), std::move(key));
    }
    ResultTask<std::vector<OrderRecord>> orders(int limit) override {
        return call(&Store::orders, limit);
    }
    ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                       std::vector<ReservationId> gone) override {
        return call(&Store::note_reservations, std::move(there), std::move(gone));
    }
    ResultTask<std::vector<KnownReservation>> reservations() override {
        return call(&Store::reservations);
    }
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override {
        return call(&Store::victims_since, since);
    }
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override {
        return call(&Store::freed_rooms_since, since);
    }
    ResultTask<std::vector<JournalEvent>> events(int limit) override {
        return call(&Store::events, limit);
    }
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override {
        return search(&Store::find_events, std::move(query));
    }
    ResultTask<std::map<std::string, std::int64_t>> victims_by_flavor(TimePoint since) override {
        return ask(&Store::victims_by_flavor, since);
    }
    ResultTask<JournalTotals> totals(TimePoint since) override {
        return ask(&Store::totals, since);
    }
    ResultTask<Timeline> timeline(TimePoint since, Duration slot) override {
        return ask(&Store::timeline, since, slot);
    }

private:
    static constexpr int max_waiting_calls = 10'000;

    /// Calls the store on its thread; keeps the arguments until then.
    template <class T, class... Params, class... Args>
    ResultTask<T> call_in(Grouping grouping, bool limited, Result<T> (Store::*method)(Params...),
                          Args... args) {
        std::function<Result<T>()> job = [this, method, limited,
                                          kept = std::tuple<Args...>(std::move(args)...)] {
            return guarded<T>(path_, [&]() -> Result<T> {
                return tried<T>([&]() -> Result<T> {
                    if (const auto ours = store_->check_ownership(); !ours) return ours.error();
                    const auto limit = store_->limited(limited);
                    const auto on_store = [&](const auto&... each) {
                        return (store_.get()->*method)(each...);
                    };
                    return std::apply(on_store, kept);
                });
            });
        };
        return worker_.run<T>(std::move(job), overload(), grouping);
    }
    template <class T, class... Params, class... Args>
    ResultTask<T> call(Result<T> (Store::*method)(Params...), Args... args) {
        return call_in(Grouping::alone, false, method, std::move(args)...);
    }
    /// For a client: all others go first, and it is given up if it takes too long.
    template <class T, class... Params, class... Args>
    ResultTask<T> ask(Result<T> (Store::*method)(Params...), Args... args) {
        return call_in(Grouping::patient, true, method, std::move(args)...);
    }
    template <class T>
    ResultTask<T> search(Result<T> (Store::*method)(const JournalQuery&), JournalQuery query) {
        if (query.patient) return ask(method, std::move(query));
        return call(method, std::move(query));
    }
    /// What comes by the thousand: those that wait for the disk at the same time are synced once.
    template <class T, class... Params, class... Args>
    ResultTask<T> write(Result<T> (Store::*method)(Params...), Args... args) {
        return call_in(Grouping::writes, false, method, std::move(args)...);
    }
    /// Once more where the engine says that nothing of it is there; but not alone out of a group,
    /// which is undone as a whole. While that helps no call, those that wait are tried once.
    template <class T, class Work>
    Result<T> tried(const Work& work) {
        Retries retries = store_->retries();
        while (true) {
            try {
                Result<T> done = work();
                gave_up_ = false;
                return done;
            } catch (const DatabaseFailure& failure) {
                if (!failure.again || store_->has_group()) throw;
                gave_up_ = gave_up_ || !retries.wait();
                if (gave_up_) throw;
            }
        }
    }

    Group group();
    Error overload() const {
        return {Errc::storage, "journal " + path_ + ": too many calls wait for the disk"};
    }

    std::string path_;
    std::unique_ptr<Store> store_;               // the worker's
    bool gave_up_ = false;                       // the worker's: on the last call that could not
    Worker worker_{max_waiting_calls, group()};  // ends before the store
};

}  // namespace reaper::journal
