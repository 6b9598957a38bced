// Upstreams that fail, clients that leave, and what is sent again.
#include "tests/clients/http_proxy/proxy_harness.hpp"
#include "tests/support/http_server.hpp"

namespace reaper::proxy_failures_test {
namespace {

using std::string_literals::operator""s;
using test::always;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class ProxyFailuresTest : public test::ProxyTest {
protected:
    /// Asks, and gives the head and the body of the error that comes.
    std::string failed(test::RawPeer& peer, const std::string& request = get) {
        peer.forget();
        peer.say(request);
        until([&] { return peer.heard().ends_with("}\n") || peer.ended(); });
        return peer.heard();
    }
    /// A connection to the upstream that has answered once, and is kept.
    std::shared_ptr<test::RawPeer> warmed_up() {
        const auto peer = client();
        const std::size_t connection = upstream.accepted();
        peer->say(get);
        upstream_hears(get, connection);
        upstream.peer(connection).forget();
        upstream.peer(connection).say(ok);
        client_hears(*peer, ok);
        peer->forget();
        settle();
        return peer;
    }
};

TEST_F(ProxyFailuresTest, AnUpstreamThatIsAwayIsReportedOnce) {
    const std::uint16_t port = test::closed_port(io);
    auto settings = settings_for();
    settings.upstream.endpoint.port = port;
    start(std::move(settings));
    const test::LogCapture log;
    const auto peer = client();
    for (int i = 0; i < 3; ++i)
        EXPECT_THAT(failed(*peer), AllOf(StartsWith("HTTP/1.1 503 Service Unavailable\r\n"),
                                         HasSubstr("Content-Type: application/json\r\n"),
                                         HasSubstr("{\"errors\":[{\"code\":\"reaper.not_sent\","
                                                   "\"detail\":\"gateway: connection "
                                                   "refused\",\"status\":503,"
                                                   "\"title\":\"Service Unavailable\"}]}")));
    EXPECT_FALSE(peer->ended()) << "the connection is kept";
    EXPECT_THAT(
        failed(*peer, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        HasSubstr("\r\n\r\nHTTP/1.1 503"))
        << "no body for HEAD";
    test::RawServer back(io, port);
    back.on_heard = always(ok);
    peer->forget();
    peer->say(get);
    client_hears(*peer, ok);
    const std::string text = log.text();
    const std::string away = "does not answer as it should: connection refused";
    EXPECT_THAT(text, HasSubstr(away));
    EXPECT_EQ(text.find(away), text.rfind(away)) << text;
    EXPECT_THAT(text, HasSubstr("answers again"));
}

TEST_F(ProxyFailuresTest, AnUpstreamThatIsSilentOrTalksNonsenseIsAnError) {
    limits.upstream = Duration{50};
    start();
    const auto peer = client();
    EXPECT_THAT(failed(*peer), StartsWith("HTTP/1.1 504 Gateway Timeout\r\n"));
    until([&] { return upstream.peer().ended(); });
    limits = test::patient_limits();
    for (const char* nonsense :
         {"SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", "HTTP/2 200\r\n\r\n"}) {
        upstream.on_heard = always(nonsense);
        start();
        const auto asks = client();
        EXPECT_THAT(failed(*asks), StartsWith("HTTP/1.1 502 Bad Gateway\r\n")) << nonsense;
    }
    upstream.on_heard = [](test::RawPeer& server) { server.close(); };
    start();
    const auto asks = client();
    EXPECT_THAT(failed(*asks),
                AllOf(StartsWith("HTTP/1.1 502 "), HasSubstr("the server closed the connection")));
}

TEST_F(ProxyFailuresTest, HeadersWithoutEndAreNotReadForever) {
    upstream.on_heard = always("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'a'));
    start();
    const auto peer = client();
    EXPECT_THAT(failed(*peer), AllOf(StartsWith("HTTP/1.1 502 "), HasSubstr("too large")));
}

struct Cut {
    const char* answer;
    const char* client_version;
    const char* heard;
};

/// At each point of an answer: it never looks whole.
TEST_F(ProxyFailuresTest, AnAnswerThatBreaksOffNeverLooksWhole) {
    start();
    for (const auto& [answer, version, heard] : std::initializer_list<Cut>{
             {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "1.1",
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"},
             {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "1.1",
              "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"},
             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "1.1",
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"},
             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n", "1.1",
              "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"},
             {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nxyz", "1.1",
              nullptr}}) {
        const auto peer = client();
        const std::size_t connection = upstream.accepted();
        peer->say(std::string("GET /a HTTP/") + version + "\r\nHost: a\r\n\r\n");
        until([&] { return upstream.accepted() > connection; });
        until([&] { return upstream.peer(connection).heard().ends_with("\r\n\r\n"); });
        upstream.peer(connection).say(answer);
        until([&] { return peer->has_heard("\r\n\r\n"); });
        upstream.peer(connection).close();
        until([&] { return peer->ended(); });
        if (heard != nullptr) {
            EXPECT_EQ(peer->heard(), heard);
        }
        EXPECT_THAT(peer->heard(), Not(HasSubstr("\r\n0\r\n")));
    }
    // One that has no length for its client: the connection does not end in good order.
    const auto old = client();
    const std::size_t connection = upstream.accepted();
    old->say("GET /a HTTP/1.0\r\nHost: a\r\n\r\n");
    until([&] { return upstream.accepted() > connection; });
    until([&] { return upstream.peer(connection).heard().ends_with("\r\n\r\n"); });
    upstream.peer(connection)
        .say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    until([&] { return old->has_heard("ab"); });
    upstream.peer(connection).close();
    until([&] { return old->ended(); });
    EXPECT_TRUE(old->broken());
}

TEST_F(ProxyFailuresTest, WhoLeavesHasItsCallGivenUp) {
    start();
    // While the upstream works.
    const auto one = client();
    one->say(get);
    upstream_hears(get, 0);
    one->close();
    until([&] { return upstream.peer(0).ended(); });
    // With the next request sent ahead, and only its own side ended.
    const auto two = client();
    two->say(get + get);
    upstream_hears(get, 1);
    two->end_sending();
    until([&] { return upstream.peer(1).ended() && two->ended(); });
    EXPECT_EQ(two->heard(), "");
    // In the middle of an answer.
    const auto three = client();
    three->say(get);
    upstream_hears(get, 2);
    upstream.peer(2).say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    until([&] { return three->has_heard("ab"); });
    three->reset();
    until([&] { return upstream.peer(2).ended(); });
    // In the middle of its own body.
    const auto four = client();
    four->say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
    until([&] { return upstream.accepted() == 4 && upstream.peer(3).has_heard("ab"); });
    four->close();
    until([&] { return upstream.peer(3).ended(); });
    // Behind its own body.
    const auto five = client();
    five->say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
    until([&] { return upstream.accepted() == 5 && upstream.peer(4).has_heard("ab"); });
    five->say("cde");
    until([&] { return upstream.peer(4).has_heard("abcde"); });
    five->close();
    until([&] { return upstream.peer(4).ended(); });
    // In the middle of its head.
    const auto six = client();
    six->say("GET /");
    six->close();
    until([&] { return proxy->state().connections == 0; });
    EXPECT_EQ(proxy->state().calls, 0U);
    EXPECT_EQ(upstream.accepted(), 5U);
}

TEST_F(ProxyFailuresTest, AnAnswerBeforeTheWholeRequestIsGiven) {
    start();
    const auto peer = client();
    peer->say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nab");
    until([&] { return upstream.accepted() == 1 && upstream.peer().has_heard("ab"); });
    upstream.peer().say("HTTP/1.1 413 Too Much\r\nContent-Length: 2\r\n\r\nno");
    until([&] { return peer->ended() && upstream.peer().ended(); });
    EXPECT_EQ(peer->heard(),
              "HTTP/1.1 413 Too Much\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
}

TEST_F(ProxyFailuresTest, AnUpstreamThatLeavesDuringARequestIsAnError) {
    start();
    const auto peer = client();
    peer->say("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\nab");
    until([&] { return upstream.accepted() == 1 && upstream.peer().has_heard("ab"); });
    upstream.peer().reset();
    until([&] { return peer->ended(); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 502 "));
}

TEST_F(ProxyFailuresTest, AKeptConnectionThatWasClosedIsReplaced) {
    start();
    for (const std::string& request :
         {get, "DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n"s,
          "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"s}) {
        const auto peer = warmed_up();
        const std::size_t connections = upstream.accepted();
        upstream.peer(connections - 1).close();
        settle();
        peer->say(request);
        upstream_hears(request, connections);
        upstream.peer(connections).forget();
        upstream.peer(connections).say(ok);
        client_hears(*peer, ok);
        upstream.peer(connections).close();
        settle();
    }
}

/// The upstream takes the request on a kept connection, and leaves without a word.
TEST_F(ProxyFailuresTest, OnlyASafeRequestIsSentAgain) {
    start();
    const auto again = warmed_up();
    again->say(get);
    upstream_hears(get, 0);
    upstream.peer(0).close();
    upstream_hears(get, 1);
    upstream.peer(1).forget();
    upstream.peer(1).say(ok);
    client_hears(*again, ok);
    for (const std::string method : {"POST", "PUT", "DELETE", "PATCH"}) {
        const std::size_t connections = upstream.accepted();
        const std::string request =
            method + " /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
        again->forget();
        again->say(request);
        upstream_hears(request, connections - 1);
        upstream.peer(connections - 1).close();
        until([&] { return again->heard().ends_with("}\n"); });
        EXPECT_THAT(again->heard(), StartsWith("HTTP/1.1 502 ")) << method;
        EXPECT_EQ(upstream.accepted(), connections) << method << " was sent again";
        again->forget();
        again->say(get);
        upstream_hears(get, connections);
        upstream.peer(connections).forget();
        upstream.peer(connections).say(ok);
        client_hears(*again, ok);
    }
    // An answer that has begun is not asked for again.
    const std::size_t connections = upstream.accepted();
    again->forget();
    again->say(get);
    upstream_hears(get, connections - 1);
    upstream.peer(connections - 1).say("HTTP/1.1 20");
    settle();
    upstream.peer(connections - 1).close();
    until([&] { return again->heard().ends_with("}\n"); });
    EXPECT_THAT(again->heard(), StartsWith("HTTP/1.1 502 "));
    EXPECT_EQ(upstream.accepted(), connections);
}

TEST_F(ProxyFailuresTest, OnNewConnectionsNothingIsSentTwice) {
    start();
    const auto peer = client();
    peer->say(get);
    upstream_hears(get, 0);
    upstream.peer(0).close();
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 502 "));
    EXPECT_EQ(upstream.accepted(), 1U);
}

TEST_F(ProxyFailuresTest, WhatMustNotBeSentTwiceGoesOnAFreshConnection) {
    limits.surely_alive = Duration{0};
    start();
    const auto peer = warmed_up();
    const std::string put = "PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
    peer->say(put);
    upstream_hears(put, 1);
    upstream.peer(1).say(ok);
    client_hears(*peer, ok);
    peer->forget();
    peer->say(get);
    until([&] {
        return upstream.peer(0).heard() + upstream.peer(1).heard() == put + get ||
               upstream.peer(0).heard() + upstream.peer(1).heard() == get + put;
    });
    EXPECT_EQ(upstream.accepted(), 2U) << "what is safe goes on a kept one";
}

TEST_F(ProxyFailuresTest, AnUnusedConnectionIsClosed) {
    limits.upstream_idle = Duration{20};
    start();
    const auto peer = warmed_up();
    until([&] { return upstream.peer(0).ended(); });
    EXPECT_FALSE(peer->ended());
    peer->say(get);
    upstream_hears(get, 1);
}

TEST_F(ProxyFailuresTest, AConnectionWithMoreThanItsAnswerIsNotKept) {
    start();
    const auto peer = client();
    peer->say(get);
    upstream_hears(get, 0);
    upstream.peer(0).say(ok + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison");
    client_hears(*peer, ok);
    until([&] { return upstream.peer(0).ended(); });
    peer->say(get);
    upstream_hears(get, 1);
}

TEST_F(ProxyFailuresTest, StoppingLetsCallsEndAndClosesTheRest) {
    start();
    const auto idle = client();
    const auto works = client();
    works->say(get);
    upstream_hears(get, 0);
    const auto hangs = client();
    hangs->say(get);
    upstream_hears(get, 1);
    const std::uint16_t port = proxy->port();
    bool drained = false;
    auto drain = proxy->drain(test::patience);
    boost::asio::co_spawn(io, std::move(drain), [&](std::exception_ptr) { drained = true; });
    until([&] { return idle->ended(); });
    EXPECT_FALSE(drained);
    boost::asio::ip::tcp::socket late(io);
    boost::system::error_code error;
    late.connect({boost::asio::ip::address_v4::loopback(), port}, error);
    EXPECT_TRUE(error);
    upstream.peer(0).say(ok);
    until([&] { return works->ended(); });
    EXPECT_EQ(works->heard(),
              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    EXPECT_FALSE(drained);
    proxy->stop();
    until([&] { return drained && hangs->ended() && upstream.peer(1).ended(); });
    // Or the time is over.
    start();
    const auto again = client();
    again->say(get);
    until([&] { return upstream.accepted() == 3; });
    drained = false;
    auto short_drain = proxy->drain(Duration{20});
    boost::asio::co_spawn(io, std::move(short_drain), [&](std::exception_ptr) { drained = true; });
    until([&] { return drained && again->ended(); });
}

TEST_F(ProxyFailuresTest, NoSecretIsLogged) {
    limits.upstream = Duration{50};
    start();
    const test::LogCapture log;
    const auto peer = client();
    failed(*peer,
           "GET /a?token=hush1 HTTP/1.1\r\nHost: a\r\nX-Auth-Token: hush2\r\n"
           "Authorization: hush3\r\nContent-Length: 5\r\n\r\nhush4");
    EXPECT_THAT(log.text(), HasSubstr("GET /a?token=..."));
    EXPECT_THAT(log.text(), Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace reaper::proxy_failures_test
