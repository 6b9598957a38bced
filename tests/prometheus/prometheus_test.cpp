// The client against a real Prometheus: tests/prometheus/server BUILD/bin/prometheus_tests
#include "clients/prometheus/prometheus.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/http/client.hpp"
#include "reaper/runtime/system_clock.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/clients/prometheus/metrics_contract.hpp"

namespace reaper::real_prometheus_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) throw std::runtime_error("run this through tests/prometheus/server");
    return value;
}

class RealPrometheusTest : public ::testing::Test {
protected:
    RealPrometheusTest() {
        options.url = variable("REAPER_PROMETHEUS_URL");
        options.ca_file = variable("REAPER_PROMETHEUS_CA");
        options.username = "reaper";
        options.password = config::Secret("p@ss:w/rd%");
        options.timeout = test::patience;
        world.begin =
            TimePoint(std::chrono::seconds(std::stoll(variable("REAPER_PROMETHEUS_HISTORY"))));
    }

    Metrics& metrics() {
        if (!metrics_) metrics_ = connect_prometheus(io.get_executor(), options, clock).value();
        return *metrics_;
    }
    Result<std::vector<Sample>> query(std::string expression) {
        return test::run(io, metrics().query(std::move(expression)));
    }
    Error failure(std::string expression = "up") {
        const auto found = query(std::move(expression));
        EXPECT_FALSE(found);
        return found ? Error{} : found.error();
    }
    /// The values that an expression has once there are so many; it is asked until then.
    std::vector<Sample> wait_for(const std::string& expression, std::size_t count) {
        // Less than the five minutes after which Prometheus forgets by itself.
        const auto end = std::chrono::steady_clock::now() + test::patience;
        while (std::chrono::steady_clock::now() < end) {
            auto found = query(expression);
            if (!found) throw std::runtime_error(found.error().what);
            if (found->size() == count) return std::move(*found);
            boost::asio::steady_timer pause(io, std::chrono::milliseconds(50));
            pause.async_wait([](const boost::system::error_code&) {});
            io.restart();
            io.run_one();
        }
        ADD_FAILURE() << expression << " never had " << count << " samples";
        return {};
    }

    void control(http::Method method, const std::string& path, std::string body = "") {
        http::Options plain;
        plain.call_timeout = test::patience;
        const auto client = http::make_client(io.get_executor(), plain, clock).value();
        http::Request request;
        request.method = method;
        request.url = variable("REAPER_PROMETHEUS_CONTROL") + path;
        request.body = std::move(body);
        const auto done = test::run(io, client->call(std::move(request)));
        ASSERT_TRUE(done) << done.error().what;
        ASSERT_EQ(done->status, 204);
    }
    void measure(const std::string& text) { control(http::Method::put, "/metrics", text); }
    /// With the time of the measurement, so that it stays for a while if the next one fails.
    void measure_contract() {
        const std::string at = ' ' + std::to_string(clock.now().time_since_epoch().count()) + '\n';
        measure("contract_now{host=\"a\"} 0.25" + at + "contract_now{host=\"b\"} NaN" + at);
        wait_for("contract_now", 2);
    }
    void check_contract() {
        const auto run = [this](auto task) { return test::run(io, std::move(task)); };
        test::MetricsContract(metrics(), world, run, run).check();
    }

    boost::asio::io_context io;
    std::unique_ptr<Clock> system_clock = make_system_clock(io.get_executor());
    Clock& clock = *system_clock;
    PrometheusOptions options;
    test::MetricsWorld world;

private:
    std::shared_ptr<Metrics> metrics_;
};

TEST_F(RealPrometheusTest, KeepsTheContractOfThePort) {
    measure_contract();
    check_contract();
}

TEST_F(RealPrometheusTest, KeepsItAfterARestartAndIsUnreachableMeanwhile) {
    measure_contract();
    control(http::Method::post, "/stop");
    EXPECT_EQ(failure().code, Errc::unreachable);
    control(http::Method::post, "/start");
    wait_for("contract_now", 2);
    check_contract();
}

TEST_F(RealPrometheusTest, ASeriesWhoseTargetFailsIsGoneAndComesBack) {
    measure("passing{host=\"a\"} 7\npassing{host=\"b\"} +Inf\n");
    const auto both = wait_for("passing", 2);
    EXPECT_EQ(both.at(0).labels.at("job"), "test");
    EXPECT_EQ(both.at(0).labels.at("__name__"), "passing");
    measure("passing{host=\"a\"} 8\n");
    EXPECT_EQ(wait_for("passing", 1).at(0).labels.at("host"), "a");
    measure("");
    wait_for("passing", 0);
    EXPECT_EQ(wait_for("up{job=\"test\"} == 0", 1).size(), 1U);
    measure("passing{host=\"a\"} 9\n");
    EXPECT_EQ(wait_for("passing == 9", 1).size(), 1U);
}

TEST_F(RealPrometheusTest, HowOldAValueIsCanBeAsked) {
    const TimePoint before = clock.now() - std::chrono::seconds(100);
    measure("old{host=\"a\"} 1 " + std::to_string(before.time_since_epoch().count()) + "\n");
    const auto found = wait_for("old", 1);
    EXPECT_GE(found.at(0).at, before + std::chrono::seconds(100)) << "as of the query's time";
    const auto measured_at = query("timestamp(old)");
    ASSERT_TRUE(measured_at && measured_at->size() == 1U);
    EXPECT_NEAR(measured_at->front().value,
                static_cast<double>(before.time_since_epoch().count()) / 1000, 0.01);
}

TEST_F(RealPrometheusTest, ScalarsAreSamplesAndNumbersAreReadAsTheyAreWritten) {
    const auto value = [&](const std::string& expression) {
        const auto found = query(expression);
        EXPECT_TRUE(found) << found.error().what;
        EXPECT_EQ(found->size(), 1U) << expression;
        return found->at(0).value;
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(value("42"), 42);
    EXPECT_EQ(value("vector(1e21)"), 1e21);
    EXPECT_EQ(value("1 / 3"), 1.0 / 3);
    EXPECT_EQ(value("vector(5e-324)"), 5e-324);
    EXPECT_EQ(value("-1.7976931348623157e308"), -1.7976931348623157e308);
    EXPECT_EQ(value("vector(1) / 0"), infinity);
    EXPECT_EQ(value("-1 / 0"), -infinity);
    EXPECT_TRUE(std::isnan(value("vector(0) / 0")));
}

TEST_F(RealPrometheusTest, OtherKindsOfResultsAreNamed) {
    EXPECT_THAT(failure("\"text\"").what, HasSubstr("the result is a string"));
    EXPECT_THAT(failure("up[1m]").what, HasSubstr("the result is a matrix"));
}

TEST_F(RealPrometheusTest, ErrorsAreReportedInItsOwnWords) {
    const Error wrong = failure("sum(up");
    EXPECT_EQ(wrong.code, Errc::rejected);
    EXPECT_THAT(wrong.what, AllOf(HasSubstr("of 'sum(up': 400: bad_data"),
                                  HasSubstr("unclosed left parenthesis")));
    const auto fine =
        test::run(io, metrics().query_range("up", world.begin, world.begin + std::chrono::hours(12),
                                            Duration(1'000)));
    ASSERT_FALSE(fine);
    EXPECT_EQ(fine.error().code, Errc::rejected);
    EXPECT_THAT(fine.error().what, HasSubstr("maximum resolution"));
    wait_for("up", 2);
    const Error twice = failure("up + on(nothing) up");
    EXPECT_EQ(twice.code, Errc::rejected) << twice.what;
    EXPECT_THAT(twice.what, HasSubstr("422: execution"));
}

TEST_F(RealPrometheusTest, ALongExpressionIsTaken) {
    std::string expression = "vector(0)";
    for (int i = 0; i < 2'000; ++i) expression += " + vector(1)";
    const auto found = query(expression);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(found->at(0).value, 2'000);
}

TEST_F(RealPrometheusTest, AWrongPasswordIsRefusedAndNotShown) {
    options.password = config::Secret("wr0ng");
    const Error error = failure();
    EXPECT_EQ(error.code, Errc::unauthorized);
    EXPECT_THAT(error.what, AllOf(HasSubstr("401"), Not(HasSubstr("wr0ng"))));
}

TEST_F(RealPrometheusTest, AnUnknownAuthorityIsRefused) {
    options.ca_file.clear();
    EXPECT_EQ(failure().code, Errc::tls);
}

TEST_F(RealPrometheusTest, AWrongAddressIsSaidToBeThat) {
    const std::string right = options.url;
    options.url = right.substr(0, right.rfind('/'));
    const Error prefix = failure();
    EXPECT_EQ(prefix.code, Errc::not_found) << prefix.what;
    EXPECT_THAT(prefix.what, HasSubstr("path prefix"));
    options.url = "http" + right.substr(5);
    const auto plain = connect_prometheus(io.get_executor(), options, clock).value();
    const auto found = test::run(io, plain->query("up"));
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().what, HasSubstr("HTTPS"));
}

TEST_F(RealPrometheusTest, NodeExporterMeasuresWhatIsNeeded) {
    const auto load = wait_for("node_load5", 1);
    EXPECT_THAT(load.at(0).labels.at("instance"), HasSubstr("127.0.0.1:"));
    EXPECT_GE(load.at(0).value, 0);
    wait_for("node_load15", 1);
    const auto cores = wait_for("count by (instance) (node_cpu_seconds_total{mode=\"idle\"})", 1);
    EXPECT_GE(cores.at(0).value, 1);
    const auto used = wait_for(
        "sum by (instance) (rate(node_cpu_seconds_total{mode!~\"idle|iowait|steal\"}[1m]))", 1);
    EXPECT_GE(used.at(0).value, 0);
    EXPECT_LE(used.at(0).value, cores.at(0).value * 1.5);
    const auto steal =
        wait_for("avg by (instance) (rate(node_cpu_seconds_total{mode=\"steal\"}[1m]))", 1);
    EXPECT_GE(steal.at(0).value, 0);
}

}  // namespace
}  // namespace reaper::real_prometheus_test
