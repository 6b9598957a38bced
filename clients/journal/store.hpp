// The journal's calls, blocking, on one connection. Used by one thread (see stored_journal.hpp).
// Failures of the engine come out as DatabaseFailure; what the caller or the file got wrong, as
// results.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clients/journal/database.hpp"
#include "clients/journal/schema.hpp"
#include "reaper/model/error.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::journal {

/// What makes this process the one that writes the journal.
class Ownership {
public:
    virtual ~Ownership() = default;
    /// Before each call, and within a long one that reads: an error if it is no longer ours, or no
    /// longer where it was.
    virtual Result<void> check() = 0;
    /// In the transaction that writes the step of a deletion: an error if it is not to be sent.
    virtual Result<void> may_delete() { return {}; }
    /// The step of a deletion is durable: can others read it?
    virtual Result<void> read_back(std::int64_t step, const ServerId& server) = 0;
    /// While the connection is still there: another may have it at once.
    virtual void release() noexcept {}
};

/// Pauses between the tries of one call: they grow, and end when it took too long.
class Retries {
public:
    explicit Retries(std::chrono::milliseconds longest) : longest_(longest) {}
    /// Sleeps; false: no more.
    bool wait();

private:
    static constexpr std::chrono::milliseconds longest_pause{500};
    std::chrono::milliseconds longest_;
    std::chrono::milliseconds pause_{10};
    std::chrono::steady_clock::time_point end_{};  ///< from the first pause on
};

/// In a transaction of the caller; in place of what there is for the server.
void write_protection(Database& database, const ServerProtection& protection);

/// What finds the victims: each query goes by the index that leaves the fewest rows.
const char* sql_of_victims(Database& database, const JournalQuery& query);

/// A list of more is cut there.
inline constexpr int max_rows_listed = 100'000;

class Store {
public:
    /// `ownership` lives as long as the store; none for readers and memory.
    Store(std::string path, std::unique_ptr<Database> database,
          std::unique_ptr<Ownership> ownership, JournalOptions options)
        : path_(std::move(path)),
          ownership_(std::move(ownership)),
          connection_(std::move(database)),
          database_(*connection_),
          options_(options) {}
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() {
        if (ownership_) ownership_->release();
    }

    /// Of readers and memory, nothing is asked.
    Result<void> check_ownership() { return ownership_ ? ownership_->check() : Result<void>{}; }

    /// What is called until `end_group` is one transaction: nothing of it is durable before.
    /// Throws.
    void begin_group() { group_.emplace(database_); }
    /// Throws if nothing of it is there.
    void end_group();
    bool has_group() const { return group_.has_value(); }
    /// False: the engine undid it (full disk, I/O error, lost connection).
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
    Result<void> end_protection(const ServerId& server, TimePoint since);
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
    Result<std::map<std::string, std::int64_t>> victims_by_flavor(TimePoint since);
    Result<JournalTotals> totals(TimePoint since);
    Result<Timeline> timeline(TimePoint since, Duration slot);
    Result<std::vector<InventoryHold>> holds();

    Result<std::int64_t> note_order(const OrderRecord& order);
    Result<std::optional<OrderRecord>> order(const std::string& principal, const std::string& key);
    Result<std::vector<OrderRecord>> orders(int limit);
    Result<void> note_reservations(const std::vector<KnownReservation>& there,
                                   const std::vector<ReservationId>& gone);
    Result<std::vector<KnownReservation>> reservations();

    const std::string& path() const noexcept { return path_; }
    /// Until it is destroyed, a call that takes longer than `longest_search` fails.
    class Limit {
    public:
        explicit Limit(Database& database, std::chrono::milliseconds longest)
            : database_(database) {
            database_.give_up_at(std::chrono::steady_clock::now() + longest);
        }
        ~Limit() { database_.give_up_at({}); }
        Limit& operator=(Limit&&) = delete;

    private:
        Database& database_;
    };
    /// Readers keep no writer waiting: they have no limit.
    std::unique_ptr<Limit> limited(bool searches) {
        return searches && ownership_ ? std::make_unique<Limit>(database_, options_.longest_search)
                                      : nullptr;
    }
    /// How a call that the engine undid is tried again.
    Retries retries() const { return Retries{options_.retry_for}; }

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
    /// `rejected` if it is used up by other servers, of any reaper.
    Result<void> within_limit(const StepEntry& step);
    Result<std::int64_t> must_find(const RequestId& id);
    Result<Request> request_of(const Row& row) const;
    Result<RequestRecord> record_of(const Row& row);
    /// Those that can be read; a line to the log for each other.
    Result<std::vector<RequestRecord>> records_of(const std::vector<Row>& rows);
    /// Takes an unfinished record that can't be read out of the way.
    void settle_unreadable(const Row& row, const Error& error);
    Result<std::vector<PlanEntry>> plans_of(const Row& row);
    Result<std::vector<StepEntry>> steps_of(const Row& row);
    Error unreadable(const std::string& id, const std::string& why) const;

    /// Whom the plan chose, for victims_since.
    void note_chosen(std::int64_t request, const Plan& plan);
    /// The row of a request with REQUEST_DELETIONS; none, with a line to the log, if it can't be
    /// read.
    std::optional<RequestSummary> summary_of(const Statement& statement);
    /// Rows of a word and a number, counted since a time.
    std::map<std::string, std::int64_t> counts(const char* sql, TimePoint since);

    /// Once a day by the time that calls bring: drops what is past the retention, and what is too
    /// large, some rows with each call.
    void prune(TimePoint now);
    void forget_old();
    void forget_large();

    std::string path_;
    std::unique_ptr<Ownership> ownership_;  // outlives the connection
    std::unique_ptr<Database> connection_;
    Database& database_;
    std::optional<Transaction> group_;
    JournalOptions options_;
    std::optional<TimePoint> pruned_at_;
    int messages_since_prune_ = 0;
    std::optional<TimePoint> prune_after_group_;
    std::optional<TimePoint> forget_before_;  ///< while that is under way
    /// The size of the newest requests; above `max_bytes`, those before `from` go.
    struct Measured {
        std::int64_t from = std::numeric_limits<std::int64_t>::max();  ///< the oldest that fits
        std::int64_t bytes = 0;
    };
    std::optional<Measured> measured_;  ///< while that is under way
};

}  // namespace reaper::journal
