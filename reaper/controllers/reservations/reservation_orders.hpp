// Orders to reserve and unreserve. One is answered when it is valid on a fresh reading of its
// hosts, and applied in one transaction over all of them; the journal has it before. Asked again
// under the same key it is the same one: the journal knows it, and another reaper by its mark,
// which is in the records that it changed. One that waits for tenants to go is gone on with after a
// restart.
#pragma once

#include <deque>
#include <string_view>

#include "reaper/controllers/reservations/reservation_loans.hpp"

namespace reaper {

/// The result of orders that were given together.
struct OrderState {
    enum class Kind {
        applied,
        waiting,  ///< for tenants to go
        failed,   ///< it waited, and no longer holds
        valid,    ///< it would be; nothing was done
    };
    std::int64_t number = 0;  ///< the journal's
    std::string key;
    std::string principal;
    Kind kind{};
    std::vector<std::string> told;  ///< each in one line
    std::string reason;             ///< why it failed, or what it waits for; or empty
    TimePoint at{};
};

std::string_view to_string(OrderState::Kind kind);

class ReservationOrders {
public:
    ReservationOrders(const boost::asio::any_io_executor& executor, HostBooks& books,
                      ReservationLoans& loans, const ReservationDependencies& dependencies)
        : books_(books), loans_(loans), dependencies_(dependencies), ordering_(executor, 1) {}

    /// All of them or none. `forbidden`, `not_found`, `conflict`, `bad_input`, or why that is not
    /// known now (HostBooks::why_not_known). The principal may reserve and unreserve as the ACL
    /// says. `dry_run`: it is only said whether they would hold. Under a key that the principal
    /// gave before: the result of that order; `conflict` if it was another one.
    ResultTask<OrderState> give(std::string key, std::string principal,
                                std::vector<ReservationOrder> orders, bool dry_run);
    /// The last ones, the newest first.
    const std::deque<OrderState>& last() const noexcept { return last_; }
    /// How reservations are lent whose orders don't say it.
    LendingPolicy lending_by_default() const;

    /// The journal's, when this reaper begins to serve.
    Task<void> know_orders();
    /// Those of which it is not known whether they were done: the records tell.
    Task<void> settle_begun();
    /// Those whose tenants are gone by now: tried where other room is in the way than at the last
    /// try, and after growing pauses.
    Task<void> try_waiting();

private:
    static constexpr std::size_t max_orders = 1000;
    static constexpr Duration longest_wait = std::chrono::minutes{10};
    static constexpr Duration longest_waiting_pause{30'000};

    /// Given with `lent_too`: done when their tenants are gone.
    struct Waiting {
        OrderRecord record;
        std::vector<ReservationOrder> orders;
        Duration until{};        ///< steady
        Resources in_the_way{};  ///< as of the last try: where it is another, it is tried at once
        Duration retry_at{};     ///< steady
        GrowingPause pause{HostBook::first_pause, longest_waiting_pause};
    };
    ResultTask<OrderState> give_new(std::vector<ReservationOrder> orders, OrderRecord& record,
                                    bool dry_run);
    ResultTask<void> apply(const std::vector<ReservationOrder>& orders, OrderRecord& record,
                           bool dry_run);
    ResultTask<std::optional<HostChanges>> try_orders(const std::vector<ReservationOrder>& orders,
                                                      const OrderRecord& record, bool dry_run);
    UnreserveOrder as_allowed(UnreserveOrder order, const std::string& principal) const;
    ResultTask<std::optional<OrderRecord>> known_order(const OrderRecord& given);
    Task<void> note_each(const OrderState& state, const std::string& then);
    OrderState state_of(const OrderRecord& record) const;
    ResultTask<void> begin_order(OrderRecord& record, const HostChanges& changes);
    Task<void> end_order(OrderRecord& record, OrderProgress progress, const std::string& reason);
    void show(const OrderRecord& record);
    Task<void> tell_refused(const OrderRecord& record, const Error& why);
    ResultTask<void> read_orders();
    Task<void> settle_all_begun();
    ResultTask<void> settle_one(OrderRecord& record);
    ResultTask<bool> was_done(const OrderRecord& record,
                              const std::vector<ReservationOrder>& orders);
    void wait_for_tenants(OrderRecord record, std::vector<ReservationOrder> orders);
    void await_tenants(const std::vector<ReservationOrder>& orders, const std::string& principal);
    Resources in_the_way(const Waiting& waiting) const;

    HostBooks& books_;
    ReservationLoans& loans_;
    const ReservationDependencies& dependencies_;
    AsyncSemaphore ordering_;  ///< one order at a time; before the turn of the books
    std::deque<OrderState> last_;
    std::vector<Waiting> waiting_;
    std::vector<OrderRecord> begun_;                ///< whether they were done is not known yet
    std::uint64_t known_for_ = 0;                   ///< `serving` when the journal's were read
    std::uint64_t given_ = 0;                       ///< orders, by this process
    Duration known_again_at_{}, begun_again_at_{};  ///< steady
};

}  // namespace reaper
