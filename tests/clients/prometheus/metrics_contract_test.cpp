#include "tests/clients/prometheus/metrics_contract.hpp"

#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "clients/prometheus/prometheus.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/clients/prometheus/web_form.hpp"
#include "tests/fakes/fake_metrics.hpp"
#include "tests/support/http_server.hpp"

namespace reaper::metrics_contract_test {
namespace {

using nlohmann::json;
using test::FakeMetrics;
using test::HttpServer;
using test::json_reply;
using test::Reply;
using test::ServerRequest;

const TimePoint now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);

class MetricsContractTest : public ::testing::Test {
protected:
    MetricsContractTest() {
        world.begin = now - std::chrono::hours(6);
        fake.measure(world.now, {{"host", "a"}}, 0.25);
        fake.measure(world.now, {{"host", "b"}}, std::numeric_limits<double>::quiet_NaN());
        for (int i = 0; i <= 60; ++i)
            fake.measure_at(world.history, {{"host", "a"}},
                            world.begin + i * test::contract_interval,
                            i < 60 ? i : std::numeric_limits<double>::infinity());
        fake.fails[world.wrong] = {Errc::rejected, "parse error"};
    }
    void check(Metrics& metrics) {
        const auto run = [this](auto task) { return test::run(io, std::move(task)); };
        test::MetricsContract(metrics, world, run, run).check();
    }

    boost::asio::io_context io;
    test::ManualClock clock{io, now};
    test::MetricsWorld world;
    FakeMetrics fake{clock};
};

/// Answers as Prometheus does, with what the fake knows.
class PrometheusStandIn {
public:
    PrometheusStandIn(const FakeMetrics& fake, const std::string& wrong)
        : fake_(fake), wrong_(wrong) {}

    Reply operator()(const ServerRequest& request) const {
        const auto form = test::web_form(request.body);
        const std::string& query = form.at("query");
        if (query == wrong_)
            return json_reply(
                400, R"({"status": "error", "errorType": "bad_data", "error": "parse error"})");
        if (request.target == "/api/v1/query") return vector(query);
        return matrix(query, time(form.at("start")), time(form.at("end")),
                      Duration(std::llround(std::stod(form.at("step")) * 1000)));
    }

private:
    static TimePoint time(const std::string& seconds) {
        return TimePoint(Duration(std::llround(std::stod(seconds) * 1000)));
    }
    static json point(TimePoint at, double value) {
        std::string text = std::to_string(value);
        if (std::isnan(value)) text = "NaN";
        if (std::isinf(value)) text = "+Inf";
        return json::array({static_cast<double>(at.time_since_epoch().count()) / 1000, text});
    }
    static Reply success(const std::string& type, json result) {
        const json data = {{"resultType", type}, {"result", std::move(result)}};
        return json_reply(200, json{{"status", "success"}, {"data", data}}.dump());
    }
    Reply vector(const std::string& query) const {
        json result = json::array();
        for (const Sample& sample : fake_.samples(query))
            result.push_back(
                {{"metric", sample.labels}, {"value", point(sample.at, sample.value)}});
        return success("vector", std::move(result));
    }
    Reply matrix(const std::string& query, TimePoint from, TimePoint to, Duration step) const {
        json result = json::array();
        for (const SampleSeries& series : fake_.series(query, from, to, step)) {
            json values = json::array();
            for (const auto& [at, value] : series.points) values.push_back(point(at, value));
            result.push_back({{"metric", series.labels}, {"values", std::move(values)}});
        }
        return success("matrix", std::move(result));
    }

    const FakeMetrics& fake_;
    std::string wrong_;
};

TEST_F(MetricsContractTest, TheFakeKeepsIt) {
    check(fake);
}

TEST_F(MetricsContractTest, PrometheusKeepsIt) {
    HttpServer server(io, PrometheusStandIn(fake, world.wrong));
    PrometheusOptions options;
    options.url = server.url();
    options.timeout = test::patience;
    const auto metrics = connect_prometheus(io.get_executor(), options, clock).value();
    check(*metrics);
}

TEST_F(MetricsContractTest, TheFakeFailsAsTheTestSets) {
    fake.down = Error{Errc::unreachable, "prometheus is away"};
    EXPECT_EQ(test::run(io, fake.query(world.now)).error(), *fake.down);
    fake.down.reset();
    fake.skew = std::chrono::minutes(1);
    EXPECT_EQ(test::run(io, fake.query(world.now)).value().front().at, now + fake.skew);
    fake.forget(world.now, {{"host", "b"}});
    EXPECT_EQ(test::run(io, fake.query(world.now)).value().size(), 1U);
    EXPECT_EQ(fake.asked.size(), 3U);
}

}  // namespace
}  // namespace reaper::metrics_contract_test
