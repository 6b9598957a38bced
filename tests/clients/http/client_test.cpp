#include "clients/http/client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "reaper/runtime/system_clock.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/support/http_server.hpp"

namespace reaper::http::client_test {
namespace {

using namespace std::chrono_literals;
using test::HttpServer;
using test::Reply;
using test::ServerRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const TimePoint start_time = std::chrono::sys_days(std::chrono::year(2026) / 11 / 20);

class HttpClientTest : public ::testing::Test {
protected:
    HttpClientTest() {
        options.random = [] { return 1.0; };
        options.backoff = 100ms;
        options.max_retries = 2;
        options.call_timeout = options.connect_timeout = options.idle_timeout = test::patience;
    }

    Client& client() {
        if (!client_) client_ = make_client(io.get_executor(), options, clock).value();
        return *client_;
    }
    Request request(const std::string& url, Method method = Method::get) {
        Request made;
        made.method = method;
        made.url = url;
        made.service = "nova";
        return made;
    }
    Result<Response> call(Request made) { return test::run(io, client().call(std::move(made))); }
    Result<Response> get(const std::string& url) { return call(request(url)); }

    boost::asio::io_context io;
    test::ManualClock clock{io, start_time};
    Options options;

private:
    std::unique_ptr<Client> client_;
};

Reply text_reply(int status, std::string body) {
    Reply reply;
    reply.status = status;
    reply.body = std::move(body);
    return reply;
}

TEST_F(HttpClientTest, SendsAndReceives) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(202, "answer");
        reply.headers = {{"X-Openstack-Request-Id", "req-1"}};
        return reply;
    });
    Request made = request(server.url() + "/a/b?c=d", Method::post);
    made.headers = {{"X-Auth-Token", "t"}, {"Content-Type", "application/json"}};
    made.body = "{}";
    const auto response = call(std::move(made));
    ASSERT_TRUE(response) << response.error().what;
    EXPECT_EQ(response->status, 202);
    EXPECT_EQ(response->body, "answer");
    EXPECT_EQ(response->header("x-OPENSTACK-request-id"), "req-1");
    EXPECT_EQ(response->request_id(), "req-1");
    ASSERT_EQ(server.requests().size(), 1U);
    const ServerRequest& seen = server.requests().front();
    EXPECT_EQ(seen.method, "POST");
    EXPECT_EQ(seen.target, "/a/b?c=d");
    EXPECT_EQ(seen.body, "{}");
    EXPECT_EQ(seen.header("x-auth-token"), "t");
    EXPECT_EQ(seen.header("host"), "127.0.0.1:" + std::to_string(server.port()));
    EXPECT_THAT(seen.header("x-openstack-request-id"),
                ::testing::MatchesRegex("req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}"
                                        "-[0-9a-f]{12}"));
}

TEST_F(HttpClientTest, ReusesAConnection) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, "x"); });
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(get(server.url()));
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(server.requests().size(), 5U);
}

TEST_F(HttpClientTest, DoesNotReuseAConnectionThatTheServerCloses) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(200, "x");
        reply.close = true;
        return reply;
    });
    ASSERT_TRUE(get(server.url()));
    ASSERT_TRUE(get(server.url()));
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(HttpClientTest, DoesNotReuseAConnectionThatWasIdleForTooLong) {
    options.idle_timeout = 0ms;
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, "x"); });
    ASSERT_TRUE(get(server.url()));
    ASSERT_TRUE(get(server.url()));
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(HttpClientTest, NoticesThatAKeptConnectionWasClosedMeanwhile) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, "x"); });
    ASSERT_TRUE(get(server.url()));
    io.poll();  // the server waits for the next request
    server.close_idle();
    const auto response = call(request(server.url(), Method::post));
    ASSERT_TRUE(response) << response.error().what;
    EXPECT_EQ(server.connections(), 2);
    EXPECT_TRUE(clock.sleeps.empty());
}

// The server closes as soon as the request arrives: no check beforehand can see it.
HttpServer::Handler closes_on_second_use() {
    return [uses = std::map<int, int>()](const ServerRequest& seen) mutable {
        Reply reply = text_reply(200, "x");
        reply.no_answer = ++uses[seen.connection] == 2;
        return reply;
    };
}

TEST_F(HttpClientTest, AStaleConnectionIsReplacedAtOnceForAReadWithoutCountingAsARetry) {
    options.max_retries = 0;
    HttpServer server(io, closes_on_second_use());
    ASSERT_TRUE(get(server.url()));
    const auto response = get(server.url());
    ASSERT_TRUE(response) << response.error().what;
    EXPECT_EQ(server.connections(), 2);
    EXPECT_TRUE(clock.sleeps.empty());
}

TEST_F(HttpClientTest, AWriteIsNotRepeatedOnAStaleConnection) {
    HttpServer server(io, closes_on_second_use());
    ASSERT_TRUE(get(server.url()));
    const auto response = call(request(server.url(), Method::post));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::unreachable);
    EXPECT_EQ(server.count("POST", "/"), 1U);
}

TEST_F(HttpClientTest, ReadsChunkedAnswersAndAnswersWithoutBody) {
    HttpServer server(io, [](const ServerRequest& seen) {
        Reply reply = text_reply(seen.method == "DELETE" ? 204 : 200, std::string(100'000, 'x'));
        reply.chunked = seen.method == "GET";
        return reply;
    });
    EXPECT_EQ(get(server.url())->body.size(), 100'000U);
    const auto head = call(request(server.url(), Method::head));
    ASSERT_TRUE(head) << head.error().what;
    EXPECT_EQ(head->body, "");
    const auto deleted = call(request(server.url(), Method::del));
    ASSERT_TRUE(deleted) << deleted.error().what;
    EXPECT_EQ(deleted->status, 204);
    EXPECT_EQ(server.connections(), 1);
}

TEST_F(HttpClientTest, DoesNotFollowARedirect) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(302, "");
        reply.headers = {{"Location", "/elsewhere"}};
        return reply;
    });
    EXPECT_EQ(get(server.url())->status, 302);
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientTest, GivesUpAtTheDeadline) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply;
        reply.hang = true;
        return reply;
    });
    Request made = request(server.url() + "/slow");
    made.deadline = 1s;  // time enough to be heard, on a busy machine too
    const auto response = call(std::move(made));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::timeout);
    EXPECT_EQ(response.error().what, "GET " + server.url() + "/slow: no answer within 1s");
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientTest, AConnectionWhoseCallTimedOutIsNotUsedAgain) {
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    HttpServer server(io, [&](const ServerRequest& seen) {
        Reply reply = text_reply(200, seen.target);
        if (seen.target == "/late") reply.bridge = bridge;
        return reply;
    });
    Request late = request(server.url() + "/late");
    late.deadline = 1s;
    ASSERT_FALSE(call(std::move(late)));
    bridge->open();
    const auto next = get(server.url() + "/next");
    ASSERT_TRUE(next) << next.error().what;
    EXPECT_EQ(next->body, "/next");
    EXPECT_EQ(server.connections(), 2);
}

TEST_F(HttpClientTest, ABrokenOffAnswerIsRetriedForReadsAndSaidAtLast) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(200, "0123456789");
        reply.cut_body = 4;
        return reply;
    });
    const auto response = get(server.url());
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::unreachable);
    EXPECT_THAT(response.error().what, HasSubstr("the answer broke off in the middle (3 tries)"));
    EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(HttpClientTest, AWriteWhoseAnswerBrokeOffIsNotRepeated) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(200, "0123456789");
        reply.cut_body = 4;
        return reply;
    });
    ASSERT_FALSE(call(request(server.url(), Method::post)));
    EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HttpClientTest, ARefusedConnectionIsTriedAgainAndExplained) {
    const std::string url = "http://127.0.0.1:" + std::to_string(test::closed_port(io));
    const auto response = get(url + "/servers?token=abc");
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::unreachable);
    EXPECT_EQ(response.error().what,
              "GET " + url + "/servers?token=...: connection refused (3 tries)");
    EXPECT_THAT(clock.sleeps, ElementsAre(100ms, 200ms));
}

TEST_F(HttpClientTest, PassingTroubleIsRetried) {
    int answers = 0;
    HttpServer server(io, [&](const ServerRequest&) {
        return text_reply(++answers == 1 ? 503 : answers == 2 ? 500 : 200, "x");
    });
    EXPECT_EQ(get(server.url())->status, 200);
    EXPECT_THAT(clock.sleeps, ElementsAre(100ms, 200ms));
}

TEST_F(HttpClientTest, TheLastAnswerIsReturnedWhenTheRetriesAreUsedUp) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(503, "busy"); });
    const auto response = get(server.url());
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(HttpClientTest, ADeleteIsRetriedOnlyIfMarkedSafe) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(503, ""); });
    EXPECT_EQ(call(request(server.url(), Method::del))->status, 503);
    EXPECT_EQ(server.requests().size(), 1U);
    Request safe = request(server.url(), Method::del);
    safe.repeat = Repeat::safe;
    EXPECT_EQ(call(std::move(safe))->status, 503);
    EXPECT_EQ(server.requests().size(), 4U);
}

TEST_F(HttpClientTest, ACancelledRequestIsNotSent) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, ""); });
    ASSERT_TRUE(get(server.url()));  // an idle connection is there
    Request unwanted = request(server.url() + "/unwanted", Method::del);
    unwanted.still_wanted = [](bool) { return false; };
    const auto response = call(std::move(unwanted));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::cancelled);
    EXPECT_EQ(response.error().what,
              "DELETE " + server.url() + "/unwanted: not sent: it is no longer wanted");
    EXPECT_EQ(server.count("DELETE", "/unwanted"), 0U);
    Request wanted = request(server.url() + "/wanted", Method::del);
    wanted.still_wanted = [](bool) { return true; };
    EXPECT_TRUE(call(std::move(wanted)));
}

TEST_F(HttpClientTest, WhatMayBecomeUnwantedWaitsForNoOtherCall) {
    options.max_connections = 1;
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    std::vector<std::string> came;
    HttpServer server(io, [&](const ServerRequest& seen) {
        came.push_back(seen.target);
        Reply reply = text_reply(200, "");
        if (seen.target == "/first") reply.bridge = bridge;
        return reply;
    });
    Request urgent = request(server.url() + "/urgent", Method::del);
    urgent.still_wanted = [](bool) { return true; };
    auto& asks = client();
    const auto first = test::start(io, asks.call(request(server.url() + "/first")));
    ASSERT_TRUE(test::run_until(io, [&] { return came.size() == 1; }));
    const auto read = test::start(io, asks.call(request(server.url() + "/read")));
    EXPECT_TRUE(test::finish(io, test::start(io, asks.call(std::move(urgent)))));
    for (int i = 0; i < 10; ++i) io.poll();
    EXPECT_THAT(came, ElementsAre("/first", "/urgent"));
    bridge->open();
    for (const auto& each : {first, read}) EXPECT_TRUE(test::finish(io, each));
}

TEST_F(HttpClientTest, AConnectionThatWasNeverMadeSentNothing) {
    const std::string url = "http://127.0.0.1:" + std::to_string(test::closed_port(io));
    Request unwanted = request(url, Method::del);
    unwanted.repeat = Repeat::safe;
    unwanted.still_wanted = [](bool) { return false; };
    const auto response = call(std::move(unwanted));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::unreachable);
}

/// `cancelled` guarantees that nothing went out.
TEST_F(HttpClientTest, ACancelledRequestIsNotRepeatedAndKeepsItsFirstError) {
    HttpServer busy(io, [](const ServerRequest&) { return text_reply(503, "busy"); });
    const auto once = [&](const std::string& url) {
        Request made = request(url, Method::del);
        made.repeat = Repeat::safe;
        made.still_wanted = [](bool may_be_heard) { return !may_be_heard; };
        return made;
    };
    const auto refused = call(once(busy.url()));
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_EQ(refused->status, 503);
    EXPECT_EQ(busy.requests().size(), 1U);

    HttpServer silent(io, [](const ServerRequest&) {
        Reply reply;
        reply.no_answer = true;
        return reply;
    });
    const auto lost = call(once(silent.url()));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, Errc::unreachable);
    EXPECT_THAT(lost.error().what, HasSubstr("not sent again: it is no longer wanted"));
    EXPECT_EQ(silent.requests().size(), 1U);
}

TEST_F(HttpClientTest, AWriteOnAStaleConnectionIsNotRepeatedIfUnwanted) {
    HttpServer server(io, closes_on_second_use());
    ASSERT_TRUE(get(server.url()));
    Request made = request(server.url(), Method::del);
    made.repeat = Repeat::safe;
    made.still_wanted = [](bool may_be_heard) { return !may_be_heard; };
    const auto response = call(std::move(made));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::unreachable);
    EXPECT_EQ(server.count("DELETE", "/"), 1U);
}

TEST_F(HttpClientTest, HonoursRetryAfter) {
    int answers = 0;
    HttpServer server(io, [&](const ServerRequest&) {
        Reply reply = text_reply(++answers == 1 ? 429 : 200, "");
        reply.headers = {{"Retry-After", "7"}};
        return reply;
    });
    EXPECT_EQ(get(server.url())->status, 200);
    EXPECT_THAT(clock.sleeps, ElementsAre(7s));
}

TEST_F(HttpClientTest, DoesNotWaitPastTheDeadlineForRetryAfter) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(503, "");
        reply.headers = {{"Retry-After", "3600"}};
        return reply;
    });
    EXPECT_EQ(get(server.url())->status, 503);
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_TRUE(clock.sleeps.empty());
}

TEST_F(HttpClientTest, BoundsConcurrencyAndServesInOrder) {
    options.max_connections = 2;
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    HttpServer server(io, [&](const ServerRequest& seen) {
        Reply reply = text_reply(200, seen.target);
        reply.bridge = bridge;
        return reply;
    });
    std::vector<std::shared_ptr<test::Started<Result<Response>>>> calls;
    for (int i = 0; i < 6; ++i)
        calls.push_back(
            test::start(io, client().call(request(server.url() + '/' + std::to_string(i)))));
    ASSERT_TRUE(test::run_until(io, [&] { return server.requests().size() == 2; }));
    bridge->open();
    for (const auto& started : calls) ASSERT_TRUE(test::finish(io, started));
    EXPECT_EQ(server.max_at_once(), 2);
    EXPECT_EQ(server.connections(), 2);
    // Two at a time, so that neighbours may overtake each other on the wire, but no others.
    std::vector<std::set<std::string>> pairs(3);
    for (std::size_t i = 0; i < 6; ++i) pairs[i / 2].insert(server.requests()[i].target);
    EXPECT_THAT(pairs,
                ElementsAre(std::set<std::string>{"/0", "/1"}, std::set<std::string>{"/2", "/3"},
                            std::set<std::string>{"/4", "/5"}));
}

TEST_F(HttpClientTest, WaitingForAConnectionCountsAgainstTheDeadline) {
    options.max_connections = 1;
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    HttpServer server(io, [&](const ServerRequest&) {
        Reply reply = text_reply(200, "");
        reply.bridge = bridge;
        return reply;
    });
    const auto first = test::start(io, client().call(request(server.url() + "/first")));
    Request waits = request(server.url() + "/second");
    waits.deadline = 60ms;
    const auto second = call(std::move(waits));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::timeout);
    EXPECT_THAT(second.error().what, HasSubstr("no free connection in time"));
    bridge->open();
    EXPECT_TRUE(test::finish(io, first));
    EXPECT_TRUE(get(server.url() + "/third"));  // the place of the second was given back
    EXPECT_EQ(server.count("GET", "/second"), 0U);
}

TEST_F(HttpClientTest, TooManyWaitingIsAnErrorAtOnce) {
    options.max_connections = 1;
    options.max_waiting = 1;
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    HttpServer server(io, [&](const ServerRequest&) {
        Reply reply = text_reply(200, "");
        reply.bridge = bridge;
        return reply;
    });
    const auto first = test::start(io, client().call(request(server.url())));
    const auto second = test::start(io, client().call(request(server.url())));
    const auto third = get(server.url());
    ASSERT_FALSE(third);
    EXPECT_THAT(third.error().what, HasSubstr("too many calls wait for a connection"));
    bridge->open();
    EXPECT_TRUE(test::finish(io, first));
    EXPECT_TRUE(test::finish(io, second));
}

TEST_F(HttpClientTest, RefusesAnAnswerThatIsTooLarge) {
    options.max_body_bytes = 1000;
    HttpServer server(io, [](const ServerRequest& seen) {
        Reply reply = text_reply(200, std::string(seen.target == "/fits" ? 1000 : 1001, 'x'));
        reply.chunked = seen.target == "/chunked";
        return reply;
    });
    EXPECT_TRUE(get(server.url() + "/fits"));
    for (const char* path : {"/large", "/chunked"}) {
        const auto response = get(server.url() + path);
        ASSERT_FALSE(response) << path;
        EXPECT_EQ(response.error().code, Errc::bad_answer);
        EXPECT_THAT(response.error().what, HasSubstr("larger than 1000 bytes"));
        EXPECT_EQ(server.count("GET", path), 1U) << "not retried";
    }
}

TEST_F(HttpClientTest, SaysThatAnAnswerIsNotHttp) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply;
        reply.raw = "SSH-2.0-OpenSSH_9.2\r\n\r\n";
        return reply;
    });
    const auto response = get(server.url());
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::bad_answer);
    EXPECT_THAT(response.error().what, HasSubstr("the answer is not HTTP"));
}

TEST_F(HttpClientTest, SkipsInterimAnswers) {
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply;
        reply.raw =
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        return reply;
    });
    const auto response = get(server.url());
    ASSERT_TRUE(response) << response.error().what;
    EXPECT_EQ(response->body, "ok");
}

TEST_F(HttpClientTest, SendsNoHeaderWithALineBreak) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, ""); });
    Request made = request(server.url());
    made.headers = {{"X-Marker", "a\r\nX-Auth-Token: stolen"}};
    const auto response = call(std::move(made));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, Errc::bad_input);
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(HttpClientTest, FindsHostsByName) {
    HttpServer server(io, [](const ServerRequest&) { return text_reply(200, "x"); });
    const auto response = get(server.url("localhost"));
    ASSERT_TRUE(response) << response.error().what;
}

TEST_F(HttpClientTest, LogsOneLineForATryAndNoHeaders) {
    test::LogCapture log;
    HttpServer server(io, [](const ServerRequest&) {
        Reply reply = text_reply(200, "body-text");
        reply.headers = {{"X-Compute-Request-Id", "req-nova"}};
        return reply;
    });
    Request made = request(server.url() + "/servers/detail");
    made.headers = {{"X-Auth-Token", "very-secret-token"}};
    ASSERT_TRUE(call(std::move(made)));
    EXPECT_THAT(log.text(), HasSubstr("GET nova /servers/detail 200 in "));
    EXPECT_THAT(log.text(), HasSubstr("(req-nova)"));
    EXPECT_THAT(log.text(), Not(HasSubstr("very-secret-token")));
    EXPECT_THAT(log.text(), Not(HasSubstr("body-text")));
}

TEST_F(HttpClientTest, ACancelledCallGivesItsPlaceBack) {
    options.max_connections = 1;
    auto bridge = std::make_shared<test::ExecutorBridge>(io);
    HttpServer server(io, [&](const ServerRequest&) {
        Reply reply = text_reply(200, "");
        reply.bridge = bridge;
        return reply;
    });
    boost::asio::cancellation_signal signal;
    bool ended = false;
    std::optional<Errc> code;
    const auto handler = [&](std::exception_ptr, Result<Response> result) {
        ended = true;
        if (!result) code = result.error().code;
    };
    auto task = client().call(request(server.url()));
    boost::asio::co_spawn(io, std::move(task),
                          boost::asio::bind_cancellation_slot(signal.slot(), handler));
    ASSERT_TRUE(test::run_until(io, [&] { return server.requests().size() == 1; }));
    signal.emit(boost::asio::cancellation_type::terminal);
    ASSERT_TRUE(test::run_until(io, [&] { return ended; }));
    EXPECT_EQ(code, Errc::cancelled);
    bridge->open();
    EXPECT_TRUE(get(server.url()));
}

TEST(HttpClient, DiesWithItsContextInMidCall) {
    for (int events = 0; events < 12; ++events) {
        // The clock goes last: calls hold on to it.
        std::unique_ptr<test::ManualClock> clock;
        {
            boost::asio::io_context io;
            clock = std::make_unique<test::ManualClock>(io, start_time);
            Options options;
            options.max_connections = 1;
            auto client = make_client(io.get_executor(), options, *clock).value();
            HttpServer server(io, [](const ServerRequest&) {
                Reply reply;
                reply.hang = true;
                return reply;
            });
            for (int i = 0; i < 3; ++i) {
                Request request;
                request.url = server.url(i == 0 ? "localhost" : "127.0.0.1");
                test::start(io, client->call(std::move(request)));
            }
            client.reset();
            for (int i = 0; i < events; ++i) io.poll_one();
        }
    }
}

TEST(SystemClock, SleepsAndTellsTheTime) {
    boost::asio::io_context io;
    const auto clock = make_system_clock(io.get_executor());
    const TimePoint before = clock->now();
    bool slept = false;
    auto sleeping = clock->sleep(5ms);
    boost::asio::co_spawn(io, std::move(sleeping), [&](std::exception_ptr) { slept = true; });
    ASSERT_TRUE(test::run_until(io, [&] { return slept; }));
    EXPECT_GE(clock->now(), before);
}

}  // namespace
}  // namespace reaper::http::client_test
