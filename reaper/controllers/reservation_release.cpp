// The controller's third part: idle reserved room for a request, of its role or of a revocable
// server, before anybody is deleted for it or it is refused.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservation_controller.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Hosts that are looked at for one request.
constexpr std::size_t most_hosts = 64;
constexpr int max_rounds = 8;
constexpr int max_writes = 3;
/// After a failure, culls go on without.
constexpr Duration release_pause{10'000};

/// The host as if these consumers held so much, and no more, of what they held `before`.
Host with_less(Host host, const ReservedAllocations& before, const ReservedAllocations& then) {
    for (Provider& provider : host.providers)
        for (const auto& [id, held] : before) {
            const auto here = held.find(provider.id);
            if (here == held.end()) continue;
            Resources keeps;
            if (const auto after = then.find(id); after != then.end())
                if (const auto still = after->second.find(provider.id);
                    still != after->second.end())
                    keeps = still->second;
            const auto shown = provider.other_consumers.find(consumer_id_of(id));
            // Of a host that is not read exactly, who holds what is not known.
            if (shown == provider.other_consumers.end() && !host.estimated) continue;
            provider.used -= here->second - keeps;
            if (shown == provider.other_consumers.end()) continue;
            shown->second = keeps;
            if (keeps.empty()) provider.other_consumers.erase(shown);
        }
    return host;
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

ReservationController::Given ReservationController::given_on(const Wish& wish, const HostId& host,
                                                             const Book& book) const {
    Given given;
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

/// At most so much of all classes; none: a slot would not fit even with that.
std::optional<Amount> ReservationController::might_give(const Wish& wish, const HostId& id,
                                                        const Book& book) const {
    const Host* const host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) return std::nullopt;
    Resources held;
    for (const auto& [reservation, record] : book.records)
        if (book.reservations.contains(reservation) && may_give(wish, book, reservation))
            held += sum_of(held_on_host(record));
    if (above_none(held).empty()) return std::nullopt;
    // Where somebody may be deleted besides, what is free tells nothing.
    if (wish.most_victims == 0 && !wish.request.fallback) {
        Resources room = held;
        for (const Provider& provider : host->providers)
            for (const auto& [name, inventory] : provider.inventories)
                room.add(name, inventory.capacity() - provider.used.get(name));
        if (!wish.request.resources.fits_in(room)) return std::nullopt;
    }
    Amount sum = 0;
    for (const auto& each : held) sum += each.second;
    return sum;
}

Host ReservationController::without_given(const Wish& wish, const Host& host) const {
    const Book& book = books_.at(host.id);
    ReservedAllocations before;
    std::map<ReservationId, Resources> next;
    for (const auto& [reservation, amounts] : given_on(wish, host.id, book)) {
        before[reservation] = held_on_host(book.records.at(reservation));
        next[reservation] = sum_of(before[reservation]) - amounts;
    }
    return with_less(host, before, allot(host, before, next));
}

/// Hosts where something is given, without that: for a loan those with least first.
std::vector<Host> ReservationController::hosts_without(const Wish& wish,
                                                       const std::set<HostId>& among,
                                                       const std::set<HostId>& unfit) const {
    using Found = std::pair<Amount, HostId>;
    std::vector<Found> found;
    for (const auto& [id, book] : books_) {
        if ((!among.empty() && !among.contains(id)) || unfit.contains(id)) continue;
        if (const auto most = might_give(wish, id, book)) found.emplace_back(*most, id);
    }
    std::stable_sort(found.begin(), found.end(), [&](const Found& a, const Found& b) {
        return wish.borrowed ? a.first < b.first : a.first > b.first;
    });
    if (found.size() > most_hosts) found.resize(most_hosts);
    std::vector<Host> hosts;
    for (const Found& each : found)
        hosts.push_back(without_given(wish, *dependencies_.refresher.cache().find(each.second)));
    return hosts;
}

std::vector<Host> ReservationController::as_if_given(const Request& request) const {
    std::vector<Host> given;
    if (why_not_known() || (request.role.empty() && !request.borrows)) return given;
    const Wish wish{request, request.borrows, 0, {}, true};
    for (const auto& [id, book] : books_)
        if (const Host* const host = dependencies_.refresher.cache().find(id))
            if (!given_on(wish, id, book).empty()) given.push_back(without_given(wish, *host));
    return given;
}

/// Where so many of its servers as possible fit without anybody being deleted; none.
std::vector<HostPlan> ReservationController::where_it_fits(const Request& request,
                                                           const std::vector<Host>& hosts,
                                                           const Search& search) {
    Request asked = request;
    std::vector<HostPlan> found;
    int fit = 0, too_many = request.slots + 1;
    for (asked.slots = request.slots; fit + 1 < too_many; asked.slots = (fit + too_many) / 2) {
        const Decision decision = search(asked, hosts);
        if (const auto* const there = std::get_if<NothingToDo>(&decision)) {
            found = there->hosts;
            fit = asked.slots;
        } else {
            too_many = asked.slots;
        }
    }
    return found;
}

/// Where the rest comes free with few deletions.
std::vector<HostPlan> ReservationController::where_few_go(const Request& request,
                                                          const std::vector<Host>& hosts,
                                                          const Search& search,
                                                          std::size_t most_victims) {
    if (most_victims == 0) return {};
    const Decision decision = search(request, hosts);
    const auto* const plan = std::get_if<Plan>(&decision);
    const bool enough = plan != nullptr && plan->slots_freed >= plan->slots_requested &&
                        plan->victims().size() <= most_victims;
    return enough ? plan->hosts : std::vector<HostPlan>{};
}

/// On the first host that gives all of it, else wherever it fits.
std::vector<HostPlan> ReservationController::where_least_is_left(const Request& request,
                                                                 const std::vector<Host>& hosts,
                                                                 const Search& search) {
    for (const Host& host : hosts) {
        const Decision decision = search(request, {host});
        if (const auto* const there = std::get_if<NothingToDo>(&decision)) return there->hosts;
    }
    return where_it_fits(request, hosts, search);
}

/// What reservations of the host are to let go of, so that these slots are free.
Resources ReservationController::lacking_on(const Host& host, const HostPlan& plan,
                                            const Wish& wish) const {
    const Request& request = wish.request;
    const Resources& slot = plan.slot.empty() ? request.resources : plan.slot;
    Resources lacking = slot * plan.slots;
    for (const Provider& provider : host.providers)
        for (const auto& [name, inventory] : provider.inventories)
            lacking.add(name, provider.used.get(name) - inventory.capacity());
    const Ledger& ledger = dependencies_.rooms.ledger();
    for (const auto* const promise : ledger.promises_on(host.id))
        if (!ledger.is_for(*promise, request.id)) lacking += promise->slot * promise->open();
    // A borrower waits for nobody's deletion.
    for (const Server& server : host.servers)
        if (!wish.borrowed && is_leaving(server, ledger)) lacking -= held_on(server, host);
    for (const Victim& victim : plan.victims) lacking -= victim.resources;
    Resources of_slot;
    for (const auto& [name, amount] : slot) of_slot.set(name, lacking.get(name));
    return above_none(of_slot);
}

Resources ReservationController::used_by(const Host& host, bool borrowed) const {
    Resources used;
    for (const Server& server : host.servers)
        if (borrowed ? server.revocable()
                     : !server.revocable() && roles_.role_of(server.project).has_value())
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

Task<ReservationController::GivenRoom> ReservationController::release_for(
    Request request, Search search, std::size_t most_victims, Duration until, Giving giving) {
    GivenRoom nothing;
    const Duration now = dependencies_.cloud.clock.steady();
    if (request.role.empty() || why_not_known() || now < release_again_at_) co_return nothing;
    const std::string id = printable(request.id.str());
    Wish wish{std::move(request), false, most_victims, until, giving == Giving::look};
    auto released = co_await let_go(std::move(wish), std::move(search));
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

Task<ReservationController::GivenRoom> ReservationController::lend_to(Request request,
                                                                      Search search, Duration until,
                                                                      Giving giving) {
    GivenRoom none;
    if (!lends() || dependencies_.cloud.clock.steady() < lend_again_at_) co_return none;
    const std::string id = printable(request.id.str());
    Wish wish{std::move(request), true, 0, until, giving == Giving::look};
    auto lent = co_await let_go(std::move(wish), std::move(search));
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
    tell_ledger();
}

/// What would be decided on these hosts of the plans, without what is given on them.
ReservationController::GivenRoom ReservationController::as_if(
    const Request& request, const Search& search, const std::vector<Host>& hosts,
    const std::vector<HostPlan>& plans, const std::vector<std::string>& told) {
    std::vector<Host> chosen;
    for (const Host& host : hosts)
        if (std::any_of(plans.begin(), plans.end(),
                        [&](const HostPlan& plan) { return plan.host == host.id; }))
            chosen.push_back(host);
    GivenRoom given;
    given.would = search(request, chosen);
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

/// Nothing: none can, or all of it is free as it is.
ResultTask<ReservationController::GivenRoom> ReservationController::let_go(Wish wish,
                                                                           Search search) {
    const GivenRoom nothing;
    const Request& request = wish.request;
    const bool borrowed = wish.borrowed;
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
        const auto candidates = hosts_without(wish, among, unfit);
        if (candidates.empty()) co_return nothing;
        auto plans = borrowed ? where_least_is_left(request, candidates, search)
                              : where_it_fits(request, candidates, search);
        if (plans.empty()) plans = where_few_go(request, candidates, search, wish.most_victims);
        if (plans.empty()) co_return nothing;
        std::set<HostId> chosen;
        for (const HostPlan& plan : plans) chosen.insert(plan.host);
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
        HostChanges changes;
        std::map<HostId, Left> left;
        GivenRoom given_room;
        std::vector<std::string> told;
        for (const HostPlan& plan : plans) {
            const Host* const host = dependencies_.refresher.cache().find(plan.host);
            if (host == nullptr) co_return nothing;
            const Book& book = books_[plan.host];
            Resources lacking = lacking_on(*host, plan, wish);
            Left& here = left[plan.host];
            here.amounts = lacking;
            // Whoever is waited for already comes besides.
            here.used_then = used_by(*host, borrowed);
            for (const Left& other : book.left)
                if (other.borrowed == borrowed) here.used_then += left_on(other, *host);
            here.borrowed = borrowed;
            ReservedAllocations before;
            std::map<ReservationId, Resources> next;
            std::vector<std::pair<ReservationId, Resources>> given;
            for (auto& each : given_on(wish, plan.host, book)) given.push_back(std::move(each));
            std::stable_sort(given.begin(), given.end(), [&](const auto& a, const auto& b) {
                return book.reservations.at(a.first).identity.role.depth() >
                       book.reservations.at(b.first).identity.role.depth();
            });
            for (auto& [id, amounts] : given) {
                before[id] = held_on_host(book.records.at(id));
                const Resources part = common(amounts, lacking);
                lacking -= part;
                next[id] = sum_of(before[id]) - part;
            }
            if (!lacking.empty()) {
                unfit.insert(plan.host);
                break;
            }
            for (auto& [id, holds] : allot(*host, before, next)) {
                if (holds == before.at(id)) continue;
                told.push_back((borrowed ? "lends " : "lets go of ") +
                               amounts_text(sum_of(before.at(id)) - sum_of(holds)) + " of " +
                               to_string(book.reservations.at(id).identity, host->name));
                auto record = record_of(book.reservations.at(id), std::move(holds));
                if (!record) co_return record.error();
                record->generation = book.records.at(id).generation;
                HostChange& change = changes[plan.host];
                change.reservations = book.reservations;
                change.changes.push_back({consumer_id_of(id), std::move(*record)});
                given_room.by.insert(id);
            }
        }
        const bool lacks = std::any_of(plans.begin(), plans.end(), [&](const HostPlan& plan) {
            return unfit.contains(plan.host);
        });
        if (lacks) {
            among.clear();
            continue;
        }
        if (changes.empty()) co_return nothing;  // it is free as it is
        if (wish.look || dependencies_.looks_only)
            co_return as_if(request, search, candidates, plans, told);
        if (!may_write()) co_return nothing;
        std::vector<HostId> hosts;
        for (const auto& each : changes) {
            Left& here = left[each.first];
            here.until = dependencies_.cloud.clock.steady() + wish.until;
            books_[each.first].left.push_back(here);
            if (borrowed)
                books_[each.first].lent_since.insert(given_room.by.begin(), given_room.by.end());
            to_tell_.insert(each.first);
            hosts.push_back(each.first);
        }
        ++writes;
        auto done = co_await write(std::move(changes));
        if (!done && done.error().code == Errc::conflict) {
            among.clear();  // somebody was faster: what holds now decides
            for (const HostId& host : hosts)
                if (!books_[host].left.empty()) books_[host].left.pop_back();
            continue;
        }
        if (!done) co_return done.error();
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
        const std::string kind = borrowed ? "loan" : "reservation";
        for (const std::string& each : told) {
            const std::string line = printable(request.id.str()) + ": " + each;
            co_await note(kind, line);
        }
        co_return given_room;
    }
    co_return nothing;
}

}  // namespace reaper
