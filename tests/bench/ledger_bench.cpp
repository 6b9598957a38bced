// What a decision costs with thousands of promises and evictions outstanding, beside the same one
// with none, or with reservations on each host: p50, p99, and how many times the p99 of the empty
// ledger that is. Before each decision a host changes, and a request's plan comes and the oldest
// one goes, as in a cloud that is in use.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "reaper/planner/planner.hpp"
#include "strategies/seeded_rng.hpp"
#include "strategies/strategy_table.hpp"
#include "synthetic_cloud.hpp"

namespace reaper::bench::ledger_bench {
namespace {

constexpr CloudSpec spec{10'000, 20, Sizes::flavors, 1};

/// A cloud of its own, so that no other benchmark's searches are known.
struct World {
    Snapshot snapshot = synthetic_cloud(spec);
    CloudIndex index{snapshot};
    SeededRng rng{11};
};

/// Each promise stands for one victim.
class Outstanding {
public:
    Outstanding(World& world, int number) : world_{world} {
        for (int i = 0; i < number; ++i) come();
    }

    const Ledger& ledger() const { return ledger_; }
    void move_on() {
        if (requests_.empty()) return;
        ledger_.release(requests_.front());
        requests_.pop_front();
        come();
    }

private:
    void come() {
        const auto& hosts = world_.snapshot.hosts;
        const Host& host = hosts[world_.rng.below(hosts.size())];
        const Server* victim = nullptr;
        while (victim == nullptr) {
            const Server& server = host.servers[world_.rng.below(host.servers.size())];
            if (server.revocable()) victim = &server;
        }
        Request request = request_for(0, 1);
        request.id = RequestId{"old-" + std::to_string(serial_++)};
        request.resources = victim->resources();
        HostPlan plan;
        plan.host = host.id;
        plan.slots = 1;
        Victim named;
        named.server = victim->id;
        plan.victims.push_back(std::move(named));
        ledger_.enter(request, std::vector<HostPlan>{plan}, now());
        requests_.push_back(request.id);
    }

    World& world_;
    Ledger ledger_;
    std::deque<RequestId> requests_;
    long serial_ = 0;
};

double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::unique_ptr<Strategy> strict() {
    const auto& info = *find_strategy("strict");
    auto made = info.make(with_standards(info.parameters, {}));
    return std::move(std::get<std::unique_ptr<Strategy>>(made));
}

/// Three reservations on each host: each holds a CPU. On every tenth host one lacks what others
/// have, and one lends to a revocable server. Where `changing`, one of them is otherwise before
/// each decision.
class Reserved {
public:
    /// `told`: the ledger has it; else the hosts are as full, and nothing is reserved.
    Reserved(World& world, Ledger& ledger, bool told)
        : world_{world}, ledger_{ledger}, told_{told} {
        std::size_t number = 0;
        for (Host& host : world_.snapshot.hosts) {
            hold(host);
            if (told_ && number++ % every == 0) tell(host, 1);
            world_.index.put(host);
        }
    }

    void change() {
        if (!told_) return;
        const auto& hosts = world_.snapshot.hosts;
        const std::size_t number = world_.rng.below(hosts.size() / every) * every;
        tell(hosts[number], 1 + static_cast<Amount>(world_.rng.below(4)));
    }

private:
    static constexpr std::size_t every = 10;
    static Role role(int number) { return Role::parse("team" + std::to_string(number)).value(); }
    static ReservationId id_of(const Host& host, int number) {
        return ReservationId{host.id.str() + "-" + std::to_string(number)};
    }
    static void hold(Host& host) {
        Provider& root = host.providers.front();
        for (int i = 0; i < 3; ++i) {
            const Resources held{{"VCPU", 1}};
            root.other_consumers[ServerId{id_of(host, i).str()}] = held;
            root.used += held;
        }
    }
    void tell(const Host& host, Amount missing) {
        ReservedRoom::OnHost room;
        room.missing.push_back({id_of(host, 0), role(0), Resources{{"VCPU", missing}}});
        for (const Server& server : host.servers)
            if (server.revocable() && room.tenants.empty()) room.tenants[server.id] = role(1);
        ledger_.reserve(host.id, std::move(room));
    }

    World& world_;
    Ledger& ledger_;
    bool told_;
};

/// p50 without reservations in this run, by slots.
std::map<int, double>& without_reservations() {
    static std::map<int, double> p50;
    return p50;
}

/// For a request without a role, or with the role that lends.
void decide_reserved(benchmark::State& state, bool reserved, bool lender, bool changing,
                     int slots) {
    World world;
    const auto strategy = strict();
    PlanOptions options;
    options.alternatives = slots == 1 ? 1 : 2;
    options.now = now();
    Ledger ledger;
    Reserved reservations{world, ledger, reserved};
    const auto asked = [&](int number) {
        Request request = request_for(number, slots);
        if (lender) request.role = Role::parse("team1").value();
        ledger.admit(request);
        return request;
    };
    for (int i = 0; i < 4; ++i)
        while (warm_up(asked(i), world.index, ledger, *strategy, options, 1000) > 0) {
        }
    std::vector<double> times;
    for (auto _ : state) {
        auto& host = world.snapshot.hosts[world.rng.below(world.snapshot.hosts.size())];
        host.servers[world.rng.below(host.servers.size())].created += std::chrono::seconds{5};
        world.index.put(host);
        const Request request = asked(static_cast<int>(times.size()));
        const double start = thread_seconds();
        if (changing) reservations.change();
        benchmark::DoNotOptimize(
            make_plan(request, world.index, ledger, *strategy, "bench", options));
        times.push_back(thread_seconds() - start);
        state.SetIterationTime(times.back());
    }
    std::sort(times.begin(), times.end());
    const double p50 = times[times.size() / 2];
    state.counters["p50_us"] = p50 * 1e6;
    state.counters["p99_us"] = times[times.size() * 99 / 100] * 1e6;
    if (!reserved) without_reservations()[slots] = p50;
    if (const auto none = without_reservations().find(slots); none != without_reservations().end())
        state.counters["p50/none"] = p50 / none->second;
}

/// p99 of the empty ledger in this run, by slots.
std::map<int, double>& with_none() {
    static std::map<int, double> p99;
    return p99;
}

void decide(benchmark::State& state, int outstanding, int slots, int alternatives) {
    static World world;
    const auto strategy = strict();
    PlanOptions options;
    options.alternatives = alternatives;
    options.now = now();
    Outstanding others{world, outstanding};
    for (int i = 0; i < 4; ++i)
        while (warm_up(request_for(i, slots), world.index, others.ledger(), *strategy, options,
                       1000) > 0) {
        }
    std::vector<double> times;
    for (auto _ : state) {
        auto& host = world.snapshot.hosts[world.rng.below(world.snapshot.hosts.size())];
        host.servers[world.rng.below(host.servers.size())].created += std::chrono::seconds{5};
        world.index.put(host);
        others.move_on();
        const Request request = request_for(static_cast<int>(times.size()), slots);
        const double start = thread_seconds();
        benchmark::DoNotOptimize(
            make_plan(request, world.index, others.ledger(), *strategy, "bench", options));
        times.push_back(thread_seconds() - start);
        state.SetIterationTime(times.back());
    }
    std::sort(times.begin(), times.end());
    const auto part = [&](double of) {
        return times[static_cast<std::size_t>(of * static_cast<double>(times.size() - 1))];
    };
    state.counters["p50_us"] = part(0.5) * 1e6;
    state.counters["p99_us"] = part(0.99) * 1e6;
    if (outstanding == 0) with_none()[slots] = part(0.99);
    if (const auto none = with_none().find(slots); none != with_none().end())
        state.counters["p99/none"] = part(0.99) / none->second;
}

const bool registered = [] {
    for (const auto& [slots, alternatives] : {std::pair{1, 1}, std::pair{10, 2}})
        for (const int outstanding : {0, 1'000, 10'000})
            benchmark::RegisterBenchmark(
                ("outstanding/10000x20/n=" + std::to_string(slots) +
                 ",k=" + std::to_string(alternatives) + "/" + std::to_string(outstanding))
                    .c_str(),
                [=, n = slots, k = alternatives](benchmark::State& state) {
                    decide(state, outstanding, n, k);
                })
                ->UseManualTime()
                ->Unit(benchmark::kMicrosecond)
                ->Iterations(slots == 1 ? 1'000 : 300);
    for (const int slots : {1, 10})
        for (const auto& [name, reserved, lender, changing] :
             {std::tuple{"none", false, false, false}, std::tuple{"of others", true, false, false},
              std::tuple{"of others, changing", true, false, true},
              std::tuple{"own", true, true, true}})
            benchmark::RegisterBenchmark(
                ("reserved/10000x3/n=" + std::to_string(slots) + "/" + name).c_str(),
                [=, reserved = reserved, lender = lender,
                 changing = changing](benchmark::State& state) {
                    decide_reserved(state, reserved, lender, changing, slots);
                })
                ->UseManualTime()
                ->Unit(benchmark::kMicrosecond)
                ->Iterations(lender       ? 100
                             : slots == 1 ? 1'000
                                          : 300);
    return true;
}();

}  // namespace
}  // namespace reaper::bench::ledger_bench
