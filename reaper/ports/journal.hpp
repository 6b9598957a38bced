// Port: the durable record of every trigger, plan, deletion and outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/records.hpp"
#include "reaper/model/request_record.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// What was written.
class JournalReader {
public:
    virtual ~JournalReader() = default;
    /// Requests without an outcome, oldest first: work to resume after a restart.
    virtual ResultTask<std::vector<RequestRecord>> unfinished() = 0;
    /// Finished requests for which a deletion was sent, or whose victims went by themselves, and
    /// that ended at or after `since`; the first to end first.
    virtual ResultTask<std::vector<RequestRecord>> culls_since(TimePoint since) = 0;
    /// Those that ended before `until`, for a client: all other calls of the journal go first.
    virtual ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since,
                                                                 TimePoint until) = 0;
    /// Newest first.
    virtual ResultTask<std::vector<RequestSummary>> list(int limit) = 0;
    /// Those that are looked for, newest first. `not_found`: the journal does not know `after`.
    virtual ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) = 0;
    virtual ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) = 0;
    /// Does it know the project, the host and the flavor that the query names? The project may be
    /// named by its id or its name.
    virtual ResultTask<KnownValues> known_values(JournalQuery query) = 0;
    /// Where plans chose a server of that id or name, the newest request first.
    virtual ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) = 0;
    virtual ResultTask<std::optional<RequestRecord>> record(RequestId id) = 0;
    /// Messages newest first, of a time: nothing else of the query counts.
    virtual ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) = 0;
    /// Servers whose deletion was sent at or after `since`, oldest first.
    virtual ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) = 0;
    /// How many those are of each flavor, by its name.
    virtual ResultTask<std::map<std::string, std::int64_t>> victims_by_flavor(TimePoint since) = 0;
    /// Stories with a freed-room result noted at or after `since`, oldest first.
    virtual ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) = 0;
    /// Newest first.
    virtual ResultTask<std::vector<JournalEvent>> events(int limit) = 0;
    /// Newest first, of a time and of the query's kind: nothing else of it counts.
    virtual ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) = 0;
    virtual ResultTask<JournalTotals> totals(TimePoint since) = 0;
    /// By slots of that length; the first begins at `since`.
    virtual ResultTask<Timeline> timeline(TimePoint since, Duration slot) = 0;
    /// Those that have not ended, oldest first.
    virtual ResultTask<std::vector<InventoryHold>> holds() = 0;
    /// Those that have not ended, by server.
    virtual ResultTask<std::vector<ServerProtection>> protections() = 0;
    /// The newest under that key of the principal.
    virtual ResultTask<std::optional<OrderRecord>> order(std::string principal,
                                                         std::string key) = 0;
    /// Those begun or waiting, and the newest others; the newest first.
    virtual ResultTask<std::vector<OrderRecord>> orders(int limit) = 0;
    /// As they were noted last.
    virtual ResultTask<std::vector<KnownReservation>> reservations() = 0;
};

/// Every write is durable on return. `conflict`: another reaper has taken the journal; this process
/// no longer writes to it.
class JournalWriter {
public:
    virtual ~JournalWriter() = default;
    /// Records the request if it is new. Nothing of a known one changes, but requesters not yet
    /// known are added.
    virtual ResultTask<Admission> admit(Request request, TimePoint now) = 0;
    /// The same in place of what is known of the request: how it ended is forgotten, and it is
    /// unfinished again. Its plans and steps stay.
    virtual ResultTask<void> readmit(Request request, TimePoint now) = 0;
    /// Records a request that ended before its content was known, and its outcome, in one write. It
    /// replaces an entry without a plan and an outcome. Of one with a plan only the outcome
    /// changes; one with an outcome stays unchanged.
    virtual ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) = 0;
    virtual ResultTask<void> add_plan(RequestId id, PlanEntry plan) = 0;
    /// `rejected`: with what other reapers deleted, limits.victims_per_window is used up.
    virtual ResultTask<void> add_step(RequestId id, StepEntry step) = 0;
    virtual ResultTask<void> finish(RequestId id, Outcome outcome) = 0;
    virtual ResultTask<void> note_message(MessageEntry message) = 0;
    /// The first one of a request stays, but what was `taken` may turn out to be `short_lived`.
    virtual ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) = 0;
    virtual ResultTask<void> note_event(JournalEvent event) = 0;
    /// Before `reserved` is raised. The first one of a provider and class stays until it ends.
    virtual ResultTask<void> add_hold(InventoryHold hold) = 0;
    /// Of the one on that provider and class that has not ended; nothing if there is none.
    virtual ResultTask<void> end_hold(ProviderId provider, ResourceClass resource_class,
                                      InventoryHoldEnd end) = 0;
    /// An operator protects a server, in place of what was noted of it before.
    virtual ResultTask<void> note_protection(ServerProtection protection) = 0;
    /// Of the one that began at `since`; nothing if another took its place, or there is none.
    virtual ResultTask<void> end_protection(ServerId server, TimePoint since) = 0;
    /// A new order (its number is 0), or what happened to a known one. Returns its number.
    virtual ResultTask<std::int64_t> note_order(OrderRecord order) = 0;
    /// Dynamic reservations that are in Placement now, and those that no longer are.
    virtual ResultTask<void> note_reservations(std::vector<KnownReservation> there,
                                               std::vector<ReservationId> gone) = 0;
};

/// A journal of several reapers is surely ours for that long after a call began that it answered.
inline constexpr Duration journal_surely_ours{4'500};
/// That long after it, another reaper may have taken it.
inline constexpr Duration journal_surely_free{20'000};

/// Of one process: it reads what it and those before it wrote.
class Journal : public JournalReader, public JournalWriter {};

// Port: what hears of the journal's writes, as metrics and the feed of events do.

/// Each call is made once the write is durable, and before its caller goes on. A failure is
/// reported by `wrote` alone. By default an observer ignores all of it.
class JournalObserver {
public:
    virtual ~JournalObserver() = default;
    /// A call has succeeded, of any kind, also one that reads.
    virtual void answered() {}
    /// A write has ended, of any kind; `trouble`: why it failed, or none. Comes before the rest.
    virtual void wrote(std::chrono::duration<double> /*took*/,
                       const std::optional<std::string>& /*trouble*/) {}
    /// What an earlier process wrote was read: unfinished requests, and finished culls.
    virtual void read_back(const RequestRecord& /*record*/) {}
    /// The request is new.
    virtual void admitted(const Request& /*request*/, TimePoint /*now*/) {}
    /// The request was there already, and has not ended: a write that counted as failed was
    /// durable.
    virtual void already_admitted(const Request& /*request*/) {}
    /// It takes the place of what was known of the request.
    virtual void admitted_again(const Request& /*request*/, TimePoint /*now*/) {}
    /// The request ended before it was known what it asks for.
    virtual void ended_at_once(const Request& /*request*/, const Outcome& /*outcome*/) {}
    virtual void planned(const RequestId& /*id*/, const PlanEntry& /*plan*/) {}
    virtual void stepped(const RequestId& /*id*/, const StepEntry& /*step*/) {}
    virtual void ended(const RequestId& /*id*/, const Outcome& /*outcome*/) {}
    virtual void freed_room(const RequestId& /*id*/, const FreedRoomResult& /*result*/) {}
    virtual void noted_message(const MessageEntry& /*message*/) {}
    virtual void noted_event(const JournalEvent& /*event*/) {}
};

}  // namespace reaper
