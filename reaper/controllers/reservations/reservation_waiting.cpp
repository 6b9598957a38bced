// The controller's orders as the journal has them: what was begun, what waits for tenants to go.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/text.hpp"

namespace reaper {
namespace {

constexpr Duration between_tries{10'000};

/// The ids of those that are not there any more after the changes, separated by commas.
std::string removed_by(const std::vector<ConsumerChange>& changes) {
    std::string ids;
    for (const ConsumerChange& each : changes)
        if (each.wanted.holds.empty()) ids += (ids.empty() ? "" : ",") + each.id.str();
    return ids;
}

bool holds_any(const std::string& ids, const ReservationRecords& records) {
    return std::any_of(records.begin(), records.end(),
                       [&](const auto& each) { return ids.find(each.first.str()) != ids.npos; });
}

}  // namespace

// ---- how far they came ----

/// In the journal before Placement is told.
ResultTask<void> ReservationController::begin_order(OrderRecord& record,
                                                    const HostChanges& changes) {
    OrderRecord next = record;
    next.removes.clear();
    for (const auto& each : changes) {
        const std::string ids = removed_by(each.second.changes);
        if (!ids.empty()) next.removes += (next.removes.empty() ? "" : ",") + ids;
    }
    next.progress = OrderProgress::begun;
    next.reason.clear();
    if (record.number != 0 && next == record) co_return Result<void>{};
    next.changed_at = dependencies_.cloud.clock.now();
    OrderRecord written = next;
    auto noted = co_await dependencies_.journal.note_order(std::move(written));
    if (!noted) co_return noted.error();
    record = std::move(next);
    record.number = *noted;
    co_return Result<void>{};
}

Task<void> ReservationController::end_order(OrderRecord& record, OrderProgress progress,
                                            const std::string& reason) {
    record.progress = progress;
    record.reason = reason;
    record.changed_at = dependencies_.cloud.clock.now();
    OrderRecord written = record;
    auto noted = co_await dependencies_.journal.note_order(std::move(written));
    if (noted)
        record.number = *noted;
    else
        spdlog::error("reservations: not journaled: {}", noted.error().what);
    show(record);
}

void ReservationController::show(const OrderRecord& record) {
    const auto known = std::find_if(orders_.begin(), orders_.end(), [&](const OrderState& each) {
        return each.number != 0 && each.number == record.number;
    });
    if (known != orders_.end()) {
        *known = state_of(record);
        return;
    }
    orders_.push_front(state_of(record));
    if (orders_.size() > max_orders) orders_.pop_back();
}

OrderState ReservationController::state_of(const OrderRecord& record) const {
    OrderState state;
    state.number = record.number;
    state.key = record.key;
    state.principal = record.principal;
    state.reason = record.reason;
    state.at = record.given_at;
    switch (record.progress) {
        case OrderProgress::applied: state.kind = OrderState::Kind::applied; break;
        case OrderProgress::begun:
        case OrderProgress::waiting: state.kind = OrderState::Kind::waiting; break;
        case OrderProgress::failed:
        case OrderProgress::not_done: state.kind = OrderState::Kind::failed; break;
    }
    const auto orders = parse_orders(record.content);
    if (!orders) return state;
    for (const ReservationOrder& order : *orders) state.told.push_back(text_of(order));
    return state;
}

// ---- after a restart, and where an answer was lost ----

/// The journal's, when this reaper begins to serve.
Task<void> ReservationController::know_orders() {
    const Duration now = dependencies_.cloud.clock.steady();
    if (orders_known_for_ == known_for_ || now < orders_again_at_) co_return;
    const auto turn = co_await ordering_.acquire();
    auto read = co_await dependencies_.journal.orders(static_cast<int>(max_orders));
    if (!read) {
        spdlog::warn("reservations: what was ordered before can't be told: {}", read.error().what);
        orders_again_at_ = now + longest_pause;
        co_return;
    }
    orders_known_for_ = known_for_;
    orders_.clear();
    waiting_.clear();
    begun_.clear();
    std::reverse(read->begin(), read->end());
    for (OrderRecord& record : *read) {
        if (record.progress == OrderProgress::begun) {
            begun_.push_back(std::move(record));
            continue;
        }
        show(record);
        if (record.progress != OrderProgress::waiting) continue;
        auto orders = parse_orders(record.content);
        if (orders)
            wait_for_tenants(std::move(record), std::move(*orders));
        else
            co_await end_order(record, OrderProgress::failed, orders.error().what);
    }
}

Task<void> ReservationController::settle_begun() {
    if (begun_.empty() || dependencies_.cloud.clock.steady() < begun_again_at_) co_return;
    const auto turn = co_await ordering_.acquire();
    co_await settle_all_begun();
}

/// Before the next order, which may take their marks away.
Task<void> ReservationController::settle_all_begun() {
    const Duration now = dependencies_.cloud.clock.steady();
    std::vector<OrderRecord> begun = std::exchange(begun_, {});
    for (OrderRecord& record : begun) {
        auto settled = co_await settle_one(record);
        if (settled) continue;
        begun_again_at_ = now + between_tries;
        begun_.push_back(std::move(record));
    }
}

/// Whether what was begun was done, the records tell. An error: they can't be read.
ResultTask<void> ReservationController::settle_one(OrderRecord& record) {
    auto orders = parse_orders(record.content);
    if (!orders) {
        co_await end_order(record, OrderProgress::not_done, orders.error().what);
        co_return Result<void>{};
    }
    auto done = co_await was_done(record, *orders);
    if (!done) co_return done.error();
    const std::string who = "principal " + in_quotes(record.principal) + ": ";
    const TimePoint ends = record.given_at + longest_wait;
    if (*done) {
        const std::string no_reason;
        co_await end_order(record, OrderProgress::applied, no_reason);
        for (const std::string& told : state_of(record).told)
            co_await note("reservation", who + told);
    } else if (any_lent_too(*orders) && dependencies_.cloud.clock.now() < ends) {
        co_await end_order(record, OrderProgress::waiting, record.reason);
        wait_for_tenants(record, std::move(*orders));
    } else {
        co_await end_order(record, OrderProgress::not_done,
                           "it was begun and is not done: the reaper ended, or Placement did not "
                           "answer");
        for (const std::string& told : state_of(record).told)
            co_await note("reservation", who + told + ": " + record.reason);
    }
    co_return Result<void>{};
}

ResultTask<bool> ReservationController::was_done(const OrderRecord& record,
                                                 const std::vector<ReservationOrder>& orders) {
    const auto turn = co_await writing_.acquire();
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    bool removed = !record.removes.empty();
    bool marked = false;
    for (const HostId& host : hosts) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
        const Book& book = books_[host];
        changed_.insert(host);
        removed = removed && !holds_any(record.removes, book.records);
        for (const auto& each : book.reservations)
            marked = marked || std::count(each.second.marks.begin(), each.second.marks.end(),
                                          record.mark) > 0;
    }
    co_return marked || removed;
}

/// What was given under that key before; nothing: nothing was, or it was not done.
ResultTask<std::optional<OrderRecord>> ReservationController::known_order(
    const OrderRecord& given) {
    std::optional<OrderRecord> none;
    if (given.key.empty()) co_return none;
    auto found = co_await dependencies_.journal.order(given.principal, given.key);
    if (!found) co_return found.error();
    if (!*found) co_return none;
    OrderRecord record = std::move(**found);
    if (record.progress == OrderProgress::begun) {
        auto settled = co_await settle_one(record);
        if (!settled) co_return settled.error();
        std::erase_if(begun_,
                      [&](const OrderRecord& each) { return each.number == record.number; });
    }
    if (record.progress == OrderProgress::not_done) co_return none;
    if (record.content != given.content) co_return other_order(given.key);
    co_return std::optional<OrderRecord>{std::move(record)};
}

Error ReservationController::other_order(const std::string& key) {
    return Error{Errc::conflict, "key " + in_quotes(printable(key, 100)) +
                                     " was given before, with another order: give another key"};
}

// ---- those that wait for tenants to go ----

void ReservationController::wait_for_tenants(OrderRecord record,
                                             std::vector<ReservationOrder> orders) {
    const Duration lasted = dependencies_.cloud.clock.now() - record.given_at;
    Waiting waiting;
    waiting.record = std::move(record);
    waiting.orders = std::move(orders);
    waiting.until = dependencies_.cloud.clock.steady() + longest_wait -
                    std::clamp(lasted, Duration{0}, longest_wait);
    waiting.in_the_way = in_the_way(waiting);
    waiting_.push_back(std::move(waiting));
}

/// No more tenants go than are in the way of what is to be unreserved.
void ReservationController::await_tenants(const std::vector<ReservationOrder>& orders,
                                          const std::string& principal) {
    for (const ReservationOrder& order : orders) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        if (gives == nullptr || !gives->lent_too || !books_.contains(gives->host)) continue;
        const HostReservations& here = books_.at(gives->host).reservations;
        const auto lent = lent_of(here, use_now(gives->host), as_allowed(*gives, principal));
        for (const auto& [id, amounts] : lent)
            take_back(gives->host, id, amounts, std::nullopt, "the room is to be unreserved");
    }
}

/// What is lent of what is to be unreserved, by the cache.
Resources ReservationController::in_the_way(const Waiting& waiting) const {
    Resources sum;
    for (const ReservationOrder& order : waiting.orders) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        if (gives == nullptr || !books_.contains(gives->host)) continue;
        const auto lent = lent_of(books_.at(gives->host).reservations, use_now(gives->host),
                                  as_allowed(*gives, waiting.record.principal));
        for (const auto& each : lent) sum += each.second;
    }
    return sum;
}

/// Those whose tenants are gone by now: tried where other room is in the way than at the last try,
/// and after growing pauses.
Task<void> ReservationController::try_waiting() {
    std::vector<Waiting> waiting = std::exchange(waiting_, {});
    for (Waiting& each : waiting) {
        const Duration now = dependencies_.cloud.clock.steady();
        const bool due = now >= each.retry_at || now >= each.until;
        if ((!due && in_the_way(each) == each.in_the_way) || !may_write()) {
            waiting_.push_back(std::move(each));
            continue;
        }
        const auto turn = co_await ordering_.acquire();
        const auto idle = without_lent(each.orders);
        auto done = co_await apply(idle, each.record, false);
        const bool unsure = !done && !surely_not_done(done.error().code) &&
                            each.record.progress == OrderProgress::begun;
        // Whether it was done all the same, the records tell before it is tried again.
        if (unsure) {
            begun_.push_back(std::move(each.record));
            continue;
        }
        bool refused =
            !done && done.error().code != Errc::conflict && surely_not_done(done.error().code);
        if (!done && !refused) {
            // Nobody goes for what does not hold any more when its tenants are gone.
            auto valid = co_await apply(each.orders, each.record, true);
            refused = !valid && surely_not_done(valid.error().code);
            if (refused) done = std::move(valid);
        }
        if (!done && !refused && now < each.until) {
            if (each.record.progress == OrderProgress::begun)
                co_await end_order(each.record, OrderProgress::waiting, done.error().what);
            await_tenants(each.orders, each.record.principal);
            each.in_the_way = in_the_way(each);
            each.retry_at = now + each.pause.next();
            waiting_.push_back(std::move(each));
            continue;
        }
        const std::string reason = done ? std::string{} : done.error().what;
        const auto progress = done ? OrderProgress::applied : OrderProgress::failed;
        co_await end_order(each.record, progress, reason);
        std::string told = "principal " + in_quotes(each.record.principal);
        told += done ? ": unreserved, as its tenants are gone" : ": not unreserved: " + reason;
        co_await note("reservation", told);
    }
}

}  // namespace reaper
