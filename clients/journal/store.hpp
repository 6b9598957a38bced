// The journal's calls, blocking, on one connection. Used by one thread (see sqlite_journal.cpp).
// Failures of SQLite come out as DatabaseFailure; what the caller or the file got wrong, as
// results.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "clients/journal/database.hpp"
#include "clients/journal/schema.hpp"
#include "reaper/model/error.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::journal {

// One writer for one journal: a lock on a file beside it and one on the file itself, which the
// kernel drops with its process; and whether the file is still where it was.

class Lease {
public:
    /// Takes the lock of the journal at `path`, or says which process has it.
    static Result<Lease> take(const std::string& path);

    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();

    /// Creates the journal's file if there is none, and locks it too: removing the lock file
    /// lets no second reaper in. Again after the file was set aside. Close no connection to the
    /// database after the lease: closing a file drops what SQLite has locked in it.
    Result<void> lock_file();
    /// Call it when the database is open: remembers which files these are.
    void remember_files();
    /// Are the file and its write-ahead log those that were opened, by device and inode? A few
    /// microseconds. What is written to a removed or replaced file is lost.
    Result<void> check_files() const;

private:
    struct Identity {
        dev_t device{};
        ino_t inode{};
        bool operator==(const Identity&) const = default;
    };
    static std::optional<Identity> identity_of(const std::string& path);

    Lease(int lock, std::string path) : lock_(lock), path_(std::move(path)) {}

    int lock_;
    int file_ = -1;
    std::string path_;
    std::array<std::optional<Identity>, 2> files_{};  ///< the file, its log
};

/// A list of more is cut there.
inline constexpr int max_rows_listed = 100'000;

class Store {
public:
    /// `lease` is held as long as the store lives; none for readers and memory.
    Store(std::string path, Database database, std::optional<Lease> lease, JournalOptions options)
        : path_(std::move(path)),
          lease_(std::move(lease)),
          database_(std::move(database)),
          options_(options) {}

    /// Are the files those that were opened? Of readers and memory, nothing is asked.
    Result<void> check_files() const { return lease_ ? lease_->check_files() : Result<void>{}; }

    /// What is called until `end_group` is one transaction: nothing of it is durable before.
    /// Throws.
    void begin_group() { group_.emplace(database_); }
    /// Throws if nothing of it is there.
    void end_group();
    /// False: SQLite undid it (full disk, I/O error).
    bool in_group() const { return group_ && database_.in_transaction(); }

    Result<Admission> admit(const Request& request, TimePoint now);
    Result<void> readmit(const Request& request, TimePoint now);
    Result<void> admit_ended(const Request& request, const Outcome& outcome, TimePoint now);
    Result<void> add_plan(const RequestId& id, const PlanEntry& plan);
    Result<void> add_step(const RequestId& id, const StepEntry& step);
    Result<void> finish(const RequestId& id, const Outcome& outcome);
    Result<void> note_message(const MessageEntry& message);
    Result<void> note_freed_room(const RequestId& id, const FreedRoomResult& freed_room);
    Result<void> note_event(const JournalEvent& event);
    Result<void> note_protection(const ServerProtection& protection);
    Result<void> end_protection(const ServerId& server);
    Result<std::vector<ServerProtection>> protections();
    Result<void> add_hold(const InventoryHold& hold);
    Result<void> end_hold(const ProviderId& provider, const ResourceClass& resource_class,
                          const InventoryHoldEnd& end);

    Result<std::vector<RequestRecord>> unfinished();
    Result<std::vector<RequestRecord>> culls_between(TimePoint since, TimePoint until);
    Result<std::vector<RequestSummary>> list(int limit);
    Result<std::vector<RequestSummary>> find_requests(const JournalQuery& query);
    Result<std::vector<VictimEntry>> find_victims(const JournalQuery& query);
    Result<KnownValues> known_values(const JournalQuery& query);
    Result<std::vector<ChosenServer>> chosen(const std::string& server, int limit);
    Result<std::optional<RequestRecord>> record(const RequestId& id);
    Result<std::vector<MessageEntry>> find_messages(const JournalQuery& query);
    Result<std::vector<VictimEntry>> victims_since(TimePoint since);
    Result<std::vector<RequestRecord>> freed_rooms_since(TimePoint since);
    Result<std::vector<JournalEvent>> events(int limit);
    Result<std::vector<JournalEvent>> find_events(const JournalQuery& query);
    Result<JournalTotals> totals(TimePoint since);
    Result<std::vector<InventoryHold>> holds();

    Result<std::int64_t> note_order(const OrderRecord& order);
    Result<std::optional<OrderRecord>> order(const std::string& principal, const std::string& key);
    Result<std::vector<OrderRecord>> orders(int limit);
    Result<void> note_reservations(const std::vector<KnownReservation>& there,
                                   const std::vector<ReservationId>& gone);
    Result<std::vector<KnownReservation>> reservations();

    const std::string& path() const noexcept { return path_; }

private:
    /// A row of `request`.
    struct Row {
        std::int64_t seq = 0;
        std::string id;
        std::string json;
        TimePoint received_at{};
        std::optional<Outcome> outcome;
        std::optional<FreedRoomResult> freed_room;
    };
    static Row row_of(const Statement& statement);

    std::optional<Row> find(const RequestId& id);
    // In a transaction of the caller.
    void insert(const Request& request, TimePoint now);
    void end(const RequestId& id, const Outcome& outcome);
    void prune_for_a_row(TimePoint now);
    Result<std::int64_t> must_find(const RequestId& id);
    Result<Request> request_of(const Row& row) const;
    Result<RequestRecord> record_of(const Row& row);
    /// Those that can be read; a line to the log for each other.
    Result<std::vector<RequestRecord>> records_of(const std::vector<Row>& rows);
    /// Takes an unfinished record that can't be read out of the way.
    void settle_unreadable(const Row& row, const Error& error);
    Result<std::vector<PlanEntry>> plans_of(const Row& row);
    Result<std::vector<StepEntry>> steps_of(const Row& row);
    /// Reads a step of a deletion from the file as others see it; an error if it is not there.
    Result<void> read_back(std::int64_t step, const StepEntry& written) const;
    Error unreadable(const std::string& id, const std::string& why) const;

    /// Whom the plan chose, for victims_since.
    void note_chosen(std::int64_t request, const Plan& plan);
    /// The row of a request with REQUEST_DELETIONS; none, with a line to the log, if it can't be
    /// read.
    std::optional<RequestSummary> summary_of(const Statement& statement);
    /// Rows of a word and a number, counted since a time.
    std::map<std::string, std::int64_t> counts(const char* sql, TimePoint since);

    /// Drops what is past the retention, once a day by the time that calls bring.
    void prune(TimePoint now);
    std::int64_t bytes_used();
    /// Some of the oldest requests without deletions; how many.
    int forget_idle();

    std::string path_;
    std::optional<Lease> lease_;  // outlives the connection
    Database database_;
    std::optional<Transaction> group_;
    JournalOptions options_;
    std::optional<TimePoint> pruned_at_;
    int messages_since_prune_ = 0;
};

}  // namespace reaper::journal
