#include "reaper/controllers/reservation_controller.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>
#include <tuple>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// Whose projects' roles say how the host is used.
std::set<ProjectId> regular_projects(const Host& host) {
    std::set<ProjectId> projects;
    for (const Server& server : host.servers)
        if (!server.revocable()) projects.insert(server.project);
    return projects;
}

}  // namespace

ReservationController::ReservationController(const boost::asio::any_io_executor& executor,
                                             Dependencies dependencies)
    : dependencies_(std::move(dependencies)),
      roles_(dependencies_.cloud, dependencies_.settings),
      writing_(executor, 1) {}

// ---- in the background ----

ResultTask<void> ReservationController::check() {
    if (!dependencies_.settings.enabled || dependencies_.serving() == 0) {
        known_for_ = 0;
        tell_ledger();
        co_return Result<void>{};
    }
    if (!dependencies_.refresher.built()) co_return Result<void>{};
    auto known = co_await know();
    if (!known) co_return known.error();
    if (known_for_ == 0) co_return Result<void>{};  // there is no register
    if (!dependencies_.looks_only) co_await configure_all();
    readings_left_ = readings_at_a_step;
    for (const HostId& host : due()) {
        if (dependencies_.stopping || dependencies_.serving() != known_for_) break;
        co_await look_at(host);
    }
    co_await try_waiting();
    tell_ledger();
    co_return Result<void>{};
}

ResultTask<void> ReservationController::read_now() {
    auto known = co_await know();
    if (!known) co_return known.error();
    std::vector<HostId> hosts;
    for (const auto& each : books_) hosts.push_back(each.first);
    for (HostId& host : hosts) {
        auto learned = co_await learn_roles_on(std::move(host));
        if (!learned) co_return learned.error();
    }
    tell_ledger();
    co_return Result<void>{};
}

/// Reads the register, if it is not known or for long.
ResultTask<void> ReservationController::know() {
    const Duration now = dependencies_.cloud.clock.steady();
    const std::uint64_t serving = dependencies_.serving();
    // Who looks only is not told of what another one writes.
    const Duration anew_after =
        dependencies_.looks_only ? dependencies_.settings.interval : between_readings;
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
        if (!left && book.calm.empty() && book.lent_since.empty() && book.loans.empty()) continue;
        Book& kept = books_[host];
        kept.left = std::move(book.left);
        kept.calm = std::move(book.calm);
        kept.lent_since = std::move(book.lent_since);
        kept.loans = std::move(book.loans);
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
        Book& book = books_[found.reservation.identity.host];
        book.reservations.emplace(id, std::move(found.reservation));
        book.records.emplace(id, std::move(found.record));
        to_tell_.insert(found.reservation.identity.host);
    }
    const bool anew = std::exchange(known_for_, serving) != serving;
    known_at_ = now;
    configured_at_ = Duration{};
    if (anew) co_await know_roles_of_promises();
    if (anew) co_await know_calm();
    if (anew) co_await know_loans();
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
        request.lent_by = ledger.lent_to(id);
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
        reservation.identity.from_config = true;
        reservation.asked = each.resources;
        reservation.lending = each.lending;
        wanted.insert_or_assign(reservation_id(reservation.identity), std::move(reservation));
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
    for (const auto& [host, here] : wanted) {
        Book& book = books_[host];
        HostReservations before = book.reservations;
        configure(book.reservations, here);
        if (before != book.reservations) {
            changed_.insert(host);
            to_tell_.insert(host);
        }
    }
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
    if (as_before) co_await tell_loans(host);
    if (as_before) co_await tell_debts(host);
    end_loans(host);
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

// ---- one host ----

ResultTask<void> ReservationController::learn_roles_on(HostId host) {
    const Host* const known = dependencies_.refresher.cache().find(host);
    if (known == nullptr) co_return Result<void>{};
    auto projects = regular_projects(*known);
    co_return co_await roles_.learn(std::move(projects));
}

HostUse ReservationController::use_now(const HostId& id) const {
    const Book& book = books_.at(id);
    const ReservedAllocations held = held_by(book.records);
    const Host* const host = dependencies_.refresher.cache().find(id);
    HostUse use;
    if (host == nullptr) {
        for (const auto& [reservation, holds] : held) use.held[reservation] = sum_of(holds);
        return use;
    }
    use = use_of(
        *host, held, [this](const ProjectId& project) { return roles_.role_of(project); },
        dependencies_.rooms.ledger());
    use.waiting = all_left_on(book, *host);
    use.free -= use.waiting;
    return use;
}

bool ReservationController::may_write() const {
    return known_for_ != 0 && dependencies_.serving() == known_for_ && !dependencies_.stopping &&
           !dependencies_.looks_only;
}

/// What is to be written for these reservations, as things are now.
Result<RecordChanges> ReservationController::wanted_now(const HostId& id,
                                                        const HostReservations& reservations,
                                                        const std::string& mark) const {
    const Book& book = books_.at(id);
    const Host* const host = dependencies_.refresher.cache().find(id);
    if (host == nullptr)
        return changes_on_gone(book.records, book.reservations, reservations, mark);
    std::map<ReservationId, Resources> next;
    for (auto& [each, balance] : balance_of(reservations, use_now(id))) next[each] = balance.next;
    return changes_on(*host, book.records, book.reservations, reservations, next, mark);
}

/// Its records as Placement has them now, and the host too, if it is there.
ResultTask<void> ReservationController::read_again(HostId host) {
    if (dependencies_.refresher.cache().find(host) != nullptr) {
        std::vector<HostId> hosts{host};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
    }
    std::vector<ReservationId> ids;
    for (const auto& each : books_[host].records) ids.push_back(each.first);
    for (const auto& each : books_[host].reservations)
        if (!books_[host].records.contains(each.first)) ids.push_back(each.first);
    for (const ReservationId& id : ids) {
        auto record = co_await read_reservation(dependencies_.cloud.placement, id);
        if (!record) co_return record.error();
        Book& book = books_[host];
        if (record->holds.empty())
            book.records.erase(id);
        else
            book.records.insert_or_assign(id, std::move(*record));
    }
    co_return co_await learn_roles_on(host);
}

/// Where no events tell what happened, it is read for each look. Else now and then where something
/// is missing: not all that frees room is told, such as the end of a move on the host that was
/// left.
bool ReservationController::wants_reading(const HostId& id) const {
    const Host* const host = dependencies_.refresher.cache().find(id);
    const auto book = books_.find(id);
    if (host == nullptr || book == books_.end()) return false;
    if (!dependencies_.refresher.flowing()) return true;
    const TimePoint now = dependencies_.cloud.clock.now();
    if (readings_left_ == 0 || now - host->read_at < dependencies_.settings.interval) return false;
    const auto balances = balance_of(book->second.reservations, use_now(id));
    return std::any_of(balances.begin(), balances.end(),
                       [](const auto& each) { return !each.second.missing().empty(); });
}

/// Changes what differs; false if nothing does.
ResultTask<bool> ReservationController::settle(HostId host) {
    const CloudCache& cache = dependencies_.refresher.cache();
    if (wants_reading(host)) {
        if (readings_left_ > 0) --readings_left_;
        std::vector<HostId> hosts{host};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
    }
    auto learned = co_await learn_roles_on(host);
    if (!learned) co_return learned.error();
    // Whom room was left for is there: nobody else is waited for.
    if (const Host* const there = cache.find(host)) {
        note_borrowers(*there);
        std::erase_if(books_[host].left,
                      [&](const Left& left) { return left_on(left, *there).empty(); });
    }
    auto wanted = wanted_now(host, books_[host].reservations, {});
    if (!wanted) co_return wanted.error();
    books_[host].short_of = wanted->short_of;
    const Host* const known = cache.find(host);
    bool changed = false;
    if (!wanted->changes.empty() ||
        (known != nullptr && shows_otherwise(*known, books_[host].records))) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
        wanted = wanted_now(host, books_[host].reservations, {});
        if (!wanted) co_return wanted.error();
        changed = !wanted->changes.empty();
    }
    if (changed) {
        if (!may_write()) co_return false;
        HostChanges changes;
        changes[host] = {books_[host].reservations, std::move(wanted->changes)};
        auto done = co_await write(std::move(changes));
        if (!done) co_return done.error();
    }
    if (cache.find(host) == nullptr && !books_[host].reservations.empty())
        co_return Error{Errc::not_found, "host " + printable(host.str(), 64) +
                                             " has reservations and is not there any more"};
    co_return changed;
}

/// In one transaction. All of it holds then, and is looked at once more, by what Placement says.
ResultTask<void> ReservationController::write(HostChanges hosts) {
    std::vector<ConsumerChange> sent;
    for (const auto& [host, change] : hosts)
        sent.insert(sent.end(), change.changes.begin(), change.changes.end());
    for (const ConsumerChange& each : sent) written_.insert(ReservationId{each.id.str()});
    if (!sent.empty()) {
        auto done =
            co_await dependencies_.cloud.placement.set_holdings(std::move(sent), call_deadline);
        if (!done) co_return done.error();
    }
    for (auto& [host, change] : hosts) {
        Book& book = books_[host];
        book.reservations = std::move(change.reservations);
        const auto over = [&](const auto& each) { return !book.reservations.contains(each.first); };
        std::erase_if(book.calm, over);
        std::erase_if(book.asked_back, over);
        std::erase_if(book.lent_since,
                      [&](const ReservationId& id) { return !book.reservations.contains(id); });
        for (ConsumerChange& each : change.changes) {
            const ReservationId id{each.id.str()};
            dependencies_.refresher.note_holdings(host, each.id, held_on_host(each.wanted));
            each.wanted.generation.reset();  // another one by now: read before the next change
            if (each.wanted.holds.empty())
                book.records.erase(id);
            else
                book.records.insert_or_assign(id, std::move(each.wanted));
        }
        changed_.insert(host);
        to_tell_.insert(host);
    }
    co_return Result<void>{};
}

}  // namespace reaper
