// Requests that could be understood in two ways, clients that stall, and limits.
#include "tests/clients/http_proxy/proxy_harness.hpp"

namespace reaper::proxy_strict_test {
namespace {

using test::always;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProxyStrictTest : public test::ProxyTest {
protected:
    /// What a client hears until it is sent away; nothing of it reaches the upstream.
    std::string refused(const std::string& request) {
        const auto peer = client();
        peer->say(request);
        until([&] { return peer->ended(); });
        EXPECT_THAT(peer->heard(), HasSubstr("\r\nConnection: close\r\n"));
        EXPECT_THAT(peer->heard(), HasSubstr("{\"errors\":[{"));
        return peer->heard();
    }
};

TEST_F(ProxyStrictTest, NothingIsSmuggled) {
    start();
    const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
    for (const std::string& request :
         {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
          post + "Content-Length: 3, 3\r\n\r\nabc", post + "Content-Length: +3\r\n\r\nabc",
          post + "Content-Length : 3\r\n\r\nabc", post + "X: y\r\n Content-Length: 3\r\n\r\nabc",
          post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          post + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n",
          post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhelloo\r\n0\r\n\r\n",
          post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
          post + "Transfer-Encoding: chunked\r\n\r\n\r\n",
          std::string("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
          std::string("GET / HTTP/1.1\nHost: a\n\n"),
          std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
          std::string("GET / HTTP/1.1\r\n\r\n"), std::string("\x16\x03\x01 no http\r\n\r\n")})
        EXPECT_THAT(refused(request), StartsWith("HTTP/1.1 400 Bad Request\r\n")) << request;
    EXPECT_THAT(refused(post + "Transfer-Encoding: gzip, chunked\r\n\r\n"),
                StartsWith("HTTP/1.1 501 "));
    EXPECT_THAT(refused("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 501 "));
    EXPECT_THAT(refused("GET / HTTP/3.0\r\nHost: a\r\n\r\n"), StartsWith("HTTP/1.1 505 "));
    EXPECT_EQ(upstream.accepted(), 0U);
}

TEST_F(ProxyStrictTest, ChunksThatBreakLaterBreakTheCall) {
    start();
    const auto peer = client();
    peer->say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    until([&] { return upstream.accepted() == 1 && upstream.peer().has_heard("abc"); });
    peer->say("3\r\nabcX\r\n");
    until([&] { return peer->ended() && upstream.peer().ended(); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(upstream.peer().heard(), testing::Not(HasSubstr("\r\n0\r\n")));
}

TEST_F(ProxyStrictTest, WhatFollowsARefusedRequestIsNotRead) {
    start();
    EXPECT_THAT(refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n"
                        "\r\nxGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"),
                StartsWith("HTTP/1.1 400 "));
    settle();
    EXPECT_EQ(upstream.accepted(), 0U);
}

TEST_F(ProxyStrictTest, AHeadHasALimit) {
    upstream.on_heard = always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    start();
    EXPECT_THAT(refused("GET /" + std::string(70'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"),
                StartsWith("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
    EXPECT_EQ(upstream.accepted(), 0U);
    const auto peer = client();
    peer->say("GET /" + std::string(60'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

TEST_F(ProxyStrictTest, WhoStallsIsSentAway) {
    limits.idle = Duration{20};
    start();
    const auto silent = client();
    until([&] { return silent->ended(); });
    limits = test::patient_limits();
    limits.head = Duration{20};
    start();
    const auto slow = client();
    slow->say("GET / HT");
    until([&] { return slow->ended(); });
    limits = test::patient_limits();
    limits.body = Duration{20};
    start();
    const auto half = client();
    half->say("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    until([&] { return half->ended() && upstream.accepted() == 1 && upstream.peer().ended(); });
    EXPECT_EQ(half->heard(), "");
}

TEST_F(ProxyStrictTest, NoMoreConnectionsThanAllowedAndIdleOnesGiveWay) {
    limits.connections = 2;
    start();
    const auto working = client();
    working->say("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return upstream.accepted() == 1; });
    const auto idle = client();
    settle();
    EXPECT_EQ(proxy->state().connections, 2U);
    const auto third = client();
    third->say("GET /third HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return idle->ended() && upstream.accepted() == 2; });
    // Both work now: the next one waits.
    const auto fourth = client();
    fourth->say("GET /fourth HTTP/1.1\r\nHost: a\r\n\r\n");
    settle();
    EXPECT_EQ(upstream.accepted(), 2U);
    EXPECT_EQ(proxy->state().connections, 2U);
    working->close();
    until([&] { return upstream.accepted() == 3; });
    EXPECT_FALSE(third->ended());
}

TEST_F(ProxyStrictTest, TheOldestHalfHeadGivesWayToAWaitingClient) {
    limits.connections = 2;
    start();
    const auto first = client();
    first->say("GET /a HTTP/1.1\r\n");
    settle();
    const auto second = client();
    second->say("GET /b HTTP/1.1\r\n");
    settle();
    const auto whole = client();
    whole->say("GET /third HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return first->ended() && upstream.accepted() == 1; });
    EXPECT_FALSE(second->ended());
    EXPECT_FALSE(whole->ended());
}

TEST_F(ProxyStrictTest, AnAddressOrAFileThatCannotBeUsedIsNamed) {
    start();
    const auto listen = [&](HttpProxySettings settings) {
        return listen_proxy(io.get_executor(), std::move(settings));
    };
    for (const char* address : {"", "127.0.0.1", "unix:/tmp/x", "host:1"}) {
        auto settings = settings_for();
        settings.address = address;
        const auto made = listen(std::move(settings));
        ASSERT_FALSE(made) << address;
        EXPECT_EQ(made.error().code, Errc::bad_input);
        EXPECT_THAT(made.error().what, StartsWith("gateway: "));
    }
    auto taken = settings_for();
    taken.address = proxy->address();
    const auto made = listen(std::move(taken));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::unreachable);
    auto no_file = settings_for();
    no_file.tls = HttpServerTls{"/no/such/cert.pem", "/no/such/key.pem"};
    const auto without = listen(std::move(no_file));
    ASSERT_FALSE(without);
    EXPECT_THAT(without.error().what, HasSubstr("/no/such/cert.pem"));
}

}  // namespace
}  // namespace reaper::proxy_strict_test
