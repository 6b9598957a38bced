// What is outstanding, found by host: the same answers as a look at everything, whatever happens in
// between.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>

#include "core/cloud_builder.hpp"
#include "core/reservation_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/suitable_hosts.hpp"

namespace reaper::ledger_rows_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;

const ResourceClass vcpu{"VCPU"};

Resources some_resources() {
    return Resources{{"VCPU", 1 + upto(3)}, {"MEMORY_MB", 512 * upto(4)}};
}

/// Keeps servers whose ids end so.
class KeepsSome final : public VictimFilter {
public:
    std::optional<std::string> why_kept(const Server& server, const Host& host) const override {
        return keeps(server, host) ? std::optional<std::string>{"it is one of some"} : std::nullopt;
    }
    bool keeps(const Server& server, const Host& /*host*/) const override {
        return hash_of_consumer(server.id) % 2 == 0;
    }
    bool may_keep(const HostRow& row) const override {
        return row.last_start != std::numeric_limits<Amount>::min();
    }
};

/// Keeps servers that run for less than some seconds.
class KeepsYoung final : public RunTimeFilter {
public:
    explicit KeepsYoung(TimePoint now) : now_{now} {
        rules_.horizon = rules_.min_run_time = Duration{4'000};
    }
    std::optional<std::string> why_kept(const Server& server, const Host& host) const override {
        return keeps(server, host) ? std::optional<std::string>{"it is young"} : std::nullopt;
    }
    bool keeps(const Server& server, const Host& /*host*/) const override {
        return kept_until(server).has_value();
    }
    bool may_keep(const HostRow& /*row*/) const override { return true; }
    const RunTimeRules& rules() const override { return rules_; }
    TimePoint now() const override { return now_; }
    std::optional<TimePoint> kept_until(const Server& server) const override {
        const TimePoint until = start_of(server) + rules_.min_run_time;
        return until > now_ ? std::optional{until} : std::nullopt;
    }

private:
    RunTimeRules rules_;
    TimePoint now_;
};

/// A cloud that changes, and a ledger that does.
class World {
public:
    World() {
        const int hosts = 2 + upto(3);
        for (int i = 0; i < hosts; ++i) {
            hosts_.push_back(std::make_unique<Host>(new_host("h" + std::to_string(i))));
            index_.put(*hosts_.back());
        }
        changing_ = hosts_.size();
        // Many on which nothing happens: few rows are touched then, until one more is.
        if (upto(1) == 0) return;
        for (int i = 0, idle = 60 + upto(240); i < idle; ++i) {
            hosts_.push_back(std::make_unique<Host>(
                host("idle" + std::to_string(i), {{"VCPU", 4}, {"MEMORY_MB", 2048}})));
            index_.put(*hosts_.back());
        }
    }

    void step() {
        switch (upto(14)) {
            case 0:
            case 1:
            case 2: enter(); break;
            case 3: ledger_.release(some_request()); break;
            case 4: settle(); break;
            case 5: ledger_.release_promises(some_request()); break;
            case 6: ledger_.drop_eviction(some_server()); break;
            case 7: ledger_.give_up_on(some_host().id, some_server(), at(++now_)); break;
            case 8: expire(); break;
            case 9: other_host(); break;
            case 10: move_server(); break;
            case 11: ledger_ = Ledger{ledger_.evictions(), ledger_.promises()}; break;
            case 12: hide_server(); break;
            default: reserve(); break;
        }
        if (upto(1) == 0) check();
    }

    void check() {
        Request asked = request(some_resources(), 1 + upto(2), some_request().str());
        if (upto(3) == 0) asked.required_traits.insert(Trait{"T"});
        if (upto(1) == 0) asked.role = some_role();
        if (upto(9) == 0) asked.lent_by.insert(ReservationId{"r" + std::to_string(upto(2))});
        ledger_.admit(asked);
        const KeepsSome some;
        const KeepsYoung young{at(now_)};
        const int kept = upto(3);
        const VictimFilter* victim_filter = nullptr;
        if (kept == 0) victim_filter = &some;
        if (kept == 1) victim_filter = &young;
        std::map<ServerId, std::string> skipped;
        if (upto(2) == 0) skipped.emplace(some_server(), "unfit");
        const Shape shape = shape_of(asked);
        FilterInput input{asked, shape, ledger_, skipped, &index_.protection()};
        input.victim_filter = victim_filter;
        constexpr Amount wanted = 5;
        const HostFilter rows{index_, input, wanted};
        std::map<std::string, std::pair<Amount, Amount>> offered;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            offered.emplace(rows.host(i).name, std::pair{rows.ready(i), rows.possible(i)});
            check_sketch(rows, i);
        }
        std::size_t refused = 0;
        for (const auto& host : hosts_) {
            const auto plain = filter_host(*host, input);
            const auto at = offered.find(host->name);
            if (const auto* no = std::get_if<Rejection>(&plain)) {
                RC_ASSERT(at == offered.end());
                RC_ASSERT(rows.refused().contains(no->code));
                ++refused;
                continue;
            }
            const auto& option = std::get<HostOption>(plain);
            RC_ASSERT(at != offered.end());
            RC_ASSERT(at->second.first == std::min(option.slots_ready, wanted));
            RC_ASSERT(at->second.second == std::min(option.slots_possible, wanted));
        }
        RC_ASSERT(offered.size() + refused == hosts_.size());
    }

private:
    /// What the row says of the candidates is what the host says.
    static void check_sketch(const HostFilter& rows, std::size_t host) {
        HostSketch sketch;
        if (!rows.sketch(host, sketch)) return;
        const HostOption& option = rows[host];
        std::size_t pools = 0;
        for (std::size_t need = 0; need < sketch.needs.size(); ++need) {
            Amount gain = 0;
            Amount largest = 0;
            for (const auto& candidate : option.candidates) {
                gain += candidate.gains[pools];
                largest = std::max(largest, candidate.gains[pools]);
            }
            RC_ASSERT(sketch.needs[need]->room == option.room.pools[pools].room);
            RC_ASSERT(sketch.needs[need]->gain == gain);
            RC_ASSERT(sketch.needs[need]->largest == largest);
            ++pools;
        }
    }

    Host new_host(const std::string& name) {
        Host made = host(name, {{"VCPU", 6 + upto(4)}, {"MEMORY_MB", 512 * (6 + upto(6))}});
        if (upto(5) == 0) nest(made, name + "-nested", {{"VCPU", 2}});
        const int servers = upto(5);
        for (int i = 0; i < servers; ++i) {
            const std::string id = "server-" + std::to_string(serial_++) + same_ending;
            Server one = upto(3) == 0 ? server(id, made.id, some_resources())
                                      : revocable(id, made.id, some_resources(), upto(5));
            if (upto(5) == 0) one.task_state = "deleting";
            if (upto(7) == 0) one.task_state = "migrating";
            put(made, std::move(one));
        }
        return made;
    }

    Host& some_host() {
        return *hosts_[static_cast<std::size_t>(upto(static_cast<int>(changing_) - 1))];
    }
    RequestId some_request() const { return RequestId{"req-" + std::to_string(upto(4))}; }
    ServerId some_server() const {
        return ServerId{"server-" + std::to_string(upto(serial_)) + same_ending};
    }

    static Role some_role() {
        static const std::vector<std::string> paths{"web", "web/api", "db"};
        return role(paths[static_cast<std::size_t>(upto(2))]);
    }

    /// Reservations that lack something, and lend to servers, on some host.
    void reserve() {
        const Host& there = some_host();
        ReservedRoom::OnHost reserved;
        for (int i = upto(2); i > 0; --i) {
            const ReservationId id{"r" + std::to_string(i)};
            const Role owner = some_role();
            reserved.reservations.emplace(id, owner);
            const Amount missing = upto(3);
            if (missing > 0)
                reserved.missing.push_back(
                    {id, owner, cpus(missing), cpus(upto(static_cast<int>(missing)))});
            if (!there.servers.empty() && upto(1) == 0)
                reserved.tenants.emplace(there.servers.front().id, owner);
        }
        ledger_.reserve(there.id, std::move(reserved));
    }

    /// Whatever a plan could be, and more.
    void enter() {
        HostPlan there;
        there.host = some_host().id;
        there.slots = upto(2);
        const int victims = upto(2);
        for (int i = 0; i < victims; ++i) {
            Victim victim;
            victim.server = some_server();
            there.victims.push_back(std::move(victim));
        }
        const Request request = testing::request(some_resources(), 1, some_request().str());
        ledger_.enter(request, std::vector<HostPlan>{there}, at(++now_));
    }

    void settle() {
        ++now_;
        ledger_.settle(some_request(), at(now_), at(now_ + upto(20)));
    }

    void expire() {
        Host& read = some_host();
        read.read_at = at(++now_);
        index_.put(read);
        ledger_.expire([&](const HostId& id) { return index_.find(id); }, at(now_));
    }

    void other_host() {
        Host& old = some_host();
        if (upto(1) == 0) index_.erase(old.id);
        old = new_host(old.name);
        index_.put(old);
    }

    void move_server() {
        Host& from = some_host();
        Host& to = some_host();
        if (from.servers.empty() || &from == &to) return;
        Server moved = from.servers.back();
        from.servers.pop_back();
        from.providers[0].used -= moved.resources();
        const Resources held = moved.resources();
        moved.allocations = Allocations{{to.id, held}};
        put(to, std::move(moved));
        index_.put(from);
        index_.put(to);
    }

    /// Nova lists it no more, Placement does; maybe on two hosts.
    void hide_server() {
        Host& from = some_host();
        if (from.servers.empty()) return;
        const Server hidden = from.servers.back();
        if (upto(1) == 0) {
            Host& also = some_host();
            also.providers[0].other_consumers[hidden.id] = {{"VCPU", 1}};
            also.providers[0].used += Resources{{"VCPU", 1}};
            index_.put(also);
            return;
        }
        from.servers.pop_back();
        from.providers[0].other_consumers[hidden.id] = hidden.resources();
        index_.put(from);
    }

    static inline const std::string same_ending = "-0000000000000000";
    std::vector<std::unique_ptr<Host>> hosts_;
    std::size_t changing_ = 0;  // these of them, the first ones
    CloudIndex index_;
    Ledger ledger_;
    long now_ = 0;
    int serial_ = 0;
};

TEST(LedgerRows, TellWhatEachHostTellsWhateverHappened) {
    holds("rows under a ledger are the hosts under it", [] {
        World world;
        for (int i = 0; i < 25; ++i) world.step();
        world.check();
    });
}

/// Reads all hosts, always.
std::vector<Ledger::Settled> by_full_look(Ledger& ledger, const CloudIndex& cloud, TimePoint now) {
    return ledger.expire([&](const HostId& id) { return cloud.find(id); }, now);
}

TEST(LedgerRows, OneLedgerAfterAnotherOnOneIndex) {
    Host a = host("a", {{"VCPU", 4}});
    put(a, revocable("a1", a.id, {{"VCPU", 4}}));
    CloudIndex cloud;
    cloud.put(a);
    const auto strategy = make_strategy("strict");
    const Request first = request({{"VCPU", 4}}, 1, "req-1");
    const Request second = request({{"VCPU", 4}}, 1, "req-2");
    const auto victims = [&](const Request& asked, const Ledger& ledger) {
        return victim_ids(make_plan(asked, cloud, ledger, *strategy, "strict", {}));
    };
    Ledger full;
    const auto made = make_plan(first, cloud, full, *strategy, "strict", {});
    full.enter(first, std::get<Plan>(made), at(0));
    EXPECT_THAT(victims(second, full), ElementsAre());
    EXPECT_THAT(victims(second, Ledger{}), ElementsAre("a1"));
    const Ledger copy = full;
    EXPECT_THAT(victims(second, copy), ElementsAre());
    full.release(first.id);
    EXPECT_THAT(victims(second, full), ElementsAre("a1"));
    EXPECT_THAT(victims(second, copy), ElementsAre());
}

TEST(LedgerRows, AClassThatIsMetLaterFindsItsPlace) {
    Host a = host("a", {{"VCPU", 4}});
    put(a, revocable("a1", a.id, {{"VCPU", 4}}));
    CloudIndex cloud;
    cloud.put(a);
    Ledger ledger;
    const Request first = request({{"VCPU", 2}}, 1, "req-1");
    const auto strategy = make_strategy("strict");
    ledger.enter(first, std::get<Plan>(make_plan(first, cloud, ledger, *strategy, "strict", {})),
                 at(0));
    const Request other = request({{"VCPU", 2}}, 1, "req-2");
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(
        make_plan(other, cloud, ledger, *strategy, "strict", {})));
    const Host b = host("b", {{"VCPU", 2}, {"CUSTOM_GPU", 1}});
    cloud.put(b);
    const Request gpu = request({{"VCPU", 2}, {"CUSTOM_GPU", 1}}, 1, "req-3");
    const auto decision = make_plan(gpu, cloud, ledger, *strategy, "strict", {});
    ASSERT_TRUE(std::holds_alternative<NothingToDo>(decision));
    EXPECT_EQ(std::get<NothingToDo>(decision).hosts.front().host, b.id);
}

/// What happens to the ledger of `expire` with a look at what changed only, and of the full one.
TEST(LedgerExpiry, OnWhatChangedIsTheSameAsOnEverything) {
    holds("expiry by changes", [] {
        std::vector<std::unique_ptr<Host>> hosts;
        CloudIndex cloud;
        for (int i = 0; i < 3; ++i) {
            hosts.push_back(std::make_unique<Host>(host("h" + std::to_string(i), {{"VCPU", 9}})));
            cloud.put(*hosts.back());
        }
        Ledger full;
        Ledger by_changes;
        ChangeLog<HostId>::Reader reader;
        long now = 0;
        int serial = 0;
        const auto both = [&](const auto& what) {
            what(full);
            what(by_changes);
        };
        for (int i = 0; i < 40; ++i) {
            ++now;
            Host& some = *hosts[static_cast<std::size_t>(upto(2))];
            const RequestId id{"req-" + std::to_string(upto(3))};
            switch (upto(7)) {
                case 0: {
                    HostPlan there;
                    there.host = some.id;
                    there.slots = 1 + upto(1);
                    if (!some.servers.empty()) {
                        Victim victim;
                        victim.server = some.servers.front().id;
                        there.victims.push_back(std::move(victim));
                    }
                    Request asked = request({{"VCPU", 1}}, 2, id.str());
                    if (upto(1) == 0)
                        asked.requesters = {ServerId{"s" + std::to_string(serial + upto(2))}};
                    both([&](Ledger& l) { l.enter(asked, std::vector<HostPlan>{there}, at(now)); });
                    break;
                }
                case 1: {
                    const TimePoint until = at(now + upto(15));
                    both([&](Ledger& l) { l.settle(id, at(now), until); });
                    break;
                }
                case 2: both([&](Ledger& l) { l.watch(id); }); break;
                case 3: {
                    Server made =
                        server("s" + std::to_string(serial++), some.id, {{"VCPU", 1}}, now);
                    made.project = ProjectId{};
                    made.project = request({}, 1, "").project;
                    put(some, std::move(made));
                    cloud.put(some);
                    break;
                }
                case 4:
                    some.read_at = at(now);
                    if (!some.servers.empty() && upto(1) == 0) some.servers.pop_back();
                    cloud.put(some);
                    break;
                case 5: both([&](Ledger& l) { l.release(id); }); break;
                case 6:
                    both([&](Ledger& l) {
                        l.give_up_on(some.id, ServerId{"s" + std::to_string(serial)}, at(now));
                    });
                    break;
                default: both([&](Ledger& l) { l.shift(Duration{1000}); }); break;
            }
            std::set<HostId> changed;
            const auto expected = by_full_look(full, cloud, at(now));
            const bool known =
                cloud.changes().read(reader, [&](const HostId& host) { changed.insert(host); });
            const auto settled =
                known ? by_changes.expire([&](const HostId& host) { return cloud.find(host); },
                                          changed, at(now))
                      : by_full_look(by_changes, cloud, at(now));
            RC_ASSERT(settled == expected);
            RC_ASSERT(by_changes.all_given_up() == full.all_given_up());
            RC_ASSERT(by_changes.evictions().size() == full.evictions().size());
            RC_ASSERT(by_changes.promises().size() == full.promises().size());
        }
    });
}

TEST(ChangeLog, WhoHasNotAskedForLongLooksAtEverything) {
    ChangeLog<int> log;
    ChangeLog<int>::Reader reader;
    const auto read = [&](const ChangeLog<int>& from) {
        std::vector<int> seen;
        const bool known = from.read(reader, [&](int key) { seen.push_back(key); });
        return known ? seen : std::vector<int>{-1};
    };
    EXPECT_THAT(read(log), ElementsAre(-1));
    log.add(1);
    log.add(1);
    log.add(2);
    EXPECT_THAT(read(log), ElementsAre(1, 2));
    EXPECT_THAT(read(log), ElementsAre());
    log.add(2);
    EXPECT_THAT(read(log), ElementsAre(2));
    for (int i = 0; i <= static_cast<int>(ChangeLog<int>::max_kept); ++i) log.add(i);
    EXPECT_THAT(read(log), ElementsAre(-1));
    const ChangeLog<int> copy = log;
    EXPECT_THAT(read(copy), ElementsAre(-1));
    EXPECT_THAT(read(log), ElementsAre(-1));
    ChangeLog<int> moved = std::move(log);
    EXPECT_THAT(read(moved), ElementsAre());
}

}  // namespace
}  // namespace reaper::ledger_rows_test
