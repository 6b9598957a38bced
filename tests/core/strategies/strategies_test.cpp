// What each strategy prefers, and the parameters that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/cloud_builder.hpp"
#include "strategies/seeded_rng.hpp"

namespace reaper::strategies_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Resources big{{"VCPU", 8}, {"MEMORY_MB", 8192}};
const Resources half{{"VCPU", 4}, {"MEMORY_MB", 4096}};

std::vector<std::string> victims(const Request& wanted, const std::vector<Host>& hosts,
                                 std::string_view strategy, Parameters parameters = {},
                                 std::uint64_t seed = 0) {
    PlanOptions options;
    options.seed = seed;
    return victim_ids(
        plan(wanted, Snapshot{at(0), hosts, {}}, options, {}, strategy, std::move(parameters)));
}

TEST(Strict, LeftoverOrderDecidesWhichWasteCountsFirst) {
    Host a = host("a", big);
    put(a, revocable("much-cpu", a.id, {{"VCPU", 6}, {"MEMORY_MB", 4096}}));
    put(a, revocable("much-ram", a.id, {{"VCPU", 2}, {"MEMORY_MB", 4096}}));
    Host b = host("b", big);
    put(b, revocable("ram-only", b.id, {{"VCPU", 4}, {"MEMORY_MB", 8192}}));
    put(b, server("regular", b.id, {{"VCPU", 4}}));
    EXPECT_THAT(victims(request(half), {a, b}, "strict"), ElementsAre("much-cpu"));
    EXPECT_THAT(victims(request(half), {a, b}, "strict",
                        {{"leftover_order", std::vector<std::string>{"VCPU", "MEMORY_MB"}}}),
                ElementsAre("ram-only"));
}

TEST(Strict, FewerVictimsWhenTheWasteIsEqual) {
    Host a = host("a", big);
    for (const auto* id : {"a1", "a2"})
        put(a, revocable(id, a.id, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
    put(a, revocable("a3", a.id, half));
    EXPECT_THAT(victims(request(half), {a}, "strict"), ElementsAre("a3"));
}

TEST(Strict, TiesGoByHostNameThenServerId) {
    std::vector<Host> hosts;
    for (const auto* name : {"c", "b"}) {
        Host made = host(name, big);
        for (const auto* suffix : {"2", "1"})
            put(made, revocable(std::string{name} + suffix, made.id, half));
        hosts.push_back(made);
    }
    EXPECT_THAT(victims(request(half), hosts, "strict"), ElementsAre("b1"));
}

TEST(Strict, SlotsOnOneHostShareTheirVictims) {
    // One slot: the server of 5 leaves 1, the one of 6 leaves 2. Two slots: both leave 3, but the
    // server of 8 leaves nothing. A host's victims are found again for each number of slots.
    Host a = host("a", {{"VCPU", 19}});
    put(a, revocable("five", a.id, {{"VCPU", 5}}));
    put(a, revocable("six", a.id, {{"VCPU", 6}}));
    put(a, revocable("eight", a.id, {{"VCPU", 8}}));
    EXPECT_THAT(victims(request({{"VCPU", 4}}, 1), {a}, "strict"), ElementsAre("five"));
    EXPECT_THAT(victims(request({{"VCPU", 4}}, 2), {a}, "strict"), ElementsAre("eight"));
}

Host of_ages() {
    Host made = host("a", big);
    put(made, revocable("a-old", made.id, half, 10));
    put(made, revocable("b-new", made.id, half, 20));
    return made;
}

TEST(StrictTime, NewestGoFirstByStandardOldestWhenConfigured) {
    EXPECT_THAT(victims(request(half), {of_ages()}, "strict_time"), ElementsAre("b-new"));
    EXPECT_THAT(
        victims(request(half), {of_ages()}, "strict_time", {{"order", std::string{"oldest"}}}),
        ElementsAre("a-old"));
    EXPECT_THAT(victims(request(half), {of_ages()}, "strict"), ElementsAre("a-old"));
}

TEST(StrictTime, AgeDecidesBetweenHostsToo) {
    Host a = host("a", half);
    put(a, revocable("a1", a.id, half, 10));
    Host b = host("b", half);
    put(b, revocable("b1", b.id, half, 20));
    EXPECT_THAT(victims(request(half), {a, b}, "strict_time"), ElementsAre("b1"));
    EXPECT_THAT(victims(request(half), {a, b}, "strict_time", {{"order", std::string{"oldest"}}}),
                ElementsAre("a1"));
}

TEST(StrictTime, WasteComesBeforeAge) {
    Host a = host("a", {{"VCPU", 8}, {"MEMORY_MB", 9096}});
    put(a, revocable("exact-old", a.id, half, 10));
    put(a, revocable("wasteful-new", a.id, {{"VCPU", 4}, {"MEMORY_MB", 5000}}, 20));
    EXPECT_THAT(victims(request(half), {a}, "strict_time"), ElementsAre("exact-old"));
}

std::vector<Host> four_hosts() {
    std::vector<Host> hosts;
    for (const auto* name : {"a", "b", "c", "d"}) {
        Host made = host(name, big);
        for (int i = 0; i < 4; ++i)
            put(made,
                revocable(name + std::to_string(i), made.id, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
        hosts.push_back(made);
    }
    return hosts;
}

TEST(Chance, SameSeedSameVictimsOtherSeedsOthers) {
    std::set<std::vector<std::string>> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto once = victims(request(half), four_hosts(), "chance", {}, seed);
        EXPECT_EQ(once, victims(request(half), four_hosts(), "chance", {}, seed));
        EXPECT_EQ(once.size(), 2U);
        seen.insert(once);
    }
    EXPECT_GT(seen.size(), 5U);
}

TEST(Chance, FindsTheWayWheneverThereIsOne) {
    // Two hosts, of which one gives a single slot: drawing it twice must not end the search.
    Host a = host("a", big);
    put(a, revocable("a1", a.id, big));
    Host b = host("b", half);
    put(b, revocable("b1", b.id, half));
    for (std::uint64_t seed = 0; seed < 50; ++seed)
        EXPECT_THAT(victims(request(half, 3), {a, b}, "chance", {}, seed), ElementsAre("a1", "b1"));
}

TEST(SeededRng, ThrowsAreInRangeAndTheSameEverywhere) {
    SeededRng rng{1};
    std::vector<std::uint64_t> paused_reason;
    for (int i = 0; i < 5; ++i) paused_reason.push_back(rng.below(6));
    EXPECT_THAT(paused_reason, ::testing::Each(::testing::Lt(6U)));
    // mt19937_64 is fixed by the standard; its first output for seed 1 mod 1000 is too.
    EXPECT_EQ(SeededRng{1}.below(1000), std::mt19937_64{1}() % 1000);
    EXPECT_EQ(SeededRng{9}.below(1), 0U);
}

TEST(StrategyTable, EveryStrategyHasHelpAndMakesWithItsStandards) {
    std::set<std::string_view> names;
    for (const auto& info : strategy_table()) {
        names.insert(info.name);
        EXPECT_FALSE(info.help.empty());
        for (const auto& spec : info.parameters) EXPECT_FALSE(spec.help.empty());
        const auto standards = with_standards(info.parameters, {});
        EXPECT_TRUE(check_parameters(info.parameters, standards).empty());
        const auto made = info.make(standards);
        EXPECT_TRUE(std::holds_alternative<std::unique_ptr<Strategy>>(made)) << info.name;
        EXPECT_EQ(find_strategy(info.name), &info);
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"chance", "cost", "strict", "strict_time"}));
    EXPECT_EQ(find_strategy("best"), nullptr);
}

struct BadParameter {
    const char* strategy;
    const char* parameter;
    ParameterValue value;
};

class StrategyParameters : public ::testing::TestWithParam<BadParameter> {};

TEST_P(StrategyParameters, BadValueIsRefusedByName) {
    const auto& info = *find_strategy(GetParam().strategy);
    const auto made =
        info.make(with_standards(info.parameters, {{GetParam().parameter, GetParam().value}}));
    ASSERT_TRUE(std::holds_alternative<ParameterError>(made));
    EXPECT_EQ(std::get<ParameterError>(made).parameter, GetParam().parameter);
    EXPECT_FALSE(std::get<ParameterError>(made).expected.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Bad, StrategyParameters,
    ::testing::Values(BadParameter{"strict", "max_steps", std::int64_t{0}},
                      BadParameter{"strict", "leftover_order",
                                   std::vector<std::string>{"VCPU", "VCPU"}},
                      BadParameter{"strict", "leftover_order", std::vector<std::string>{"vcpu"}},
                      BadParameter{"strict_time", "order", std::string{"random"}}));

TEST(Parameters, UnknownNamesAndWrongKindsAreReported) {
    const auto& specs = find_strategy("strict")->parameters;
    const auto unknown = check_parameters(specs, {{"steps", std::int64_t{3}}});
    ASSERT_EQ(unknown.size(), 1U);
    EXPECT_EQ(unknown[0].parameter, "steps");
    EXPECT_EQ(unknown[0].expected, "one of leftover_order, max_steps");
    const auto kind = check_parameters(specs, {{"max_steps", std::string{"many"}}});
    ASSERT_EQ(kind.size(), 1U);
    EXPECT_EQ(kind[0].expected, "a whole number");
    EXPECT_TRUE(check_parameters(specs, {}).empty());
    const auto kept = with_standards(specs, {{"max_steps", std::int64_t{3}}});
    EXPECT_EQ(std::get<std::int64_t>(kept.at("max_steps")), 3);
}

}  // namespace
}  // namespace reaper::strategies_test
