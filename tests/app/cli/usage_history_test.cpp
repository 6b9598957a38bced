#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_metrics.hpp"
#include "reaper/cli/cloud/estimate_report.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::usage_history_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

HostFacts host(const std::string& name) {
    HostFacts facts;
    facts.id = HostId{name + "-uuid"};
    facts.name = name + ".example";
    facts.service_host = name;
    return facts;
}

class UsageHistoryOfHosts : public testing::Test {
protected:
    UsageHistoryOfHosts() {
        settings_.usage_query = "usage";
        settings_.cores_query = "cores";
    }

    /// For an hour, each minute.
    void measure(const std::string& expression, const std::map<std::string, std::string>& labels,
                 double value) {
        for (TimePoint at = span_.from; at <= span_.until; at += span_.step)
            metrics_.measure_at(expression, labels, at, value);
    }
    Result<MeasuredHistory> read(std::set<ServerId> holders = {}) {
        return run_task(
            io_, read_usage_history(metrics_, settings_, {host("a"), host("b")}, std::move(holders),
                                    span_, [&](std::size_t piece, std::size_t pieces) {
                                        told_.emplace_back(piece, pieces);
                                    }));
    }
    static HostHistory first(const Result<MeasuredHistory>& history) {
        return history_of(history->hosts.at(0), history->span);
    }

    boost::asio::io_context io_{1};
    test::FakeClock clock_;
    test::FakeMetrics metrics_{clock_};
    config::Prometheus settings_;
    std::vector<std::pair<std::size_t, std::size_t>> told_;
    HistorySpan span_{clock_.now() - hours{1}, clock_.now(), minutes{1}};
};

TEST_F(UsageHistoryOfHosts, IsPutTogetherHostByHost) {
    measure("usage", {{"instance", "A:9100"}}, 2.5);
    measure("cores", {{"instance", "a.example:9100"}}, 8);
    measure("usage", {{"instance", "stranger:9100"}}, 1);
    const auto read_now = read();
    ASSERT_TRUE(read_now) << read_now.error().what;
    ASSERT_THAT(read_now->hosts, SizeIs(1));
    const HostHistory a = first(read_now);
    EXPECT_EQ(a.facts.service_host, "a");
    EXPECT_DOUBLE_EQ(a.cores, 8);
    ASSERT_THAT(a.points, SizeIs(61));
    EXPECT_EQ(a.points.front().at, span_.from);
    EXPECT_EQ(a.points.front().used, (UsageRange{2.5, 2.5}));
    EXPECT_EQ(a.points.back().at, span_.until);
    EXPECT_EQ(read_now->without.at("b.example"), "nothing was measured of its use");
    EXPECT_THAT(read_now->strangers, ElementsAre("stranger:9100"));
}

TEST_F(UsageHistoryOfHosts, OfServersIsTheirSumWithoutTheHolders) {
    settings_.server_label = "uuid";
    for (const auto& [server, used] : {std::pair{"s1", 1.0}, {"s2", 2.0}, {"s3", 4.0}})
        measure("usage", {{"instance", "a"}, {"uuid", server}}, used);
    measure("cores", {{"instance", "a"}}, 8);
    const auto history = read({ServerId{"s2"}});
    ASSERT_THAT(history->hosts, SizeIs(1));
    EXPECT_EQ(first(history).points.front().used, (UsageRange{5, 5}));
}

TEST_F(UsageHistoryOfHosts, WhatIsContradictoryOrImpossibleDoesNotCount) {
    measure("usage", {{"instance", "a"}, {"job", "one"}}, 1);
    measure("usage", {{"instance", "a"}, {"job", "two"}}, 3);
    measure("cores", {{"instance", "a"}}, 8);
    measure("usage", {{"instance", "b"}}, 1);
    measure("cores", {{"instance", "b"}}, 8);
    metrics_.measure_at("usage", {{"instance", "b"}}, span_.from, std::nan(""));
    metrics_.measure_at("usage", {{"instance", "b"}}, span_.until, -1);
    const auto history = read();
    ASSERT_TRUE(history);
    EXPECT_EQ(history->without.at("a.example"), "several figures for its use");
    ASSERT_THAT(history->hosts, SizeIs(1));
    EXPECT_THAT(first(history).points, SizeIs(59));
}

TEST_F(UsageHistoryOfHosts, HolesStayHoles) {
    metrics_.measure_at("usage", {{"instance", "a"}}, span_.from, 1);
    metrics_.measure_at("usage", {{"instance", "a"}}, span_.from + minutes{30}, 2);
    measure("cores", {{"instance", "a"}}, 8);
    const auto points = first(read()).points;
    ASSERT_THAT(points, SizeIs(10)) << "each is the newest value for five minutes";
    EXPECT_EQ(points[4].at, span_.from + minutes{4});
    EXPECT_EQ(points[5].at, span_.from + minutes{30});
    EXPECT_EQ(points[5].used, (UsageRange{2, 2}));
}

TEST_F(UsageHistoryOfHosts, WithoutCoresThereIsNoHistory) {
    measure("usage", {{"instance", "a"}}, 1);
    measure("usage", {{"instance", "b"}}, 1);
    measure("cores", {{"instance", "b"}}, 0);
    const auto history = read();
    EXPECT_EQ(history->without.at("a.example"), "its cores are not known");
    EXPECT_EQ(history->without.at("b.example"), "its cores are not known");
}

TEST_F(UsageHistoryOfHosts, CoresAreKnownThoughTheyAreMeasuredSinceMinutesAlone) {
    span_.from = span_.until - minutes{90};
    measure("usage", {{"instance", "a"}}, 1);
    metrics_.measure("cores", {{"instance", "a"}}, 8);
    const auto history = read();
    ASSERT_THAT(history->hosts, SizeIs(1));
    EXPECT_DOUBLE_EQ(history->hosts[0].cores, 8);
}

TEST_F(UsageHistoryOfHosts, ALongTimeIsAskedForInPieces) {
    span_.from = span_.until - hours{24 * 14};
    metrics_.measure("cores", {{"instance", "a"}}, 8);
    measure("usage", {{"instance", "a"}}, 1);
    const auto history = read();
    ASSERT_TRUE(history) << history.error().what;
    EXPECT_EQ(std::count(metrics_.asked.begin(), metrics_.asked.end(), "usage"), 1 + 3)
        << "once for how many there are; then no more than 10,000 points at a time";
    EXPECT_THAT(told_, ElementsAre(testing::Pair(1, 3), testing::Pair(2, 3), testing::Pair(3, 3)));
    ASSERT_THAT(history->hosts, SizeIs(1));
    EXPECT_THAT(first(history).points, SizeIs(14 * 24 * 60 + 1)) << "each minute once";
}

TEST_F(UsageHistoryOfHosts, AFailureNamesTheQuery) {
    metrics_.fails.emplace("usage", Error{Errc::rejected, "prometheus: bad_data: parse error"});
    const auto failed = read();
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().what, HasSubstr("usage_query: prometheus: bad_data"));
}

}  // namespace
}  // namespace reaper::cli::usage_history_test
