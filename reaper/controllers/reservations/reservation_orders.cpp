#include "reaper/controllers/reservations/reservation_orders.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// So often, where the host or its records change in between.
constexpr int max_tries = 4;
constexpr Duration between_tries{10'000};

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
    if (!host->up) return Error{Errc::conflict, why_unusable(*host)};
    auto done = reserve(reservations, use, order);
    if (!done && done.error().code == Errc::conflict)
        if (auto unknown = why_unknown_class(cache, *host, order.resources))
            return std::move(*unknown);
    return done;
}

Error other_order(const std::string& key) {
    return Error{Errc::conflict, "key " + in_quotes(printable(key, 100)) +
                                     " was given before, with another order: give another key"};
}

bool holds_any(const std::string& ids, const ReservationRecords& records) {
    return std::any_of(records.begin(), records.end(),
                       [&](const auto& each) { return ids.find(each.first.str()) != ids.npos; });
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

/// On fresh readings: what has to be changed in Placement, and what the books are afterwards.
/// Nothing: they were done before, under the same mark.
ResultTask<std::optional<HostChanges>> ReservationOrders::try_orders(
    const std::vector<ReservationOrder>& orders, const OrderRecord& record, bool dry_run) {
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    for (const HostId& host : hosts) {
        auto read = co_await books_.read_again(host);
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
        uses[host] = books_.use_now(host);
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
            UnreserveOrder unrestricted = allowed;
            unrestricted.principals.reset();
            HostReservations untouched = after[host].reservations;
            if (!done && unreserve(untouched, uses[host], unrestricted))
                co_return Error{Errc::forbidden, "principal " + in_quotes(principal) +
                                                     " may not unreserve what others reserved "
                                                     "(reservations.acl)"};
        }
        if (!done) co_return done.error();
    }
    for (auto& [host, change] : after) {
        const HostReservations& before = books_[host].reservations;
        auto wanted = books_.wanted_now(host, change.reservations, record.mark);
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

LendingPolicy ReservationOrders::lending_by_default() const {
    return {dependencies_.settings.lend, {}, dependencies_.settings.longest_loan};
}

ResultTask<OrderState> ReservationOrders::give(std::string key, std::string principal,
                                               std::vector<ReservationOrder> orders, bool dry_run) {
    if (auto why = books_.why_not_known()) co_return std::move(*why);
    if (dependencies_.is_read_only && !dry_run)
        co_return Error{Errc::conflict, "this is a dry run, which changes nothing"};
    if (orders.empty()) co_return Error{Errc::bad_input, "nothing is ordered"};
    OrderRecord record;
    record.content = text_of_orders(orders);
    record.key = std::move(key);
    record.principal = std::move(principal);
    const auto turn = co_await ordering_.acquire();
    if (!dependencies_.is_read_only) {
        auto read = co_await read_orders();
        if (!read) co_return read.error();
    }
    co_await settle_all_begun();
    auto known = co_await known_order(record);
    if (!known) co_return known.error();
    if (*known) co_return state_of(**known);
    record.given_at = dependencies_.cloud.clock.now();
    std::string own_key = record.key;
    if (own_key.empty())  // of no other order
        own_key = "\n" + std::to_string(record.given_at.time_since_epoch().count()) + "/" +
                  std::to_string(++given_);
    record.mark = mark_of_order(record.principal, own_key, record.content);
    auto given = co_await give_new(std::move(orders), record, dry_run);
    if (given) co_return given;
    // Whether it was still done, the records tell when they are read.
    const bool unsure = record.number != 0 && !surely_not_done(given.error().code);
    if (unsure) begun_.push_back(record);
    if (unsure) co_return Error{Errc::unreachable, given.error().what};
    if (record.number != 0) co_await end_order(record, OrderProgress::not_done, given.error().what);
    if (!dry_run) co_await tell_refused(record, given.error());
    co_return given;
}

ResultTask<OrderState> ReservationOrders::give_new(std::vector<ReservationOrder> orders,
                                                   OrderRecord& record, bool dry_run) {
    for (ReservationOrder& order : orders)
        if (auto* const wanted = std::get_if<ReserveOrder>(&order)) {
            const Role& role = wanted->name.role;
            if (!may_reserve(dependencies_.settings.acl, record.principal, role))
                co_return Error{Errc::forbidden, "principal " + in_quotes(record.principal) +
                                                     " may not reserve for role " + role.str() +
                                                     " (reservations.acl)"};
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
    const std::string why = lent ? done.error().what : std::string{};
    const auto progress = lent ? OrderProgress::waiting : OrderProgress::applied;
    co_await end_order(record, progress, why);
    if (lent) {
        // What waits is to go on after a restart.
        if (record.number == 0) co_return Error{Errc::storage, "the order can't be journaled"};
        wait_for_tenants(record, orders);
        await_tenants(orders, record.principal);
    }
    const std::string then = lent ? ", when its tenants are gone" : "";
    const OrderState state = state_of(record);
    co_await note_each(state, then);
    co_return state;
}

/// One event for each of its orders.
Task<void> ReservationOrders::note_each(const OrderState& state, const std::string& then) {
    for (const std::string& told : state.told)
        co_await books_.note("reservation",
                             "principal " + in_quotes(state.principal) + ": " + told + then);
}

Task<void> ReservationOrders::tell_refused(const OrderRecord& record, const Error& why) {
    if (why.code != Errc::forbidden && why.code != Errc::not_found && why.code != Errc::conflict)
        co_return;
    std::string told = "principal " + in_quotes(record.principal) + " is refused";
    for (const std::string& each : state_of(record).told) told += ", " + each;
    co_await books_.note("reservation-refused", told + ": " + why.what);
}

ResultTask<void> ReservationOrders::apply(const std::vector<ReservationOrder>& orders,
                                          OrderRecord& record, bool dry_run) {
    const auto turn = co_await books_.turn();
    Error last;
    for (int tries = 0; tries < max_tries; ++tries) {
        if (auto why = books_.why_not_known()) co_return std::move(*why);
        auto changes = co_await try_orders(orders, record, dry_run);
        if (!changes) co_return changes.error();
        if (dry_run || !*changes) co_return Result<void>{};
        auto begun = co_await begin_order(record, **changes);
        if (!begun) co_return begun.error();
        if (auto why = books_.why_not_known()) co_return std::move(*why);
        auto done = co_await books_.write(std::move(**changes));
        if (done) co_return Result<void>{};
        last = done.error();
        // Another client was faster: what holds decides.
        if (last.code != Errc::conflict) break;
    }
    co_return last;
}

/// Of those alone that the principal may unreserve.
UnreserveOrder ReservationOrders::as_allowed(UnreserveOrder order,
                                             const std::string& principal) const {
    order.own = principal;
    order.principals.emplace();
    for (const auto& [id, each] : books_.at(order.host).reservations)
        if (may_unreserve(dependencies_.settings.acl, principal, each.identity.principal))
            order.principals->insert(each.identity.principal);
    return order;
}

/// In the journal before it is written to Placement.
ResultTask<void> ReservationOrders::begin_order(OrderRecord& record, const HostChanges& changes) {
    OrderRecord next = record;
    next.removes.clear();
    for (const auto& each : changes)
        for (const ConsumerChange& change : each.second.changes)
            if (change.wanted.holds.empty())
                next.removes += (next.removes.empty() ? "" : ",") + change.id.str();
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

Task<void> ReservationOrders::end_order(OrderRecord& record, OrderProgress progress,
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

void ReservationOrders::show(const OrderRecord& record) {
    const auto known = std::find_if(last_.begin(), last_.end(), [&](const OrderState& each) {
        return each.number != 0 && each.number == record.number;
    });
    if (known != last_.end()) {
        *known = state_of(record);
        return;
    }
    last_.push_front(state_of(record));
    if (last_.size() > max_orders) last_.pop_back();
}

OrderState ReservationOrders::state_of(const OrderRecord& record) const {
    OrderState state{record.number, record.key,     record.principal, OrderState::Kind::failed, {},
                     record.reason, record.given_at};
    if (record.progress == OrderProgress::applied) state.kind = OrderState::Kind::applied;
    if (record.progress == OrderProgress::begun || record.progress == OrderProgress::waiting)
        state.kind = OrderState::Kind::waiting;
    const auto orders = parse_orders(record.content);
    if (!orders) return state;
    for (const ReservationOrder& order : *orders) {
        const Host* const host = books_.in_cache(host_of(order));
        state.told.push_back(written(order, host == nullptr ? host_of(order).str() : host->name));
    }
    return state;
}

// ---- after a restart, and where an answer was lost ----

Task<void> ReservationOrders::know_orders() {
    const Duration now = dependencies_.cloud.clock.steady();
    if (known_for_ == books_.known_for() || now < known_again_at_) co_return;
    const auto turn = co_await ordering_.acquire();
    auto read = co_await read_orders();
    if (read) co_return;
    spdlog::warn("reservations: what was ordered before is not known: {}", read.error().what);
    known_again_at_ = now + HostBook::longest_pause;
}

/// Once while this reaper serves.
ResultTask<void> ReservationOrders::read_orders() {
    if (known_for_ == books_.known_for()) co_return Result<void>{};
    auto read = co_await dependencies_.journal.orders(static_cast<int>(max_orders));
    if (!read) co_return read.error();
    known_for_ = books_.known_for();
    last_.clear();
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
    co_return Result<void>{};
}

Task<void> ReservationOrders::settle_begun() {
    if (begun_.empty() || dependencies_.cloud.clock.steady() < begun_again_at_) co_return;
    const auto turn = co_await ordering_.acquire();
    co_await settle_all_begun();
}

/// Before the next order, which may take their marks away.
Task<void> ReservationOrders::settle_all_begun() {
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
ResultTask<void> ReservationOrders::settle_one(OrderRecord& record) {
    auto orders = parse_orders(record.content);
    if (!orders) {
        co_await end_order(record, OrderProgress::not_done, orders.error().what);
        co_return Result<void>{};
    }
    auto done = co_await was_done(record, *orders);
    if (!done) co_return done.error();
    std::string then;
    const TimePoint ends = record.given_at + longest_wait;
    if (*done) {
        co_await end_order(record, OrderProgress::applied, then);
    } else if (any_lent_too(*orders) && dependencies_.cloud.clock.now() < ends) {
        co_await end_order(record, OrderProgress::waiting, record.reason);
        wait_for_tenants(record, std::move(*orders));
        co_return Result<void>{};
    } else {
        co_await end_order(record, OrderProgress::not_done,
                           "it was begun and is not done: the reaper ended, or Placement did not "
                           "answer");
        then = ": " + record.reason;
    }
    const OrderState state = state_of(record);
    co_await note_each(state, then);
    co_return Result<void>{};
}

ResultTask<bool> ReservationOrders::was_done(const OrderRecord& record,
                                             const std::vector<ReservationOrder>& orders) {
    const auto turn = co_await books_.turn();
    std::set<HostId> hosts;
    for (const ReservationOrder& order : orders) hosts.insert(host_of(order));
    bool removed = !record.removes.empty();
    bool marked = false;
    for (const HostId& host : hosts) {
        auto read = co_await books_.read_again(host);
        if (!read) co_return read.error();
        const HostBook& book = books_[host];
        books_.to_look_at().insert(host);
        removed = removed && !holds_any(record.removes, book.records);
        for (const auto& each : book.reservations)
            marked = marked || std::count(each.second.marks.begin(), each.second.marks.end(),
                                          record.mark) > 0;
    }
    co_return marked || removed;
}

/// What was given under that key before; nothing: nothing was, or it was not done.
ResultTask<std::optional<OrderRecord>> ReservationOrders::known_order(const OrderRecord& given) {
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

// ---- those that wait for tenants to go ----

void ReservationOrders::wait_for_tenants(OrderRecord record, std::vector<ReservationOrder> orders) {
    const Duration lasted = dependencies_.cloud.clock.now() - record.given_at;
    const Duration until = dependencies_.cloud.clock.steady() + longest_wait -
                           std::clamp(lasted, Duration{0}, longest_wait);
    Waiting waiting{std::move(record), std::move(orders), until};
    waiting.in_the_way = in_the_way(waiting);
    waiting_.push_back(std::move(waiting));
}

/// No more tenants go than are in the way of what is to be unreserved.
void ReservationOrders::await_tenants(const std::vector<ReservationOrder>& orders,
                                      const std::string& principal) {
    for (const ReservationOrder& order : orders) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        if (gives == nullptr || !gives->lent_too || !books_.contains(gives->host)) continue;
        const HostReservations& here = books_.at(gives->host).reservations;
        const auto lent = lent_of(here, books_.use_now(gives->host), as_allowed(*gives, principal));
        for (const auto& [id, amounts] : lent)
            loans_.take_back(gives->host, id, amounts, std::nullopt,
                             "the room is to be unreserved");
    }
}

/// What is lent of what is to be unreserved, by the cache.
Resources ReservationOrders::in_the_way(const Waiting& waiting) const {
    Resources sum;
    for (const ReservationOrder& order : waiting.orders) {
        const auto* const gives = std::get_if<UnreserveOrder>(&order);
        if (gives == nullptr || !books_.contains(gives->host)) continue;
        const auto lent = lent_of(books_.at(gives->host).reservations, books_.use_now(gives->host),
                                  as_allowed(*gives, waiting.record.principal));
        for (const auto& each : lent) sum += each.second;
    }
    return sum;
}

Task<void> ReservationOrders::try_waiting() {
    std::vector<Waiting> waiting = std::exchange(waiting_, {});
    for (Waiting& each : waiting) {
        const Duration now = dependencies_.cloud.clock.steady();
        const bool due = now >= each.retry_at || now >= each.until;
        if ((!due && in_the_way(each) == each.in_the_way) || !books_.may_write()) {
            waiting_.push_back(std::move(each));
            continue;
        }
        const auto turn = co_await ordering_.acquire();
        const auto idle = without_lent(each.orders);
        auto done = co_await apply(idle, each.record, false);
        const bool unsure = !done && !surely_not_done(done.error().code) &&
                            each.record.progress == OrderProgress::begun;
        // Whether it was still done, the records tell before it is tried again.
        if (unsure) {
            begun_.push_back(std::move(each.record));
            continue;
        }
        bool refused =
            !done && done.error().code != Errc::conflict && surely_not_done(done.error().code);
        if (!done && !refused) {
            // No server goes for what no longer holds when its tenants are gone.
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
        co_await books_.note("reservation", told);
    }
}

}  // namespace reaper
