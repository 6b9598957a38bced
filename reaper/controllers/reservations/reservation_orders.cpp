// The controller's orders: what is asked of it, and what it tells.
#include <algorithm>
#include <set>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// So often, where the host or its records change in between.
constexpr int max_tries = 4;
constexpr Duration poll_interval{50};

std::string written(const ReservationOrder& order, const std::string& host_name) {
    const bool reserves = std::holds_alternative<ReserveOrder>(order);
    const auto common = [&](const auto& each) {
        std::string text = (reserves ? "reserve " : "unreserve ") + amounts_text(each.resources) +
                           " for " + each.name.role.str() + " on " + printable(host_name, 64);
        for (const auto& [key, value] : each.name.labels)
            text += " " + printable(key, 64) + "=" + printable(value, 64);
        return text;
    };
    const auto* const gives = std::get_if<UnreserveOrder>(&order);
    if (gives != nullptr && gives->reserver)
        return std::visit(common, order) + ", reserved by " + in_quotes(*gives->reserver);
    return std::visit(common, order);
}

/// Why the host serves nobody; empty: it does.
std::string why_unfit(const Host& host) {
    if (host.up && host.enabled) return {};
    std::string why = "nova-compute on " + printable(host.name, 64);
    why += host.up ? " is disabled" : " is down";
    if (!host.why_unavailable.empty()) why += " (" + printable(host.why_unavailable, 200) + ")";
    return why + ": no server can use what is reserved there";
}

/// Of two that are alike but for who made them.
bool is_same(const ReservationView& a, const ReservationView& b) {
    const ReservationIdentity& one = a.reservation.identity;
    const ReservationIdentity& other = b.reservation.identity;
    return one.host == other.host && one.role == other.role && one.labels == other.labels &&
           one.from_config == other.from_config && a.refines == b.refines;
}

/// What is held beyond the host's capacity is no room: it is owed.
void show_beyond(ReservationView& view) {
    const Resources& beyond = view.balance.beyond;
    if (beyond.empty()) return;
    view.balance.held -= beyond;
    view.balance.owed += beyond;
    if (view.trouble.empty())
        view.trouble = "the host has shrunk: " + amounts_text(beyond) +
                       " of what is held there are beyond its capacity";
}

void add_to(ReservationView& known, ReservationView more) {
    known.reservation.asked += more.reservation.asked;
    known.reservation.lending.lend |= more.reservation.lending.lend;
    known.reservation.lending.floor += more.reservation.lending.floor;
    known.balance.used += more.balance.used;
    known.balance.held += more.balance.held;
    known.balance.lent += more.balance.lent;
    known.balance.owed += more.balance.owed;
    known.balance.taken += more.balance.taken;
    known.balance.next += more.balance.next;
    known.balance.beyond += more.balance.beyond;
    known.calm_for = std::max(known.calm_for, more.calm_for);
    for (const auto& [principal, amounts] : more.reservers) known.reservers[principal] += amounts;
    for (ServerId& tenant : more.tenants)
        if (std::find(known.tenants.begin(), known.tenants.end(), tenant) == known.tenants.end())
            known.tenants.push_back(std::move(tenant));
    std::string names;
    for (const auto& each : known.reservers)
        if (!each.first.empty()) names += (names.empty() ? "" : ", ") + each.first;
    known.reservation.identity.principal = names;
}

std::set<std::string> classes_of(const Host& host) {
    std::set<std::string> classes;
    for (const Provider& provider : host.providers)
        for (const auto& [resource_class, inventory] : provider.inventories)
            classes.insert(resource_class.str());
    return classes;
}

/// A class that no host has is a typing error; none if there is none.
std::optional<Error> why_unknown_class(const CloudCache& cache, const Host& host,
                                       const Resources& wanted) {
    const std::set<std::string> here = classes_of(host);
    for (const auto& [resource_class, amount] : wanted) {
        const std::string& name = resource_class.str();
        const auto has = [&](const Host* each) { return classes_of(*each).contains(name); };
        const auto hosts = cache.hosts();
        if (here.contains(name) || std::any_of(hosts.begin(), hosts.end(), has)) continue;
        const std::vector<std::string> known(here.begin(), here.end());
        std::string what = "no host has the resource class " + in_quotes(name);
        const std::string meant = meant_class(name, known);
        what += meant.empty() ? "; this one has " + name_list(here) : meant;
        return Error{Errc::not_found, std::move(what)};
    }
    return std::nullopt;
}

/// `not_found`: also for a class that no host has. `conflict`: also where the host is down.
Result<ReservationDelta> reserve_on(const CloudCache& cache, HostReservations& reservations,
                                    const HostUse& use, const ReserveOrder& order) {
    const Host* const host = cache.find(order.host);
    if (host == nullptr)
        return Error{Errc::not_found,
                     "there is no host " + in_quotes(order.host.str()) + " in Placement"};
    // Room there is of no use to its role.
    if (!host->up) return Error{Errc::conflict, why_unfit(*host)};
    auto done = reserve(reservations, use, order);
    if (!done && done.error().code == Errc::conflict)
        if (auto unknown = why_unknown_class(cache, *host, order.resources))
            return std::move(*unknown);
    return done;
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
/// Nothing: they were done before, under the same mark.
ResultTask<std::optional<ReservationController::HostChanges>> ReservationController::try_orders(
    const std::vector<ReservationOrder>& orders, const OrderRecord& record, bool dry_run) {
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    for (const HostId& host : hosts) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
    }
    const std::string& principal = record.principal;
    for (const HostId& host : hosts)
        for (const auto& each : books_[host].reservations)
            for (const std::string& mark : each.second.marks) {
                if (dry_run) continue;
                if (mark == record.mark) co_return std::optional<HostChanges>{};
                if (!record.key.empty() && same_key(mark, record.mark))
                    co_return other_order(record.key);
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
            done = reserve_on(dependencies_.refresher.cache(), after[host].reservations, uses[host],
                              *wanted);
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
        auto wanted = wanted_now(host, change.reservations, record.mark);
        if (!wanted) co_return wanted.error();
        if (!wanted->short_of.empty()) co_return Error{Errc::conflict, wanted->short_of};
        for (auto& [id, reservation] : change.reservations) {
            const auto known = before.find(id);
            if (known == before.end() || known->second != reservation)
                add_mark(reservation, record.mark);
        }
        change.changes = std::move(wanted->changes);
    }
    co_return std::optional<HostChanges>{std::move(after)};
}

std::optional<Error> ReservationController::why_not_known() const {
    if (!dependencies_.settings.enabled)
        return Error{Errc::not_found, "reservations.enabled is false"};
    if (known_for_ != 0 && dependencies_.serving() == known_for_) return std::nullopt;
    if (dependencies_.serving() != 0 && no_register_ && !remarks_.empty())
        return Error{Errc::unreachable, remarks_.back()};
    return Error{Errc::unreachable,
                 "this reaper does not serve the queue, or has not read the reservations yet; ask "
                 "the active one, or in a moment"};
}

Task<void> ReservationController::until_known() {
    const auto waits = [this] {
        const std::uint64_t serving = dependencies_.serving();
        return dependencies_.settings.enabled && serving != 0 && known_for_ != serving &&
               !no_register_ && !dependencies_.stopping;
    };
    while (waits()) {
        const Duration now = dependencies_.cloud.clock.steady();
        if (awaited_for_ != dependencies_.serving()) {
            awaited_for_ = dependencies_.serving();
            awaited_since_ = now;
        }
        if (now >= awaited_since_ + longest_reading) co_return;
        co_await dependencies_.cloud.clock.sleep(poll_interval);
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
    if (dependencies_.is_read_only && !dry_run)
        co_return Error{Errc::conflict, "this is a dry run, which changes nothing"};
    if (orders.empty()) co_return Error{Errc::bad_input, "nothing is ordered"};
    OrderRecord record;
    record.content = text_of_orders(orders);
    record.key = std::move(key);
    record.principal = std::move(principal);
    const auto turn = co_await ordering_.acquire();
    co_await settle_all_begun();
    auto known = co_await known_order(record);
    if (!known) co_return known.error();
    if (*known) co_return state_of(**known);
    record.given_at = dependencies_.cloud.clock.now();
    record.mark = mark_of(record);
    auto given = co_await give_new(std::move(orders), record, dry_run);
    if (given) co_return given;
    // Whether it was done all the same, the records tell when they are read.
    const bool unsure = record.number != 0 && !surely_not_done(given.error().code);
    if (unsure) begun_.push_back(record);
    if (unsure) co_return Error{Errc::unreachable, given.error().what};
    if (record.number != 0) co_await end_order(record, OrderProgress::not_done, given.error().what);
    if (!dry_run) co_await tell_refused(record, given.error());
    co_return given;
}

/// Of one without a key: of no other order.
std::string ReservationController::mark_of(const OrderRecord& record) {
    std::string key = record.key;
    if (key.empty())
        key = "\n" + std::to_string(record.given_at.time_since_epoch().count()) + "/" +
              std::to_string(++given_);
    return mark_of_order(record.principal, key, record.content);
}

ResultTask<OrderState> ReservationController::give_new(std::vector<ReservationOrder> orders,
                                                       OrderRecord& record, bool dry_run) {
    if (auto refused = why_not_allowed(orders, record.principal)) co_return std::move(*refused);
    for (ReservationOrder& order : orders)
        if (auto* const wanted = std::get_if<ReserveOrder>(&order)) {
            wanted->principal = record.principal;
            wanted->by_default = lending_by_default();
        }
    // What is not lent is unreserved at once; else its tenants go first.
    const auto idle = without_lent(orders);
    auto done = co_await apply(idle, record, dry_run);
    const bool lent = !done && done.error().code == Errc::conflict && any_lent_too(orders);
    if (!done && !lent) co_return done.error();
    if (lent) {
        auto valid = co_await apply(orders, record, true);
        if (!valid) co_return valid.error();
    }
    if (dry_run) {
        OrderState state = state_of(record);
        state.kind = OrderState::Kind::valid;
        co_return state;
    }
    if (lent) {
        const std::string why = done.error().what;
        co_await end_order(record, OrderProgress::waiting, why);
        // What waits is to go on after a restart.
        if (record.number == 0) co_return Error{Errc::storage, "the order can't be journaled"};
        wait_for_tenants(record, orders);
        await_tenants(orders, record.principal);
    } else {
        const std::string no_reason;
        co_await end_order(record, OrderProgress::applied, no_reason);
    }
    const std::string then = lent ? ", when its tenants are gone" : "";
    const OrderState state = state_of(record);
    for (const std::string& told : state.told)
        co_await note("reservation",
                      "principal " + in_quotes(state.principal) + ": " + told + then);
    co_return state;
}

Task<void> ReservationController::tell_refused(const OrderRecord& record, const Error& why) {
    if (why.code != Errc::forbidden && why.code != Errc::not_found && why.code != Errc::conflict)
        co_return;
    std::string told = "principal " + in_quotes(record.principal) + " is refused";
    for (const std::string& each : state_of(record).told) told += ", " + each;
    co_await note("reservation-refused", told + ": " + why.what);
}

ResultTask<void> ReservationController::apply(const std::vector<ReservationOrder>& orders,
                                              OrderRecord& record, bool dry_run) {
    const auto turn = co_await writing_.acquire();
    Error last;
    for (int tries = 0; tries < max_tries; ++tries) {
        if (auto why = why_not_known()) co_return std::move(*why);
        auto changes = co_await try_orders(orders, record, dry_run);
        if (!changes) co_return changes.error();
        if (dry_run || !*changes) co_return Result<void>{};
        auto begun = co_await begin_order(record, **changes);
        if (!begun) co_return begun.error();
        if (auto why = why_not_known()) co_return std::move(*why);
        auto done = co_await write(std::move(**changes));
        if (done) co_return Result<void>{};
        last = done.error();
        // Somebody was faster: what holds decides.
        if (last.code != Errc::conflict) break;
    }
    co_return last;
}

/// Of those alone that the principal may unreserve.
UnreserveOrder ReservationController::as_allowed(UnreserveOrder order,
                                                 const std::string& principal) const {
    order.own = principal;
    order.principals.emplace();
    for (const auto& [id, each] : books_.at(order.host).reservations)
        if (may_unreserve(dependencies_.settings.acl, principal, each.identity.principal))
            order.principals->insert(each.identity.principal);
    return order;
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

/// That a host with reservations serves nobody, or does again, is told once.
Task<void> ReservationController::report_health(HostId id) {
    const Host* const host = dependencies_.refresher.cache().find(id);
    const auto at = books_.find(id);
    if (host == nullptr || at == books_.end() || at->second.reservations.empty()) co_return;
    std::string why = why_unfit(*host);
    if (at->second.unfit == why) co_return;
    const std::string told =
        why.empty() ? "what is reserved on " + printable(host->name, 64) + " can be used again"
                    : why;
    at->second.unfit = std::move(why);
    co_await note("reservation-trouble", told);
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
            if (host != nullptr && view.trouble.empty()) view.trouble = why_unfit(*host);
            view.reservers[what.identity.principal] = what.asked;
            if (const auto above = book.reservations.find(what.identity.refines);
                above != book.reservations.end())
                view.refines =
                    ReservationName{above->second.identity.role, above->second.identity.labels};
            show_beyond(view);
            const auto alike =
                std::find_if(views.begin(), views.end(),
                             [&](const ReservationView& each) { return is_same(each, view); });
            if (alike == views.end())
                views.push_back(std::move(view));
            else
                add_to(*alike, std::move(view));
        }
    }
    std::sort(views.begin(), views.end(), [](const ReservationView& a, const ReservationView& b) {
        return std::tie(a.host_name, a.reservation.identity) <
               std::tie(b.host_name, b.reservation.identity);
    });
    return views;
}

}  // namespace reaper
