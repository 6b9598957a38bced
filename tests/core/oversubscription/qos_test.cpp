#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "core/oversubscription_builder.hpp"
#include "reaper/oversubscription/evicted_servers.hpp"

namespace reaper::qos_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

const HostId host{"h1-uuid"};

Parameters texts(const std::map<std::string, std::string>& given) {
    Parameters parameters;
    for (const auto& [name, value] : given) parameters.emplace(name, value);
    return parameters;
}

HostLoad loads(Duration after, std::optional<double> load5, std::optional<double> load15) {
    HostLoad load;
    load.host = host;
    load.load5 = load5;
    load.load15 = load15;
    load.cores = 8;
    load.measured_at = noon + after;
    return load;
}

HostLoad waits(Duration after, std::optional<double> steal, std::optional<double> pressure) {
    HostLoad load = loads(after, {}, {});
    load.steal = steal;
    load.pressure = pressure;
    return load;
}

/// One host under one controller.
class Watched {
public:
    /// `load` by each measurement, unless `in_a_row` says otherwise.
    Watched(const std::string& name, const std::map<std::string, std::string>& given,
            std::int64_t in_a_row = 1) {
        Parameters parameters = texts(given);
        if (name == "load") parameters["for"] = in_a_row;
        controller_ = qos_of(name, std::move(parameters));
    }

    QosVerdict look(const HostLoad& load) {
        now_ = load.measured_at;
        QosVerdict verdict = controller_->look(state_, load, now_);
        state_ = verdict.state;
        return verdict;
    }
    /// vCPUs to shed; 0: none, -1: all.
    Amount sheds(const HostLoad& load) {
        const auto correction = look(load).correction;
        if (!correction) return 0;
        EXPECT_EQ(correction->host, host);
        return correction->all ? -1 : correction->shed_vcpus;
    }
    void shed(Amount vcpus) { state_ = after_correction(state_, vcpus, now_); }

private:
    std::unique_ptr<QosController> controller_;
    QosState state_;
    TimePoint now_{};
};

TEST(Qos, EachIsInTheTableUnderItsOwnName) {
    const std::map<std::string, std::map<std::string, std::string>> needed{
        {"noop", {}},
        {"load", {{"load_threshold_5min", "6"}}},
        {"pressure", {{"steal_threshold", "0.1"}}}};
    EXPECT_EQ(qos_table().size(), needed.size());
    for (const auto& info : qos_table()) {
        ASSERT_EQ(find_qos(info.name), &info);
        const std::string name{info.name};
        EXPECT_EQ(qos_of(name, texts(needed.at(name)))->name(), info.name);
    }
    EXPECT_EQ(find_qos("magic"), nullptr);
}

TEST(NoopQos, CorrectsNothing) {
    Watched noop{"noop", {}};
    EXPECT_EQ(noop.sheds(loads(0s, 1e9, 1e9)), 0);
    EXPECT_FALSE(qos_of("noop")->figures().any());
}

// Mesos' example: 6 for 5 minutes, 4 for 15.
TEST(LoadQos, EitherAverageAboveItsThresholdIsEnough) {
    const std::map<std::string, std::string> mesos{
        {"load_threshold_5min", "6"}, {"load_threshold_15min", "4"}, {"evict", "all"}};
    EXPECT_EQ(Watched("load", mesos).sheds(loads(0s, 6.0, 4.0)), 0);
    EXPECT_EQ(Watched("load", mesos).sheds(loads(0s, 6.01, 4.0)), -1);
    EXPECT_EQ(Watched("load", mesos).sheds(loads(0s, 6.0, 4.01)), -1);
    EXPECT_EQ(Watched("load", mesos).sheds(loads(0s, 6.01, {})), -1);
}

TEST(LoadQos, TooBusyIsWhatIsAboveAThresholdWhateverIsDoneAboutIt) {
    const std::map<std::string, std::string> given{{"load_threshold_5min", "6"},
                                                   {"load_threshold_15min", "4"}};
    Watched watched{"load", given};
    EXPECT_EQ(watched.look(loads(0s, 6.0, 4.0)).too_busy, false);
    EXPECT_EQ(watched.look(loads(15s, 8.0, 4.0)).too_busy, true);
    EXPECT_EQ(watched.look(loads(15s, 8.0, 4.0)).too_busy, std::nullopt) << "nothing new";
    watched.shed(9);
    EXPECT_EQ(watched.look(loads(30s, 8.0, 4.0)).too_busy, true) << "it is to show still";
    EXPECT_EQ(watched.look(loads(90s, 8.0, 4.0)).correction, std::nullopt);
    EXPECT_EQ(watched.look(loads(105s, 8.0, 4.0)).too_busy, true);
    EXPECT_EQ(watched.look(loads(120s, 5.0, {})).too_busy, std::nullopt) << "half is known";
    EXPECT_EQ(watched.look(loads(135s, {}, 4.1)).too_busy, true);
}

TEST(PressureQos, TooBusyIsWhatIsAboveAThresholdFromTheFirstTimeOn) {
    Watched watched{"pressure", {{"steal_threshold", "0.1"}, {"pressure_threshold", "0.5"}}};
    EXPECT_EQ(watched.look(waits(0s, 0.1, 0.5)).too_busy, false);
    const auto verdict = watched.look(waits(15s, 0.2, 0.5));
    EXPECT_EQ(verdict.too_busy, true);
    EXPECT_EQ(verdict.correction, std::nullopt);
    EXPECT_EQ(watched.look(waits(30s, 0.0, {})).too_busy, std::nullopt);
}

TEST(LoadQos, AsksForWhatItComparesAlone) {
    const auto asked = [](const std::map<std::string, std::string>& given) {
        return qos_of("load", texts(given))->figures();
    };
    const auto one = asked({{"load_threshold_5min", "6"}});
    EXPECT_TRUE(one.load5);
    EXPECT_FALSE(one.load15 || one.cores || one.steal || one.pressure);
    const auto other = asked({{"load_threshold_15min", "1.5"}, {"per_core", "true"}});
    EXPECT_TRUE(other.load15 && other.cores);
    EXPECT_FALSE(other.load5);
    Watched fives{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(fives.sheds(loads(0s, 1.0, 99.0)), 0);
}

TEST(LoadQos, ThresholdsMayBeForEachCore) {
    const std::map<std::string, std::string> given{{"load_threshold_5min", "1.5"},
                                                   {"per_core", "true"}};
    EXPECT_EQ(Watched("load", given).sheds(loads(0s, 12.0, {})), 0);
    EXPECT_EQ(Watched("load", given).sheds(loads(0s, 14.5, {})), 3);
    for (const double cores : {0.0, -8.0, std::numeric_limits<double>::quiet_NaN()}) {
        HostLoad without = loads(0s, 99.0, {});
        without.cores = cores;
        Watched watched{"load", given};
        EXPECT_THAT(watched.look(without).why, HasSubstr("cores"));
        EXPECT_EQ(watched.look(without).correction, std::nullopt);
    }
}

TEST(LoadQos, AStepIsAsManyVcpusAsTheLoadIsAbove) {
    const std::map<std::string, std::string> given{{"load_threshold_5min", "6"},
                                                   {"load_threshold_15min", "4"}};
    EXPECT_EQ(Watched("load", given).sheds(loads(0s, 6.2, 0.0)), 1);
    EXPECT_EQ(Watched("load", given).sheds(loads(0s, 9.0, 4.5)), 3);
    EXPECT_EQ(Watched("load", given).sheds(loads(0s, 9.0, 11.5)), 8);
    const auto verdict = Watched("load", given).look(loads(0s, 9.0, 0.0));
    EXPECT_EQ(verdict.correction->why, "the load average of 5 minutes is 9, above 6");
}

TEST(LoadQos, TheNextStepWaitsUntilTheLastOneCanShow) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(watched.sheds(loads(0s, 16.0, {})), 10);
    watched.shed(10);
    EXPECT_THAT(watched.look(loads(59s, 99.0, {})).why, HasSubstr("still to show"));
    EXPECT_GT(watched.sheds(loads(60s, 99.0, {})), 0);
}

TEST(LoadQos, WhatWasShedIsNotShedAgainWhileTheAverageFollows) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(watched.sheds(loads(0s, 16.0, {})), 10);
    watched.shed(10);
    // The load fell to 6 at once; its average takes its time.
    for (int minute = 1; minute <= 30; ++minute) {
        const double average = 6 + 10 * std::exp(-minute / 5.0);
        const auto verdict = watched.look(loads(std::chrono::minutes{minute}, average, {}));
        EXPECT_FALSE(verdict.correction) << minute;
        if (minute == 1) {
            EXPECT_THAT(verdict.why, HasSubstr("not without what was shed"));
        }
    }
}

TEST(LoadQos, AStepThatFreedNothingIsFollowedByOthers) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(watched.sheds(loads(0s, 16.0, {})), 10);
    watched.shed(10);                                    // idle ones: the load stays
    EXPECT_EQ(watched.sheds(loads(1min, 16.0, {})), 2);  // 10 - 10 / e^(1/5)
    watched.shed(2);
    EXPECT_EQ(watched.sheds(loads(6min, 16.0, {})), 7);  // 10 - (8.19 + 2) / e
}

TEST(LoadQos, WhatIsNotHandedOverIsAskedForAgain) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(watched.sheds(loads(0s, 8.0, {})), 2);
    EXPECT_EQ(watched.sheds(loads(20s, 8.0, {})), 2);
}

TEST(LoadQos, AMeasurementCountsOnce) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(watched.sheds(loads(20s, 8.0, {})), 2);
    EXPECT_EQ(watched.sheds(loads(20s, 8.0, {})), 0);
    EXPECT_EQ(watched.sheds(loads(10s, 8.0, {})), 0);
    EXPECT_EQ(watched.sheds(loads(21s, 8.0, {})), 2);
}

TEST(LoadQos, WhatIsNotKnownCorrectsNothing) {
    Watched watched{"load", {{"load_threshold_5min", "6"}}};
    HostLoad stale = loads(0s, 99.0, 99.0);
    stale.why_unknown = "the last measurement is 5min old";
    EXPECT_EQ(watched.look(stale).correction, std::nullopt);
    EXPECT_EQ(watched.look(stale).why, "the last measurement is 5min old");
    for (const double impossible : {std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::infinity(), -1.0}) {
        const auto verdict = watched.look(loads(1min, impossible, 99.0));
        EXPECT_EQ(verdict.correction, std::nullopt);
    }
    const auto missing = Watched("load", {{"load_threshold_5min", "6"}}).look(loads(0s, {}, 99.0));
    EXPECT_EQ(missing.why, "its load average of 5 minutes is not known");
}

TEST(LoadQos, ALoadThatNoHostCanHaveIsNotKnown) {
    for (const double absurd : {1e308, 1e300, 1'000'001.0}) {
        Watched watched{"load", {{"load_threshold_5min", "6"}, {"evict", "all"}}};
        for (const auto after : {0s, 20s, 40s}) {
            const auto verdict = watched.look(loads(after, absurd, {}));
            EXPECT_EQ(verdict.correction, std::nullopt) << absurd;
            EXPECT_EQ(verdict.too_busy, std::nullopt);
            EXPECT_THAT(verdict.why, HasSubstr("more than any host can have"));
        }
    }
    EXPECT_EQ(Watched("load", {{"load_threshold_5min", "6"}}).sheds(loads(0s, 1e6, {})), 999'994);
}

TEST(LoadQos, OneReadingEvictsNoServerByDefault) {
    const auto qos = qos_of("load", texts({{"load_threshold_5min", "6"}, {"evict", "all"}}));
    const auto first = qos->look({}, loads(0s, 5000.0, {}), noon);
    EXPECT_EQ(first.correction, std::nullopt);
    EXPECT_EQ(first.too_busy, true) << "nothing new starts there";
    EXPECT_EQ(first.why, "the load average of 5 minutes is 5000, above 6, but not for long enough");
    const auto calm = qos->look(first.state, loads(20s, 5.0, {}), noon + 20s);
    const auto again = qos->look(calm.state, loads(40s, 9.0, {}), noon + 40s);
    EXPECT_EQ(again.correction, std::nullopt) << "not in a row";
    EXPECT_TRUE(qos->look(again.state, loads(60s, 9.0, {}), noon + 60s).correction);
}

TEST(LoadQos, WhereAllGoAtOnceWhatWasShedIsNotTakenOff) {
    Watched all{"load", {{"load_threshold_5min", "6"}, {"evict", "all"}}};
    EXPECT_EQ(all.sheds(loads(0s, 16.0, {})), -1);
    all.shed(20);
    EXPECT_THAT(all.look(loads(45s, 15.0, {})).why, HasSubstr("still to show"));
    EXPECT_EQ(all.sheds(loads(90s, 14.0, {})), -1);
}

TEST(LoadQos, ItsReasonDoesNotContradictWhatItFinds) {
    Watched step{"load", {{"load_threshold_5min", "6"}}};
    EXPECT_EQ(step.sheds(loads(0s, 16.0, {})), 10);
    step.shed(20);
    const auto verdict = step.look(loads(90s, 14.0, {}));
    EXPECT_EQ(verdict.too_busy, true);
    EXPECT_EQ(verdict.why,
              "the load average of 5 minutes is 14, above 6, but not without what was "
              "shed and is still in it");
}

TEST(LoadQos, RefusesWhatItCantRead) {
    const auto refused = [](const std::map<std::string, std::string>& given) {
        return refused_parameter(try_qos("load", texts(given)));
    };
    EXPECT_EQ(refused({}), "load_threshold_5min");
    EXPECT_EQ(refused({{"load_threshold_5min", "0"}}), "load_threshold_5min");
    EXPECT_EQ(refused({{"load_threshold_15min", "-4"}}), "load_threshold_15min");
    EXPECT_EQ(refused({{"load_threshold_5min", "6"}, {"per_core", "yes"}}), "per_core");
    EXPECT_EQ(refused({{"load_threshold_5min", "6"}, {"evict", "some"}}), "evict");
    EXPECT_EQ(refused({{"load_threshold_5min", "6"}, {"settle", "2h"}}), "settle");
    EXPECT_EQ(refused({{"load_threshold_15min", "4"}}), "");
}

TEST(ShedLoad, AddsUpAndFades) {
    QosState state = after_correction({}, 8, noon);
    EXPECT_DOUBLE_EQ(shed_load(state, noon).load5, 8);
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 5min).load5, 8 / std::exp(1));
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 15min).load15, 8 / std::exp(1));
    EXPECT_DOUBLE_EQ(shed_load(state, noon - 1min).load5, 8);
    state = after_correction(state, 2, noon + 5min);
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 5min).load5, 2 + 8 / std::exp(1));
    state.shift(1h);
    EXPECT_EQ(state.corrected_at, noon + 65min);
    EXPECT_DOUBLE_EQ(shed_load({}, noon).load15, 0);
}

RequestRecord record_with(std::vector<StepEntry> steps) {
    RequestRecord record;
    Plan plan;
    HostPlan on;
    on.host = host;
    for (const char* const id : {"a", "b", "c"}) {
        Victim victim;
        victim.server = ServerId{id};
        victim.resources = Resources{{"VCPU", 1}, {"CUSTOM_REVOCABLE_VCPU", 3}, {"MEMORY_MB", 9}};
        on.victims.push_back(victim);
    }
    plan.hosts.push_back(on);
    record.plans.push_back({1, noon, plan});
    record.steps = std::move(steps);
    return record;
}

TEST(EvictedServers, AreThoseThatWentOrAreOnTheirWay) {
    const ServerId a{"a"}, b{"b"}, c{"c"};
    const auto evicted = [](std::vector<StepEntry> steps) {
        return evicted_servers(record_with(std::move(steps)),
                               ResourceClass{"CUSTOM_REVOCABLE_VCPU"});
    };
    EXPECT_TRUE(evicted({}).empty());
    const auto sent = evicted({{a, Step::delete_sent, "", noon}, {b, Step::skipped, "", noon}});
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front().host, host);
    EXPECT_EQ(sent.front().vcpus, 4);
    EXPECT_EQ(sent.front().at, noon);
    const auto ended = evicted({{a, Step::delete_sent, "", noon},
                                {b, Step::delete_sent, "", noon},
                                {c, Step::vanished, "", noon},
                                {a, Step::gone, "", noon + 5s},
                                {b, Step::failed, "", noon + 60s}});
    ASSERT_EQ(ended.size(), 2U);
    EXPECT_EQ(ended.front().at, noon + 5s);
}

TEST(EvictedServers, OfAClockThatWasSetBackWentNowOrAsIsKnown) {
    const ServerId a{"a"}, b{"b"};
    const EvictedServer ahead{host, 8, noon + 2h, a, true}, past{host, 2, noon - 1min, b, true};
    const auto first = by_this_clock({ahead, past}, {}, noon);
    EXPECT_EQ(first[0].at, noon);
    EXPECT_EQ(first[1].at, noon - 1min);
    const auto later = by_this_clock({ahead, past}, first, noon + 3h);
    EXPECT_EQ(later[0].at, noon) << "told again when the clock has caught up";
    EvictedServer leaving = ahead;
    leaving.gone = false;
    EXPECT_EQ(by_this_clock({ahead}, {leaving}, noon + 1min)[0].at, noon + 1min);
}

TEST(EvictedServers, AreTakenOffTheAveragesInAnyOrderAndOnce) {
    QosState state;
    state.in_a_row = 2;
    const EvictedServer first{host, 8, noon}, second{host, 2, noon + 5min};
    state = after_evictions(state, {second, first});
    EXPECT_EQ(state.in_a_row, 0);
    EXPECT_EQ(state.corrected_at, noon + 5min);
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 5min).load5, 2 + 8 / std::exp(1));
    state.in_a_row = 1;
    state = after_evictions(state, {first, second});
    EXPECT_EQ(state.in_a_row, 1) << "nothing new";
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 5min).load5, 2 + 8 / std::exp(1));
    state = after_evictions(state, {});
    EXPECT_DOUBLE_EQ(shed_load(state, noon + 5min).load5, 0);
}

TEST(PressureQos, MustBeAboveForSomeMeasurementsInARow) {
    Watched watched{"pressure", {{"pressure_threshold", "0.25"}}};
    EXPECT_EQ(watched.sheds(waits(0s, {}, 0.5)), 0);
    EXPECT_THAT(watched.look(waits(15s, {}, 0.5)).why, HasSubstr("not for long enough"));
    const auto verdict = watched.look(waits(30s, {}, 0.5));
    ASSERT_TRUE(verdict.correction);
    EXPECT_EQ(verdict.correction->shed_vcpus, 2);  // (0.5 - 0.25) * 8 cores
    EXPECT_EQ(verdict.correction->why, "CPU pressure is 50 %, above 25 %");
    watched.shed(2);
    EXPECT_EQ(watched.sheds(waits(100s, {}, 0.5)), 0);
    EXPECT_EQ(watched.sheds(waits(115s, {}, 0.5)), 0);
    EXPECT_EQ(watched.sheds(waits(130s, {}, 0.5)), 2);
}

TEST(PressureQos, AFigureBelowOrUnknownRestartsTheCount) {
    for (const std::optional<double> between : {std::optional{0.25}, std::optional<double>{}}) {
        Watched watched{"pressure", {{"pressure_threshold", "0.25"}}};
        watched.look(waits(0s, {}, 0.5));
        watched.look(waits(15s, {}, 0.5));
        EXPECT_EQ(watched.sheds(waits(30s, {}, between)), 0);
        EXPECT_EQ(watched.sheds(waits(45s, {}, 0.5)), 0);
        EXPECT_EQ(watched.sheds(waits(60s, {}, 0.5)), 0);
        EXPECT_EQ(watched.sheds(waits(75s, {}, 0.5)), 2);
    }
    Watched watched{"pressure", {{"pressure_threshold", "0.25"}}};
    watched.look(waits(0s, {}, 0.5));
    watched.look(waits(15s, {}, 0.5));
    HostLoad unknown = waits(30s, {}, 0.5);
    unknown.why_unknown = "stale";
    watched.look(unknown);
    EXPECT_EQ(watched.sheds(waits(45s, {}, 0.5)), 0);
}

TEST(PressureQos, StealAndPressureEachHaveTheirThreshold) {
    Parameters given =
        texts({{"steal_threshold", "0.1"}, {"pressure_threshold", "0.5"}, {"evict", "all"}});
    given.emplace("for", std::int64_t{1});
    const auto controller = qos_of("pressure", given);
    const auto why = [&](double steal, double pressure) {
        const auto correction = controller->look({}, waits(0s, steal, pressure), noon).correction;
        EXPECT_TRUE(!correction || correction->all);
        return correction ? correction->why : "";
    };
    EXPECT_EQ(why(0.1, 0.5), "");
    EXPECT_EQ(why(0.2, 0.5), "CPU steal is 20 %, above 10 %");
    EXPECT_EQ(why(0.1, 0.51), "CPU pressure is 51 %, above 50 %");
    EXPECT_EQ(why(1.5, 0.5), "");  // no part of a whole
    EXPECT_EQ(why(1.5, 0.9), "CPU pressure is 90 %, above 50 %");
    EXPECT_TRUE(controller->figures().steal && controller->figures().pressure);
    EXPECT_FALSE(controller->figures().load5 || controller->figures().load15);
}

TEST(PressureQos, ARegularServerThatWaitsIsEnough) {
    Parameters given = texts({{"guest_steal_threshold", "0.2"}});
    given.emplace("for", std::int64_t{1});
    const auto controller = qos_of("pressure", given);
    EXPECT_TRUE(controller->figures().guest_steal);
    EXPECT_FALSE(controller->figures().steal || controller->figures().pressure);
    HostLoad load = waits(0s, 0.9, 0.9);
    EXPECT_THAT(controller->look({}, load, noon).why,
                HasSubstr("steal of a regular server is not known"));
    load.guest_steal = 0.2;
    EXPECT_EQ(controller->look({}, load, noon).too_busy, false);
    load.guest_steal = 0.45;
    const auto verdict = controller->look({}, load, noon);
    ASSERT_TRUE(verdict.correction);
    EXPECT_EQ(verdict.correction->why, "CPU steal of a regular server is 45 %, above 20 %");
    EXPECT_EQ(verdict.correction->shed_vcpus, 2);
}

TEST(PressureQos, AllOfTheTimeMayBeMeasuredAsALittleMore) {
    Parameters given = texts({{"steal_threshold", "0.1"}, {"pressure_threshold", "0.5"}});
    given.emplace("for", std::int64_t{1});
    const auto controller = qos_of("pressure", given);
    const auto look = [&](double steal, double pressure) {
        return controller->look({}, waits(0s, steal, pressure), noon);
    };
    ASSERT_TRUE(look(0, 1.003).correction);
    EXPECT_EQ(look(0, 1.003).correction->why, "CPU pressure is 100 %, above 50 %");
    EXPECT_EQ(look(0, 1.003).correction->shed_vcpus, 4);
    EXPECT_EQ(look(1.1, 0).correction->why, "CPU steal is 100 %, above 10 %");
    EXPECT_EQ(look(0, 1.11).correction, std::nullopt);
    EXPECT_THAT(look(0, 1.11).why, HasSubstr("pressure is not known"));
}

TEST(PressureQos, WithoutTheNumberOfCoresOneVcpuGoesAtATime) {
    Parameters given = texts({{"steal_threshold", "0.1"}});
    given.emplace("for", std::int64_t{1});
    HostLoad load = waits(0s, 0.9, {});
    EXPECT_EQ(qos_of("pressure", given)->look({}, load, noon).correction->shed_vcpus, 7);
    load.cores.reset();
    EXPECT_EQ(qos_of("pressure", given)->look({}, load, noon).correction->shed_vcpus, 1);
}

TEST(PressureQos, WaitsUntilTheLastStepCanShow) {
    Parameters given = texts({{"steal_threshold", "0.1"}, {"settle", "2min"}});
    given.emplace("for", std::int64_t{1});
    const auto controller = qos_of("pressure", given);
    const QosState state = after_correction({}, 1, noon);
    EXPECT_FALSE(controller->look(state, waits(119s, 0.9, {}), noon + 119s).correction);
    EXPECT_TRUE(controller->look(state, waits(2min, 0.9, {}), noon + 2min).correction);
}

TEST(PressureQos, RefusesWhatItCantRead) {
    const auto refused = [](Parameters given) {
        return refused_parameter(try_qos("pressure", std::move(given)));
    };
    EXPECT_EQ(refused({}), "pressure_threshold");
    EXPECT_EQ(refused(texts({{"steal_threshold", "0"}})), "steal_threshold");
    EXPECT_EQ(refused(texts({{"pressure_threshold", "1.1"}})), "pressure_threshold");
    Parameters given = texts({{"steal_threshold", "0.1"}});
    given.emplace("for", std::int64_t{0});
    EXPECT_EQ(refused(given), "for");
}

}  // namespace
}  // namespace reaper::qos_test
