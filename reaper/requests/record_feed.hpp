// Reports what is written of requests into the journal, as it is written: for clients that wait,
// and for a dry run, which shows what would happen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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

class RecordFeed final : public JournalObserver {
public:
    using Listener = std::function<void(const Request&, const RecordEvent&)>;
    using FreedRoomListener = std::function<void(const RequestId&, const FreedRoomResult&)>;
    using Watcher = std::function<void(const JournalNews&)>;
    /// Listens as long as it lives, and the feed.
    class Subscription;

    /// To all requests. The listener is called after the entry is durable.
    [[nodiscard]] std::unique_ptr<Subscription> listen(Listener listener);
    /// To what happened to freed room, which is known when the request has ended; the same. One
    /// listener, for as long as the feed lives.
    void listen_to_freed_room(FreedRoomListener listener) { on_freed_room_ = std::move(listener); }
    /// To whatever is written that people look at. The same.
    [[nodiscard]] std::unique_ptr<Subscription> watch(Watcher watcher);

    void read_back(const RequestRecord& record) override;
    void admitted(const Request& request, TimePoint now) override;
    void already_admitted(const Request& request) override;
    void admitted_again(const Request& request, TimePoint now) override;
    void ended_at_once(const Request& request, const Outcome& outcome) override;
    void planned(const RequestId& id, const PlanEntry& plan) override { tell(id, plan); }
    void stepped(const RequestId& id, const StepEntry& step) override { tell(id, step); }
    void ended(const RequestId& id, const Outcome& outcome) override;
    void freed_room(const RequestId& id, const FreedRoomResult& result) override;
    void noted_event(const JournalEvent& event) override { tell(JournalNews{{}, event}); }

private:
    using Listeners = std::map<std::uint64_t, Listener>;
    using Watchers = std::map<std::uint64_t, Watcher>;

    void tell(const RequestId& id, const RecordEvent& event);
    void tell(const JournalNews& news);

    std::map<RequestId, Request> open_;  ///< admitted and not finished
    std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
    std::shared_ptr<Watchers> watchers_ = std::make_shared<Watchers>();
    std::uint64_t last_number_ = 0;
    FreedRoomListener on_freed_room_;
};

class RecordFeed::Subscription {
public:
    explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
    ~Subscription() { end_(); }
    Subscription& operator=(Subscription&&) = delete;

private:
    std::function<void()> end_;
};

}  // namespace reaper
