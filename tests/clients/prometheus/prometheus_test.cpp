#include "clients/prometheus/prometheus.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/http/client_harness.hpp"
#include "tests/clients/prometheus/web_form.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/http_server_tls.hpp"

namespace reaper::prometheus_test {
namespace {

using test::HttpServer;
using test::json_reply;
using test::Reply;
using test::ServerRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const TimePoint noon = TimePoint(std::chrono::seconds(1'700'000'000));
const std::string empty_vector =
    R"({"status": "success", "data": {"resultType": "vector", "result": []}})";
const std::string empty_matrix =
    R"({"status": "success", "data": {"resultType": "matrix", "result": []}})";
const std::string one_sample =
    R"({"status": "success", "data": {"resultType": "vector", "result": [
        {"metric": {"instance": "host-1:9100"}, "value": [1700000000.5, "12.5"]}]}})";

class PrometheusTest : public ::testing::Test {
protected:
    PrometheusTest() {
        options.timeout = test::patience;
        options.url = server.url();
    }
    Metrics& metrics() {
        if (!metrics_) metrics_ = connect_prometheus(io.get_executor(), options, clock).value();
        return *metrics_;
    }
    Result<std::vector<Sample>> query(std::string expression = "up") {
        return test::run(io, metrics().query(std::move(expression)));
    }
    Result<std::vector<SampleSeries>> query_range(TimePoint from, TimePoint to, Duration step) {
        return test::run(io, metrics().query_range("up", from, to, step));
    }
    Error failure() {
        const auto found = query();
        EXPECT_FALSE(found);
        return found ? Error{} : found.error();
    }

    boost::asio::io_context io;
    test::ManualClock clock{io, noon};
    Reply reply = json_reply(200, one_sample);
    HttpServer server{io, [this](const ServerRequest&) { return reply; }};
    PrometheusOptions options;

private:
    std::shared_ptr<Metrics> metrics_;
};

TEST_F(PrometheusTest, AnInstantQueryIsAForm) {
    const auto found = query("sum(rate(x{m!=\"idle\"}[5m])) by (instance)");
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().labels.at("instance"), "host-1:9100");
    EXPECT_EQ(found->front().value, 12.5);
    const ServerRequest& asked = server.requests().at(0);
    EXPECT_EQ(asked.method, "POST");
    EXPECT_EQ(asked.target, "/api/v1/query");
    EXPECT_EQ(asked.header("content-type"), "application/x-www-form-urlencoded");
    EXPECT_EQ(asked.header("authorization"), "");
    const auto form = test::web_form(asked.body);
    EXPECT_EQ(form.at("query"), "sum(rate(x{m!=\"idle\"}[5m])) by (instance)");
    EXPECT_EQ(form.at("timeout"), "240.000");
    EXPECT_FALSE(form.contains("time")) << "it is Prometheus' own now";
}

TEST_F(PrometheusTest, ARangeQueryNamesItsTimes) {
    reply = json_reply(200, empty_matrix);
    ASSERT_TRUE(query_range(noon, noon + Duration(60'500), Duration(15'000)));
    const ServerRequest& asked = server.requests().at(0);
    EXPECT_EQ(asked.target, "/api/v1/query_range");
    const auto form = test::web_form(asked.body);
    EXPECT_EQ(form.at("start"), "1700000000.000");
    EXPECT_EQ(form.at("end"), "1700000060.500");
    EXPECT_EQ(form.at("step"), "15.000");
}

TEST_F(PrometheusTest, WhatCanNotBeAskedIsNotSent) {
    for (const std::string nothing : {"", " \n"})
        EXPECT_EQ(query(nothing).error().code, Errc::bad_input);
    EXPECT_EQ(query_range(noon, noon - Duration(1), Duration(1)).error().code, Errc::bad_input);
    EXPECT_EQ(query_range(noon, noon, Duration(0)).error().code, Errc::bad_input);
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(PrometheusTest, IsFoundBelowAPathPrefix) {
    options.url = server.url() + "/monitoring/prometheus/";
    ASSERT_TRUE(query());
    EXPECT_EQ(server.requests().at(0).target, "/monitoring/prometheus/api/v1/query");
}

TEST_F(PrometheusTest, ShowsUserAndPasswordOrAToken) {
    options.username = "Aladdin";
    options.password = config::Secret("open sesame");
    ASSERT_TRUE(query());
    EXPECT_EQ(server.requests().at(0).header("authorization"),
              "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    options = {};
    options.url = server.url();
    options.token = config::Secret("t0ken");
    const auto with_token = connect_prometheus(io.get_executor(), options, clock).value();
    ASSERT_TRUE(test::run(io, with_token->query("up")));
    EXPECT_EQ(server.requests().at(1).header("authorization"), "Bearer t0ken");
}

TEST_F(PrometheusTest, ASecretThatAServerRepeatsIsNotTold) {
    const test::LogCapture log;
    options.username = "u";
    options.password = config::Secret("s3cret");
    reply = json_reply(401, "no: s3cret, Basic dTpzM2NyZXQ=");
    EXPECT_THAT(failure().what, AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("dTpzM2NyZXQ"))));
    reply = json_reply(200, "<html>dTpzM2NyZXQ= s3cret</html>");
    EXPECT_THAT(failure().what,
                AllOf(Not(HasSubstr("Basic dTpzM2NyZXQ")), Not(HasSubstr("s3cret"))));
    EXPECT_THAT(log.text(), Not(HasSubstr("s3cret")));
}

TEST_F(PrometheusTest, ARefusalNamesTheCallTheExpressionAndPrometheusWords) {
    reply = json_reply(
        400, R"({"status": "error", "errorType": "bad_data", "error": "1:3: parse error"})");
    const Error error = failure();
    EXPECT_EQ(error.code, Errc::rejected);
    EXPECT_EQ(error.what, "prometheus " + server.url() +
                              "/api/v1/query of 'up': 400: bad_data: 1:3: parse error");
}

TEST_F(PrometheusTest, EachRefusalHasItsKind) {
    const std::map<int, Errc> kinds{
        {401, Errc::unauthorized}, {403, Errc::forbidden},    {404, Errc::not_found},
        {405, Errc::rejected},     {422, Errc::rejected},     {429, Errc::server_error},
        {500, Errc::server_error}, {502, Errc::server_error}, {503, Errc::server_error},
        {302, Errc::bad_answer},   {201, Errc::bad_answer}};
    for (const auto& [status, kind] : kinds) {
        reply = json_reply(status, "words");
        EXPECT_EQ(failure().code, kind) << status;
    }
    EXPECT_EQ(server.requests().size(), kinds.size()) << "nothing is tried again";
    EXPECT_TRUE(clock.sleeps.empty());
}

TEST_F(PrometheusTest, ARedirectIsNotFollowed) {
    reply = json_reply(302, "<a href=\"/login\">Found</a>");
    reply.headers = {{"Location", "https://mon.example/login"}};
    EXPECT_THAT(failure().what, AllOf(HasSubstr("redirects are not followed"),
                                      HasSubstr("https://mon.example/login")));
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(PrometheusTest, WhatIsNotPrometheusIsSaidToBeThat) {
    reply = json_reply(200, "<html><body>Welcome to nginx!</body></html>");
    EXPECT_THAT(failure().what, AllOf(HasSubstr("no answer of Prometheus"),
                                      HasSubstr("Welcome to nginx!"), HasSubstr("'up'")));
    reply = json_reply(200, empty_matrix);
    EXPECT_THAT(failure().what, HasSubstr("of 'up': the result is a matrix"));
    reply.raw = "SSH-2.0-OpenSSH_9.2\r\n";
    EXPECT_EQ(failure().code, Errc::bad_answer);
}

TEST_F(PrometheusTest, AHugeAnswerIsRefused) {
    options.max_body_bytes = 1'000;
    reply = json_reply(200, std::string(2'000, ' ') + empty_vector);
    const Error error = failure();
    EXPECT_EQ(error.code, Errc::bad_answer) << error.what;
    reply.chunked = true;
    EXPECT_EQ(failure().code, Errc::bad_answer);
}

TEST_F(PrometheusTest, TooManySamplesAreRefused) {
    options.max_samples = 1;  // it has a label too
    EXPECT_THAT(failure().what, HasSubstr("more than 1 values and labels"));
}

TEST_F(PrometheusTest, AnAnswerThatEndsEarlyIsAnError) {
    reply.cut_body = one_sample.size() - 3;
    EXPECT_EQ(failure().code, Errc::unreachable);
    reply = {};
    reply.no_answer = true;
    EXPECT_EQ(failure().code, Errc::unreachable);
}

TEST_F(PrometheusTest, ASlowServerIsGivenUpAtTheDeadline) {
    options.timeout = Duration(50);
    reply.hang = true;
    EXPECT_EQ(failure().code, Errc::timeout);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(PrometheusTest, ADeadPortIsUnreachable) {
    options.url = "http://127.0.0.1:" + std::to_string(test::closed_port(io));
    const Error error = failure();
    EXPECT_EQ(error.code, Errc::unreachable);
    EXPECT_THAT(error.what, HasSubstr("connection refused"));
    EXPECT_TRUE(clock.sleeps.empty()) << "not tried again";
}

TEST_F(PrometheusTest, AKeptConnectionThatIsClosedAtTheNextCallIsReplaced) {
    int calls = 0;
    HttpServer closing(io, [&](const ServerRequest& request) {
        Reply answer = json_reply(200, empty_vector);
        answer.no_answer = ++calls == 2 && request.connection == 1;
        return answer;
    });
    options.url = closing.url();
    ASSERT_TRUE(query());
    const auto second = query();
    ASSERT_TRUE(second) << second.error().what;
    EXPECT_EQ(closing.connections(), 2);
}

TEST_F(PrometheusTest, CallsRunBesideEachOther) {
    reply.bridge = std::make_shared<test::ExecutorBridge>(io);
    const auto first = test::start(io, metrics().query("a"));
    const auto second = test::start(io, metrics().query("b"));
    ASSERT_TRUE(test::run_until(io, [&] { return server.requests().size() == 2; }));
    reply.bridge->open();
    EXPECT_TRUE(test::finish(io, first));
    EXPECT_TRUE(test::finish(io, second));
}

TEST_F(PrometheusTest, ACallOutlivesItsClient) {
    auto short_lived = connect_prometheus(io.get_executor(), options, clock).value();
    const auto started = test::start(io, short_lived->query("up"));
    short_lived.reset();
    const auto found = test::finish(io, started);
    EXPECT_TRUE(found) << found.error().what;
}

TEST_F(PrometheusTest, AWarningIsLoggedOnce) {
    const test::LogCapture log;
    reply = json_reply(200, R"({"status": "success", "warnings": ["a store is away"],
        "data": {"resultType": "vector", "result": []}})");
    ASSERT_TRUE(query() && query());
    const std::string text = log.text();
    const auto first = text.find("of 'up': a store is away");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("a store is away", first + 20), std::string::npos);
}

TEST_F(PrometheusTest, WarningsWithoutEndAreNotAllLogged) {
    const test::LogCapture log;
    for (int i = 0; i < 150; ++i) {
        reply =
            json_reply(200, R"({"status": "success", "warnings": ["number )" + std::to_string(i) +
                                R"("], "data": {"resultType": "vector", "result": []}})");
        ASSERT_TRUE(query());
    }
    EXPECT_THAT(log.text(), AllOf(HasSubstr("number 99"), Not(HasSubstr("number 100")),
                                  HasSubstr("further remarks are not logged")));
}

TEST_F(PrometheusTest, TlsIsVerifiedWithTheAuthorityThatIsSet) {
    test::TestAuthority authority;
    HttpServer secure(
        io, [this](const ServerRequest&) { return reply; },
        authority.server(authority.issue("mon", "DNS:localhost,IP:127.0.0.1")));
    const auto ask = [&] {
        const auto over_tls = connect_prometheus(io.get_executor(), options, clock).value();
        return test::run(io, over_tls->query("up"));
    };
    options.url = secure.url("localhost");
    const auto unknown = ask();
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Errc::tls);
    EXPECT_THAT(unknown.error().what, HasSubstr("set oversubscription.prometheus.ca_file"));
    EXPECT_TRUE(secure.requests().empty());
    options.ca_file = authority.ca_file();
    EXPECT_TRUE(ask());
    options.ca_file.clear();
    options.verify_tls = false;
    EXPECT_TRUE(ask());
}

TEST_F(PrometheusTest, OptionsThatCanNotBeAreRefused) {
    options.ca_file = "/no/such/file.pem";
    const auto made = connect_prometheus(io.get_executor(), options, clock);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::bad_input);
    options = {};
    options.url = "nowhere";
    const auto nowhere = connect_prometheus(io.get_executor(), options, clock);
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, Errc::bad_input);
}

}  // namespace
}  // namespace reaper::prometheus_test
