// A journal in memory that can fail, and remembers the order of what was written.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reaper/ports/journal.hpp"
#include "reaper/ports/pause_switch.hpp"

namespace reaper::test {

/// Who writes, where several reapers have one journal: as the row in MariaDB.
struct FakeLease {
    std::uint64_t number = 0;
    std::string holder;
    TimePoint ends{};
};

/// What a journal holds.
struct FakeRows {
    std::map<RequestId, RequestRecord> records;
    std::vector<MessageEntry> notes;
    std::vector<JournalEvent> noted_marks;  ///< oldest first
    std::vector<InventoryHold> open_holds;  ///< oldest first
    std::vector<std::pair<InventoryHold, InventoryHoldEnd>> ended_holds;
    std::map<ServerId, ServerProtection> protected_servers;
    std::vector<OrderRecord> noted_orders;  ///< oldest first
    std::map<ReservationId, KnownReservation> known_reservations;
    std::vector<std::string> written;  ///< `admit req`, `admit-again req`, `admit-ended req`,
                                       ///< `plan req`, `delete-sent s1`, `finish req`,
                                       ///< `freed-room wasted req`, `event paused`,
                                       ///< `hold rp CUSTOM_X`, `hold given-back rp CUSTOM_X`,
                                       ///< `order begun`
    /// For which request the last deletion of each server was sent.
    std::map<ServerId, RequestId> sent_for;
    FakeLease lease;
};

class FakeJournal final : public Journal {
    std::shared_ptr<FakeRows> rows_;

public:
    /// Several on the same rows are those of several reapers.
    explicit FakeJournal(std::shared_ptr<FakeRows> rows = std::make_shared<FakeRows>())
        : rows_(std::move(rows)) {}
    FakeJournal(const FakeJournal&) = delete;
    /// The rows are copied.
    FakeJournal& operator=(const FakeJournal& other) {
        *rows_ = *other.rows_;
        return *this;
    }
    ~FakeJournal() override { give_back_lease(); }

    std::map<RequestId, RequestRecord>& records = rows_->records;
    std::vector<MessageEntry>& notes = rows_->notes;
    std::vector<JournalEvent>& noted_marks = rows_->noted_marks;
    std::vector<InventoryHold>& open_holds = rows_->open_holds;
    std::vector<std::pair<InventoryHold, InventoryHoldEnd>>& ended_holds = rows_->ended_holds;
    std::map<ServerId, ServerProtection>& protected_servers = rows_->protected_servers;
    std::vector<OrderRecord>& noted_orders = rows_->noted_orders;
    std::map<ReservationId, KnownReservation>& known_reservations = rows_->known_reservations;
    std::vector<std::string>& written = rows_->written;
    std::map<ServerId, RequestId>& sent_for = rows_->sent_for;
    /// Called with each write; true: it fails.
    std::function<bool(const std::string&)> fails;
    /// Told of each call, when it is made: what it is about to write, or nothing.
    std::function<void(const std::string&)> on_call;
    /// Told what was read, `unfinished` or `culls`, before the reader has it.
    std::function<void(const std::string&)> on_read;
    /// How long each call waits for those before it, and for its answer. Empty: for nothing.
    std::function<Task<void>()> queue;
    std::optional<Error> events_fail;  ///< those that are looked for
    int impatient = 0;                 ///< searches that no other call goes before
    bool cut_off = false;              ///< all calls fail
    int most_victims = 0;              ///< a further deletion is refused; 0: none is

    /// By the clock of `now`. From then on this one writes, until another has the lease: the
    /// contract of clients/journal/mariadb_lease.hpp. While `pause` is paused no deletion is
    /// written.
    Result<void> take_lease(std::string holder, std::function<TimePoint()> now,
                            const Switch* pause);
    void give_back_lease();
    TimePoint lease_ends() const { return rows_->lease.ends; }
    static constexpr Duration lease_lasts{15'000};

    ResultTask<Admission> admit(Request request, TimePoint now) override;
    ResultTask<void> readmit(Request request, TimePoint now) override;
    ResultTask<void> admit_ended(Request request, Outcome outcome, TimePoint now) override;
    ResultTask<void> add_plan(RequestId id, PlanEntry plan) override;
    ResultTask<void> add_step(RequestId id, StepEntry step) override;
    ResultTask<void> finish(RequestId id, Outcome outcome) override;
    ResultTask<void> note_message(MessageEntry message) override;
    ResultTask<std::vector<RequestRecord>> unfinished() override;
    ResultTask<std::vector<RequestRecord>> culls_since(TimePoint since) override {
        return culls_between(since, TimePoint::max());
    }
    ResultTask<std::vector<RequestRecord>> culls_between(TimePoint since, TimePoint until) override;
    ResultTask<std::vector<RequestSummary>> list(int limit) override;
    ResultTask<std::vector<RequestSummary>> find_requests(JournalQuery query) override;
    ResultTask<std::vector<VictimEntry>> find_victims(JournalQuery query) override;
    ResultTask<KnownValues> known_values(JournalQuery query) override;
    ResultTask<std::vector<ChosenServer>> chosen(std::string server, int limit) override;
    ResultTask<std::optional<RequestRecord>> record(RequestId id) override;
    ResultTask<std::vector<MessageEntry>> find_messages(JournalQuery query) override;
    ResultTask<void> note_freed_room(RequestId id, FreedRoomResult freed_room) override;
    ResultTask<void> note_event(JournalEvent mark) override;
    ResultTask<std::vector<VictimEntry>> victims_since(TimePoint since) override;
    ResultTask<std::vector<RequestRecord>> freed_rooms_since(TimePoint since) override;
    ResultTask<std::vector<JournalEvent>> events(int limit) override;
    ResultTask<std::vector<JournalEvent>> find_events(JournalQuery query) override;
    ResultTask<JournalTotals> totals(TimePoint since) override;
    ResultTask<Timeline> timeline(TimePoint since, Duration slot) override;
    ResultTask<std::map<std::string, std::int64_t>> victims_by_flavor(TimePoint since) override;
    ResultTask<void> note_protection(ServerProtection protection) override;
    ResultTask<void> end_protection(ServerId server, TimePoint since) override;
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

    bool has_step(const std::string& server, Step step) const;

private:
    /// Before the work of each call, as others may come first: an error if the lease is lost.
    Task<std::optional<Error>> begin(std::string what = {});
    Task<std::optional<Error>> write(std::string what);
    std::optional<Error> note(const std::string& what);

    std::uint64_t number_ = 0;  ///< of our lease; 0: none is needed
    std::function<TimePoint()> now_;
    TimePoint renewed_at_{};
    const Switch* pause_ = nullptr;
};

}  // namespace reaper::test
