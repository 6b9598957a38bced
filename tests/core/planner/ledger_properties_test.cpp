// The ledger's promise over any interleaving: requests that come and go, victims that go sooner,
// later or never, users that delete their own, revocable servers that start where there is room.
// The cloud is one that behaves: a server with promised room boots when all that its plan waits for
// is gone, and it must find the room, whatever the others did.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/planner/pending_releases.hpp"
#include "reaper/reservations/reservation_lending.hpp"

namespace reaper::ledger_properties_test {
namespace {

using namespace reaper::testing;

const ResourceClass vcpu{"VCPU"};
const ResourceClass memory{"MEMORY_MB"};

/// A request under way, and what its decision said.
struct UnderWay {
    Request request;
    std::vector<HostPlan> hosts;
    bool deserted = false;  // its requester no longer waits
};

class World {
public:
    explicit World(bool with_reservations = false) : with_reservations_{with_reservations} {
        const int hosts = 1 + upto(1);
        for (int i = 0; i < hosts; ++i) {
            const std::string name = "h" + std::to_string(i);
            Host made = host(name, {{"VCPU", 4 + upto(4)}, {"MEMORY_MB", 512 * (4 + upto(6))}});
            cloud_.hosts.push_back(std::move(made));
        }
        for (int i = 0; i < 8; ++i) start(upto(3) != 0);
    }

    /// For the log of a property that does not hold.
    std::string text() const {
        std::ostringstream out;
        out << now_ << ":";
        for (const auto& host : cloud_.hosts) {
            out << " " << host.name << " uses " << to_string(host.providers[0].used) << " [";
            for (const auto& server : host.servers) {
                out << " " << server.id.str() << "(" << to_string(server.resources()) << ")"
                    << (server.revocable() ? "r" : "") << server.task_state.str();
                if (const auto* eviction = ledger_.eviction(server.id))
                    out << " for " << eviction->request.str();
                if (ledger_.given_up(server.id)) out << " given up";
            }
            out << " ]";
        }
        for (const auto& each : ledger_.promises())
            out << " {" << each.request.str() << " " << each.slots << " of " << to_string(each.slot)
                << " on " << each.host.str() << "}";
        return out.str();
    }

    void step() {
        now_ += 1;
        switch (upto(with_reservations_ ? 14 : 10)) {
            case 0:
            case 1:
            case 2: ask(); break;
            case 3:
            case 4: go_on_with_a_deletion(); break;
            case 5: user_deletes(); break;
            case 6: start(upto(2) != 0); break;
            case 7: end_one(); break;
            case 8: give_up(); break;
            case 9: spare_a_victim(); break;
            case 11:
            case 12: reserve(); break;
            case 13:
            case 14: borrow(); break;
            default: desert(); break;
        }
        RC_LOG() << text() << std::endl;
        read_all();
        for (Host& host : cloud_.hosts) keep(host);
        check();
    }

    std::size_t plans() const { return plans_; }
    std::size_t loans() const { return loans_; }
    std::size_t tenants_gone() const { return tenants_gone_; }

private:
    Host& some_host() {
        return cloud_
            .hosts[static_cast<std::size_t>(upto(static_cast<int>(cloud_.hosts.size()) - 1))];
    }

    Host& host_of(const HostId& id) {
        return *std::find_if(cloud_.hosts.begin(), cloud_.hosts.end(),
                             [&](const Host& h) { return h.id == id; });
    }

    static Amount free_on(const Host& host, const ResourceClass& name) {
        const auto& root = host.providers[0];
        return root.inventories.at(name).capacity() - root.used.get(name);
    }

    static bool fits(const Host& host, const Resources& slot) {
        return std::all_of(slot.begin(), slot.end(), [&](const auto& need) {
            return free_on(host, need.first) >= need.second;
        });
    }

    static Resources some_slot() { return {{"VCPU", 1 + upto(2)}, {"MEMORY_MB", 512 * upto(3)}}; }

    bool going(const Server& server) const {
        return (server.task_state == "deleting" || ledger_.evicting(server.id)) &&
               !ledger_.given_up(server.id);
    }

    /// Servers that are not being deleted, by the rules.
    Amount occupied(const Host& host, const ResourceClass& name) const {
        Amount sum = 0;
        for (const auto& server : host.servers)
            if (!going(server)) sum += server.resources().get(name);
        return sum;
    }

    // ---- what is reserved ----

    std::optional<Role> role_of(const ProjectId& project) const {
        const auto at = roles_.find(project);
        return at == roles_.end() ? std::nullopt : std::optional{at->second};
    }

    std::map<ReservationId, ReservationBalance> balances_on(const Host& host) {
        return balance_of(
            reservations_[host.id],
            use_of(
                host, held_[host.id], [this](const ProjectId& project) { return role_of(project); },
                ledger_));
    }

    /// They hold what they are to hold, and the ledger knows what they lack and the borrowers.
    void keep(Host& host) {
        if (!with_reservations_) return;
        std::map<ReservationId, Resources> next;
        for (auto& [id, balance] : balances_on(host)) next[id] = balance.next;
        hold(host, allot(host, held_[host.id], next));
        ledger_.reserve(host.id,
                        reserved_room(host, reservations_[host.id], balances_on(host), ledger_));
    }

    void hold(Host& host, ReservedAllocations then) {
        for (const auto& [id, holds] : held_[host.id]) host.providers[0].used -= sum_of(holds);
        for (const auto& [id, holds] : then) host.providers[0].used += sum_of(holds);
        held_[host.id] = std::move(then);
    }

    Amount held_by_reservations(const Host& host, const ResourceClass& name) const {
        Amount sum = 0;
        if (const auto at = held_.find(host.id); at != held_.end())
            for (const auto& [id, holds] : at->second) sum += sum_of(holds).get(name);
        return sum;
    }

    static Role some_role() {
        static const std::vector<std::string> paths{"eng", "eng/db", "ads"};
        return Role::parse(paths[static_cast<std::size_t>(upto(2))]).value();
    }

    /// By the configuration, say: what others have in its way is owed.
    void reserve() {
        Host& host = some_host();
        Reservation reservation;
        reservation.identity.host = host.id;
        reservation.identity.role = some_role();
        reservation.lending.lend = true;
        auto& known = reservations_[host.id]
                          .emplace(reservation_id(reservation.identity), reservation)
                          .first->second;
        known.asked = upto(3) == 0 ? Resources{} : known.asked + some_slot();
    }

    /// A reservation releases room, and a revocable server takes it.
    void borrow() {
        Host& host = some_host();
        const Resources slot = some_slot();
        for (const auto& [id, balance] : balances_on(host)) {
            const Resources idle = lendable(reservations_[host.id].at(id), balance);
            const auto holds = held_[host.id].find(id);
            if (holds == held_[host.id].end() || !slot.fits_in(idle)) continue;
            ReservedAllocations then = held_[host.id];
            then[id][host.providers[0].id] -= slot;
            hold(host, std::move(then));
            put(host, revocable("s" + std::to_string(serial_++), host.id, slot, now_));
            ++loans_;
            return;
        }
    }

    /// Room reserved for the request's role is released before any server is deleted.
    void promise_released(const Request& request) {
        for (Host& host : cloud_.hosts) {
            ReservedAllocations then = held_[host.id];
            std::erase_if(then, [&](const auto& each) {
                return reservations_[host.id].at(each.first).identity.role.is_open_to(request.role);
            });
            hold(host, std::move(then));
        }
    }

    // ---- what may happen ----

    /// Nova does not know of promises; we only let it start servers where no request waits for the
    /// room.
    void start(bool as_revocable) {
        Host& host = some_host();
        const Resources slot = some_slot();
        const Shape shape = shape_of(slot);
        const HostRoom room = room_on(host, shape, ledger_, RequestId{"no-such"});
        if (slots_at_once(room, shape, room.room_now(), 1) < 1) return;
        RC_ASSERT(fits(host, slot));
        const std::string id = "s" + std::to_string(serial_++);
        put(host, as_revocable ? revocable(id, host.id, slot, now_) : server(id, host.id, slot));
    }

    void ask() {
        Request wanted = request(some_slot(), 1 + upto(1), "req-" + std::to_string(serial_++));
        wanted.project = ProjectId{wanted.id.str()};
        if (with_reservations_ && upto(1) == 0) {
            wanted.role = some_role();
            roles_[wanted.project] = wanted.role;
        }
        UnderWay one;
        one.request = wanted;
        if (decide(one)) under_way_.emplace(wanted.id, std::move(one));
    }

    /// Slots that are there without a further victim, by plain arithmetic.
    Amount slots_there(const Request& request) const {
        Amount all = 0;
        for (const auto& host : cloud_.hosts)
            all += std::max<Amount>(slots_there_on(host, request), 0);
        return all;
    }

    Amount slots_there_on(const Host& host, const Request& request) const {
        Amount scarcest = 1'000;
        for (const auto& [name, amount] : request.resources) {
            if (amount == 0) continue;
            const Amount room = host.providers[0].inventories.at(name).capacity() -
                                occupied(host, name) - held_by_reservations(host, name) -
                                ledger_.promised_to_others(host.id, request.id).get(name);
            scarcest = std::min(scarcest, std::max<Amount>(room, 0) / amount);
        }
        return scarcest;
    }

    bool decide(UnderWay& one) {
        ledger_.admit(one.request);
        if (!one.request.role.empty()) promise_released(one.request);
        const auto decision =
            plan(one.request, cloud_, {}, ledger_, upto(1) == 0 ? "cost" : "strict");
        const Amount there = slots_there(one.request);
        RC_ASSERT(std::holds_alternative<NothingToDo>(decision) == (there >= one.request.slots));
        if (std::holds_alternative<NotEnough>(decision)) {
            ledger_.release_promises(one.request.id);
            return false;
        }
        if (const auto* made = std::get_if<Plan>(&decision)) {
            ++plans_;
            for (const auto& victim : made->victims()) {
                RC_ASSERT(!ledger_.evicting(victim.server));
                const Role* const lender = ledger_.reserved().lender_of(victim.server);
                const bool may_go = lender == nullptr || lender->is_open_to(one.request.role);
                RC_ASSERT(may_go);
                tenants_gone_ += lender != nullptr ? 1 : 0;
            }
            one.hosts = made->hosts;
        } else {
            one.hosts = std::get<NothingToDo>(decision).hosts;
        }
        // What is owed to reservations may come free by others than those that a plan rests on.
        if (!with_reservations_) check_what_it_rests_on(one);
        ledger_.enter(one.request, one.hosts, at(now_));
        return true;
    }

    /// The slots are there when the victims and the pending are gone, beside what all others are
    /// promised; and without any one of the pending there are fewer.
    void check_what_it_rests_on(const UnderWay& one) {
        for (const auto& on_host : one.hosts) {
            std::set<ServerId> gone;
            for (const auto& victim : on_host.victims) gone.insert(victim.server);
            for (const auto& each : on_host.pending_releases)
                RC_ASSERT(gone.insert(each.server).second);
            RC_ASSERT(rests_on(one.request, on_host, gone));
            for (const auto& each : on_host.pending_releases) {
                gone.erase(each.server);
                RC_ASSERT(!rests_on(one.request, on_host, gone));
                gone.insert(each.server);
            }
        }
    }

    /// True if the slots fit when only `gone` go, and no other promise is touched: what a
    /// request's own victims bring stands for its promise first.
    bool rests_on(const Request& request, const HostPlan& on_host, const std::set<ServerId>& gone) {
        const Host& host = host_of(on_host.host);
        for (const auto& [name, amount] : request.resources) {
            Amount room = free_on(host, name);
            std::map<RequestId, Amount> brought;
            for (const auto& server : host.servers) {
                const Amount held = server.resources().get(name);
                if (gone.contains(server.id))
                    room += held;
                else if (const auto* eviction = ledger_.eviction(server.id);
                         eviction != nullptr && eviction->counted && going(server))
                    brought[eviction->request] += held;
            }
            std::map<RequestId, Amount> promised;
            for (const auto& promise : ledger_.promises())
                if (promise.host == host.id && promise.request != request.id)
                    promised[promise.request] += promise.slot.get(name) * promise.slots;
            for (const auto& [other, all] : promised)
                room -= std::max<Amount>(all - brought[other], 0);
            if (amount > 0 && room < amount * on_host.slots) return false;
        }
        return true;
    }

    void remove(Host& host, const ServerId& id) {
        const auto at = std::find_if(host.servers.begin(), host.servers.end(),
                                     [&](const Server& s) { return s.id == id; });
        host.providers[0].used -= at->resources();
        host.servers.erase(at);
    }

    void go_on_with_a_deletion() {
        Host& host = some_host();
        std::vector<ServerId> leaving;
        for (const auto& server : host.servers)
            if (server.task_state == "deleting" || ledger_.evicting(server.id))
                leaving.push_back(server.id);
        if (leaving.empty()) return;
        remove(host, leaving[static_cast<std::size_t>(upto(static_cast<int>(leaving.size()) - 1))]);
    }

    void user_deletes() {
        Host& host = some_host();
        if (host.servers.empty()) return;
        host.servers[static_cast<std::size_t>(upto(static_cast<int>(host.servers.size()) - 1))]
            .task_state = "deleting";
    }

    bool is_there(const HostId& host, const ServerId& server) {
        const auto& servers = host_of(host).servers;
        return std::any_of(servers.begin(), servers.end(),
                           [&](const Server& s) { return s.id == server; });
    }

    UnderWay* some_request() {
        if (under_way_.empty()) return nullptr;
        auto at = under_way_.begin();
        std::advance(at, upto(static_cast<int>(under_way_.size()) - 1));
        return &at->second;
    }

    /// All that it waits for is gone: it boots, and finds its room.
    void end_one() {
        UnderWay* const one = some_request();
        if (one == nullptr) return;
        for (const auto& on_host : one->hosts) {
            for (const auto& each : on_host.pending_releases)
                if (is_there(on_host.host, each.server)) return;
            for (const auto& victim : on_host.victims)
                if (is_there(on_host.host, victim.server)) return;
        }
        // What it let die in earlier rounds may still be going: Nova shows that.
        for (const auto& eviction : ledger_.evictions())
            if (eviction.request == one->request.id)
                for (auto& server : host_of(eviction.host).servers)
                    if (server.id == eviction.server) server.task_state = "deleting";
        ledger_.settle(one->request.id, at(now_), at(now_ + 1'000));
        if (!one->deserted)
            for (const auto& on_host : one->hosts)
                for (int i = 0; i < on_host.slots; ++i) boot(*one, on_host.host);
        under_way_.erase(one->request.id);
    }

    void boot(const UnderWay& one, const HostId& where) {
        Host& host = host_of(where);
        RC_ASSERT(fits(host, one.request.resources));
        Server booted =
            server("s" + std::to_string(serial_++), host.id, one.request.resources, now_);
        booted.project = one.request.project;
        put(host, std::move(booted));
        ++booted_[one.request.id];
    }

    /// At its deadline: what is still there counts as occupied, and it plans again.
    void give_up() {
        UnderWay* const one = some_request();
        if (one == nullptr || one->deserted) return;
        for (const auto& on_host : one->hosts)
            for (const auto& each : on_host.pending_releases)
                if (is_there(on_host.host, each.server)) {
                    ledger_.give_up_on(on_host.host, each.server, at(now_));
                    broken_.insert(on_host.host);
                }
        plan_again(*one);
    }

    void plan_again(UnderWay& one) {
        if (!decide(one)) under_way_.erase(one.request.id);
    }

    /// A victim turns out unfit: it stays, and its request plans again.
    void spare_a_victim() {
        UnderWay* const one = some_request();
        if (one == nullptr || one->deserted) return;
        for (const auto& on_host : one->hosts)
            for (const auto& victim : on_host.victims) {
                if (!is_there(on_host.host, victim.server)) continue;
                ledger_.drop_eviction(victim.server);
                for (auto& server : host_of(on_host.host).servers)
                    if (server.id == victim.server) server.task_state = "migrating";
                broken_.insert(on_host.host);
                plan_again(*one);
                return;
            }
    }

    /// The requester goes away: before a deletion all is as it was; later the victims go on going.
    void desert() {
        UnderWay* const one = some_request();
        if (one == nullptr) return;
        if (upto(1) == 0) {
            for (const auto& eviction : ledger_.evictions())
                if (eviction.request == one->request.id) broken_.insert(eviction.host);
            ledger_.release(one->request.id);
            under_way_.erase(one->request.id);
        } else {
            ledger_.release_promises(one->request.id);
            one->deserted = true;
        }
    }

    void read_all() {
        for (auto& host : cloud_.hosts)
            if (upto(1) == 0) {
                host.read_at = at(now_);
                std::sort(host.servers.begin(), host.servers.end(),
                          [](const Server& a, const Server& b) { return a.id < b.id; });
            }
        for (const auto& settled : ledger_.expire(cloud_, at(now_))) {
            RC_ASSERT(settled.taken_by.has_value());
            RC_ASSERT(--booted_[settled.request] >= 0);
        }
    }

    // ---- what must always be true ----

    void check() {
        std::set<ServerId> evicting;
        for (const auto& eviction : ledger_.evictions())
            RC_ASSERT(evicting.insert(eviction.server).second);
        for (const auto& host : cloud_.hosts)
            for (const auto& name : {vcpu, memory}) {
                Amount regular = 0;
                Amount revocable = 0;
                Amount leaving = 0;
                for (const auto& server : host.servers)
                    (going(server)        ? leaving
                     : server.revocable() ? revocable
                                          : regular) += server.resources().get(name);
                const Amount capacity = host.providers[0].inventories.at(name).capacity();
                const Amount held = held_by_reservations(host, name);
                RC_ASSERT(capacity >= regular + revocable + leaving + held);
                // Where no deletion was taken back or given up on, all that is promised is there.
                if (!broken_.contains(host.id))
                    RC_ASSERT(capacity - regular - revocable - held >=
                              ledger_.promised_to_requests(host.id).get(name));
            }
    }

    Snapshot cloud_{at(0), {}, {}};
    Ledger ledger_;
    std::map<RequestId, UnderWay> under_way_;
    std::map<RequestId, int> booted_;  // not told of yet
    std::set<HostId> broken_;
    long now_ = 0;
    int serial_ = 0;
    std::size_t plans_ = 0;
    const bool with_reservations_;
    std::map<HostId, HostReservations> reservations_;
    std::map<HostId, ReservedAllocations> held_;
    std::map<ProjectId, Role> roles_;
    std::size_t loans_ = 0;
    std::size_t tenants_gone_ = 0;
};

TEST(LedgerProperties, WhateverHappensInWhateverOrderNoRoomIsCountedTwice) {
    holds("capacity >= occupied + occupied_revocable + evicting", [] {
        World world;
        for (int i = 0; i < 40; ++i) world.step();
        RC_CLASSIFY(world.plans() > 0, "victims");
        RC_CLASSIFY(world.plans() > 2, "several culls");
    });
}

TEST(LedgerProperties, NorIsRoomThatIsReservedOrLent) {
    holds("capacity >= occupied + occupied_revocable + evicting + held by reservations", [] {
        World world{true};
        for (int i = 0; i < 40; ++i) world.step();
        RC_CLASSIFY(world.plans() > 0, "victims");
        RC_CLASSIFY(world.loans() > 0, "loans");
        RC_CLASSIFY(world.tenants_gone() > 0, "tenants that go for their lender");
    });
}

}  // namespace
}  // namespace reaper::ledger_properties_test
