#include "reaper/controllers/reservations/host_books.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// Read side by side.
constexpr std::size_t at_a_time = 8;
/// Nova does not have a host for this time before what is held there is released.
constexpr Duration gone_for_good = std::chrono::minutes{1};
constexpr const char* gone_from_placement =
    ": another client deleted it in Placement; it is reserved again";

Task<void> read_one(Placement& placement, ServerId id, RegisterReading& into,
                    std::optional<Error>& failed) {
    auto record = co_await placement.consumer(id);
    if (!record) {
        failed = record.error();
        co_return;
    }
    if (record->holds.empty()) co_return;  // it is gone since
    auto reservation = reservation_of(id, *record);
    if (!reservation) {
        into.remarks.push_back(reservation.error().what);
        co_return;
    }
    RegisterReading::Found found{std::move(*reservation), std::move(*record)};
    into.reservations.emplace(ReservationId{id.str()}, std::move(found));
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
    using Balance = ReservationBalance;
    for (const auto amounts : {&Balance::used, &Balance::held, &Balance::lent, &Balance::owed,
                               &Balance::taken, &Balance::next, &Balance::beyond})
        known.balance.*amounts += more.balance.*amounts;
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

}  // namespace

ResultTask<RegisterReading> read_register(Placement& placement) {
    RegisterReading reading;
    ProviderId provider{reservation_register::provider_id};
    auto state = co_await placement.room(std::move(provider));
    if (!state && state.error().code == Errc::not_found) {
        reading.set_up = false;
        co_return reading;
    }
    if (!state) co_return state.error();
    std::vector<ServerId> ids;
    for (const auto& each : state->allocations) ids.push_back(each.first);
    std::optional<Error> failed;
    for (std::size_t from = 0; from < ids.size() && !failed; from += at_a_time) {
        std::vector<Task<void>> some;
        for (std::size_t i = from; i < std::min(from + at_a_time, ids.size()); ++i)
            some.push_back(read_one(placement, ids[i], reading, failed));
        co_await run_all(std::move(some));
    }
    if (failed) co_return std::move(*failed);
    std::sort(reading.remarks.begin(), reading.remarks.end());
    co_return reading;
}

std::string why_unusable(const Host& host) {
    if (host.up && host.enabled) return {};
    std::string why = "nova-compute on " + printable(host.name, 64);
    why += host.up ? " is disabled" : " is down";
    if (!host.why_unavailable.empty()) why += " (" + printable(host.why_unavailable, 200) + ")";
    return why + ": no server can use what is reserved there";
}

bool HostNotes::is_of_use(Duration now) const {
    const auto lasts = [&](const Left& each) { return now < each.until; };
    return std::any_of(left.begin(), left.end(), lasts) || !calm.empty() || !lent_since.empty() ||
           !loans.empty() || !unsure.empty() || gone_since;
}

HostBook* HostBooks::find(const HostId& host) {
    const auto at = books_.find(host);
    return at == books_.end() ? nullptr : &at->second;
}

std::string HostBooks::name_of(const HostId& id) const {
    if (const Host* const host = in_cache(id)) return host->name;
    const auto book = books_.find(id);
    return book == books_.end() || book->second.name.empty() ? id.str() : book->second.name;
}

bool HostBooks::is_due(std::uint64_t serving, Duration now) const {
    // A read-only reaper gets no news of what another one writes.
    const Duration due_after =
        dependencies_.is_read_only ? dependencies_.settings.interval : between_readings;
    if (known_for_ == serving && now - known_at_ < due_after) return false;
    return known_for_ != 0 || now >= look_again_at_;
}

bool HostBooks::take_register(RegisterReading reading, std::uint64_t serving, Duration now) {
    if (!reading.set_up)
        reading.remarks.push_back(
            "Placement has no register of reservations: make it with `reaper setup reservations "
            "--apply`");
    if (remarks_ != reading.remarks)
        for (const std::string& remark : reading.remarks) spdlog::warn("reservations: {}", remark);
    remarks_ = std::move(reading.remarks);
    no_register_ = !reading.set_up;
    if (!reading.set_up) {
        known_for_ = 0;
        look_again_at_ = now + HostBook::longest_pause;
        return false;
    }
    std::map<HostId, HostBook> before;
    before.swap(books_);
    for (const auto& [host, book] : before) {
        to_tell_.insert(host);
        if (book.is_of_use(now)) static_cast<HostNotes&>(books_[host]) = book;
        // Of what was written meanwhile it may show an earlier state.
        for (const auto& [id, reservation] : book.reservations) {
            const auto record = book.records.find(id);
            if (!written_.contains(id) || record == book.records.end()) continue;
            books_[host].reservations.emplace(id, reservation);
            books_[host].records.emplace(id, record->second);
        }
    }
    for (auto& [id, found] : reading.reservations) {
        if (written_.contains(id)) continue;
        const HostId host = found.reservation.identity.host;
        books_[host].reservations.emplace(id, std::move(found.reservation));
        books_[host].records.emplace(id, std::move(found.record));
        to_tell_.insert(host);
    }
    const bool first = std::exchange(known_for_, serving) != serving;
    known_at_ = now;
    // A read-only reaper gets no news of what the other one unreserved.
    if (!first && !dependencies_.is_read_only) take_deleted(before, reading);
    return first;
}

/// What was there while this reaper served, and no longer is, another client deleted.
void HostBooks::take_deleted(const std::map<HostId, HostBook>& before,
                             const RegisterReading& reading) {
    for (const auto& [host, book] : before)
        for (const auto& [id, reservation] : book.reservations) {
            const auto unsure = book.unsure.find(id);
            const bool maybe_removed =
                unsure != book.unsure.end() && unsure->second == HostBook::Unsure::removed;
            if (written_.contains(id) || reading.reservations.contains(id) || maybe_removed)
                continue;
            books_[host].reservations.emplace(id, reservation);
            books_[host].drift.push_back(to_string(reservation.identity, name_of(host)) +
                                         gone_from_placement);
            to_look_at_.insert(host);
        }
}

/// What of a change the journal is to have: the configuration's are made again by themselves.
void HostBooks::remember(const HostBook& book, const ReservationId& id, const Consumer& wanted) {
    if (wanted.holds.empty()) {
        known_gone_.push_back(id);
        return;
    }
    const auto before = book.records.find(id);
    const auto at = book.reservations.find(id);
    if (at == book.reservations.end() || at->second.identity.from_config) return;
    if (before != book.records.end() && before->second.user == wanted.user) return;
    known_there_.push_back({id, wanted.project, wanted.user, dependencies_.cloud.clock.now()});
}

Task<void> HostBooks::journal_known() {
    if (known_there_.empty() && known_gone_.empty()) co_return;
    auto there = std::exchange(known_there_, {});
    auto gone = std::exchange(known_gone_, {});
    auto noted =
        co_await dependencies_.journal.note_reservations(std::move(there), std::move(gone));
    if (!noted) spdlog::error("reservations: not journaled: {}", noted.error().what);
}

Task<void> HostBooks::find_lost() {
    auto known = co_await dependencies_.journal.reservations();
    if (!known) {
        spdlog::warn("reservations: whether all are there is not known: {}", known.error().what);
        co_return;
    }
    std::map<ReservationId, const KnownReservation*> journaled;
    for (const KnownReservation& each : *known) journaled.emplace(each.id, &each);
    for (const auto& [host, book] : books_)
        for (const auto& [id, record] : book.records) {
            const auto at = journaled.find(id);
            const bool same = at != journaled.end() && at->second->user == record.user;
            if (at != journaled.end()) journaled.erase(at);
            const auto reservation = book.reservations.find(id);
            if (same || reservation == book.reservations.end() ||
                reservation->second.identity.from_config)
                continue;
            known_there_.push_back(
                {id, record.project, record.user, dependencies_.cloud.clock.now()});
        }
    std::vector<std::string> lost;
    for (const auto& [id, each] : journaled) {
        known_gone_.push_back(id);
        Consumer record;
        record.project = each->project;
        record.user = each->user;
        const auto was = reservation_of(consumer_id_of(id), record);
        if (!was) continue;
        lost.push_back(amounts_text(was->asked) + " of " +
                       to_string(was->identity, name_of(was->identity.host)) +
                       " were reserved by principal " + in_quotes(was->identity.principal) +
                       " when this reaper knew of them last, at " + iso_time(each->at) +
                       ", and are not in Placement: unless unreserved, reserve them again");
    }
    for (const std::string& each : lost) {
        remarks_.push_back(each);
        co_await note("reservation-lost", each);
    }
    co_await journal_known();
}

std::optional<Error> HostBooks::why_not_known() const {
    if (!dependencies_.settings.enabled)
        return Error{Errc::not_found, "reservations.enabled is false"};
    if (known_for_ != 0 && dependencies_.serving() == known_for_) return std::nullopt;
    if (dependencies_.serving() != 0 && no_register_ && !remarks_.empty())
        return Error{Errc::unreachable, remarks_.back()};
    return Error{Errc::unreachable,
                 "this reaper does not serve the queue, or has not read the reservations yet; ask "
                 "the active one, or try again soon"};
}

bool HostBooks::may_write() const {
    return known_for_ != 0 && dependencies_.serving() == known_for_ && !dependencies_.stopping &&
           !dependencies_.is_read_only && dependencies_.journal_is_ours();
}

ResultTask<void> HostBooks::learn_roles_on(HostId host) {
    const Host* const known = in_cache(host);
    if (known == nullptr) co_return Result<void>{};
    std::set<ProjectId> projects;  // whose roles say how the host is used
    for (const Server& server : known->servers)
        if (!server.revocable()) projects.insert(server.project);
    co_return co_await roles_.learn(std::move(projects));
}

Task<Role> HostBooks::role_of(ProjectId project, Giving giving) {
    const Duration now = dependencies_.cloud.clock.steady();
    if (why_not_known() || project.empty()) co_return Role{};
    if (now >= roles_again_at_) {
        std::set<ProjectId> projects{project};
        const auto learned = co_await roles_.learn(std::move(projects));
        if (!learned && giving == Giving::write) {
            roles_again_at_ = dependencies_.cloud.clock.steady() + pause_after_failure;
            spdlog::warn("whether room is still reserved for project {} is not known: {}",
                         printable(project.str(), 64), learned.error().what);
        }
    }
    co_return roles_.role_of(project).value_or(Role{});
}

HostUse HostBooks::use_now(const HostId& id) const {
    const HostBook& book = books_.at(id);
    const ReservedAllocations held = held_by(book.records);
    const Host* const host = in_cache(id);
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

/// What of it he is not there to have.
Resources HostBooks::left_on(const HostBook::Left& left, const Host& host) const {
    Resources still;
    if (dependencies_.cloud.clock.steady() >= left.until) return still;
    const Resources came = used_by_alike(left, host) - left.used_then;
    for (const auto& [name, amount] : left.amounts)
        still.set(name, std::max<Amount>(amount - std::max<Amount>(came.get(name), 0), 0));
    return still;
}

Resources HostBooks::all_left_on(const HostBook& book, const Host& host) const {
    Resources sum;
    for (const HostBook::Left& left : book.left) {
        Resources still = left_on(left, host);
        // Which is not free for any other request anyway.
        for (const auto* const promise : dependencies_.rooms.ledger().promises_of(left.request))
            if (promise->host == host.id) still -= promise->slot * promise->kept();
        sum += above_none(still);
    }
    return sum;
}

/// By those that he who is waited for may be one of.
Resources HostBooks::used_by_alike(const HostBook::Left& left, const Host& host) const {
    Resources used;
    for (const Server& server : host.servers)
        if (left.borrowed ? server.revocable()
                          : !server.revocable() && roles_.role_of(server.project) == left.role)
            used += held_on(server, host);
    return used;
}

HostBook::Left HostBooks::room_left_for(const RoomWish& wish, const HostPlan& plan,
                                        const Host& host) const {
    HostBook::Left left;
    left.request = wish.request.id;
    left.amounts = (plan.slot.empty() ? wish.request.resources : plan.slot) * plan.slots;
    for (const Victim& victim : plan.victims) left.amounts -= victim.resources;
    left.amounts = above_none(left.amounts);
    left.borrowed = wish.borrowed;
    if (!wish.borrowed) left.role = wish.request.role;
    left.until = dependencies_.cloud.clock.steady() + dependencies_.promise;
    // Servers that are waited for already come besides.
    left.used_then = used_by_alike(left, host);
    for (const HostBook::Left& other : books_.at(host.id).left)
        if (other.borrowed == left.borrowed && other.role == left.role &&
            other.request != left.request)
            left.used_then += left_on(other, host);
    for (const Server& server : host.servers)
        if (server.revocable()) left.there.insert(server.id);
    return left;
}

Result<RecordChanges> HostBooks::wanted_now(const HostId& id, const HostReservations& reservations,
                                            const std::string& mark) const {
    const HostBook& book = books_.at(id);
    const Host* const host = in_cache(id);
    if (host == nullptr)
        return changes_on_gone(book.records, book.reservations, reservations,
                               may_be_lost(id) ? OnGone::stays : OnGone::release, mark);
    std::map<ReservationId, Resources> next;
    for (auto& [each, balance] : balance_of(reservations, use_now(id))) next[each] = balance.next;
    return changes_on(*host, book.records, book.reservations, reservations, next, mark);
}

ResultTask<void> HostBooks::read_again(HostId host) {
    if (in_cache(host) != nullptr) {
        std::vector<HostId> hosts{host};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
    }
    std::set<ReservationId> ids;
    for (const auto& each : books_[host].records) ids.insert(each.first);
    for (const auto& each : books_[host].reservations) ids.insert(each.first);
    for (const auto& each : books_[host].unsure) ids.insert(each.first);
    for (const ReservationId& id : ids) {
        auto record = co_await dependencies_.cloud.placement.consumer(consumer_id_of(id));
        if (!record) co_return record.error();
        take_in(host, id, std::move(*record));
    }
    books_[host].unsure.clear();
    co_return co_await learn_roles_on(host);
}

/// What Placement has counts, for any writer; only room that was taken from a reservation is still
/// its own.
void HostBooks::take_in(const HostId& host, const ReservationId& id, Consumer read) {
    HostBook& book = books_[host];
    const auto known = book.records.find(id);
    const auto unsure = book.unsure.find(id);
    const auto tell = [&](const std::string& what) {
        if (const auto at = book.reservations.find(id); at != book.reservations.end())
            book.drift.push_back(to_string(at->second.identity, name_of(host)) + what);
    };
    const bool maybe_ours = unsure != book.unsure.end();
    if (read.holds.empty()) {
        if (known == book.records.end()) return;
        if (maybe_ours && unsure->second == HostBook::Unsure::removed)
            book.reservations.erase(id);
        else
            tell(gone_from_placement);
        book.records.erase(known);
        return;
    }
    const bool as_known = known != book.records.end() && known->second.project == read.project &&
                          known->second.user == read.user;
    if (as_known && known->second.holds != read.holds && !maybe_ours)
        tell(": another client changed what it holds in Placement, from " +
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

ResultTask<void> HostBooks::write(HostChanges hosts) {
    std::vector<ConsumerChange> sent;
    std::set<ProviderId> providers;
    for (const auto& [host, change] : hosts)
        sent.insert(sent.end(), change.changes.begin(), change.changes.end());
    for (const ConsumerChange& each : sent) {
        written_.insert(ReservationId{each.id.str()});
        for (const auto& held : each.wanted.holds) providers.insert(held.first);
    }
    providers.erase(ProviderId{reservation_register::provider_id});  // all have it in common
    if (!sent.empty()) {
        auto turn = co_await dependencies_.turn_for(std::move(providers));
        auto done =
            co_await dependencies_.cloud.placement.set_holdings(std::move(sent), call_deadline);
        turn.reset();
        if (!done && !surely_not_done(done.error().code))
            for (const auto& [host, change] : hosts)
                for (const ConsumerChange& each : change.changes)
                    books_[host].unsure[ReservationId{each.id.str()}] =
                        each.wanted.holds.empty() ? HostBook::Unsure::removed
                                                  : HostBook::Unsure::written;
        if (!done) co_return done.error();
    }
    for (auto& [host, change] : hosts) {
        note_whether_gone(host);
        HostBook& book = books_[host];
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
            written_.insert(id);             // a reading of the register may have begun meanwhile
            each.wanted.generation.reset();  // another one by now: read before the next change
            if (each.wanted.holds.empty())
                book.records.erase(id);
            else
                book.records.insert_or_assign(id, std::move(each.wanted));
        }
        to_look_at_.insert(host);
        to_tell_.insert(host);
    }
    co_await journal_known();
    co_return Result<void>{};
}

void HostBooks::note_whether_gone(const HostId& id) {
    HostBook& book = books_[id];
    const Host* const host = in_cache(id);
    if (host == nullptr) {
        if (book.gone_since) return;
        book.gone_since = dependencies_.cloud.clock.steady();
        book.gone_build = dependencies_.refresher.build();
        return;
    }
    book.name = host->name;
    book.gone_since.reset();
}

bool HostBooks::may_be_lost(const HostId& id) const {
    if (in_cache(id) != nullptr) return false;
    const HostBook& book = books_.at(id);
    const Duration now = dependencies_.cloud.clock.steady();
    return !book.gone_since || now - *book.gone_since < gone_for_good ||
           dependencies_.refresher.build() <= book.gone_build;
}

Task<void> HostBooks::note(const std::string& kind, const std::string& reason) {
    spdlog::info("{}: {}", kind, reason);
    JournalEvent event{kind, reason, dependencies_.cloud.clock.now()};
    auto noted = co_await dependencies_.journal.note_event(std::move(event));
    if (!noted) spdlog::error("not journaled: {}", noted.error().what);
}

std::vector<ReservationView> HostBooks::list() const {
    std::vector<ReservationView> views;
    for (const auto& [id, book] : books_) {
        const Host* const host = in_cache(id);
        const auto balances = balances_on(id);
        std::map<ReservationId, std::vector<const Server*>> tenants;
        if (host != nullptr) tenants = tenants_of(*host, balances, dependencies_.rooms.ledger());
        for (const auto& [reservation, what] : book.reservations) {
            ReservationView view{reservation, what, balances.at(reservation),
                                 host == nullptr ? "" : host->name};
            for (const Server* const tenant : tenants[reservation])
                view.tenants.push_back(tenant->id);
            if (const auto calm = book.calm.find(reservation); calm != book.calm.end())
                view.calm_for = std::max(calm->second.until() - dependencies_.cloud.clock.steady(),
                                         Duration{0});
            view.trouble = book.trouble.empty() ? book.short_of : book.trouble;
            if (host != nullptr && view.trouble.empty()) view.trouble = why_unusable(*host);
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
