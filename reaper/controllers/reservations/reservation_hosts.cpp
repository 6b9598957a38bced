// The controller's hosts, one by one: what Placement has of its reservations, and what it is told.
#include <algorithm>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservations/reservation_controller.hpp"
#include "reaper/model/text.hpp"
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
           !dependencies_.is_read_only;
}

/// What is to be written for these reservations, as things are now.
Result<RecordChanges> ReservationController::wanted_now(const HostId& id,
                                                        const HostReservations& reservations,
                                                        const std::string& mark) const {
    const Book& book = books_.at(id);
    const Host* const host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) {
        const Duration now = dependencies_.cloud.clock.steady();
        // The cache may have lost it, as where a part of it can't be read: a later reading of the
        // whole cloud has to lack it, too.
        const bool for_long = book.gone_since && now - *book.gone_since >= gone_for_good &&
                              dependencies_.refresher.build() > book.gone_build;
        return changes_on_gone(book.records, book.reservations, reservations,
                               for_long ? OnGone::release : OnGone::stays, mark);
    }
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
    std::set<ReservationId> ids;
    for (const auto& each : books_[host].records) ids.insert(each.first);
    for (const auto& each : books_[host].reservations) ids.insert(each.first);
    for (const auto& each : books_[host].unsure) ids.insert(each.first);
    for (const ReservationId& id : ids) {
        auto record = co_await read_reservation(dependencies_.cloud.placement, id);
        if (!record) co_return record.error();
        take_in(host, id, std::move(*record));
    }
    books_[host].unsure.clear();
    co_return co_await learn_roles_on(host);
}

/// What Placement has is so, whoever wrote it; only room that was taken from a reservation is its
/// own all the same.
void ReservationController::take_in(const HostId& host, const ReservationId& id, Consumer read) {
    Book& book = books_[host];
    const auto known = book.records.find(id);
    const auto unsure = book.unsure.find(id);
    const auto tell = [&](const std::string& what) {
        if (const auto at = book.reservations.find(id); at != book.reservations.end())
            book.drift.push_back(to_string(at->second.identity, name_of(host)) + what);
    };
    const bool maybe_ours = unsure != book.unsure.end();
    if (read.holds.empty()) {
        if (known == book.records.end()) return;
        if (maybe_ours && unsure->second == Unsure::removed)
            book.reservations.erase(id);
        else
            tell(gone_from_placement);
        book.records.erase(known);
        return;
    }
    const bool as_known = known != book.records.end() && known->second.project == read.project &&
                          known->second.user == read.user;
    if (as_known && known->second.holds != read.holds && !maybe_ours)
        tell(": somebody changed what it holds in Placement, from " +
             amounts_text(sum_of(held_on_host(known->second))) + " to " +
             amounts_text(sum_of(held_on_host(read))));
    if (!as_known) {
        auto theirs = reservation_of(consumer_id_of(id), read);
        if (!theirs) spdlog::warn("reservations: {}", theirs.error().what);
        if (theirs && !theirs->identity.from_config) {
            if (!maybe_ours) tell(": another reaper changed it");
            book.reservations.insert_or_assign(id, std::move(*theirs));
        }
    }
    book.records.insert_or_assign(id, std::move(read));
}

Task<void> ReservationController::report_drift(HostId host) {
    const auto book = books_.find(host);
    if (book == books_.end()) co_return;
    const std::vector<std::string> drift = std::exchange(book->second.drift, {});
    for (const std::string& what : drift) co_await note("reservation-repaired", what);
}

std::string ReservationController::name_of(const HostId& id) const {
    if (const Host* const host = dependencies_.refresher.cache().find(id)) return host->name;
    const auto book = books_.find(id);
    return book == books_.end() || book->second.name.empty() ? id.str() : book->second.name;
}

void ReservationController::note_whether_gone(const HostId& id) {
    Book& book = books_[id];
    const Host* const host = dependencies_.refresher.cache().find(id);
    if (host == nullptr) {
        if (book.gone_since) return;
        book.gone_since = dependencies_.cloud.clock.steady();
        book.gone_build = dependencies_.refresher.build();
        return;
    }
    book.name = host->name;
    book.gone_since.reset();
}

/// For people: what is reserved on a host that Nova does not have.
std::string ReservationController::why_gone(const HostId& id) const {
    const Book& book = books_.at(id);
    std::string why = "host " + printable(id.str(), 64);
    if (!book.name.empty()) why += " (" + printable(book.name, 64) + ")";
    why +=
        " has reservations and is not there any more: they hold nothing there, are owed, and can "
        "be unreserved";
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (!book.name.empty() && host->name == book.name)
            why += "; of its name is " + printable(host->id.str(), 64) +
                   ", on which nothing of them "
                   "is reserved";
    return why;
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
    note_whether_gone(host);
    auto wanted = wanted_now(host, books_[host].reservations, {});
    if (!wanted) co_return wanted.error();
    books_[host].short_of = wanted->short_of;
    const Host* const known = cache.find(host);
    bool changed = false;
    if (!wanted->changes.empty() || !books_[host].unsure.empty() ||
        (known != nullptr && shows_otherwise(*known, books_[host].records))) {
        auto read = co_await read_again(host);
        if (!read) co_return read.error();
        wanted = wanted_now(host, books_[host].reservations, {});
        if (!wanted) co_return wanted.error();
        changed = !wanted->changes.empty();
    }
    co_await report_drift(host);
    if (changed) {
        if (!may_write()) co_return false;
        HostChanges changes;
        changes[host] = {books_[host].reservations, std::move(wanted->changes)};
        auto done = co_await write(std::move(changes));
        if (!done) co_return done.error();
    }
    if (cache.find(host) == nullptr && !books_[host].reservations.empty())
        co_return Error{Errc::not_found, why_gone(host)};
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
        if (!done && !surely_not_done(done.error().code))
            for (const auto& [host, change] : hosts)
                for (const ConsumerChange& each : change.changes)
                    books_[host].unsure[ReservationId{each.id.str()}] =
                        each.wanted.holds.empty() ? Unsure::removed : Unsure::written;
        if (!done) co_return done.error();
    }
    for (auto& [host, change] : hosts) {
        note_whether_gone(host);
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
            remember(book, id, each.wanted);
            each.wanted.generation.reset();  // another one by now: read before the next change
            if (each.wanted.holds.empty())
                book.records.erase(id);
            else
                book.records.insert_or_assign(id, std::move(each.wanted));
        }
        changed_.insert(host);
        to_tell_.insert(host);
        // A reading of the register may have begun meanwhile.
        for (const ConsumerChange& each : change.changes)
            written_.insert(ReservationId{each.id.str()});
    }
    co_await journal_known();
    co_return Result<void>{};
}

}  // namespace reaper
