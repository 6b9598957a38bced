#include "reaper/controllers/reservations/reservation_controller.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

constexpr Duration longest_reading = std::chrono::minutes{1};
constexpr Duration reading_poll{50};

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
      books_(executor, dependencies_),
      loans_(books_, dependencies_),
      orders_(executor, books_, loans_, dependencies_) {}

ResultTask<void> ReservationController::check() {
    if (!dependencies_.settings.enabled || dependencies_.serving() == 0) {
        books_.forget_register();
        loans_.update_ledger();
        co_return Result<void>{};
    }
    if (!dependencies_.refresher.built()) co_return Result<void>{};
    auto known = co_await load();
    if (!known) co_return known.error();
    if (books_.known_for() == 0) co_return Result<void>{};  // there is no register
    if (!dependencies_.is_read_only) {
        co_await configure_all();
        co_await orders_.know_orders();
        co_await orders_.settle_begun();
    }
    readings_left_ = readings_at_a_step;
    for (const HostId& host : due()) {
        if (dependencies_.stopping || dependencies_.serving() != books_.known_for()) break;
        co_await look_at(host);
    }
    co_await orders_.try_waiting();
    loans_.update_ledger();
    co_return Result<void>{};
}

ResultTask<void> ReservationController::read_now() {
    auto known = co_await load();
    if (!known) co_return known.error();
    std::vector<HostId> hosts;
    for (const auto& each : books_.all()) hosts.push_back(each.first);
    for (HostId& host : hosts) {
        auto learned = co_await books_.learn_roles_on(std::move(host));
        if (!learned) co_return learned.error();
    }
    loans_.update_ledger();
    co_return Result<void>{};
}

/// Reads the register, if it is not known or for long.
ResultTask<void> ReservationController::load() {
    const Duration now = dependencies_.cloud.clock.steady();
    const std::uint64_t serving = dependencies_.serving();
    if (!books_.is_due(serving, now)) co_return Result<void>{};
    books_.reading_begins();
    auto reading = co_await read_register(dependencies_.cloud.placement);
    if (!reading) co_return reading.error();
    const auto turn = co_await books_.turn();
    const bool first = books_.take_register(std::move(*reading), serving, now);
    configured_at_ = Duration{};
    if (!first) co_return Result<void>{};
    if (!dependencies_.is_read_only) co_await books_.find_lost();
    co_await loans_.recall();
    co_return Result<void>{};
}

Task<void> ReservationController::until_known() {
    const auto waits = [this] {
        const std::uint64_t serving = dependencies_.serving();
        return dependencies_.settings.enabled && serving != 0 && books_.known_for() != serving &&
               !books_.has_no_register() && !dependencies_.stopping;
    };
    while (waits()) {
        const Duration now = dependencies_.cloud.clock.steady();
        if (awaited_for_ != dependencies_.serving()) {
            awaited_for_ = dependencies_.serving();
            awaited_since_ = now;
        }
        if (now >= awaited_since_ + longest_reading) co_return;
        co_await dependencies_.cloud.clock.sleep(reading_poll);
    }
}

/// What the configuration reserves on the host.
std::map<ReservationId, Reservation> ReservationController::configured_on(const Host& host) const {
    std::map<ReservationId, Reservation> wanted;
    for (const config::StaticReservation& each : dependencies_.settings.static_ones) {
        const auto is_host = [&](const std::string& pattern) {
            return matches_glob(pattern, host.service_host) || matches_glob(pattern, host.name);
        };
        const auto has_host = [&](const std::string& written) {
            const auto& all = host.member_of.get();
            return std::any_of(all.begin(), all.end(), [&](const auto& aggregate) {
                return written == aggregate.first || written == aggregate.second.name;
            });
        };
        if (std::none_of(each.hosts.begin(), each.hosts.end(), is_host) &&
            std::none_of(each.aggregates.begin(), each.aggregates.end(), has_host))
            continue;
        Reservation reservation{
            {host.id, each.role, each.labels, each.principal, true}, each.resources, each.lending};
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
    const auto turn = co_await books_.turn();
    configured_at_ = now;
    std::map<HostId, std::map<ReservationId, Reservation>> wanted;
    for (const auto& each : books_.all())  // hosts that are gone have none
        if (!books_.may_be_lost(each.first)) wanted[each.first];
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (auto here = configured_on(*host); !here.empty()) wanted[host->id] = std::move(here);
    std::map<std::string, std::vector<std::string>> told;  // hosts by what changed there
    for (const auto& [host, here] : wanted) {
        HostBook& book = books_[host];
        HostReservations before = book.reservations;
        const ReservationDelta delta = configure(book.reservations, here);
        if (before == book.reservations) continue;
        books_.to_look_at().insert(host);
        books_.to_tell().insert(host);
        for (const auto& [id, change] : delta) {
            const auto at = book.reservations.find(id);
            const Reservation& what = at == book.reservations.end() ? before.at(id) : at->second;
            if (what.identity.from_config)
                told[changed_amounts(change) + " of " + what.identity.role.str()].push_back(
                    books_.name_of(host));
        }
    }
    for (const auto& [what, hosts] : told)
        co_await books_.note("reservation-configured",
                             "the configuration has " + what + " on " + some_of(hosts));
}

/// Hosts with reservations to which something happened, and those not looked at for long.
std::vector<HostId> ReservationController::due() {
    const Duration now = dependencies_.cloud.clock.steady();
    const auto& log = dependencies_.refresher.cache().index().changes();
    // Without events only its own readings would tell it.
    const bool flowing = dependencies_.refresher.flowing();
    const bool lost = !log.read(seen_, [&](const HostId& host) {
        if (flowing && books_.contains(host)) books_.to_look_at().insert(host);
    });
    // Those first to which something happened. What is as it should be costs no call.
    std::vector<std::tuple<bool, Duration, HostId>> found;
    for (const auto& [host, book] : books_.all()) {
        if ((flowing && lost) || !book.unsure.empty() || !book.drift.empty())
            books_.to_look_at().insert(host);
        const bool long_ago = now - book.looked_at >= dependencies_.settings.interval;
        const bool happened = books_.to_look_at().contains(host);
        if ((long_ago || happened) && book.retry_at <= now)
            found.emplace_back(!happened, book.looked_at, host);
    }
    std::sort(found.begin(), found.end());
    const std::size_t most = flowing ? hosts_at_a_step : readings_at_a_step;
    std::vector<HostId> hosts;
    for (std::size_t i = 0; i < std::min(found.size(), most); ++i)
        hosts.push_back(std::move(std::get<HostId>(found[i])));
    return hosts;
}

Task<void> ReservationController::look_at(HostId host) {
    books_.to_look_at().erase(host);
    const auto turn = co_await books_.turn();
    auto settled = co_await settle(host);
    if (!books_.contains(host)) co_return;
    HostBook& book = books_[host];
    book.looked_at = dependencies_.cloud.clock.steady();
    if (!settled) {
        const Duration pause = book.pause.next();
        book.retry_at = book.looked_at + pause;
        if (book.trouble != settled.error().what)
            spdlog::warn("reservations: trying again in {}: {}", format_duration(pause),
                         settled.error().what);
        book.trouble = settled.error().what;
        books_.to_look_at().insert(host);
        co_return;
    }
    // What was just written shows with the next reading.
    const bool as_before = !*settled;
    if (as_before) co_await loans_.report_loans(host);
    if (as_before) co_await loans_.report_debts(host);
    loans_.end_loans(host);
    co_await report_health(host);
    book.trouble.clear();
    book.retry_at = {};
    book.pause.reset();
    if (book.reservations.empty() && book.records.empty()) books_.all().erase(host);
}

/// Changes what differs; false if nothing does.
ResultTask<bool> ReservationController::settle(HostId host) {
    if (wants_reading(host)) {
        if (readings_left_ > 0) --readings_left_;
        std::vector<HostId> hosts{host};
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
    }
    auto learned = co_await books_.learn_roles_on(host);
    if (!learned) co_return learned.error();
    // The server that room was left for is there: no other one is waited for.
    if (const Host* const there = books_.in_cache(host)) {
        loans_.note_borrowers(*there);
        std::erase_if(books_[host].left, [&](const HostBook::Left& left) {
            return books_.left_on(left, *there).empty();
        });
    }
    books_.note_whether_gone(host);
    auto wanted = books_.wanted_now(host, books_[host].reservations, {});
    if (!wanted) co_return wanted.error();
    books_[host].short_of = wanted->short_of;
    const Host* const known = books_.in_cache(host);
    bool changed = false;
    if (!wanted->changes.empty() || !books_[host].unsure.empty() ||
        (known != nullptr && shows_otherwise(*known, books_[host].records))) {
        auto read = co_await books_.read_again(host);
        if (!read) co_return read.error();
        wanted = books_.wanted_now(host, books_[host].reservations, {});
        if (!wanted) co_return wanted.error();
        changed = !wanted->changes.empty();
    }
    if (changed && !dependencies_.journal_is_ours()) co_return false;
    const auto drift = std::exchange(books_[host].drift, {});
    for (const std::string& what : drift) co_await books_.note("reservation-repaired", what);
    if (changed) {
        if (!books_.may_write()) co_return false;
        HostChanges changes;
        changes[host] = {books_[host].reservations, std::move(wanted->changes)};
        auto done = co_await books_.write(std::move(changes));
        if (!done) co_return done.error();
    }
    if (books_.in_cache(host) == nullptr && !books_[host].reservations.empty())
        co_return Error{Errc::not_found, why_gone(host, books_[host])};
    co_return changed;
}

/// Where no events tell what happened, it is read for each look. Else sometimes where something
/// is missing: not all that frees room has an event, such as the end of a move on the host that was
/// left.
bool ReservationController::wants_reading(const HostId& id) const {
    const Host* const host = books_.in_cache(id);
    if (host == nullptr || !books_.contains(id)) return false;
    if (!dependencies_.refresher.flowing()) return true;
    const TimePoint now = dependencies_.cloud.clock.now();
    if (readings_left_ == 0 || now - host->read_at < dependencies_.settings.interval) return false;
    const auto balances = books_.balances_on(id);
    return std::any_of(balances.begin(), balances.end(),
                       [](const auto& each) { return !each.second.missing().empty(); });
}

/// For people: what is reserved on a host that Nova does not have.
std::string ReservationController::why_gone(const HostId& id, const HostBook& book) const {
    std::string why = "host " + printable(id.str(), 64);
    if (!book.name.empty()) why += " (" + printable(book.name, 64) + ")";
    why +=
        " has reservations and is no longer there: they hold nothing there, are owed, and can "
        "be unreserved";
    for (const Host* const host : dependencies_.refresher.cache().hosts())
        if (!book.name.empty() && host->name == book.name)
            why += "; of its name is " + printable(host->id.str(), 64) +
                   ", on which nothing of them is reserved";
    return why;
}

/// That a host with reservations serves no requests, or does again, is reported once.
Task<void> ReservationController::report_health(HostId id) {
    const Host* const host = books_.in_cache(id);
    HostBook* const book = books_.find(id);
    if (host == nullptr || book == nullptr || book->reservations.empty()) co_return;
    std::string why = why_unusable(*host);
    if (book->unfit == why) co_return;
    const std::string told =
        why.empty() ? "what is reserved on " + printable(host->name, 64) + " can be used again"
                    : why;
    book->unfit = std::move(why);
    co_await books_.note("reservation-trouble", told);
}

}  // namespace reaper
