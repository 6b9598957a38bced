// The controller's third part: idle reserved room for a request of its role, before anybody is
// deleted for it.
#include <algorithm>
#include <iterator>
#include <spdlog/spdlog.h>
#include <utility>

#include "reaper/controllers/reservation_controller.hpp"
#include "reaper/model/text.hpp"
#include "reaper/reservations/reservation_record.hpp"

namespace reaper {
namespace {

/// Hosts that are looked at for one request, those with most idle room first.
constexpr std::size_t most_hosts = 64;
constexpr int max_rounds = 8;
constexpr int max_writes = 3;
/// After a failure, culls go on without.
constexpr Duration release_pause{10'000};

bool is_positive(const Resources& amounts) {
    return std::any_of(amounts.begin(), amounts.end(),
                       [](const auto& each) { return each.second > 0; });
}

/// The host as if these consumers held nothing on it.
Host without(Host host, const ReservedAllocations& consumers) {
    for (Provider& provider : host.providers)
        for (const auto& [id, held] : consumers) {
            const auto here = held.find(provider.id);
            const auto shown = provider.other_consumers.find(consumer_id_of(id));
            // Of a host that is not read exactly, who holds what is not known.
            if (shown != provider.other_consumers.end()) {
                provider.used -= shown->second;
                provider.other_consumers.erase(shown);
            } else if (host.estimated && here != held.end()) {
                provider.used -= here->second;
            }
        }
    return host;
}

}  // namespace

/// Its reservations that are open to the role, the nearest role first.
std::vector<ReservationId> ReservationController::open_on(const Book& book, const Role& role) {
    std::vector<ReservationId> open;
    for (const auto& [id, reservation] : book.reservations)
        if (book.records.contains(id) && reservation.identity.role.is_open_to(role) &&
            !held_on_host(book.records.at(id)).empty())
            open.push_back(id);
    std::stable_sort(open.begin(), open.end(), [&](const ReservationId& a, const ReservationId& b) {
        return book.reservations.at(a).identity.role.depth() >
               book.reservations.at(b).identity.role.depth();
    });
    return open;
}

/// Hosts where room is held for the role, without that room.
std::vector<Host> ReservationController::hosts_without_it(const Role& role,
                                                          const std::set<HostId>& among) const {
    std::vector<std::pair<Amount, Host>> found;
    for (const auto& [id, book] : books_) {
        if (!among.empty() && !among.contains(id)) continue;
        const Host* const host = dependencies_.refresher.cache().find(id);
        const auto open = open_on(book, role);
        if (host == nullptr || open.empty()) continue;
        Amount idle = 0;
        for (const ReservationId& each : open)
            for (const auto& [provider, held] : held_on_host(book.records.at(each)))
                for (const auto& [name, amount] : held) idle += amount;
        ReservedAllocations theirs;
        for (const ReservationId& each : open) theirs[each] = held_on_host(book.records.at(each));
        found.emplace_back(idle, without(*host, theirs));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    if (found.size() > most_hosts) found.resize(most_hosts);
    std::vector<Host> hosts;
    for (auto& each : found) hosts.push_back(std::move(each.second));
    return hosts;
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

/// What reservations of the host are to let go of, so that these slots are free.
Resources ReservationController::lacking_on(const Host& host, const HostPlan& plan,
                                            const Request& request) const {
    const Resources& slot = plan.slot.empty() ? request.resources : plan.slot;
    Resources lacking = slot * plan.slots;
    for (const Provider& provider : host.providers)
        for (const auto& [name, inventory] : provider.inventories)
            lacking.add(name, provider.used.get(name) - inventory.capacity());
    lacking += dependencies_.ledger.promised_to_others(host.id, request.id);
    Resources positive;
    for (const auto& [name, amount] : slot)
        if (lacking.get(name) > 0) positive.set(name, lacking.get(name));
    return positive;
}

Resources ReservationController::used_by_roles(const Host& host) const {
    Resources used;
    for (const Server& server : host.servers)
        if (!server.revocable() && roles_.role_of(server.project)) used += held_on(server, host);
    return used;
}

Task<bool> ReservationController::release_for(Request request, Search search, Duration until) {
    const Duration now = dependencies_.cloud.clock.steady();
    if (why_not_known() || now < release_again_at_) co_return false;
    const std::string id = printable(request.id.str());
    auto released = co_await try_release(std::move(request), std::move(search), until);
    if (released) co_return *released;
    release_again_at_ = dependencies_.cloud.clock.steady() + release_pause;
    spdlog::warn("{}: whether room is reserved for it can't be told, it is served without: {}", id,
                 released.error().what);
    co_return false;
}

ResultTask<bool> ReservationController::try_release(Request request, Search search,
                                                    Duration until) {
    std::set<ProjectId> projects{request.project};
    auto learned = co_await roles_.learn(std::move(projects));
    if (!learned) co_return learned.error();
    const auto role = roles_.role_of(request.project);
    if (!role) co_return false;
    const auto turn = co_await writing_.acquire();
    std::set<HostId> among;
    int writes = 0;
    for (int rounds = 0; rounds < max_rounds && writes < max_writes; ++rounds) {
        const auto candidates = hosts_without_it(*role, among);
        if (candidates.empty()) co_return false;
        const auto plans = where_it_fits(request, candidates, search);
        if (plans.empty()) co_return false;
        std::set<HostId> chosen;
        for (const HostPlan& plan : plans) chosen.insert(plan.host);
        if (chosen != among) {
            // Looked at again as they are now.
            for (const HostId& host : chosen) {
                auto read = co_await read_again(host);
                if (!read) co_return read.error();
            }
            among = std::move(chosen);
            continue;
        }
        HostChanges changes;
        std::map<HostId, Resources> lacked, used;
        std::vector<std::string> told;
        for (const HostPlan& plan : plans) {
            const Host* const host = dependencies_.refresher.cache().find(plan.host);
            if (host == nullptr) co_return false;
            const Book& book = books_[plan.host];
            Resources lacking = lacking_on(*host, plan, request);
            lacked[plan.host] = lacking;
            used[plan.host] = used_by_roles(*host);
            std::map<ReservationId, Resources> next;
            for (const ReservationId& id : open_on(book, *role)) {
                Resources held;
                for (const auto& each : held_on_host(book.records.at(id))) held += each.second;
                for (const auto& [name, amount] : Resources{lacking}) {
                    const Amount part = std::min(amount, held.get(name));
                    if (part <= 0) continue;
                    held.set(name, held.get(name) - part);
                    lacking.set(name, amount - part);
                }
                next[id] = std::move(held);
            }
            if (is_positive(lacking)) co_return false;
            ReservedAllocations held;
            for (const auto& each : next)
                held[each.first] = held_on_host(book.records.at(each.first));
            const ReservedAllocations before = held;
            for (auto& [id, holds] : allot(*host, held, next)) {
                if (holds == before.at(id)) continue;
                auto record = record_of(book.reservations.at(id), std::move(holds));
                if (!record) co_return record.error();
                record->generation = book.records.at(id).generation;
                HostChange& here = changes[plan.host];
                here.reservations = book.reservations;
                here.changes.push_back({consumer_id_of(id), std::move(*record)});
                told.push_back(to_string(book.reservations.at(id).identity, host->name));
            }
        }
        if (changes.empty() || !may_write()) co_return false;  // or it is free as it is
        std::vector<HostId> hosts;
        for (const auto& each : changes) {
            Book& book = books_[each.first];
            book.left = std::move(lacked[each.first]);
            book.used_then = std::move(used[each.first]);
            book.left_until = dependencies_.cloud.clock.steady() + until;
            hosts.push_back(each.first);
        }
        ++writes;
        auto done = co_await write(std::move(changes));
        if (!done && done.error().code == Errc::conflict) {
            among.clear();  // somebody was faster: what holds now decides
            for (const HostId& host : hosts) books_[host].left_until = {};
            continue;
        }
        if (!done) co_return done.error();
        auto read = co_await dependencies_.refresher.read_hosts(std::move(hosts), HostDepth::state);
        if (!read) co_return read.error();
        for (const std::string& each : told)
            co_await note("reservation", printable(request.id.str()) + ": room of " + each +
                                             " is let go of for it");
        co_return true;
    }
    co_return false;
}

}  // namespace reaper
