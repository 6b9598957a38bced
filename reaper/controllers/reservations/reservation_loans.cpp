#include "reaper/controllers/reservations/reservation_loans.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/log.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper {
namespace {

/// Longer than any calm time lasts that a request waits for.
constexpr Duration remembers_calm = std::chrono::hours{24};
/// A borrower that was refused is taken to come again within.
constexpr Duration comes_again = std::chrono::minutes{1};
/// Tenants that did not go are asked for again.
constexpr Duration ask_back_again = std::chrono::minutes{2};
/// Of the journal, when it is read for what was reported of loans and debts.
constexpr int most_loan_events = 20'000;
constexpr int max_rounds = 8;
constexpr int max_writes = 3;

/// Of one request, the last stays.
void forget_earlier(std::vector<HostBook::Left>& left, const RequestId& request) {
    const auto is_its = [&](const HostBook::Left& each) { return each.request == request; };
    const auto last = std::find_if(left.rbegin(), left.rend(), is_its);
    if (last == left.rend()) return;
    const auto end = std::prev(last.base());
    left.erase(std::remove_if(left.begin(), end, is_its), end);
}

/// What would be decided where the room is found.
ReservationLoans::Release as_if(const Request& request, const ReservationLoans::Search& search,
                                const FoundRoom& found, const std::vector<std::string>& told) {
    ReservationLoans::Release given;
    given.would = search.decide(request, found.hosts);
    const std::string how = joined(told);
    if (auto* const there = std::get_if<NothingToDo>(&*given.would))
        there->reason += "; for that a reservation " + how;
    else if (auto* const plan = std::get_if<Plan>(&*given.would))
        plan->note += (plan->note.empty() ? "a reservation " : "; a reservation ") + how;
    else
        given.would.reset();
    return given;
}

}  // namespace

void ReservationLoans::update_ledger() {
    const CloudCache& cache = dependencies_.refresher.cache();
    const bool lost = !cache.index().changes().read(seen_, [&](const HostId& host) {
        if (books_.contains(host)) books_.to_tell().insert(host);
    });
    const Ledger& ledger = dependencies_.rooms.ledger();
    const bool all = !ledger.changes().read(seen_ledger_, [&](const Ledger::Change& change) {
        if (books_.contains(change.host)) books_.to_tell().insert(change.host);
    });
    if (lost || all ||
        std::exchange(seen_roles_, books_.roles().version()) != books_.roles().version())
        for (const auto& each : books_.all()) books_.to_tell().insert(each.first);
    const auto has_known_role = [&](const Server& server) {
        return server.revocable() || books_.roles().knows(server.project);
    };
    const bool over = !dependencies_.settings.enabled || dependencies_.serving() == 0;
    if (over) books_.to_tell() = told_;
    if (!over && books_.why_not_known()) return;  // what was reported holds until it is known again
    for (const HostId& host : std::exchange(books_.to_tell(), {})) {
        const HostBook* const book = books_.find(host);
        const Host* const there = books_.in_cache(host);
        ReservedRoom::OnHost room;
        if (!over && book != nullptr && there != nullptr) {
            if (!std::all_of(there->servers.begin(), there->servers.end(), has_known_role)) {
                books_.to_look_at().insert(host);  // learnt with the next look
                continue;
            }
            room = reserved_room(*there, book->reservations, books_.balances_on(host), ledger);
        }
        if (room.empty())
            told_.erase(host);
        else
            told_.insert(host);
        dependencies_.rooms.reserved(host, std::move(room));
    }
}

std::set<std::string> ReservationLoans::hosts_lent_by(const Role& role) const {
    std::set<std::string> hosts;
    if (role.empty()) return hosts;
    const ReservedRoom& reserved = dependencies_.rooms.ledger().reserved();
    for (const HostId& id : told_) {
        const Host* const host = books_.in_cache(id);
        if (host == nullptr || !reserved.has_tenants_on(id)) continue;
        for (const Server& server : host->servers) {
            const Role* const lender = reserved.lender_of(server.id);
            if (lender != nullptr && lender->is_open_to(role)) hosts.insert(host->service_host);
        }
    }
    return hosts;
}

// ---- idle room for a request ----

/// All of it for its role and those below; for others what is to be lent, if its role did not come
/// a moment ago.
bool ReservationLoans::may_give(const Wish& wish, const HostBook& book,
                                const ReservationId& id) const {
    const Reservation& reservation = book.reservations.at(id);
    if (!wish.borrowed) return reservation.identity.role.is_open_to(wish.request.role);
    const auto calm = book.calm.find(id);
    return reservation.lending.lend &&
           (calm == book.calm.end() || calm->second.over(dependencies_.cloud.clock.steady()));
}

GivenRoom ReservationLoans::given_on(const Wish& wish, const HostId& host) const {
    GivenRoom given;
    const HostBook& book = books_.at(host);
    std::map<ReservationId, ReservationBalance> balances;
    if (wish.borrowed) balances = books_.balances_on(host);
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
std::vector<IdleRoom> ReservationLoans::idle_rooms(const Wish& wish, const Search& search,
                                                   const std::set<HostId>& among,
                                                   const std::set<HostId>& unfit) const {
    std::vector<IdleRoom> rooms;
    std::function<bool(const HostId&)> suits;
    if (search.suitable) suits = search.suitable(wish.request);
    for (const auto& [id, book] : books_.all()) {
        if ((!among.empty() && !among.contains(id)) || unfit.contains(id)) continue;
        const Host* const host = books_.in_cache(id);
        if (host == nullptr || (suits && !suits(id)) || wish.others.contains(id)) continue;
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

FoundRoom ReservationLoans::find_room(const Wish& wish, const Search& search,
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

std::vector<Host> ReservationLoans::as_if_given(const Request& request) const {
    std::vector<Host> given;
    if (books_.why_not_known() || (request.role.empty() && !request.borrows)) return given;
    const Wish wish{{request, request.borrows, 0}};
    for (const auto& [id, book] : books_.all()) {
        const Host* const host = books_.in_cache(id);
        if (host == nullptr) continue;
        const GivenRoom here = given_on(wish, id);
        if (!here.empty()) given.push_back(without_given(*host, book.records, here));
    }
    return given;
}

Task<ReservationLoans::Release> ReservationLoans::release_for(Request request, Search search,
                                                              std::size_t most_victims,
                                                              Giving giving) {
    Release nothing;
    const Duration now = dependencies_.cloud.clock.steady();
    if (request.role.empty() || books_.why_not_known() || now < release_again_at_)
        co_return nothing;
    const std::string id = printable(request.id.str());
    Wish wish{{std::move(request), false, most_victims}, giving == Giving::look};
    auto released = co_await release_room(std::move(wish), std::move(search));
    if (released) co_return std::move(*released);
    if (giving == Giving::look) co_return nothing;
    release_again_at_ = dependencies_.cloud.clock.steady() + pause_after_failure;
    log_about({.request = id}, spdlog::level::warn,
              "{}: room that is reserved for it can't be released, it is served without: {}", id,
              released.error().what);
    co_return nothing;
}

bool ReservationLoans::lends() const {
    if (books_.why_not_known()) return false;
    for (const auto& [host, book] : books_.all())
        for (const auto& each : book.reservations)
            if (each.second.lending.lend) return true;
    return false;
}

/// Where those would borrow whose project holds less, and was refused a moment ago.
std::set<HostId> ReservationLoans::hosts_of_smaller_shares(const Wish& wish, const Search& search) {
    std::set<HostId> hosts;
    const Duration now = dependencies_.cloud.clock.steady();
    std::erase_if(unmet_, [&](const auto& each) { return now - each.second.at > comes_again; });
    const ProjectId& project = wish.request.project;
    if (unmet_.size() <= unmet_.count(project) || !search.shares) return hosts;
    const auto shares = search.shares();
    if (!shares) return hosts;
    const auto share_of = [&](const ProjectId& of) {
        const auto at = shares->find(of);
        return at == shares->end() ? Amount{0} : at->second;
    };
    for (const auto& [other, unmet] : unmet_) {
        if (share_of(other) >= share_of(project)) continue;
        const Wish theirs{{unmet.request, true, 0}, true, hosts};
        for (const HostPlan& plan : find_room(theirs, search, {}, {}).plans)
            if (hosts.insert(plan.host).second)
                spdlog::info(
                    "{}: no room on {} is lent to it: project {} has a smaller share and "
                    "was refused less than a minute ago",
                    printable(wish.request.id.str()), printable(plan.host_name),
                    printable(other.str()));
    }
    return hosts;
}

Task<ReservationLoans::Release> ReservationLoans::lend_to(Request request, Search search,
                                                          Giving giving) {
    Release none;
    const Duration now = dependencies_.cloud.clock.steady();
    if (!lends() || now < lend_again_at_) co_return none;
    const std::string id = printable(request.id.str());
    const Unmet asks{request, now};
    Wish wish{{std::move(request), true, 0}, giving == Giving::look};
    wish.others = hosts_of_smaller_shares(wish, search);
    auto lent = co_await release_room(std::move(wish), std::move(search));
    if (giving == Giving::write && lent && lent->by.empty())
        unmet_.insert_or_assign(asks.request.project, asks);
    else if (giving == Giving::write && lent)
        unmet_.erase(asks.request.project);
    if (lent) co_return std::move(*lent);
    if (giving == Giving::look) co_return none;
    lend_again_at_ = dependencies_.cloud.clock.steady() + pause_after_failure;
    log_about({.request = id}, spdlog::level::warn, "{}: nothing can be lent to it: {}", id,
              lent.error().what);
    co_return none;
}

/// The ledger knows what the cache shows: promised room that is claimed by now is not free besides.
void ReservationLoans::follow_cache() {
    const CloudCache& cache = dependencies_.refresher.cache();
    dependencies_.rooms.observe([&cache](const HostId& id) { return cache.find(id); },
                                cache.index().changes(), dependencies_.cloud.clock.now());
    update_ledger();
}

void ReservationLoans::keep_free_for(const Request& request, const std::vector<HostPlan>& plans) {
    if (!books_.may_write() || (request.role.empty() && !request.borrows)) return;
    const RoomWish wish{request, request.borrows, 0};
    for (const HostPlan& plan : plans) {
        const Host* const host = books_.in_cache(plan.host);
        HostBook* const book = books_.find(plan.host);
        if (host == nullptr || book == nullptr) continue;
        const auto is_its = [&](const auto& each) { return each.request == request.id; };
        if (std::none_of(book->left.begin(), book->left.end(), is_its))
            book->left.push_back(books_.room_left_for(wish, plan, *host));
        books_.to_tell().insert(plan.host);
    }
}

/// What is to be written so that the plans' slots are free; those hosts where it can't be are unfit
/// by then.
Result<ReservationLoans::Giveaway> ReservationLoans::giveaway_for(
    const Wish& wish, const std::vector<HostPlan>& plans, std::set<HostId>& unfit) const {
    Giveaway all;
    for (const HostPlan& plan : plans) {
        const Host* const host = books_.in_cache(plan.host);
        if (host == nullptr || !books_.contains(plan.host)) {
            unfit.insert(plan.host);
            continue;
        }
        const HostBook& book = books_.at(plan.host);
        all.left.emplace(plan.host, books_.room_left_for(wish, plan, *host));
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
            all.told.push_back((wish.borrowed ? "lends " : "releases ") +
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
ResultTask<ReservationLoans::Release> ReservationLoans::release_room(Wish wish, Search search) {
    const Release nothing;
    const Request& request = wish.request;
    // A read-only call does so without a pause, and changes nothing.
    std::optional<AsyncSemaphore::Permit> turn;
    if (!wish.look) {
        auto permit = co_await books_.turn();
        turn.emplace(std::move(permit));
    }
    std::set<HostId> among, unfit;
    std::vector<HostId> refused;  // by Placement, the last time
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
                auto read = co_await books_.read_again(host);
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
        if (!books_.may_write()) co_return nothing;
        std::vector<HostId> hosts;
        for (const auto& each : giveaway->left) hosts.push_back(each.first);
        // Before it is free, so that no step takes it back meanwhile.
        for (auto& [host, left] : giveaway->left) {
            books_[host].left.push_back(std::move(left));
            books_.to_tell().insert(host);
        }
        const bool promises_nothing = dependencies_.rooms.ledger().promises_of(request.id).empty();
        dependencies_.rooms.promise_released(request, found.plans, dependencies_.cloud.clock.now());
        ++writes;
        auto done = co_await books_.write(std::move(giveaway->changes));
        if (!done && done.error().code == Errc::conflict) {
            among.clear();  // another client was faster: what holds now decides
            if (promises_nothing) dependencies_.rooms.not_enough(request.id);
            for (const HostId& host : hosts)
                if (!books_[host].left.empty()) books_[host].left.pop_back();
            if (hosts == refused) {  // read again in between: it is no lost race
                unfit.insert(hosts.begin(), hosts.end());
                log_about({.request = request.id.str()}, spdlog::level::warn,
                          "{}: room that is reserved on {} can't be given to it: {}",
                          printable(request.id.str()), printable(books_.name_of(hosts.front()), 64),
                          done.error().what);
            }
            refused = std::move(hosts);
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
            co_await books_.note(kind, line);
        }
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
        Release given;
        given.by = std::move(giveaway->by);
        co_return given;
    }
    co_return nothing;
}

// ---- loans ----

void ReservationLoans::on_plan(const Role& role, const Plan& plan) {
    if (role.empty()) return;
    const ReservedRoom& reserved = dependencies_.rooms.ledger().reserved();
    const Duration now = dependencies_.cloud.clock.steady();
    for (const HostPlan& host : plan.hosts) {
        HostBook* const book = books_.find(host.host);
        if (book == nullptr) continue;
        for (const auto& [id, reservation] : book->reservations) {
            const Role& lends = reservation.identity.role;
            const bool tenants =
                std::any_of(host.victims.begin(), host.victims.end(), [&](const Victim& victim) {
                    const Role* const lender = reserved.lender_of(victim.server);
                    return lender != nullptr && *lender == lends;
                });
            if (!tenants || !lends.is_open_to(role)) continue;
            const bool lent = book->lent_since.erase(id) > 0;
            book->calm[id].disturbed(now, dependencies_.settings.calm, lent);
        }
    }
}

void ReservationLoans::take_back(const HostId& host_id, const ReservationId& id,
                                 const std::optional<Resources>& amounts,
                                 const std::optional<Duration>& borrowed_by,
                                 const std::string& why) {
    HostBook& book = books_.at(host_id);
    const Host* const host = books_.in_cache(host_id);
    const Duration now = dependencies_.cloud.clock.steady();
    if (host == nullptr || !books_.may_write()) return;
    const auto balances = books_.balances_on(host_id);
    auto tenants = tenants_of(*host, balances, dependencies_.rooms.ledger());
    const auto theirs = tenants.find(id);
    if (theirs == tenants.end()) return;
    if (borrowed_by)
        std::erase_if(theirs->second, [&](const Server* const tenant) {
            return !book.loans.had_by(tenant->id, *borrowed_by);
        });
    EndedLoan loan = loan_of(book.reservations.at(id), *host,
                             amounts.value_or(balances.at(id).lent), theirs->second);
    if (loan.amounts.empty()) return;
    HostBook::AskedBack& asked = book.asked_back[id];
    const bool same = std::includes(asked.tenants.begin(), asked.tenants.end(),
                                    loan.tenants.begin(), loan.tenants.end());
    if (same && now < asked.at + ask_back_again) return;
    loan.why = why;
    asked = {loan.tenants, now};
    dependencies_.take_back(loan);
}

void ReservationLoans::end_loans(const HostId& host) {
    const Duration now = dependencies_.cloud.clock.steady();
    for (const auto& [id, reservation] : books_.at(host).reservations) {
        const Duration longest = reservation.lending.longest;
        if (reservation.lending.lend && longest > Duration{0})
            take_back(host, id, std::nullopt, now - longest,
                      "they had it for the longest loan, " + format_duration(longest));
    }
}

void ReservationLoans::note_borrowers(const Host& host) {
    HostBook& book = books_.at(host.id);
    const Duration now = dependencies_.cloud.clock.steady();
    for (const HostBook::Left& left : book.left)
        if (left.borrowed) book.loans.note_arrivals(host, left.there, now);
}

Task<void> ReservationLoans::report_loans(HostId id) {
    const Host* const host = books_.in_cache(id);
    HostBook* const book = books_.find(id);
    if (host == nullptr || book == nullptr) co_return;
    Resources lent, missing;
    for (const auto& each : books_.balances_on(id)) {
        lent += each.second.lent;
        missing += each.second.missing();
    }
    const auto told = book->loans.news_of_loans(*host, lent, !missing.empty());
    if (told) co_await books_.note(lent_kind, *told);
}

Task<void> ReservationLoans::report_debts(HostId id) {
    const Host* const host = books_.in_cache(id);
    HostBook* const book = books_.find(id);
    if (host == nullptr || book == nullptr) co_return;
    std::vector<std::string> told;
    const auto role_of = [this](const ProjectId& project) {
        return books_.roles().role_of(project);
    };
    for (const auto& [reservation, balance] : books_.balances_on(id))
        if (auto news = book->loans.news_of_debt(*host, book->reservations.at(reservation),
                                                 balance.taken, role_of))
            told.push_back(std::move(*news));
    for (const std::string& each : told) co_await books_.note(debt_kind, each);
}

// ---- what was before this process began ----

Task<void> ReservationLoans::recall() {
    co_await recall_roles();
    co_await recall_calm();
    co_await recall_loans();
}

/// For whom room is promised, and servers go: no other source tells whose role it is.
Task<void> ReservationLoans::recall_roles() {
    std::map<RequestId, ProjectId> known;
    std::map<RequestId, Role> loans;
    const auto note_loan = [&](const RequestId& request) {
        const auto reservation = reservation_of_loan(request);
        if (!reservation) return;
        for (const auto& [host, book] : books_.all())
            if (const auto at = book.reservations.find(*reservation); at != book.reservations.end())
                loans[request] = at->second.identity.role;
    };
    const Ledger& ledger = dependencies_.rooms.ledger();
    ledger.each_promise([&](const Ledger::Promise& each) {
        if (!each.project.empty()) known[each.request] = each.project;
        note_loan(each.request);
    });
    ledger.each_eviction([&](const Ledger::Eviction& each) { note_loan(each.request); });
    for (const auto& [id, role] : loans) {
        Request request;
        request.id = id;
        request.role = role;
        dependencies_.rooms.admits(request);
    }
    for (const auto& [id, project] : known) {
        Request request;
        request.id = id;
        ProjectId of = project;
        request.role = co_await books_.role_of(std::move(of), Giving::write);
        request.lent_by = ledger.reserved().lent_to(id);
        dependencies_.rooms.admits(request);
    }
}

/// For whom servers went, as the journal has it: as if all of them had been tenants, and the room
/// lent again after each time.
Task<void> ReservationLoans::recall_calm() {
    const TimePoint now = dependencies_.cloud.clock.now();
    const Duration steady = dependencies_.cloud.clock.steady();
    auto culls = co_await dependencies_.journal.culls_since(now - remembers_calm);
    if (!culls) {
        spdlog::warn("reservations: which of them are not to be lent yet is not known: {}",
                     culls.error().what);
        co_return;
    }
    for (const RequestRecord& record : *culls) {
        if (!is_awaited(record.request.source) || record.plans.empty() ||
            now < record.plans.back().at)
            continue;
        ProjectId project = record.request.project;
        const Role role = co_await books_.role_of(std::move(project), Giving::write);
        const auto* const plan = std::get_if<Plan>(&record.plans.back().decision);
        if (plan == nullptr || role.empty()) continue;
        for (const HostPlan& host : plan->hosts) {
            HostBook* const book = books_.find(host.host);
            if (book == nullptr || host.victims.empty()) continue;
            for (const auto& [id, reservation] : book->reservations)
                if (reservation.lending.lend && reservation.identity.role.is_open_to(role))
                    book->calm[id].disturbed(steady - (now - record.plans.back().at),
                                             dependencies_.settings.calm, true);
        }
    }
}

/// Who borrowed, since when, and what is owed.
Task<void> ReservationLoans::recall_loans() {
    const auto events = co_await dependencies_.journal.events(most_loan_events);
    if (!events) {
        spdlog::warn("reservations: who borrowed before is not known, and stays: {}",
                     events.error().what);
        co_return;
    }
    const LoanEvents of_loans = loan_events(*events);
    const Clock& clock = dependencies_.cloud.clock;
    for (auto& [host, book] : books_.all())
        book.loans.recall(host, book.reservations, of_loans, clock.now(), clock.steady());
}

}  // namespace reaper
