#include "reaper/controllers/reservations/reservation_controller.hpp"

#include <algorithm>
#include <cstdlib>
#include <spdlog/spdlog.h>
#include <tuple>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// `3 VCPU more, 5 VGPU less`.
std::string changed_amounts(const Resources& change) {
    Resources more, less;
    for (const auto& [name, amount] : change)
        (amount > 0 ? more : less).set(name, std::abs(amount));
    std::string text = more.empty() ? "" : amounts_text(more) + " more";
    if (!less.empty()) text += (text.empty() ? "" : ", ") + amounts_text(less) + " less";
    return text;
}

std::string some_of(const std::vector<std::string>& hosts) {
    constexpr std::size_t most = 10;
    std::string text = hosts.size() == 1 ? "" : std::to_string(hosts.size()) + " hosts: ";
    for (std::size_t i = 0; i < std::min(hosts.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + printable(hosts[i], 64);
    return text + (hosts.size() > most ? ", ..." : "");
}

/// Two entries of the configuration for one role and its labels: what the one does not lend, the
/// other one does not lend for it.
void add_to(Reservation& known, const Reservation& more) {
    const auto kept = [](const Reservation& each) {
        return each.lending.lend ? each.lending.floor : each.asked;
    };
    LendingPolicy both;
    both.lend = known.lending.lend || more.lending.lend;
    if (both.lend) both.floor = kept(known) + kept(more);
    for (const LendingPolicy& each : {known.lending, more.lending}) {
        const bool shorter = both.longest == Duration{0} || each.longest < both.longest;
        if (each.lend && each.longest > Duration{0} && shorter) both.longest = each.longest;
    }
    known.lending = both;
    known.asked += more.asked;
}

}  // namespace

ReservationController::ReservationController(const boost::asio::any_io_executor& executor,
                                             Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      roles_(dependencies_.cloud, dependencies_.settings),
      ordering_(executor, 1),
      writing_(executor, 1) {}

// ---- in the background ----

ResultTask<void> ReservationController::check() {
    if (!dependencies_.settings.enabled || dependencies_.serving() == 0) {
        known_for_ = 0;
        update_ledger();
        co_return Result<void>{};
    }
    if (!dependencies_.refresher.built()) co_return Result<void>{};
    auto known = co_await load();
    if (!known) co_return known.error();
    if (known_for_ == 0) co_return Result<void>{};  // there is no register
    if (!dependencies_.is_read_only) co_await configure_all();
    if (!dependencies_.is_read_only) {
        co_await know_orders();
        co_await settle_begun();
    }
    readings_left_ = readings_at_a_step;
    for (const HostId& host : due()) {
        if (dependencies_.stopping || dependencies_.serving() != known_for_) break;
        co_await look_at(host);
    }
    co_await try_waiting();
    update_ledger();
    co_return Result<void>{};
}

ResultTask<void> ReservationController::read_now() {
    auto known = co_await load();
    if (!known) co_return known.error();
    std::vector<HostId> hosts;
    for (const auto& each : books_) hosts.push_back(each.first);
    for (HostId& host : hosts) {
        auto learned = co_await learn_roles_on(std::move(host));
        if (!learned) co_return learned.error();
    }
    update_ledger();
    co_return Result<void>{};
}

/// Reads the register, if it is not known or for long.
ResultTask<void> ReservationController::load() {
    const Duration now = dependencies_.cloud.clock.steady();
    const std::uint64_t serving = dependencies_.serving();
    // Who looks only is not told of what another one writes.
    const Duration anew_after =
        dependencies_.is_read_only ? dependencies_.settings.interval : between_readings;
    if (known_for_ == serving && now - known_at_ < anew_after) co_return Result<void>{};
    if (known_for_ == 0 && now < look_again_at_) co_return Result<void>{};
    written_.clear();
    auto reading = co_await read_register(dependencies_.cloud.placement);
    if (!reading) co_return reading.error();
    const auto turn = co_await writing_.acquire();
    if (!reading->set_up)
        reading->remarks.push_back(
            "Placement has no register of reservations: make it with `reaper setup reservations "
            "--apply`");
    if (remarks_ != reading->remarks)
        for (const std::string& remark : reading->remarks) spdlog::warn("reservations: {}", remark);
    remarks_ = std::move(reading->remarks);
    no_register_ = !reading->set_up;
    if (!reading->set_up) {
        known_for_ = 0;
        look_again_at_ = now + longest_pause;
        co_return Result<void>{};
    }
    std::map<HostId, Book> before;
    before.swap(books_);
    for (auto& [host, book] : before) {
        to_tell_.insert(host);
        const bool left = std::any_of(book.left.begin(), book.left.end(),
                                      [&](const Left& each) { return now < each.until; });
        if (!left && book.calm.empty() && book.lent_since.empty() && book.loans.empty() &&
            book.unsure.empty() && !book.gone_since)
            continue;
        Book& kept = books_[host];
        kept.left = std::move(book.left);
        kept.calm = std::move(book.calm);
        kept.lent_since = std::move(book.lent_since);
        kept.loans = std::move(book.loans);
        kept.unsure = book.unsure;
        kept.name = book.name;
        kept.unfit = book.unfit;
        kept.gone_since = book.gone_since;
        kept.gone_build = book.gone_build;
    }
    // Of what was written meanwhile it may tell of before.
    for (const auto& [host, book] : before)
        for (const auto& [id, reservation] : book.reservations) {
            const auto record = book.records.find(id);
            if (!written_.contains(id) || record == book.records.end()) continue;
            books_[host].reservations.emplace(id, reservation);
            books_[host].records.emplace(id, record->second);
        }
    for (auto& [id, found] : reading->reservations) {
        if (written_.contains(id)) continue;
        const HostId host = found.reservation.identity.host;
        Book& book = books_[host];
        book.reservations.emplace(id, std::move(found.reservation));
        book.records.emplace(id, std::move(found.record));
        to_tell_.insert(host);
    }
    const bool anew = std::exchange(known_for_, serving) != serving;
    known_at_ = now;
    // What was there while this reaper served, and is not any more, somebody else deleted.
    for (const auto& [host, book] : before)
        for (const auto& [id, reservation] : book.reservations) {
            // Who looks only is not told of what the other one unreserved.
            if (anew || dependencies_.is_read_only || written_.contains(id)) continue;
            const auto unsure = book.unsure.find(id);
            const bool maybe_removed =
                unsure != book.unsure.end() && unsure->second == Unsure::removed;
            if (reading->reservations.contains(id) || maybe_removed) continue;
            books_[host].reservations.emplace(id, reservation);
            books_[host].drift.push_back(to_string(reservation.identity, name_of(host)) +
                                         gone_from_placement);
            changed_.insert(host);
        }
    configured_at_ = Duration{};
    if (anew && !dependencies_.is_read_only) co_await find_lost();
    if (anew) co_await know_roles_of_promises();
    if (anew) co_await know_calm();
    if (anew) co_await load_loans();
    co_return Result<void>{};
}

/// For whom room is promised, and servers go, since before this process began: nobody else tells
/// whose role it is.
Task<void> ReservationController::know_roles_of_promises() {
    std::map<RequestId, ProjectId> known;
    std::map<RequestId, Role> loans;
    const auto note_loan = [&](const RequestId& request) {
        const auto reservation = reservation_of_loan(request);
        if (!reservation) return;
        for (const auto& [host, book] : books_)
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
        request.role = co_await role_of(std::move(of));
        request.lent_by = ledger.reserved().lent_to(id);
        dependencies_.rooms.admits(request);
    }
}

/// What the configuration reserves on the host.
std::map<ReservationId, Reservation> ReservationController::configured_on(const Host& host) const {
    std::map<ReservationId, Reservation> wanted;
    for (const config::StaticReservation& each : dependencies_.settings.static_ones) {
        const bool named =
            std::any_of(each.hosts.begin(), each.hosts.end(), [&](const std::string& pattern) {
                return matches_glob(pattern, host.service_host) || matches_glob(pattern, host.name);
            });
        const bool member = std::any_of(
            host.member_of.get().begin(), host.member_of.get().end(), [&](const auto& aggregate) {
                return std::any_of(each.aggregates.begin(), each.aggregates.end(),
                                   [&](const std::string& written) {
                                       return written == aggregate.first ||
                                              written == aggregate.second.name;
                                   });
            });
        if (!named && !member) continue;
        Reservation reservation;
        reservation.identity.host = host.id;
        reservation.identity.role = each.role;
        reservation.identity.labels = each.labels;
        reservation.identity.principal = each.principal;
        reservation.identity.from_config = true;
        reservation.asked = each.resources;
        reservation.lending = each.lending;
        const ReservationId id = reservation_id(reservation.identity);
        if (const auto known = wanted.find(id); known != wanted.end())
            add_to(known->second, reservation);
        else
            wanted.emplace(id, std::move(reservation));
    }
    return wanted;
}

Task<void> ReservationController::configure_all() {
    const Duration now = dependencies_.cloud.clock.steady();
    if (configured_at_ != Duration{} && now - configured_at_ < dependencies_.settings.interval)
        co_return;
    const auto turn = co_await writing_.acquire();
    configured_at_ = now;
    std::map<HostId, std::map<ReservationId, Reservation>> wanted;
    for (const auto& each : books_) wanted[each.first];  // hosts that are gone have none
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (auto here = configured_on(*host); !here.empty()) wanted[host->id] = std::move(here);
    std::map<std::string, std::vector<std::string>> told;  // hosts by what changed there
    for (const auto& [host, here] : wanted) {
        Book& book = books_[host];
        HostReservations before = book.reservations;
        const ReservationDelta delta = configure(book.reservations, here);
        if (before == book.reservations) continue;
        changed_.insert(host);
        to_tell_.insert(host);
        for (const auto& [id, change] : delta) {
            const auto at = book.reservations.find(id);
            const Reservation& what = at == book.reservations.end() ? before.at(id) : at->second;
            if (what.identity.from_config)
                told[changed_amounts(change) + " of " + what.identity.role.str()].push_back(
                    name_of(host));
        }
    }
    for (const auto& [what, hosts] : told)
        co_await note("reservation-configured",
                      "the configuration has " + what + " on " + some_of(hosts));
}

/// Hosts with reservations to which something happened, and those not looked at for long.
std::vector<HostId> ReservationController::due() {
    const Duration now = dependencies_.cloud.clock.steady();
    const auto& log = dependencies_.refresher.cache().index().changes();
    // Without events only its own readings would tell it.
    const bool flowing = dependencies_.refresher.flowing();
    const bool lost = !log.read(seen_, [&](const HostId& host) {
        if (flowing && books_.contains(host)) changed_.insert(host);
    });
    if (flowing && lost)
        for (const auto& each : books_) changed_.insert(each.first);
    for (const auto& [host, book] : books_)
        if (!book.unsure.empty() || !book.drift.empty()) changed_.insert(host);
    // Those first to which something happened. What is as it should be costs no call.
    std::vector<std::tuple<bool, Duration, HostId>> found;
    for (const auto& [host, book] : books_) {
        const bool long_ago = now - book.looked_at >= dependencies_.settings.interval;
        const bool happened = changed_.contains(host);
        if ((long_ago || happened) && book.retry_at <= now)
            found.emplace_back(!happened, book.looked_at, host);
    }
    std::sort(found.begin(), found.end());
    const std::size_t most = flowing ? hosts_at_a_step : readings_at_a_step;
    std::vector<HostId> hosts;
    for (auto& [later, looked_at, host] : found) {
        if (hosts.size() == most) break;
        hosts.push_back(std::move(host));
    }
    return hosts;
}

Task<void> ReservationController::look_at(HostId host) {
    changed_.erase(host);
    const auto turn = co_await writing_.acquire();
    auto settled = co_await settle(host);
    const auto at = books_.find(host);
    if (at == books_.end()) co_return;
    Book& book = at->second;
    book.looked_at = dependencies_.cloud.clock.steady();
    if (!settled) {
        try_later(book, settled.error().what);
        changed_.insert(host);
        co_return;
    }
    // What was just written shows with the next reading.
    const bool as_before = !*settled;
    if (as_before) co_await report_loans(host);
    if (as_before) co_await report_debts(host);
    end_loans(host);
    co_await report_health(host);
    book.trouble.clear();
    book.retry_at = {};
    book.pause = GrowingPause{first_pause, longest_pause};
    if (book.reservations.empty() && book.records.empty()) books_.erase(at);
}

void ReservationController::try_later(Book& book, const std::string& what) {
    const Duration pause = book.pause.next();
    book.retry_at = dependencies_.cloud.clock.steady() + pause;
    if (book.trouble != what)
        spdlog::warn("reservations: trying again in {}: {}", format_duration(pause), what);
    book.trouble = what;
}

}  // namespace reaper
