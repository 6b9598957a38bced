// What a decision costs: p50 and p99 over many requests on seeded synthetic clouds, for each
// objective, beside two yardsticks in the same run: one bare pass over all hosts' totals (the
// floor), and plain enumeration of subsets, as Aardvark does it. Each decision comes after a host
// has changed, as in a cloud that is in use.
#include <algorithm>
#include <array>
#include <benchmark/benchmark.h>
#include <ctime>
#include <map>
#include <memory>

#include "reaper/planner/planner.hpp"
#include "strategies/seeded_rng.hpp"
#include "strategies/strategy_table.hpp"
#include "synthetic_cloud.hpp"

namespace reaper::bench::planner_bench {
namespace {

struct World {
    Snapshot snapshot;
    CloudIndex index;
};

/// Clouds are made once; the last one is kept.
World& world_of(const CloudSpec& spec) {
    static std::unique_ptr<World> world;
    static std::tuple<int, int, Sizes> made{};
    const std::tuple wanted{spec.hosts, spec.servers, spec.sizes};
    if (world == nullptr || made != wanted) {
        world = std::make_unique<World>();
        world->snapshot = synthetic_cloud(spec);
        for (const auto& host : world->snapshot.hosts) world->index.put(host);
        made = wanted;
    }
    return *world;
}

std::unique_ptr<Strategy> strategy_of(const std::string& objective) {
    const std::string name = objective == "leftover" ? "strict"
                             : objective == "chance" ? "chance"
                                                     : "cost";
    Parameters parameters;
    if (objective == "victims")
        parameters["objective"] = std::vector<std::string>{"victims", "waste"};
    if (objective == "lost_work" || objective == "fair_share")
        parameters["objective"] = std::vector<std::string>{objective};
    const auto& info = *find_strategy(name);
    auto made = info.make(with_standards(info.parameters, std::move(parameters)));
    return std::move(std::get<std::unique_ptr<Strategy>>(made));
}

double seconds_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What is measured, in two times: of this thread on the processor, in which others on the machine
/// do not count, and of the clock on the wall.
class Stopwatch {
public:
    void start() {
        wall_start_ = seconds_of(CLOCK_MONOTONIC);
        thread_start_ = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    }
    /// `times`: what was done stands for so many.
    void stop(benchmark::State& state, double times = 1) {
        thread_.push_back((seconds_of(CLOCK_THREAD_CPUTIME_ID) - thread_start_) * times);
        wall_.push_back((seconds_of(CLOCK_MONOTONIC) - wall_start_) * times);
        state.SetIterationTime(thread_.back());
    }
    std::size_t measured() const { return thread_.size(); }
    /// p50 of the thread's time.
    double report(benchmark::State& state) {
        std::sort(thread_.begin(), thread_.end());
        std::sort(wall_.begin(), wall_.end());
        state.counters["p50_us"] = at(thread_, 0.5) * 1e6;
        state.counters["p99_us"] = at(thread_, 0.99) * 1e6;
        state.counters["wall_p50_us"] = at(wall_, 0.5) * 1e6;
        state.counters["wall_p99_us"] = at(wall_, 0.99) * 1e6;
        return at(thread_, 0.5);
    }

private:
    static double at(const std::vector<double>& sorted, double part) {
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
    }
    double thread_start_ = 0;
    double wall_start_ = 0;
    std::vector<double> thread_;
    std::vector<double> wall_;
};

/// Seconds that plain enumeration took in this run, by cloud.
std::map<std::string, double>& enumerated() {
    static std::map<std::string, double> seconds;
    return seconds;
}

std::string name_of(const CloudSpec& spec) {
    return std::to_string(spec.hosts) + "x" + std::to_string(spec.servers) +
           (spec.sizes == Sizes::flavors ? "/flavors" : "/random");
}

/// One host changes: a server of it is now some seconds younger.
void change_some_host(World& world, SeededRng& rng) {
    auto& host = world.snapshot.hosts[rng.below(world.snapshot.hosts.size())];
    host.servers[rng.below(host.servers.size())].created += std::chrono::seconds{5};
    world.index.put(host);
}

void decide(benchmark::State& state, CloudSpec spec, const std::string& objective, int slots,
            int alternatives, bool warm) {
    World& world = world_of(spec);
    const auto strategy = strategy_of(objective);
    PlanOptions options;
    options.alternatives = alternatives;
    options.now = now();
    const Ledger ledger;
    SeededRng rng{7};
    Stopwatch watch;
    int victims = 0;
    int notes = 0;
    if (warm)
        for (int i = 0; i < 4; ++i)
            while (warm_up(request_for(i, slots), world.index, ledger, *strategy, options, 1000) >
                   0) {
            }
    for (auto _ : state) {
        change_some_host(world, rng);
        const Request request = request_for(static_cast<int>(watch.measured()), slots);
        if (!warm) world.index.forget();
        watch.start();
        const Decision decision =
            make_plan(request, world.index, ledger, *strategy, "bench", options);
        watch.stop(state);
        if (const auto* plan = std::get_if<Plan>(&decision)) {
            victims += static_cast<int>(plan->victims().size());
            notes += plan->note.empty() ? 0 : 1;
        }
    }
    const double usual = watch.report(state);
    const auto plain = enumerated().find(name_of(spec));
    if (plain != enumerated().end()) state.counters["enumeration/p50"] = plain->second / usual;
    state.counters["victims"] =
        static_cast<double>(victims) / static_cast<double>(watch.measured());
    state.counters["cut_short"] = notes;
}

/// As a reading makes it: its servers' ids are new texts, in the cache like all that was just read.
Host read_again(const Host& host) {
    Host changed = host;
    for (auto& server : changed.servers) server.id = ServerId{server.id.str()};
    changed.servers.back().name += "x";
    return changed;
}

void reindex(benchmark::State& state, CloudSpec spec) {
    World& world = world_of(spec);
    SeededRng rng{9};
    Stopwatch watch;
    for (auto _ : state) {
        auto& host = world.snapshot.hosts[rng.below(world.snapshot.hosts.size())];
        Host changed = read_again(host);
        std::swap(host, changed);
        watch.start();
        world.index.put(host);
        watch.stop(state);
    }
    watch.report(state);
}

/// The floor: one pass over the totals of all hosts.
void bare_pass(benchmark::State& state, CloudSpec spec) {
    World& world = world_of(spec);
    Stopwatch watch;
    for (auto _ : state) {
        watch.start();
        Amount able = 0;
        for (const auto row : world.index.order()) {
            const ClassRow* classes = world.index.classes(row);
            able += classes[0].room + classes[0].gain >= 4 &&
                            classes[1].room + classes[1].gain >= 4 &&
                            classes[2].room + classes[2].gain >= 4
                        ? 1
                        : 0;
        }
        benchmark::DoNotOptimize(able);
        watch.stop(state);
    }
    watch.report(state);
}

/// One host as enumeration sees it.
struct Plain {
    std::vector<std::array<Amount, 3>> gains;
    std::array<Amount, 3> room{};  // less one slot
};

Plain plain_of(const Host& host, const Resources& slot) {
    const std::array<ResourceClass, 3> names{ResourceClass{"MEMORY_MB"}, ResourceClass{"VCPU"},
                                             ResourceClass{"DISK_GB"}};
    Plain plain;
    for (std::size_t i = 0; i < 3; ++i)
        plain.room[i] = host.root().inventories.at(names[i]).capacity() -
                        host.root().used.get(names[i]) - slot.get(names[i]);
    for (const auto& server : host.servers)
        if (server.revocable()) {
            const auto held = server.resources();
            plain.gains.push_back({held.get(names[0]), held.get(names[1]), held.get(names[2])});
        }
    return plain;
}

/// The least left over, over all subsets, each summed up by itself.
Amount least_over_subsets(const Plain& plain) {
    Amount best = -1;
    for (std::uint64_t set = 1; set < std::uint64_t{1} << plain.gains.size(); ++set) {
        auto room = plain.room;
        for (std::size_t server = 0; server < plain.gains.size(); ++server)
            if ((set >> server & 1) != 0)
                for (std::size_t i = 0; i < 3; ++i) room[i] += plain.gains[server][i];
        if (room[0] >= 0 && room[1] >= 0 && room[2] >= 0 && (best < 0 || room[0] < best))
            best = room[0];
    }
    return best;
}

/// The same with running sums: one server comes or goes from each subset to the next.
Amount least_by_gray_code(const Plain& plain) {
    Amount best = -1;
    auto room = plain.room;
    for (std::uint64_t set = 1; set < std::uint64_t{1} << plain.gains.size(); ++set) {
        const auto bit = static_cast<std::size_t>(__builtin_ctzll(set));
        const Amount sign = ((set ^ (set >> 1)) >> bit & 1) != 0 ? 1 : -1;
        for (std::size_t i = 0; i < 3; ++i) room[i] += sign * plain.gains[bit][i];
        if (room[0] >= 0 && room[1] >= 0 && room[2] >= 0 && (best < 0 || room[0] < best))
            best = room[0];
    }
    return best;
}

/// Enumeration on some hosts of the cloud, scaled to all.
void enumerate(benchmark::State& state, CloudSpec spec, int hosts, Amount (*least)(const Plain&)) {
    World& world = world_of(spec);
    const auto slot = request_for(0, 1).resources;
    Stopwatch watch;
    for (auto _ : state) {
        watch.start();
        for (int number = 0; number < hosts; ++number) {
            Amount best =
                least(plain_of(world.snapshot.hosts[static_cast<std::size_t>(number)], slot));
            benchmark::DoNotOptimize(best);
        }
        watch.stop(state, static_cast<double>(spec.hosts) / hosts);
    }
    const double usual = watch.report(state);
    if (least == least_over_subsets) enumerated()[name_of(spec)] = usual;
}

void add_decisions(const CloudSpec& spec) {
    for (const std::string objective : {"leftover", "victims", "lost_work", "cost", "fair_share"})
        for (const bool warm : {false, true})
            for (const auto& [slots, alternatives] :
                 {std::pair{1, 1}, {10, 2}, {100, 1}, {1'000, 1}}) {
                const std::string name =
                    "plan/" + name_of(spec) + "/" + objective + "/n=" + std::to_string(slots) +
                    ",k=" + std::to_string(alternatives) + (warm ? "/warm" : "/cold");
                benchmark::RegisterBenchmark(
                    name.c_str(),
                    [=, n = slots, k = alternatives](benchmark::State& state) {
                        decide(state, spec, objective, n, k, warm);
                    })
                    ->UseManualTime()
                    ->Unit(benchmark::kMicrosecond)
                    ->Iterations(slots == 1    ? 400
                                 : slots == 10 ? 200
                                               : 20);
            }
}

const bool registered = [] {
    for (const auto& [hosts, servers] :
         {std::pair{100, 10}, {1'000, 20}, {10'000, 20}, {10'000, 50}})
        for (const Sizes sizes : {Sizes::flavors, Sizes::random}) {
            const CloudSpec spec{hosts, servers, sizes, 1};
            const auto add = [&](const std::string& what, auto run, int iterations) {
                benchmark::RegisterBenchmark((what + "/" + name_of(spec)).c_str(), run)
                    ->UseManualTime()
                    ->Unit(benchmark::kMicrosecond)
                    ->Iterations(iterations);
            };
            add(
                "bare_pass", [=](benchmark::State& s) { bare_pass(s, spec); }, 200);
            add(
                "reindex", [=](benchmark::State& s) { reindex(s, spec); }, 2000);
            if (servers <= 20 && hosts <= 1'000) {
                const int some = servers <= 10 ? hosts : 20;
                add(
                    "enumerate/plain",
                    [=](benchmark::State& s) { enumerate(s, spec, some, least_over_subsets); }, 1);
                add(
                    "enumerate/gray_code",
                    [=](benchmark::State& s) { enumerate(s, spec, some, least_by_gray_code); }, 1);
            }
            add_decisions(spec);
        }
    return true;
}();

}  // namespace
}  // namespace reaper::bench::planner_bench
