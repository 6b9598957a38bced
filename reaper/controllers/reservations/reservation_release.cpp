// The controller's third part: idle reserved room for a request, of its role or of a revocable
// server, before anybody is deleted for it or it is refused.
#include <algorithm>
#include <iterator>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

constexpr int max_rounds = 8;
constexpr int max_writes = 3;
/// After a failure, culls go on without.
constexpr Duration release_pause{10'000};

/// Of one request, the last stays.
template <class Left>
void forget_earlier(std::vector<Left>& left, const RequestId& request) {
    const auto last = std::find_if(left.rbegin(), left.rend(),
                                   [&](const Left& each) { return each.request == request; });
    if (last == left.rend()) return;
    left.erase(std::remove_if(left.begin(), std::prev(last.base()),
                              [&](const Left& each) { return each.request == request; }),
               std::prev(last.base()));
}

}  // namespace

// ---- what may be let go of ----

/// All of it for its role and those below; for others what is to be lent, if its role did not come
/// a moment ago.
bool ReservationController::may_give(const Wish& wish, const Book& book,
                                     const ReservationId& id) const {
    const Reservation& reservation = book.reservations.at(id);
    if (!wish.borrowed) return reservation.identity.role.is_open_to(wish.request.role);
    const auto calm = book.calm.find(id);
    return reservation.lending.lend &&
           (calm == book.calm.end() || calm->second.over(dependencies_.cloud.clock.steady()));
}

GivenRoom ReservationController::given_on(const Wish& wish, const HostId& host) const {
    GivenRoom given;
    const Book& book = books_.at(host);
    std::map<ReservationId, ReservationBalance> balances;
    if (wish.borrowed) balances = balance_of(book.reservations, use_now(host));
    for (const auto& [id, record] : book.records) {
        const auto known = book.reservations.find(id);
        if (known == book.reservations.end() || !may_give(wish, book, id)) continue;
        Resources amounts =
            wish.borrowed ? lendable(known->second, balances.at(id)) : sum_of(held_on_host(record));
        if (!above_none(amounts).empty()) given.emplace(id, std::move(amounts));
    }
    return given;
}

/// Hosts with something that might be given, but for those that don't suit the request.
std::vector<IdleRoom> ReservationController::idle_rooms(const Wish& wish, const Search& search,
                                                        const std::set<HostId>& among,
                                                        const std::set<HostId>& unfit) const {
    std::vector<IdleRoom> rooms;
    const CloudCache& cache = dependencies_.refresher.cache();
    std::function<bool(const HostId&)> suits;
    if (search.suitable) suits = search.suitable(wish.request);
    for (const auto& [id, book] : books_) {
        if ((!among.empty() && !among.contains(id)) || unfit.contains(id)) continue;
        const Host* const host = cache.find(id);
        if (host == nullptr || (suits && !suits(id))) continue;
        IdleRoom room{host, {}};
        for (const auto& [reservation, record] : book.records) {
            if (!book.reservations.contains(reservation) || !may_give(wish, book, reservation))
                continue;
            for (const auto& [provider, holds] : record.holds)
                if (provider.str() != reservation_register::provider_id) room.most += holds;
        }
        if (!above_none(room.most).empty()) rooms.push_back(std::move(room));
    }
    return rooms;
}

FoundRoom ReservationController::find_room(const Wish& wish, const Search& search,
                                           const std::set<HostId>& among,
                                           const std::set<HostId>& unfit) const {
    const IdleRoomSearch how{search.decide,
                             [&](const Host& host) { return given_on(wish, host.id); },
                             [&](const Host& host, const GivenRoom& given) {
                                 return without_given(host, books_.at(host.id).records, given);
                             },
                             dependencies_.rooms.ledger()};
    return find_idle_room(wish, idle_rooms(wish, search, among, unfit), how);
}

std::vector<Host> ReservationController::as_if_given(const Request& request) const {
    std::vector<Host> given;
    if (why_not_known() || (request.role.empty() && !request.borrows)) return given;
    const Wish wish{{request, request.borrows, 0}};
    for (const auto& [id, book] : books_) {
        const Host* const host = dependencies_.refresher.cache().find(id);
        if (host == nullptr) continue;
        const GivenRoom here = given_on(wish, id);
        if (!here.empty()) given.push_back(without_given(*host, book.records, here));
    }
    return given;
}

/// By those that he who is waited for may be one of.
Resources ReservationController::used_by_alike(const Left& left, const Host& host) const {
    Resources used;
    for (const Server& server : host.servers)
        if (left.borrowed ? server.revocable()
                          : !server.revocable() && roles_.role_of(server.project) == left.role)
            used += held_on(server, host);
    return used;
}

// ---- letting go ----

Task<Role> ReservationController::role_of(ProjectId project, Giving giving) {
    const Duration now = dependencies_.cloud.clock.steady();
    if (why_not_known() || project.empty()) co_return Role{};
    if (now < roles_again_at_) co_return roles_.role_of(project).value_or(Role{});
    std::set<ProjectId> projects{project};
    const auto learned = co_await roles_.learn(std::move(projects));
    if (!learned && giving == Giving::write) {
        roles_again_at_ = dependencies_.cloud.clock.steady() + release_pause;
        spdlog::warn("whether room is reserved for project {} can't be told anew: {}",
                     printable(project.str(), 64), learned.error().what);
    }
    co_return roles_.role_of(project).value_or(Role{});
}

Task<ReservationController::Release> ReservationController::release_for(Request request,
                                                                        Search search,
                                                                        std::size_t most_victims,
                                                                        Giving giving) {
    Release nothing;
    const Duration now = dependencies_.cloud.clock.steady();
    if (request.role.empty() || why_not_known() || now < release_again_at_) co_return nothing;
    const std::string id = printable(request.id.str());
    Wish wish{{std::move(request), false, most_victims}, giving == Giving::look};
    auto released = co_await release_room(std::move(wish), std::move(search));
    if (released) co_return std::move(*released);
    if (giving == Giving::look) co_return nothing;
    release_again_at_ = dependencies_.cloud.clock.steady() + release_pause;
    log_about({.request = id}, spdlog::level::warn,
              "{}: room that is reserved for it can't be let go of, it is served without: {}", id,
              released.error().what);
    co_return nothing;
}

bool ReservationController::lends() const {
    if (why_not_known()) return false;
    return std::any_of(books_.begin(), books_.end(), [](const auto& each) {
        const HostReservations& here = each.second.reservations;
        return std::any_of(here.begin(), here.end(),
                           [](const auto& known) { return known.second.lending.lend; });
    });
}

Task<ReservationController::Release> ReservationController::lend_to(Request request, Search search,
                                                                    Giving giving) {
    Release none;
    if (!lends() || dependencies_.cloud.clock.steady() < lend_again_at_) co_return none;
    const std::string id = printable(request.id.str());
    Wish wish{{std::move(request), true, 0}, giving == Giving::look};
    auto lent = co_await release_room(std::move(wish), std::move(search));
    if (lent) co_return std::move(*lent);
    if (giving == Giving::look) co_return none;
    lend_again_at_ = dependencies_.cloud.clock.steady() + release_pause;
    log_about({.request = id}, spdlog::level::warn, "{}: nothing can be lent to it: {}", id,
              lent.error().what);
    co_return none;
}

/// The ledger knows what the cache shows: promised room that is claimed by now is not free besides.
void ReservationController::follow_cache() {
    const CloudCache& cache = dependencies_.refresher.cache();
    dependencies_.rooms.observe([&cache](const HostId& id) { return cache.find(id); },
                                cache.index().changes(), dependencies_.cloud.clock.now());
    update_ledger();
}

/// What would be decided where the room is found.
ReservationController::Release ReservationController::as_if(const Request& request,
                                                            const Search& search,
                                                            const FoundRoom& found,
                                                            const std::vector<std::string>& told) {
    Release given;
    given.would = search.decide(request, found.hosts);
    std::string how;
    for (const std::string& each : told) how += (how.empty() ? "" : ", ") + each;
    if (auto* const there = std::get_if<NothingToDo>(&*given.would))
        there->reason += "; for that a reservation " + how;
    else if (auto* const plan = std::get_if<Plan>(&*given.would))
        plan->note += (plan->note.empty() ? "a reservation " : "; a reservation ") + how;
    else
        given.would.reset();
    return given;
}

/// All of the plan's room, but for what its victims hold: that is promised with the plan.
ReservationController::Left ReservationController::room_left_for(const RoomWish& wish,
                                                                 const HostPlan& plan,
                                                                 const Host& host,
                                                                 const Book& book) const {
    Left left;
    left.request = wish.request.id;
    left.amounts = (plan.slot.empty() ? wish.request.resources : plan.slot) * plan.slots;
    for (const Victim& victim : plan.victims) left.amounts -= victim.resources;
    left.amounts = above_none(left.amounts);
    left.borrowed = wish.borrowed;
    if (!wish.borrowed) left.role = wish.request.role;
    left.until = dependencies_.cloud.clock.steady() + dependencies_.promise;
    // Whoever is waited for already comes besides.
    left.used_then = used_by_alike(left, host);
    for (const Left& other : book.left)
        if (other.borrowed == left.borrowed && other.role == left.role &&
            other.request != left.request)
            left.used_then += left_on(other, host);
    for (const Server& server : host.servers)
        if (server.revocable()) left.there.insert(server.id);
    return left;
}

void ReservationController::keep_free_for(const Request& request,
                                          const std::vector<HostPlan>& plans) {
    if (!may_write() || (request.role.empty() && !request.borrows)) return;
    const RoomWish wish{request, request.borrows, 0};
    for (const HostPlan& plan : plans) {
        const Host* const host = dependencies_.refresher.cache().find(plan.host);
        const auto book = books_.find(plan.host);
        if (host == nullptr || book == books_.end()) continue;
        std::vector<Left>& left = book->second.left;
        const bool known = std::any_of(
            left.begin(), left.end(), [&](const Left& each) { return each.request == request.id; });
        if (!known) left.push_back(room_left_for(wish, plan, *host, book->second));
        to_tell_.insert(plan.host);
    }
}

/// What is to be written so that the plans' slots are free; those hosts where it can't be are unfit
/// by then.
Result<ReservationController::Giveaway> ReservationController::giveaway_for(
    const Wish& wish, const std::vector<HostPlan>& plans, std::set<HostId>& unfit) const {
    Giveaway all;
    for (const HostPlan& plan : plans) {
        const Host* const host = dependencies_.refresher.cache().find(plan.host);
        const auto at = books_.find(plan.host);
        if (host == nullptr || at == books_.end()) {
            unfit.insert(plan.host);
            continue;
        }
        const Book& book = at->second;
        all.left.emplace(plan.host, room_left_for(wish, plan, *host, book));
        auto then =
            room_to_release(*host, book.reservations, book.records, given_on(wish, plan.host),
                            lacking_on(*host, plan, wish, dependencies_.rooms.ledger()));
        if (!then) {
            unfit.insert(plan.host);
            continue;
        }
        for (auto& [id, holds] : *then) {
            const Reservation& reservation = book.reservations.at(id);
            const Consumer& known = book.records.at(id);
            all.told.push_back((wish.borrowed ? "lends " : "lets go of ") +
                               amounts_text(sum_of(held_on_host(known)) - sum_of(holds)) + " of " +
                               to_string(reservation.identity, host->name));
            auto record = record_of(reservation, std::move(holds));
            if (!record) return record.error();
            record->generation = known.generation;
            HostChange& change = all.changes[plan.host];
            change.reservations = book.reservations;
            change.changes.push_back({consumer_id_of(id), std::move(*record)});
            all.by.insert(id);
        }
    }
    return all;
}

/// Nothing: none can, or all of it is free as it is.
ResultTask<ReservationController::Release> ReservationController::release_room(Wish wish,
                                                                               Search search) {
    const Release nothing;
    const Request& request = wish.request;
    // Who only looks does so without a pause, and changes nothing.
    std::optional<AsyncSemaphore::Permit> turn;
    if (!wish.look) {
        auto permit = co_await writing_.acquire();
        turn.emplace(std::move(permit));
    }
    std::set<HostId> among, unfit;
    follow_cache();
    int writes = 0;
    for (int rounds = 0; rounds < max_rounds && writes < max_writes; ++rounds) {
        const FoundRoom found = find_room(wish, search, among, unfit);
        if (found.empty() && among.empty()) co_return nothing;
        if (found.empty()) {
            among.clear();  // it was there by the cache alone: others may do
            continue;
        }
        std::set<HostId> chosen;
        for (const HostPlan& plan : found.plans) chosen.insert(plan.host);
        if (chosen != among && !wish.look) {
            // Looked at again as they are now.
            const std::size_t before = unfit.size();
            for (const HostId& host : chosen) {
                auto read = co_await read_again(host);
                if (!read && !unfit.empty()) co_return read.error();
                if (!read) unfit.insert(host);
            }
            follow_cache();
            among = unfit.size() == before ? std::move(chosen) : std::set<HostId>{};
            continue;
        }
        const std::size_t fit_before = unfit.size();
        auto giveaway = giveaway_for(wish, found.plans, unfit);
        if (!giveaway) co_return giveaway.error();
        if (unfit.size() != fit_before) {
            among.clear();
            continue;
        }
        if (giveaway->changes.empty()) co_return nothing;  // it is free as it is
        if (wish.look || dependencies_.is_read_only)
            co_return as_if(request, search, found, giveaway->told);
        if (!may_write()) co_return nothing;
        std::vector<HostId> hosts;
        for (const auto& each : giveaway->left) hosts.push_back(each.first);
        // Before it is free, so that nobody takes it back meanwhile.
        for (auto& [host, left] : giveaway->left) {
            books_[host].left.push_back(std::move(left));
            to_tell_.insert(host);
        }
        const bool promises_nothing = dependencies_.rooms.ledger().promises_of(request.id).empty();
        dependencies_.rooms.promise_released(request, found.plans, dependencies_.cloud.clock.now());
        ++writes;
        auto done = co_await write(std::move(giveaway->changes));
        if (!done && done.error().code == Errc::conflict) {
            among.clear();  // somebody was faster: what holds now decides
            if (promises_nothing) dependencies_.rooms.not_enough(request.id);
            for (const HostId& host : hosts)
                if (!books_[host].left.empty()) books_[host].left.pop_back();
            continue;
        }
        for (const HostId& host : hosts)
            if (done) forget_earlier(books_[host].left, request.id);
        if (wish.borrowed)
            for (const HostId& host : hosts)
                for (const ReservationId& id : giveaway->by)
                    if (books_[host].reservations.contains(id)) books_[host].lent_since.insert(id);
        if (!done && promises_nothing && surely_not_done(done.error().code))
            dependencies_.rooms.not_enough(request.id);
        if (!done) co_return done.error();
        const std::string kind = wish.borrowed ? "loan" : "reservation";
        for (const std::string& each : giveaway->told) {
            const std::string line = printable(request.id.str()) + ": " + each;
            co_await note(kind, line);
        }
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
        Release given;
        given.by = std::move(giveaway->by);
        co_return given;
    }
    co_return nothing;
}

}  // namespace reaper
