// The search on one host against plain enumeration, and its bounds on effort.
#include "strategies/cover.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/planner/host_filter.hpp"
#include "strategies/bounds.hpp"
#include "strategies/leftover_parameters.hpp"
#include "strategies/objective.hpp"
#include "strategies/seeded_rng.hpp"

namespace reaper::cover_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NoHosts : public HostList {
public:
    const HostOption& operator[](std::size_t) const override { throw std::logic_error("no host"); }
    bool sketch(std::size_t, HostSketch&) const override { return false; }
};

constexpr std::int64_t plenty = 10'000'000;

/// Of those that make a level of their own, before any goal's.
const NoticeRules notice{{std::chrono::seconds{10}, {"large=60s", "gold=30s"}, "", {}, {}}};

Objective objective_of(const Goal& goal, const Shape& shape,
                       const std::map<ProjectId, Amount>* fleets) {
    const NoHosts none;
    return objective_for(goal, Problem{shape, 0, 0, none, 0, at(3600), fleets, nullptr,
                                       fleets == nullptr ? nullptr : &notice});
}

HostOption option_of(const Host& host, const Shape& shape) {
    HostOption option;
    option.host = &host;
    option.room = room_on(host, shape, {}, RequestId{"req"});
    for (const auto& server : host.servers)
        if (server.revocable())
            option.candidates.push_back(
                Candidate{&server, gains_of(option.room, shape, server.allocations)});
    std::erase_if(option.candidates, [](const Candidate& c) {
        return std::all_of(c.gains.begin(), c.gains.end(), [](Amount a) { return a == 0; });
    });
    std::sort(option.candidates.begin(), option.candidates.end(),
              [](const auto& a, const auto& b) { return a.server->id < b.server->id; });
    std::vector<std::size_t> all(option.candidates.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    option.slots_ready = option.room.slots(shape, option.room.room_now());
    option.slots_possible = option.room.slots(shape, room_without(option, all));
    return option;
}

/// What the objective says about one set: cost, then the places of its servers.
struct Value {
    Cost cost;
    std::vector<std::size_t> ranks;
    friend auto operator<=>(const Value&, const Value&) = default;
};

/// What the sums of gains count as waste, though it only fills up an overfull provider.
Cost filled_up(const Shape& shape, const HostRoom& room, const Objective& objective,
               const ByPool& after) {
    const auto summed = [&](const ByPool& by_pool) {
        std::vector<Amount> sums(shape.size(), 0);
        for (std::size_t pool = 0; pool < by_pool.size(); ++pool)
            sums[room.pools[pool].need] += by_pool[pool];
        return sums;
    };
    const ByPool before = room.room_now();
    Cost filled;
    for (std::size_t level = 0; level < objective.levels.size(); ++level)
        for (const auto& term : objective.levels[level]) {
            if (term.measure != Measure::waste) continue;
            const Amount gains = summed(after)[term.need] - summed(before)[term.need];
            const Amount grown =
                room.totals(shape, after)[term.need] - room.totals(shape, before)[term.need];
            filled[level] += term.weight * (gains - grown);
        }
    return filled;
}

/// All subsets, one by one.
std::optional<Value> enumerate(const Shape& shape, const HostOption& option,
                               const Objective& objective, Amount slots) {
    const auto ranking = objective.ranking(option.candidates);
    std::vector<Cost> own;
    for (const std::size_t candidate : ranking)
        own.push_back(objective.of(option.room, option.candidates[candidate]));
    std::optional<Value> best;
    for (std::size_t set = 0; set < std::size_t{1} << ranking.size(); ++set) {
        Value value{objective.base(shape, option.room, slots), {}};
        ByPool room = option.room.room_now();
        for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
            if ((set >> rank & 1U) == 0) continue;
            value.ranks.push_back(rank);
            value.cost += own[rank];
            for (std::size_t pool = 0; pool < room.size(); ++pool)
                room[pool] += option.candidates[ranking[rank]].gains[pool];
        }
        value.cost -= filled_up(shape, option.room, objective, room);
        if (best && value >= *best) continue;
        if (option.room.slots(shape, room) >= slots) best = value;
    }
    return best;
}

Value value_of(const Cover& cover, const HostOption& option, const Objective& objective) {
    const auto ranking = objective.ranking(option.candidates);
    Value value{cover.cost, {}};
    for (const std::size_t victim : cover.victims)
        value.ranks.push_back(static_cast<std::size_t>(
            std::find(ranking.begin(), ranking.end(), victim) - ranking.begin()));
    return value;
}

/// Up to 12 servers, of few sizes or of many, on one provider or two, over up to four classes.
Host random_host() {
    const bool few_sizes = upto(1) == 0;
    const auto amount = [&](int scale) {
        return static_cast<Amount>(scale * (few_sizes ? 1 + upto(2) : 1 + upto(40)));
    };
    Host made = host(
        "h",
        Resources{{"VCPU", 200}, {"MEMORY_MB", 200'000}, {"DISK_GB", 5000}, {"CUSTOM_X", 100}});
    if (upto(2) == 0) nest(made, "nested", Resources{{"VCPU", 100}, {"CUSTOM_X", 50}});
    const int servers = upto(12);
    for (int i = 0; i < servers; ++i) {
        const auto& on = made.providers[static_cast<std::size_t>(
            upto(static_cast<int>(made.providers.size()) - 1))];
        Resources held{{"VCPU", amount(1)}, {"MEMORY_MB", amount(few_sizes ? 512 : 1)}};
        if (on.parent.empty()) held.set(ResourceClass{"DISK_GB"}, amount(10));
        if (upto(4) == 0) held.set(ResourceClass{"CUSTOM_X"}, upto(3));
        Server one = revocable("s" + std::to_string(i), on.id, held, -60 * upto(9));
        if (upto(2) == 0) one.project = ProjectId{upto(1) == 0 ? "gold" : "silver"};
        if (upto(3) == 0) one.flavor_name = "large";
        if (upto(2) == 0) one.metadata.insert_or_assign("restarts", std::to_string(upto(3)));
        if (upto(3) == 0) one.launched = one.created + std::chrono::minutes{2};
        put(made, one);
    }
    for (auto& provider : made.providers)
        for (auto& [name, inventory] : provider.inventories)
            inventory.total = std::min(inventory.total, provider.used.get(name) + upto(8));
    return made;
}

/// Goals of every kind: each measure first, sums, several levels.
Goal random_goal() {
    static const std::vector<std::vector<const char*>> goals{
        {"waste"},
        {"victims", "waste"},
        {"lost_work", "waste:VCPU"},
        {"priority", "lost_work + 60 victims", "waste"},
        {"restarts", "victims"},
        {"share", "lost_work"},
        {"lost_work + 3 waste:MEMORY_MB + 7 waste:VCPU + 50 priority"},
        {"2 waste:VCPU + 90 victims", "restarts"},
        {"notice", "waste:VCPU"},
        {"bid", "lost_work"},
    };
    Goal goal;
    for (const auto* text :
         goals[static_cast<std::size_t>(upto(static_cast<int>(goals.size()) - 1))])
        goal.levels.push_back(std::get<std::vector<Goal::Term>>(level_of(text)));
    goal.waste_order = {ResourceClass{"MEMORY_MB"}, ResourceClass{"VCPU"}};
    goal.tie = std::vector{Tie::id, Tie::newest, Tie::oldest}[static_cast<std::size_t>(upto(2))];
    goal.priorities = {{"gold", 5}, {"silver", 2}, {"large", 3}};
    goal.standard_priority = upto(1);
    goal.restarts_key = "restarts";
    goal.bid_key = "restarts";
    return goal;
}

Resources random_slot() {
    Resources slot{{"VCPU", 1 + upto(6)}};
    if (upto(2) != 0) slot.set(ResourceClass{"MEMORY_MB"}, 1 + upto(2000));
    if (upto(1) == 0) slot.set(ResourceClass{"DISK_GB"}, 1 + upto(60));
    if (upto(4) == 0) slot.set(ResourceClass{"CUSTOM_X"}, 1 + upto(2));
    return slot;
}

TEST(Cover, EqualsEnumerationForEveryObjectiveAndNumberOfSlots) {
    static const std::map<ProjectId, Amount> fleets{{ProjectId{"gold"}, 3},
                                                    {ProjectId{"cheap"}, 40}};
    int searched = 0;
    holds("best set", [&] {
        for (int round = 0; round < 8; ++round) {
            const Host made = random_host();
            const Shape shape = shape_of(random_slot());
            const HostOption option = option_of(made, shape);
            const Goal goal = random_goal();
            const Objective objective = objective_of(goal, shape, &fleets);
            CoverSearch search{shape, option, objective};
            for (Amount slots = option.slots_ready + 1;
                 slots <= std::min(option.slots_possible, option.slots_ready + 4); ++slots) {
                std::int64_t steps = plenty;
                const Cost bound = search.bound(slots);
                const Cover cover = search.best(slots, steps);
                const auto expected = enumerate(shape, option, objective, slots);
                RC_ASSERT(cover.proven);
                RC_ASSERT(expected.has_value());
                const Value found = value_of(cover, option, objective);
                RC_ASSERT(found.cost == expected->cost);
                RC_ASSERT(found.ranks == expected->ranks);
                RC_ASSERT(bound[0] <= expected->cost[0]);
                RC_ASSERT(bound <= expected->cost);
                ++searched;
            }
        }
    });
    EXPECT_GT(searched, 1000) << "instances compared";
}

/// What the row of numbers tells about the host must hold for every set on it.
TEST(Cover, BoundsFromTheRowAreNeverAboveTheBest) {
    holds("row bound", [] {
        const Host made = random_host();
        const Request wanted = request(random_slot());
        const Shape shape = shape_of(wanted.resources);
        const Goal goal = random_goal();
        const Objective objective = objective_of(goal, shape, nullptr);
        SketchBounds bounds{shape, objective};
        CloudIndex index;
        index.put(made);
        const Ledger ledger;
        const std::map<ServerId, std::string> skipped;
        const HostFilter host_filter{index, FilterInput{wanted, shape, ledger, skipped}, 100};
        if (host_filter.size() == 0) return;
        const auto& option = host_filter[0];
        RC_ASSERT(host_filter.ready(0) == std::min<Amount>(option.slots_ready, 100));
        RC_ASSERT(host_filter.possible(0) == std::min<Amount>(option.slots_possible, 100));
        HostSketch sketch;
        if (!host_filter.sketch(0, sketch)) return;
        for (Amount slots = option.slots_ready + 1;
             slots <= std::min(option.slots_possible, option.slots_ready + 4); ++slots) {
            std::int64_t steps = plenty;
            const Cover cover = CoverSearch{shape, option, objective}.best(slots, steps);
            RC_ASSERT(bounds.of(sketch, slots) <= cover.cost);
            Cost bound;
            RC_ASSERT(bounds.of(sketch, slots, &cover.cost, bound));
            RC_ASSERT(bound <= cover.cost);
            const auto checker = bounds.checker(sketch);
            RC_ASSERT(checker <= cover.checker);
        }
    });
}

TEST(Cover, EqualWasteAndNumberGoByIdAcrossSizes) {
    Host made = host("h", {{"VCPU", 8}});
    for (const auto& [id, size] : {std::pair{"a", 2}, {"b", 2}, {"c", 1}, {"d", 3}})
        put(made, revocable(id, made.id, {{"VCPU", size}}));
    EXPECT_THAT(victim_ids(plan(request({{"VCPU", 4}}), Snapshot{at(0), {made}, {}})),
                ElementsAre("a", "b"));
}

/// A full host of `servers` servers of the given sizes in MiB (and VCPU to match).
Host host_of_sizes(const std::vector<Amount>& sizes) {
    Amount memory = 0;
    for (const Amount size : sizes) memory += size;
    const auto vcpus = static_cast<Amount>(sizes.size()) * 4;
    Host made = host("h", {{"VCPU", vcpus}, {"MEMORY_MB", memory}});
    for (std::size_t i = 0; i < sizes.size(); ++i)
        put(made, revocable("s" + std::to_string(100 + i), made.id,
                            {{"VCPU", 1 + static_cast<Amount>(i % 4)}, {"MEMORY_MB", sizes[i]}}));
    made.providers[0].used.set(ResourceClass{"VCPU"}, vcpus);
    return made;
}

TEST(Cover, SixtyServersOfFewSizesAreProvenWithinTheStandardSteps) {
    std::vector<Amount> sizes;
    for (int i = 0; i < 60; ++i) sizes.push_back(Amount{512} << i % 6);
    const Host made = host_of_sizes(sizes);
    const Shape shape = shape_of({{"VCPU", 8}, {"MEMORY_MB", 13 * 1024}});
    const HostOption option = option_of(made, shape);
    const Goal goal = leftover_goal({ResourceClass{"MEMORY_MB"}}, Tie::id);
    const Objective objective = objective_of(goal, shape, nullptr);
    for (Amount slots = 1; slots <= 3; ++slots) {
        std::int64_t steps = 200'000;
        const Cover cover = CoverSearch{shape, option, objective}.best(slots, steps);
        EXPECT_TRUE(cover.proven) << slots;
        EXPECT_EQ(cover.cost[0], 0) << slots;
    }
}

TEST(Cover, SixtyServersOfSixtySizesStopAtTheBoundWithAGoodSet) {
    SeededRng rng{7};
    std::vector<Amount> sizes;
    for (int i = 0; i < 60; ++i) sizes.push_back(static_cast<Amount>(500 + rng.below(30'000)));
    const Host made = host_of_sizes(sizes);
    const Shape shape = shape_of({{"VCPU", 8}, {"MEMORY_MB", 100'003}});
    const HostOption option = option_of(made, shape);
    const Goal goal = leftover_goal({ResourceClass{"MEMORY_MB"}}, Tie::id);
    const Objective objective = objective_of(goal, shape, nullptr);
    constexpr std::int64_t allowed = 20'000;
    std::int64_t steps = allowed;
    const Cover cover = CoverSearch{shape, option, objective}.best(1, steps);
    EXPECT_GE(steps, 0);
    EXPECT_LE(cover.bound, cover.cost);
    EXPECT_GE(option.room.slots(shape, room_without(option, cover.victims)), 1);
    EXPECT_LT(cover.cost[0], 3000) << "MiB wasted of 100003";
    EXPECT_TRUE(cover.proven || steps == 0);
}

TEST(Cover, PlanTellsThatTheSearchWasCutAndTheGap) {
    SeededRng rng{11};
    std::vector<Amount> sizes;
    for (int i = 0; i < 60; ++i) sizes.push_back(static_cast<Amount>(500 + rng.below(30'000)));
    const Snapshot cloud{at(0), {host_of_sizes(sizes)}, {}};
    const auto decision = plan(request({{"VCPU", 8}, {"MEMORY_MB", 100'003}}), cloud, {}, {},
                               "strict", {{"max_steps", std::int64_t{50}}});
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("the search on h was cut short: at most"));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("above the least possible"));
}

TEST(Cover, ThousandServersDoNotHang) {
    std::vector<Amount> sizes;
    for (int i = 0; i < 1000; ++i) sizes.push_back(1024 + i);
    const Snapshot cloud{at(0), {host_of_sizes(sizes)}, {}};
    const auto decision = plan(request({{"VCPU", 8}, {"MEMORY_MB", 50'000}}, 2), cloud, {}, {},
                               "strict", {{"max_steps", std::int64_t{500}}});
    EXPECT_TRUE(std::holds_alternative<Plan>(decision));
}

/// Three GPUs with 55 of their 70 free: 11 slots of 7 and 8 by the sum, but they don't fit, and the
/// search for them does not end.
Host open_gpus() {
    Host made = host("h", {{"MEMORY_MB", 64}});
    for (const std::string gpu : {"gpu0", "gpu1", "gpu2"}) {
        nest(made, gpu, {{"CUSTOM_VRAM", 70}});
        put(made, revocable("on-" + gpu, ProviderId{gpu}, {{"CUSTOM_VRAM", 15}}));
    }
    return made;
}

/// Of any two GPUs, or both of one.
Shape seven_and_eight() {
    Request wanted = request({{"CUSTOM_VRAM", 15}, {"MEMORY_MB", 1}});
    for (const Amount amount : {7, 8}) {
        RequestGroup group;
        group.suffix = std::to_string(amount);
        group.resources.set(ResourceClass{"CUSTOM_VRAM"}, amount);
        wanted.groups.push_back(std::move(group));
    }
    wanted.group_policy = GroupPolicy::none;
    return shape_of(wanted);
}

TEST(Cover, WhatPackingsTakeCountsAsSteps) {
    const Shape shape = seven_and_eight();
    const Host made = open_gpus();
    const HostOption option = option_of(made, shape);
    ASSERT_NE(option.room.packing, nullptr);
    const Goal goal = leftover_goal({ResourceClass{"MEMORY_MB"}}, Tie::id);
    const Objective objective = objective_of(goal, shape, nullptr);
    std::int64_t steps = plenty;
    const Cover best = CoverSearch{shape, option, objective}.best(11, steps);
    EXPECT_GT(plenty - steps, 1000) << "sets of three servers alone are few";
    steps = 100;
    const Cover cut = CoverSearch{shape, option, objective}.best(11, steps);
    EXPECT_EQ(steps, 0);
    EXPECT_FALSE(cut.proven);
    EXPECT_LE(best.cost, cut.cost);
    EXPECT_TRUE(option.room.fits(shape, room_without(option, cut.victims), 11));
}

TEST(Cover, WhatAPackingLeavesOpenIsNotProven) {
    const Shape shape = seven_and_eight();
    const Host made = open_gpus();
    const HostOption option = option_of(made, shape);
    PackingWork work;
    ASSERT_FALSE(option.room.fits(shape, option.room.room_now(), 11, &work));
    ASSERT_TRUE(work.cut);
    const Goal goal = leftover_goal({ResourceClass{"MEMORY_MB"}}, Tie::id);
    const Objective objective = objective_of(goal, shape, nullptr);
    std::int64_t steps = plenty;
    const Cover cover = CoverSearch{shape, option, objective}.best(11, steps);
    EXPECT_GT(steps, 0);
    EXPECT_FALSE(cover.victims.empty());
    EXPECT_FALSE(cover.proven);
}

}  // namespace
}  // namespace reaper::cover_test
