// The controller's orders: what is asked of it, and what it tells.
#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservation_controller.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// So often, where the host or its records change in between.
constexpr int max_tries = 4;
constexpr Duration glance{50};

const HostId& host_of(const ReservationOrder& order) {
    return std::visit([](const auto& each) -> const HostId& { return each.host; }, order);
}

bool any_lent_too(const std::vector<ReservationOrder>& orders) {
    return std::any_of(orders.begin(), orders.end(), [](const ReservationOrder& order) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        return gives != nullptr && gives->lent_too;
    });
}

/// Of what is idle alone.
std::vector<ReservationOrder> without_lent(std::vector<ReservationOrder> orders) {
    for (ReservationOrder& order : orders)
        if (auto* const gives = std::get_if<UnreserveOrder>(&order)) gives->lent_too = false;
    return orders;
}

std::string written(const ReservationOrder& order, const std::string& host_name) {
    const bool reserves = std::holds_alternative<ReserveOrder>(order);
    const auto common = [&](const auto& each) {
        std::string text = (reserves ? "reserve " : "unreserve ") + amounts_text(each.resources) +
                           " for " + each.name.role.str() + " on " + printable(host_name, 64);
        for (const auto& [key, value] : each.name.labels)
            text += " " + printable(key, 64) + "=" + printable(value, 64);
        return text;
    };
    return std::visit(common, order);
}

}  // namespace

std::string_view to_string(OrderState::Kind kind) {
    switch (kind) {
        case OrderState::Kind::applied: return "applied";
        case OrderState::Kind::waiting: return "waiting";
        case OrderState::Kind::failed: return "failed";
        case OrderState::Kind::valid: break;
    }
    return "valid";
}

std::string ReservationController::text_of(const ReservationOrder& order) const {
    const Host* const host = dependencies_.refresher.cache().find(host_of(order));
    return written(order, host == nullptr ? host_of(order).str() : host->name);
}

std::optional<Error> ReservationController::why_not_allowed(
    const std::vector<ReservationOrder>& orders, const std::string& principal) const {
    for (const ReservationOrder& order : orders)
        if (const auto* const wanted = std::get_if<ReserveOrder>(&order);
            wanted != nullptr &&
            !may_reserve(dependencies_.settings.acl, principal, wanted->name.role))
            return Error{Errc::forbidden, "principal " + in_quotes(principal) +
                                              " may not reserve for role " +
                                              wanted->name.role.str() + " (reservations.acl)"};
    return std::nullopt;
}

/// On fresh readings: what has to be changed in Placement, and what the books are afterwards.
ResultTask<ReservationController::HostChanges> ReservationController::try_orders(
    const std::vector<ReservationOrder>& orders, const std::string& principal,
    const std::string& mark) {
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    for (const HostId& host : hosts) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
    }
    // From here on nothing else happens: what is free and promised is so for all of them.
    std::map<HostId, HostUse> uses;
    HostChanges after;
    for (const HostId& host : hosts) {
        uses[host] = use_now(host);
        after[host].reservations = books_[host].reservations;
    }
    for (const ReservationOrder& order : orders) {
        const HostId& host = host_of(order);
        Result<ReservationDelta> done = ReservationDelta{};
        if (const auto* const wanted = std::get_if<ReserveOrder>(&order)) {
            if (dependencies_.refresher.cache().find(host) == nullptr)
                co_return Error{Errc::not_found,
                                "there is no host " + in_quotes(host.str()) + " in Placement"};
            done = reserve(after[host].reservations, uses[host], *wanted);
        } else {
            const UnreserveOrder allowed = as_allowed(std::get<UnreserveOrder>(order), principal);
            done = unreserve(after[host].reservations, uses[host], allowed);
            UnreserveOrder anybodys = allowed;
            anybodys.principals.reset();
            HostReservations untouched = after[host].reservations;
            if (!done && unreserve(untouched, uses[host], anybodys))
                co_return Error{Errc::forbidden, "principal " + in_quotes(principal) +
                                                     " may not unreserve what others reserved "
                                                     "(reservations.acl)"};
        }
        if (!done) co_return done.error();
    }
    for (auto& [host, change] : after) {
        const HostReservations& before = books_[host].reservations;
        auto wanted = wanted_now(host, change.reservations, mark);
        if (!wanted) co_return wanted.error();
        if (!wanted->short_of.empty()) co_return Error{Errc::conflict, wanted->short_of};
        for (auto& [id, reservation] : change.reservations) {
            const auto known = before.find(id);
            if (known == before.end() || known->second != reservation)
                reservation.last_order = mark;
        }
        change.changes = std::move(wanted->changes);
    }
    co_return after;
}

std::optional<Error> ReservationController::why_not_known() const {
    if (!dependencies_.settings.enabled)
        return Error{Errc::not_found, "reservations.enabled is false"};
    if (known_for_ != 0 && dependencies_.serving() == known_for_) return std::nullopt;
    if (dependencies_.serving() != 0 && !remarks_.empty())
        return Error{Errc::unreachable, remarks_.back()};
    return Error{Errc::unreachable,
                 "this reaper does not serve the queue, or has not read the reservations yet; ask "
                 "the active one, or in a moment"};
}

Task<void> ReservationController::until_known() {
    const auto waits = [this] {
        const std::uint64_t serving = dependencies_.serving();
        return dependencies_.settings.enabled && serving != 0 && known_for_ != serving &&
               remarks_.empty() && !dependencies_.stopping;
    };
    while (waits()) {
        const Duration now = dependencies_.cloud.clock.steady();
        if (awaited_for_ != dependencies_.serving()) {
            awaited_for_ = dependencies_.serving();
            awaited_since_ = now;
        }
        if (now >= awaited_since_ + longest_reading) co_return;
        co_await dependencies_.cloud.clock.sleep(glance);
    }
}

LendingPolicy ReservationController::lending_by_default() const {
    LendingPolicy lending;
    lending.lend = dependencies_.settings.lend;
    lending.longest = dependencies_.settings.longest_loan;
    return lending;
}

ResultTask<OrderState> ReservationController::give(std::string key, std::string principal,
                                                   std::vector<ReservationOrder> orders,
                                                   bool dry_run) {
    if (auto why = why_not_known()) co_return std::move(*why);
    if (dependencies_.looks_only && !dry_run)
        co_return Error{Errc::conflict, "this is a dry run, which changes nothing"};
    if (orders.empty()) co_return Error{Errc::bad_input, "nothing is ordered"};
    for (const OrderState& known : orders_)
        if (!key.empty() && known.key == key && known.principal == principal) co_return known;
    if (auto refused = why_not_allowed(orders, principal)) co_return std::move(*refused);
    for (ReservationOrder& order : orders)
        if (auto* const wanted = std::get_if<ReserveOrder>(&order)) {
            wanted->principal = principal;
            wanted->by_default = lending_by_default();
        }
    const std::string mark = mark_of_order(principal, key);
    OrderState state;
    state.key = std::move(key);
    state.principal = std::move(principal);
    state.kind = dry_run ? OrderState::Kind::valid : OrderState::Kind::applied;
    state.at = dependencies_.cloud.clock.now();
    for (const ReservationOrder& order : orders) state.told.push_back(text_of(order));
    // What is not lent is unreserved at once; else its tenants go first.
    const auto idle = without_lent(orders);
    auto done = co_await apply(idle, state.principal, mark, dry_run);
    const bool lent = !done && done.error().code == Errc::conflict && any_lent_too(orders);
    if (lent) {
        auto valid = co_await apply(orders, state.principal, mark, true);
        if (!valid) co_return valid.error();
        if (!dry_run) state.kind = OrderState::Kind::waiting;
    } else if (!done) {
        co_return done.error();
    }
    if (dry_run) co_return state;
    if (lent) {
        waiting_.push_back({state.key, state.principal, orders, state.at,
                            dependencies_.cloud.clock.steady() + longest_wait});
        await_tenants(orders, state.principal);
    }
    orders_.push_front(state);
    if (orders_.size() > max_orders) orders_.pop_back();
    const std::string then = lent ? ", when its tenants are gone" : "";
    for (const std::string& told : state.told)
        co_await note("reservation",
                      "principal " + in_quotes(state.principal) + ": " + told + then);
    co_return state;
}

ResultTask<void> ReservationController::apply(const std::vector<ReservationOrder>& orders,
                                              const std::string& principal, const std::string& mark,
                                              bool dry_run) {
    const auto turn = co_await writing_.acquire();
    Error last;
    for (int tries = 0; tries < max_tries; ++tries) {
        bool marked = false;
        for (const ReservationOrder& order : orders)
            for (const auto& [id, each] : books_[host_of(order)].reservations)
                marked = marked || (!mark.empty() && each.last_order == mark);
        if (marked && !dry_run) break;  // it was done, by a process of before or another reaper
        if (auto why = why_not_known()) co_return std::move(*why);
        auto changes = co_await try_orders(orders, principal, mark);
        if (!changes) co_return changes.error();
        if (dry_run) co_return Result<void>{};
        if (auto why = why_not_known()) co_return std::move(*why);
        auto done = co_await write(std::move(*changes));
        if (done) co_return Result<void>{};
        last = done.error();
        if (last.code == Errc::conflict) continue;  // somebody was faster: what holds decides
        // It may have been done all the same: the register tells.
        known_for_ = 0;
        look_again_at_ = {};
        co_return Error{Errc::unreachable, last.what};
    }
    if (!last.what.empty()) co_return last;
    co_return Result<void>{};
}

/// Of those alone that the principal may unreserve.
UnreserveOrder ReservationController::as_allowed(UnreserveOrder order,
                                                 const std::string& principal) const {
    order.principals.emplace();
    for (const auto& [id, each] : books_.at(order.host).reservations)
        if (may_unreserve(dependencies_.settings.acl, principal, each.identity.principal))
            order.principals->insert(each.identity.principal);
    return order;
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

/// Those whose tenants are gone by now.
Task<void> ReservationController::try_waiting() {
    std::vector<Waiting> waiting = std::exchange(waiting_, {});
    for (Waiting& each : waiting) {
        const std::string mark = mark_of_order(each.principal, each.key);
        const auto idle = without_lent(each.orders);
        auto done = co_await apply(idle, each.principal, mark, false);
        const bool again = !done && dependencies_.cloud.clock.steady() < each.until;
        if (!again) {
            const auto kind = done ? OrderState::Kind::applied : OrderState::Kind::failed;
            for (OrderState& known : orders_)
                if (known.at == each.given_at && known.principal == each.principal &&
                    known.kind == OrderState::Kind::waiting)
                    known.kind = kind;
            std::string told = "principal " + in_quotes(each.principal);
            told += done ? ": unreserved, as its tenants are gone"
                         : ": not unreserved: " + done.error().what;
            co_await note("reservation", told);
            continue;
        }
        await_tenants(each.orders, each.principal);
        waiting_.push_back(std::move(each));
    }
}

Task<void> ReservationController::note(const std::string& kind, const std::string& reason) {
    spdlog::info("{}: {}", kind, reason);
    JournalEvent event;
    event.kind = kind;
    event.reason = reason;
    event.at = dependencies_.cloud.clock.now();
    auto noted = co_await dependencies_.journal.note_event(std::move(event));
    if (!noted) spdlog::error("not journaled: {}", noted.error().what);
}

std::vector<ReservationView> ReservationController::list() const {
    std::vector<ReservationView> views;
    for (const auto& [id, book] : books_) {
        const Host* const host = dependencies_.refresher.cache().find(id);
        const auto balances = balance_of(book.reservations, use_now(id));
        std::map<ReservationId, std::vector<const Server*>> tenants;
        if (host != nullptr) tenants = tenants_of(*host, balances, dependencies_.rooms.ledger());
        for (const auto& [reservation, what] : book.reservations) {
            ReservationView view;
            view.id = reservation;
            view.reservation = what;
            view.balance = balances.at(reservation);
            view.host_name = host == nullptr ? std::string{} : host->name;
            for (const Server* const tenant : tenants[reservation])
                view.tenants.push_back(tenant->id);
            if (const auto calm = book.calm.find(reservation); calm != book.calm.end())
                view.calm_for = std::max(calm->second.until() - dependencies_.cloud.clock.steady(),
                                         Duration{0});
            view.trouble = book.trouble.empty() ? book.short_of : book.trouble;
            views.push_back(std::move(view));
        }
    }
    std::sort(views.begin(), views.end(), [](const ReservationView& a, const ReservationView& b) {
        return std::tie(a.host_name, a.reservation.identity) <
               std::tie(b.host_name, b.reservation.identity);
    });
    return views;
}

}  // namespace reaper
