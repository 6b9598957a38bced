// The controller's fourth part: who borrows, what the ledger is told of it, and how loans end.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper {
namespace {

/// Longer than any calm time lasts that somebody waits for.
constexpr Duration remembers_calm = std::chrono::hours{24};
/// Of the journal, when it is read for what was told of loans and debts.
constexpr int most_loan_events = 20'000;

}  // namespace

/// What the ledger is to know follows from the cache, which may have changed.
void ReservationController::update_ledger() {
    const CloudCache& cache = dependencies_.refresher.cache();
    const bool lost = !cache.index().changes().read(told_seen_, [&](const HostId& host) {
        if (books_.contains(host)) to_tell_.insert(host);
    });
    const Ledger& ledger = dependencies_.rooms.ledger();
    const bool all = !ledger.changes().read(told_ledger_, [&](const Ledger::Change& change) {
        if (books_.contains(change.host)) to_tell_.insert(change.host);
    });
    if (lost || all || std::exchange(told_roles_, roles_.version()) != roles_.version())
        for (const auto& each : books_) to_tell_.insert(each.first);
    const bool over = !dependencies_.settings.enabled || dependencies_.serving() == 0;
    if (over) to_tell_ = told_;
    if (!over && why_not_known()) return;  // what was told holds until it is known again
    for (const HostId& host : std::exchange(to_tell_, {})) {
        const auto book = books_.find(host);
        const Host* const there = cache.find(host);
        ReservedRoom::OnHost room;
        if (!over && book != books_.end() && there != nullptr) {
            if (!roles_known_on(*there)) {
                changed_.insert(host);  // learnt with the next look
                continue;
            }
            room = reserved_room(*there, book->second.reservations,
                                 balance_of(book->second.reservations, use_now(host)), ledger);
        }
        if (room.empty())
            told_.erase(host);
        else
            told_.insert(host);
        dependencies_.rooms.reserved(host, std::move(room));
    }
}

bool ReservationController::roles_known_on(const Host& host) const {
    return std::all_of(host.servers.begin(), host.servers.end(), [&](const Server& server) {
        return server.revocable() || roles_.knows(server.project);
    });
}

std::set<std::string> ReservationController::hosts_lent_by(const Role& role) const {
    std::set<std::string> hosts;
    if (role.empty()) return hosts;
    const ReservedRoom& reserved = dependencies_.rooms.ledger().reserved();
    for (const HostId& id : told_) {
        const Host* const host = dependencies_.refresher.cache().find(id);
        if (host == nullptr || !reserved.has_tenants_on(id)) continue;
        const bool own =
            std::any_of(host->servers.begin(), host->servers.end(), [&](const Server& server) {
                const Role* const lender = reserved.lender_of(server.id);
                return lender != nullptr && lender->is_open_to(role);
            });
        if (own) hosts.insert(host->service_host);
    }
    return hosts;
}

void ReservationController::on_plan(const Role& role, const Plan& plan) {
    if (role.empty()) return;
    const ReservedRoom& reserved = dependencies_.rooms.ledger().reserved();
    const Duration now = dependencies_.cloud.clock.steady();
    for (const HostPlan& host : plan.hosts) {
        const auto book = books_.find(host.host);
        if (book == books_.end()) continue;
        for (const auto& [id, reservation] : book->second.reservations) {
            const Role& lends = reservation.identity.role;
            const bool tenants =
                std::any_of(host.victims.begin(), host.victims.end(), [&](const Victim& victim) {
                    const Role* const lender = reserved.lender_of(victim.server);
                    return lender != nullptr && *lender == lends;
                });
            if (!tenants || !lends.is_open_to(role)) continue;
            const bool lent = book->second.lent_since.erase(id) > 0;
            book->second.calm[id].disturbed(now, dependencies_.settings.calm, lent);
        }
    }
}

/// For whom servers went before this process began, as the journal has it: as if all of them had
/// been tenants, and the room lent again after each time.
Task<void> ReservationController::know_calm() {
    const TimePoint now = dependencies_.cloud.clock.now();
    const Duration steady = dependencies_.cloud.clock.steady();
    auto culls = co_await dependencies_.journal.culls_since(now - remembers_calm);
    if (!culls) {
        spdlog::warn("reservations: which of them are not to be lent yet can't be told: {}",
                     culls.error().what);
        co_return;
    }
    for (const RequestRecord& record : *culls) {
        if (!is_awaited(record.request.source) || record.plans.empty() ||
            now < record.plans.back().at)
            continue;
        ProjectId project = record.request.project;
        const Role role = co_await role_of(std::move(project));
        const auto* const plan = std::get_if<Plan>(&record.plans.back().decision);
        if (plan == nullptr || role.empty()) continue;
        for (const HostPlan& host : plan->hosts) {
            const auto book = books_.find(host.host);
            if (book == books_.end() || host.victims.empty()) continue;
            for (const auto& [id, reservation] : book->second.reservations)
                if (reservation.lending.lend && reservation.identity.role.is_open_to(role))
                    book->second.calm[id].disturbed(steady - (now - record.plans.back().at),
                                                    dependencies_.settings.calm, true);
        }
    }
}

/// What of it he is not there to have.
Resources ReservationController::left_on(const Left& left, const Host& host) const {
    Resources still;
    if (dependencies_.cloud.clock.steady() >= left.until) return still;
    const Resources came = used_by_alike(left, host) - left.used_then;
    for (const auto& [name, amount] : left.amounts)
        still.set(name, std::max<Amount>(amount - std::max<Amount>(came.get(name), 0), 0));
    return still;
}

Resources ReservationController::all_left_on(const Book& book, const Host& host) const {
    Resources sum;
    for (const Left& left : book.left) {
        Resources still = left_on(left, host);
        // Which is not free for anybody else anyway.
        for (const auto* const promise : dependencies_.rooms.ledger().promises_of(left.request))
            if (promise->host == host.id) still -= promise->slot * promise->kept();
        sum += above_none(still);
    }
    return sum;
}

// ---- the end of loans ----

void ReservationController::take_back(const HostId& host_id, const ReservationId& id,
                                      const std::optional<Resources>& amounts,
                                      const std::optional<TimePoint>& borrowed_by,
                                      const std::string& why) {
    Book& book = books_.at(host_id);
    const Host* const host = dependencies_.refresher.cache().find(host_id);
    const Duration now = dependencies_.cloud.clock.steady();
    if (host == nullptr || !may_write()) return;
    const auto balances = balance_of(book.reservations, use_now(host_id));
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
    AskedBack& asked = book.asked_back[id];
    const bool same = std::includes(asked.tenants.begin(), asked.tenants.end(),
                                    loan.tenants.begin(), loan.tenants.end());
    if (same && now < asked.at + ask_back_again) return;
    loan.why = why;
    asked = {loan.tenants, now};
    dependencies_.take_back(loan);
}

/// Those that lasted as long as they may: of servers that borrowed, and of nobody else who is in
/// the way.
void ReservationController::end_loans(const HostId& host) {
    const TimePoint now = dependencies_.cloud.clock.now();
    for (const auto& [id, reservation] : books_.at(host).reservations) {
        const Duration longest = reservation.lending.longest;
        if (reservation.lending.lend && longest > Duration{0})
            take_back(host, id, std::nullopt, now - longest,
                      "they had it for the longest loan, " + format_duration(longest));
    }
}

/// Revocable servers that came while room that is lent waited for one.
void ReservationController::note_borrowers(const Host& host) {
    Book& book = books_.at(host.id);
    const TimePoint now = dependencies_.cloud.clock.now();
    for (const Left& left : book.left)
        if (left.borrowed) book.loans.note_arrivals(host, left.there, now);
}

/// Loans that begin or end are told once.
Task<void> ReservationController::report_loans(HostId id) {
    const Host* const host = dependencies_.refresher.cache().find(id);
    const auto book = books_.find(id);
    if (host == nullptr || book == books_.end()) co_return;
    Resources lent, missing;
    for (const auto& each : balance_of(book->second.reservations, use_now(id))) {
        lent += each.second.lent;
        missing += each.second.missing();
    }
    const auto told = book->second.loans.news_of_loans(*host, lent, !missing.empty());
    if (told) co_await note(lent_kind, *told);
}

/// Room that others hold and that is a reservation's: who has it, and that it is collected.
Task<void> ReservationController::report_debts(HostId id) {
    const Host* const host = dependencies_.refresher.cache().find(id);
    const auto at = books_.find(id);
    if (host == nullptr || at == books_.end()) co_return;
    Book& book = at->second;
    std::vector<std::string> told;
    const auto role_of = [this](const ProjectId& project) { return roles_.role_of(project); };
    for (const auto& [reservation, balance] : balance_of(book.reservations, use_now(id)))
        if (auto news = book.loans.news_of_debt(*host, book.reservations.at(reservation),
                                                balance.taken, role_of))
            told.push_back(std::move(*news));
    for (const std::string& each : told) co_await note(debt_kind, each);
}

/// What was told before this process began: who borrowed, since when, and what is owed.
Task<void> ReservationController::load_loans() {
    const auto events = co_await dependencies_.journal.events(most_loan_events);
    if (!events) {
        spdlog::warn("reservations: who borrowed before can't be told, and stays: {}",
                     events.error().what);
        co_return;
    }
    const LoanEvents of_loans = loan_events(*events);
    for (auto& [host, book] : books_) book.loans.recall(host, book.reservations, of_loans);
}

}  // namespace reaper
