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

const HostId& host_of(const ReservationOrder& order) {
    return std::visit([](const auto& each) -> const HostId& { return each.host; }, order);
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
    return kind == OrderState::Kind::applied ? "applied" : "valid";
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
ResultTask<std::vector<ConsumerChange>> ReservationController::try_orders(
    const std::vector<ReservationOrder>& orders, const std::string& principal,
    const std::string& mark, std::map<HostId, HostReservations>& after) {
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    for (const HostId& host : hosts) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
    }
    // From here on nothing else happens: what is free and promised is so for all of them.
    std::map<HostId, HostUse> uses;
    for (const HostId& host : hosts) {
        const Host* const known = dependencies_.refresher.cache().find(host);
        if (known != nullptr) uses[host] = use_now(*known, books_[host]);
        for (const auto& [id, held] : held_by(books_[host]))
            if (known == nullptr)
                for (const auto& each : held) uses[host].held[id] += each.second;
        after[host] = books_[host].reservations;
    }
    for (const ReservationOrder& order : orders) {
        const HostId& host = host_of(order);
        Result<ReservationDelta> done = ReservationDelta{};
        if (const auto* const wanted = std::get_if<ReserveOrder>(&order)) {
            if (dependencies_.refresher.cache().find(host) == nullptr)
                co_return Error{Errc::not_found,
                                "there is no host " + in_quotes(host.str()) + " in Placement"};
            done = reserve(after[host], uses[host], *wanted);
        } else {
            UnreserveOrder allowed = std::get<UnreserveOrder>(order);
            allowed.principals.emplace();
            for (const auto& [id, each] : after[host])
                if (may_unreserve(dependencies_.settings.acl, principal, each.identity.principal))
                    allowed.principals->insert(each.identity.principal);
            done = unreserve(after[host], uses[host], allowed);
            UnreserveOrder anybodys = allowed;
            anybodys.principals.reset();
            HostReservations untouched = after[host];
            if (!done && unreserve(untouched, uses[host], anybodys))
                co_return Error{Errc::forbidden, "principal " + in_quotes(principal) +
                                                     " may not unreserve what others reserved "
                                                     "(reservations.acl)"};
        }
        if (!done) co_return done.error();
    }
    std::vector<ConsumerChange> changes;
    for (const HostId& host : hosts) {
        const Host* const known = dependencies_.refresher.cache().find(host);
        auto wanted = known == nullptr
                          ? wanted_on_gone(books_[host], after[host], mark)
                          : wanted_on(*known, books_[host], after[host], uses[host], mark);
        if (!wanted) co_return wanted.error();
        if (!wanted->short_of.empty()) co_return Error{Errc::conflict, wanted->short_of};
        for (auto& [id, reservation] : after[host]) {
            const auto before = books_[host].reservations.find(id);
            const bool same =
                before != books_[host].reservations.end() && before->second == reservation;
            if (!same) reservation.last_order = mark;
        }
        std::move(wanted->changes.begin(), wanted->changes.end(), std::back_inserter(changes));
    }
    co_return changes;
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

ResultTask<OrderState> ReservationController::give(std::string key, std::string principal,
                                                   std::vector<ReservationOrder> orders,
                                                   bool dry_run) {
    if (auto why = why_not_known()) co_return std::move(*why);
    if (orders.empty()) co_return Error{Errc::bad_input, "nothing is ordered"};
    for (const OrderState& known : orders_)
        if (!key.empty() && known.key == key) co_return known;
    if (auto refused = why_not_allowed(orders, principal)) co_return std::move(*refused);
    for (ReservationOrder& order : orders)
        if (auto* const wanted = std::get_if<ReserveOrder>(&order)) wanted->principal = principal;
    const std::string mark = mark_of_order(key);
    const auto turn = co_await writing_.acquire();
    OrderState state;
    state.key = std::move(key);
    state.principal = std::move(principal);
    state.kind = dry_run ? OrderState::Kind::valid : OrderState::Kind::applied;
    state.at = dependencies_.cloud.clock.now();
    for (const ReservationOrder& order : orders) state.told.push_back(text_of(order));
    Error last;
    for (int tries = 0; tries < max_tries; ++tries) {
        std::map<HostId, HostReservations> after;
        bool marked = false;
        for (const ReservationOrder& order : orders)
            for (const auto& [id, each] : books_[host_of(order)].reservations)
                marked = marked || (!mark.empty() && each.last_order == mark);
        if (marked && !dry_run) break;  // it was done, by a process of before or another reaper
        if (auto why = why_not_known()) co_return std::move(*why);
        auto changes = co_await try_orders(orders, state.principal, mark, after);
        if (!changes) co_return changes.error();
        if (dry_run) co_return state;
        if (auto why = why_not_known()) co_return std::move(*why);
        Result<void> done;
        ++writes_;
        if (!changes->empty()) {
            std::vector<ConsumerChange> sent = *changes;
            done =
                co_await dependencies_.cloud.placement.set_holdings(std::move(sent), call_deadline);
        }
        if (!done) {
            last = done.error();
            if (last.code == Errc::conflict) continue;  // somebody was faster: what holds decides
            // It may have been done all the same: the register tells.
            known_for_ = 0;
            look_again_at_ = {};
            co_return Error{Errc::unreachable, last.what};
        }
        for (auto& [host, reservations] : after) {
            std::vector<ConsumerChange> here;
            for (const ConsumerChange& change : *changes) {
                const ReservationId id{change.id.str()};
                if (reservations.contains(id) || books_[host].records.contains(id))
                    here.push_back(change);
            }
            apply(host, std::move(reservations), here);
            changed_.insert(host);
        }
        last = {};
        break;
    }
    if (!last.what.empty()) co_return last;
    orders_.push_front(state);
    if (orders_.size() > max_orders) orders_.pop_back();
    for (const std::string& told : state.told)
        co_await note("reservation", "principal " + in_quotes(state.principal) + ": " + told);
    co_return state;
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
        HostUse use;
        if (host != nullptr)
            use = use_of(
                *host, held_by(book),
                [this](const ProjectId& project) { return roles_.role_of(project); },
                dependencies_.ledger.promised_to_others(id, RequestId{}));
        else
            for (const auto& [reservation, held] : held_by(book))
                for (const auto& each : held) use.held[reservation] += each.second;
        const auto balances = balance_of(book.reservations, use);
        for (const auto& [reservation, what] : book.reservations)
            views.push_back({reservation, what, balances.at(reservation),
                             host == nullptr ? std::string{} : host->name,
                             book.trouble.empty() ? book.short_of : book.trouble});
    }
    std::sort(views.begin(), views.end(), [](const ReservationView& a, const ReservationView& b) {
        return std::tie(a.host_name, a.reservation.identity) <
               std::tie(b.host_name, b.reservation.identity);
    });
    return views;
}

}  // namespace reaper
