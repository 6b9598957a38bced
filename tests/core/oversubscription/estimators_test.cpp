#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/oversubscription_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::estimators_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

HostFacts host_of(Amount vcpus, Amount allocated) {
    HostFacts facts;
    facts.id = HostId{"h1-uuid"};
    facts.name = "h1.example.org";
    facts.service_host = "h1";
    facts.aggregates = {"ssd", "0a1b"};
    facts.vcpus = vcpus;
    facts.allocated = allocated;
    return facts;
}

HostUsage use(double cores, UsageRange peak) {
    HostUsage usage;
    usage.cores = cores;
    usage.now = {0, 0};
    usage.peak = peak;
    usage.coverage = 0.75;
    usage.measured_at = noon;
    return usage;
}

Amount slack(const HostFacts& facts, double cores, double peak, Parameters parameters = {}) {
    const auto estimate = estimator_of("usage_slack", std::move(parameters))
                              ->estimate(facts, use(cores, {peak, peak}));
    EXPECT_TRUE(estimate.known);
    EXPECT_EQ(estimate.rise_to, estimate.fall_to);
    return estimate.rise_to;
}

TEST(Estimators, EachIsInTheTableUnderItsOwnName) {
    EXPECT_EQ(estimator_table().size(), 3U);
    for (const auto& info : estimator_table()) {
        ASSERT_EQ(find_estimator(info.name), &info);
        EXPECT_EQ(estimator_of(std::string{info.name})->name(), info.name);
    }
    EXPECT_EQ(find_estimator("magic"), nullptr);
}

TEST(NoopEstimator, GivesNothing) {
    const auto estimate = estimator_of("noop")->estimate(host_of(32, 32), use(32, {0, 0}));
    EXPECT_TRUE(estimate.known);
    EXPECT_EQ(estimate.rise_to, 0);
    EXPECT_EQ(estimate.fall_to, 0);
}

TEST(FixedEstimator, GivesTheSameWhateverIsInUse) {
    const auto fixed = estimator_of("fixed", {{"vcpus", std::int64_t{14}}});
    EXPECT_FALSE(fixed->measures());
    HostUsage unknown;
    unknown.why_unknown = "no metrics";
    const auto estimate = fixed->estimate(host_of(32, 0), unknown);
    EXPECT_TRUE(estimate.known);
    EXPECT_EQ(estimate.rise_to, 14);
    EXPECT_EQ(estimate.fall_to, 14);
    EXPECT_EQ(estimate.measured_at, std::nullopt);
    EXPECT_EQ(estimate.coverage, 1);
}

TEST(FixedEstimator, TheFirstOverrideThatFitsCounts) {
    const auto vcpus = [](const Texts& overrides) {
        return estimator_of("fixed", {{"vcpus", std::int64_t{2}}, {"overrides", overrides}})
            ->estimate(host_of(32, 0), {})
            .fall_to;
    };
    EXPECT_EQ(vcpus({}), 2);
    EXPECT_EQ(vcpus({"h2*=5"}), 2);
    EXPECT_EQ(vcpus({"h1.*=5", "h1=6"}), 5);  // hypervisor
    EXPECT_EQ(vcpus({"h2=5", "h?=6"}), 6);    // service host
    EXPECT_EQ(vcpus({"aggregate:hdd=5", "aggregate:ssd=7", "*=8"}), 7);
    EXPECT_EQ(vcpus({"aggregate:0a1b=0"}), 0);
    EXPECT_EQ(vcpus({"ssd=5"}), 2);  // an aggregate is no host
}

TEST(FixedEstimator, TellsWhichHostsItNames) {
    EXPECT_TRUE(estimator_of("usage_slack")->named().empty());
    const auto named =
        estimator_of("fixed", {{"overrides", Texts{"h1=5", "aggregate:ssd=0"}}})->named();
    ASSERT_EQ(named.size(), 2U);
    EXPECT_EQ(named[0].key, "overrides");
    EXPECT_EQ(named[0].text, "h1=5");
    EXPECT_EQ(named[1].text, "aggregate:ssd=0");
    EXPECT_TRUE(named[0].cover(host_of(8, 0)));
    EXPECT_TRUE(named[1].cover(host_of(8, 0)));
    EXPECT_FALSE(named[0].cover(HostFacts{}));
    EXPECT_FALSE(named[1].cover(HostFacts{}));
}

TEST(FixedEstimator, GivesNoMoreThanTheHostHas) {
    const auto fixed = estimator_of("fixed", {{"vcpus", std::int64_t{14}}});
    EXPECT_EQ(fixed->estimate(host_of(8, 8), {}).fall_to, 8);
    HostFacts twice = host_of(5, 0);
    twice.allocation_ratio = 2.5;
    EXPECT_EQ(fixed->estimate(twice, {}).fall_to, 12);
    EXPECT_EQ(fixed->estimate(host_of(0, 0), {}).fall_to, 0);
}

// As Mesos' example: 14 on an agent of any size.
TEST(FixedEstimator, GivesMoreThanTheHostHasOnRequest) {
    const auto fixed =
        estimator_of("fixed", {{"vcpus", std::int64_t{14}}, {"beyond", std::string{"true"}}});
    const auto estimate = fixed->estimate(host_of(8, 8), {});
    EXPECT_EQ(estimate.rise_to, 14);
    EXPECT_EQ(estimate.fall_to, 14);
    EXPECT_EQ(estimate.why, "14 vCPUs by the configuration, beyond the 8 VCPU that the host has");
    EXPECT_EQ(fixed->estimate(host_of(32, 8), {}).why, "14 vCPUs by the configuration");
}

TEST(FixedEstimator, RefusesWhatItCantRead) {
    EXPECT_EQ(refused_parameter(try_estimator("fixed", {{"vcpus", std::int64_t{-1}}})), "vcpus");
    EXPECT_EQ(refused_parameter(try_estimator("fixed", {{"vcpus", std::int64_t{1'000'001}}})),
              "vcpus");
    for (const char* wrong : {"h1", "h1=", "=4", "h1=-1", "h1=4x", "h1=1000001", "aggregate:=4"})
        EXPECT_EQ(refused_parameter(try_estimator("fixed", {{"overrides", Texts{"h1=1", wrong}}})),
                  "overrides")
            << wrong;
}

TEST(UsageSlack, SellsWhatIsAllocatedAndNotUsedAtThePeak) {
    // 20 allocated, 6 in use: 14 unused, and 32 * 0.9 - 6 = 22 cores idle.
    EXPECT_EQ(slack(host_of(32, 20), 32, 6), 14);
    // What is not allocated is ordinary room.
    EXPECT_EQ(slack(host_of(32, 4), 32, 6), 0);
    EXPECT_EQ(slack(host_of(32, 0), 32, 0), 0);
}

TEST(UsageSlack, KeepsTheMarginOfTheCoresBack) {
    EXPECT_EQ(slack(host_of(32, 64), 32, 6), 22);  // 22.8
    EXPECT_EQ(slack(host_of(32, 64), 32, 6, {{"margin", std::string{"0"}}}), 26);
    EXPECT_EQ(slack(host_of(32, 64), 32, 6, {{"margin", std::string{"0.5"}}}), 10);
    EXPECT_EQ(slack(host_of(32, 64), 32, 30), 0);
}

TEST(UsageSlack, NeverGivesMoreThanItsCeiling) {
    EXPECT_EQ(slack(host_of(32, 64), 32, 6, {{"ceiling", std::string{"0.25"}}}), 8);
    EXPECT_EQ(slack(host_of(32, 64), 32, 6, {{"ceiling", std::string{"0"}}}), 0);
}

TEST(UsageSlack, GivesNoMoreVcpusForACoreThanTheAllocationRatioDoes) {
    HostFacts facts = host_of(32, 128);
    const Parameters four{{"vcpus_per_core", std::string{"4"}}, {"ceiling", std::string{"4"}}};
    EXPECT_EQ(slack(facts, 32, 6, four), 22);
    facts.allocation_ratio = 2;
    EXPECT_EQ(slack(facts, 32, 6, four), 45);  // 22.8 * 2
    facts.allocation_ratio = 8;
    EXPECT_EQ(slack(facts, 32, 6, four), 91);
    facts.allocated = 40;
    EXPECT_EQ(slack(facts, 32, 6, four), 34);
}

TEST(UsageSlack, CountsTheCoresThatPlacementHasForVcpus) {
    EXPECT_EQ(slack(host_of(16, 64), 32, 4), 10);  // half of them are pinned: 16 * 0.9 - 4
    EXPECT_EQ(slack(host_of(64, 64), 32, 4), 24);
    EXPECT_EQ(slack(host_of(0, 64), 32, 4), 0);
}

TEST(UsageSlack, RisesByTheUpperEndAndFallsByTheLower) {
    HostUsage usage = use(32, {6, 10});
    usage.now = {5, 8};
    const auto estimate = estimator_of("usage_slack")->estimate(host_of(32, 64), usage);
    EXPECT_EQ(estimate.rise_to, 18);
    EXPECT_EQ(estimate.fall_to, 22);
    EXPECT_EQ(estimate.measured_at, noon);
    EXPECT_EQ(estimate.coverage, 0.75);
    EXPECT_EQ(estimate.why,
              "10 of 32 cores in use at the peak of 1h (now 8, the mean of 1min; at least 6 not by "
              "oversubscribed room), "
              "64 vCPUs allocated");
}

// The use rose, and room falls when the mean of it has: the reason shows both.
TEST(UsageSlack, ItsReasonShowsTheUseThatIsToBecomeThePeak) {
    HostUsage usage = use(32, {4, 4});
    usage.now = {3, 3};
    EXPECT_EQ(
        estimator_of("usage_slack")->estimate(host_of(32, 64), usage).why,
        "4 of 32 cores in use at the peak of 1h (now 3, the mean of 1min), 64 vCPUs allocated");
    EXPECT_EQ(estimator_of("usage_slack", {{"peak", std::string{"0s"}}})
                  ->estimate(host_of(32, 64), usage)
                  .why,
              "4 of 32 cores in use at the peak, 64 vCPUs allocated");
}

TEST(UsageSlack, WhoHoldsItStaysWhereOthersLeftAndTheirCpusAreIdle) {
    const auto estimate = estimator_of("usage_slack")->estimate(host_of(32, 4), use(32, {6, 6}));
    EXPECT_EQ(estimate.fall_to, 0) << "what is not allocated is ordinary room";
    EXPECT_EQ(estimate.keep_to, 22) << "32 * 0.9 - 6 cores are idle";
}

TEST(UsageSlack, WhatIsNowCountsIfItIsAboveThePeak) {
    HostUsage usage = use(32, {6, 6});
    usage.now = {20, 20};
    EXPECT_EQ(estimator_of("usage_slack")->estimate(host_of(32, 64), usage).fall_to, 8);
}

TEST(UsageSlack, UnknownOrImpossibleUseIsNoEstimate) {
    HostUsage usage = use(32, {6, 6});
    usage.why_unknown = "no answer from Prometheus";
    const auto unknown = estimator_of("usage_slack")->estimate(host_of(32, 64), usage);
    EXPECT_FALSE(unknown.known);
    EXPECT_EQ(unknown.why, "no answer from Prometheus");
    EXPECT_FALSE(estimator_of("usage_slack")->estimate(host_of(32, 64), use(0, {6, 6})).known);
    EXPECT_FALSE(estimator_of("usage_slack")->estimate(host_of(32, 64), use(32, {6, 99})).known);
}

TEST(UsageSlack, ItsWindowsAreThoseOfTheConfiguration) {
    const auto windows = estimator_of("usage_slack", {{"smoothing", std::string{"2min"}},
                                                      {"peak", std::string{"24h"}}})
                             ->windows();
    EXPECT_EQ(windows.smoothing, 2min);
    EXPECT_EQ(windows.peak, 24h);
    EXPECT_TRUE(estimator_of("usage_slack")->measures());
}

TEST(UsageSlack, RefusesWhatItCantRead) {
    const std::vector<std::pair<const char*, std::vector<const char*>>> wrong{
        {"margin", {"1", "-0.1", "10%", ".1", "1.", "0x1", "nan", "1e-1", "", "0.1.1"}},
        {"smoothing", {"5", "2h", "-1s"}},
        {"peak", {"169h", "an hour"}},
        {"ceiling", {"16.1", "inf"}},
        {"vcpus_per_core", {"0", "17"}},
    };
    for (const auto& [name, values] : wrong)
        for (const char* value : values)
            EXPECT_EQ(refused_parameter(try_estimator("usage_slack", {{name, std::string{value}}})),
                      name)
                << value;
}

TEST(UsageSlack, GivesExactlyWhatItsBoundsAllow) {
    holds("the most within all bounds", [] {
        const double cores = 1 + upto(127);
        const double peak = cores * upto(1000) / 1000;
        const int margin = upto(99);
        HostFacts facts = host_of(1 + upto(127), upto(300));
        const Amount room = slack(
            facts, cores, peak,
            {{"margin", "0." + std::string(margin < 10 ? "0" : "") + std::to_string(margin)}});
        const double most = std::min(cores, static_cast<double>(facts.vcpus));
        const auto fits = [&](Amount vcpus) {
            const auto sold = static_cast<double>(vcpus);
            return peak + sold <= most * (100 - margin) / 100 + 1e-6 &&
                   peak + sold <= static_cast<double>(facts.allocated) + 1e-6 &&
                   sold <= most + 1e-6;
        };
        RC_ASSERT(room >= 0);
        RC_ASSERT(room == 0 || fits(room));
        RC_ASSERT(!fits(room + 1));
    });
}

}  // namespace
}  // namespace reaper::estimators_test
