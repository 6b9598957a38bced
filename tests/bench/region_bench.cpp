// One region of 100,000 hosts with 20 servers each, in the cache as the daemon keeps it: memory,
// how long the cache takes for a whole reading (without Nova, Placement and the network), for an
// event, and for a decision after an event. The cloud is generated: cloudsim takes too long for
// it. To be run alone (--benchmark_filter=region/): the memory is that of the process.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <ctime>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/planner/planner.hpp"
#include "strategies/seeded_rng.hpp"
#include "strategies/strategy_table.hpp"
#include "synthetic_cloud.hpp"

namespace reaper::bench::region_bench {
namespace {

constexpr CloudSpec spec{100'000, 14, Sizes::flavors, 1, 6};

double resident_kib() {
    std::ifstream file("/proc/self/statm");
    double all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

double cpu_us() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

struct Region {
    CloudCache cache;
    SeededRng rng{7};
    double kib_per_host = 0, picture_s = 0;
    long events = 0;
    Region() {
        const double before = resident_kib();
        Snapshot snapshot = synthetic_cloud(spec);
        const double began = cpu_us();
        cache.replace(std::move(snapshot), std::make_shared<const Taggers>(), {});
        picture_s = (cpu_us() - began) * 1e-6;
        kib_per_host = (resident_kib() - before) / spec.hosts;
    }

    /// A regular server of some host stops, or starts.
    CloudEvent event() {
        const auto row = static_cast<std::uint32_t>(rng.below(cache.index().size()));
        const Host& host = *cache.index().row(row).host;
        const auto regular = std::find_if(host.servers.begin(), host.servers.end(),
                                          [](const Server& server) { return !server.revocable(); });
        ServerRecord record;
        record.server = *regular;
        record.server.status = regular->status == "ACTIVE" ? "SHUTOFF" : "ACTIVE";
        return ServerSeen{std::move(record), host.name, now() + Duration{++events}};
    }
};

Region& region() {
    static const auto made = std::make_unique<Region>();
    return *made;
}

void report(benchmark::State& state, std::vector<double> took) {
    std::sort(took.begin(), took.end());
    const auto at = [&](double part) {
        return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
    };
    state.counters["p50_us"] = at(0.5);
    state.counters["p99_us"] = at(0.99);
}

void picture(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(region().cache.index().size());
    state.counters["KiB_a_host"] = region().kib_per_host;
    state.counters["cpu_s"] = region().picture_s;
}

void event(benchmark::State& state) {
    std::vector<double> took;
    for (auto _ : state) {
        const CloudEvent next = region().event();
        const double began = cpu_us();
        region().cache.apply(next, std::get<ServerSeen>(next).at);
        took.push_back(cpu_us() - began);
        state.SetIterationTime(took.back() * 1e-6);
    }
    report(state, std::move(took));
}

void decision(benchmark::State& state, int slots) {
    const auto& info = *find_strategy("cost");
    const auto made = info.make(with_standards(info.parameters, {}));
    const Strategy& strategy = *std::get<std::unique_ptr<Strategy>>(made);
    PlanOptions options;
    options.now = now();
    const Ledger ledger;
    std::vector<double> took;
    for (auto _ : state) {
        const CloudEvent next = region().event();
        region().cache.apply(next, std::get<ServerSeen>(next).at);
        const Request request = request_for(static_cast<int>(took.size()), slots);
        const double began = cpu_us();
        const Decision decided =
            make_plan(request, region().cache.index(), ledger, strategy, "bench", options);
        took.push_back(cpu_us() - began);
        if (!std::holds_alternative<Plan>(decided)) state.SkipWithError("no plan");
        state.SetIterationTime(took.back() * 1e-6);
    }
    report(state, std::move(took));
}

const bool registered = [] {
    const auto add = [](const char* name, auto run, int iterations) {
        benchmark::RegisterBenchmark(name, run)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond)
            ->Iterations(iterations);
    };
    add("region/100000x20/picture", picture, 1);
    add("region/100000x20/event", event, 20'000);
    add(
        "region/100000x20/decision/n=1", [](benchmark::State& s) { decision(s, 1); }, 2'000);
    add(
        "region/100000x20/decision/n=10", [](benchmark::State& s) { decision(s, 10); }, 200);
    return true;
}();

}  // namespace
}  // namespace reaper::bench::region_bench
