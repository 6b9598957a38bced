// A journal that tells what is written of requests, as it is written: for whoever waits for one,
// and for a dry run, which shows what would happen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "reaper/ports/journal.hpp"

namespace reaper {

/// What happened to a request.
using RecordEvent = std::variant<PlanEntry, StepEntry, Outcome>;

/// The request is new.
struct Admitted {
    TimePoint at{};
};

/// Something was written: of a request, or (an event) of the reaper itself.
struct JournalNews {
    RequestId request;  ///< empty: of none
    std::variant<Admitted, PlanEntry, StepEntry, Outcome, FreedRoomResult, JournalEvent> what;
};

class RecordFeed final : public Journal {
public:
    using Listener = std::function<void(const Request&, const RecordEvent&)>;
    using FreedRoomListener = std::function<void(const RequestId&, const FreedRoomResult&)>;
    using Watcher = std::function<void(const JournalNews&)>;
    /// Listens as long as it lives, and the feed.
    class Subscription;

    /// `inner` must outlive it.
    explicit RecordFeed(Journal& inner)
        : inner_(inner),
          listeners_(std::make_shared<Listeners>()),
          watchers_(std::make_shared<Watchers>()) {}

    /// To all requests. The listener is called after the entry is durable.
    [[nodiscard]] std::unique_ptr<Subscription> listen(Listener listener);
    /// To what became of freed room, which is known when the request has ended; likewise. One
    /// listener, for as long as the feed lives.
    void listen_to_freed_room(FreedRoomListener listener) { on_freed_room_ = std::move(listener); }
    /// To whatever is written that people look at. Likewise.
    [[nodiscard]] std::unique_ptr<Subscription> watch(Watcher watcher);

    ResultTask<Admission> admit(Request request, TimePoint now) override;
    ResultTask<void> admit_anew(Request request, TimePoint now) override;
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override;
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override;
    ResultTask<void> add_step(RequestId id, StepEntry step) override;
    ResultTask<void> finish(RequestId id, Outcome outcome) override;
    ResultTask<void> note_message(MessageEntry message) override;
    ResultTask<std::vector<RequestRecord>> unfinished() override;
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since, TimePoint until) override;
    ResultTask<std::vector<RequestSummary>> list(int limit) override;
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override;
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override;
    ResultTask<KnownValues> known_values(JournalQuery query) override;
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override;
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override;
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override;
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override;
    ResultTask<void> note_event(JournalEvent event) override;
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
    using Listeners = std::map<std::uint64_t, Listener>;
    using Watchers = std::map<std::uint64_t, Watcher>;

    void tell(const RequestId& id, const RecordEvent& event);
    void tell(const JournalNews& news);

    Journal& inner_;
    std::map<RequestId, Request> open_;  ///< admitted and not finished
    std::shared_ptr<Listeners> listeners_;
    std::shared_ptr<Watchers> watchers_;
    std::uint64_t last_number_ = 0;
    FreedRoomListener on_freed_room_;
};

class RecordFeed::Subscription {
public:
    explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
    ~Subscription() { end_(); }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

private:
    std::function<void()> end_;
};

}  // namespace reaper
