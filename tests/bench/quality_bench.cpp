// How good the plans are: each strategy on the same seeded clouds and requests. Counters are means
// over the requests: victims, memory that stays unused on their hosts, work that they lose, slots
// that come free for each one asked; and how many possible requests were refused, or cut short.
// `slot-by-slot` plans the same slots one after the other, as schedulers do.
#include <benchmark/benchmark.h>
#include <map>
#include <string>
#include <vector>

#include "reaper/planner/planner.hpp"
#include "strategies/strategy_table.hpp"
#include "synthetic_cloud.hpp"

namespace reaper::bench::quality_bench {
namespace {

constexpr int requests = 40;

struct Contestant {
    const char* name;
    const char* strategy;
    std::vector<std::string> objective;
    bool slot_by_slot = false;
};

struct Sum {
    double victims = 0, waste = 0, work = 0, slots = 0;
    int refused = 0, cut = 0, plans = 0;
};

double core_hours(const Victim& victim, const Snapshot& cloud,
                  const std::map<ServerId, const Server*>& servers) {
    const Server& server = *servers.at(victim.server);
    const auto ran = cloud.taken_at - server.launched.value_or(server.created);
    return static_cast<double>(victim.resources.get(ResourceClass{"VCPU"})) *
           static_cast<double>(ran.count()) / 3'600'000;
}

void add(Sum& sum, const Request& request, const std::vector<Plan>& plans, const Snapshot& cloud,
         const std::map<ServerId, const Server*>& servers) {
    const ResourceClass memory{"MEMORY_MB"};
    std::map<HostId, std::pair<Amount, Amount>> hosts;  // free after all, slots there
    for (const auto& plan : plans)
        for (const auto& host : plan.hosts) {
            if (host.victims.empty()) continue;
            auto& [free, slots] = hosts[host.host];
            // Room that was promised to slots planned before is off already.
            free = host.free_after.get(memory) - host.slots * request.resources.get(memory);
            slots += host.slots;
            sum.victims += static_cast<double>(host.victims.size());
            for (const auto& victim : host.victims) sum.work += core_hours(victim, cloud, servers);
        }
    for (const auto& [host, room] : hosts) sum.waste += static_cast<double>(room.first) / 1024;
    for (const auto& plan : plans) sum.slots += plan.slots_freed;
    ++sum.plans;
}

/// The plans of one request: one, or one for each slot, each knowing of those before.
std::vector<Plan> plans_of(const Request& request, const CloudIndex& index,
                           const Strategy& strategy, int alternatives, bool slot_by_slot,
                           Sum& sum) {
    PlanOptions options;
    options.alternatives = slot_by_slot ? 1 : alternatives;
    options.now = now();
    options.seed = seed_of(request.id);
    Ledger ledger;
    std::vector<Plan> plans;
    for (int i = 0; i < (slot_by_slot ? request.slots * alternatives : 1); ++i) {
        Request part = request;
        if (slot_by_slot) {
            part.slots = 1;
            part.id = RequestId{request.id.str() + "-" + std::to_string(i)};
        }
        const auto decision = make_plan(part, index, ledger, strategy, "", options);
        const auto* plan = std::get_if<Plan>(&decision);
        if (const auto* there = std::get_if<NothingToDo>(&decision)) {
            Plan taken;  // the room that a plan before left over is this slot's now
            taken.hosts = there->hosts;
            taken.slots_freed = 1;
            ledger.enter(part, taken, now());
            plans.push_back(taken);
            continue;
        }
        if (plan == nullptr) {
            ++sum.refused;
            continue;
        }
        sum.cut += plan->note.empty() ? 0 : 1;
        ledger.enter(part, *plan, now());
        plans.push_back(*plan);
    }
    return plans;
}

void quality(benchmark::State& state, const CloudSpec& spec, const Contestant& contestant,
             int slots, int alternatives) {
    const Snapshot cloud = synthetic_cloud(spec);
    const CloudIndex index{cloud};
    std::map<ServerId, const Server*> servers;
    for (const auto& host : cloud.hosts)
        for (const auto& server : host.servers) servers.emplace(server.id, &server);
    Parameters parameters;
    if (!contestant.objective.empty()) parameters["objective"] = contestant.objective;
    const auto& info = *find_strategy(contestant.strategy);
    const auto made = info.make(with_standards(info.parameters, std::move(parameters)));
    const auto& strategy = *std::get<std::unique_ptr<Strategy>>(made);
    Sum sum;
    for (auto _ : state)
        for (int i = 0; i < requests; ++i) {
            const Request request = request_for(i, slots);
            const auto plans =
                plans_of(request, index, strategy, alternatives, contestant.slot_by_slot, sum);
            if (!plans.empty()) add(sum, request, plans, cloud, servers);
        }
    const double n = std::max(sum.plans, 1);
    state.counters["victims"] = sum.victims / n;
    state.counters["unused_GiB"] = sum.waste / n;
    state.counters["core_hours"] = sum.work / n;
    state.counters["slots_per_asked"] = sum.slots / n / slots;
    state.counters["refused"] = sum.refused;
    state.counters["cut_short"] = sum.cut;
}

const bool registered = [] {
    static const std::vector<Contestant> contestants{
        {"chance", "chance", {}},
        {"strict/slot-by-slot", "strict", {}, true},
        {"strict", "strict", {}},
        {"strict_time", "strict_time", {}},
        {"cost=victims", "cost", {"victims", "waste"}},
        {"cost=lost_work/slot-by-slot", "cost", {"lost_work"}, true},
        {"cost=lost_work", "cost", {"lost_work"}},
        {"cost", "cost", {}},
    };
    for (const Sizes sizes : {Sizes::flavors, Sizes::random})
        for (const auto& [slots, alternatives] : {std::pair{1, 1}, std::pair{10, 2}})
            for (const auto& contestant : contestants) {
                if (contestant.slot_by_slot && slots == 1) continue;
                const std::string name = std::string{"quality/200x12/"} +
                                         (sizes == Sizes::flavors ? "flavors" : "random") +
                                         "/n=" + std::to_string(slots) +
                                         ",k=" + std::to_string(alternatives) + "/" +
                                         contestant.name;
                benchmark::RegisterBenchmark(
                    name.c_str(),
                    [=, &contestant, n = slots, k = alternatives](benchmark::State& state) {
                        quality(state, CloudSpec{200, 12, sizes, 3}, contestant, n, k);
                    })
                    ->Iterations(1)
                    ->Unit(benchmark::kMillisecond);
            }
    return true;
}();

}  // namespace
}  // namespace reaper::bench::quality_bench
