// What passes through the proxy: the same message, written again.
#include "tests/clients/http_proxy/proxy_harness.hpp"

namespace reaper::proxy_faithful_test {
namespace {

using test::always;
using std::string_literals::operator""s;
using ::testing::HasSubstr;
using ::testing::Not;

class ProxyFaithfulTest : public test::ProxyTest {
protected:
    /// Sends it, expects the upstream to hear `upstream_text`, answers, and expects the client to
    /// hear `client_text`.
    void exchange(const std::string& request, const std::string& upstream_text,
                  const std::string& answer, const std::string& client_text) {
        const auto peer = client();
        const std::size_t connection = upstream.accepted();
        peer->say(request);
        upstream_hears(upstream_text, connection);
        upstream.peer(connection).say(answer);
        client_hears(*peer, client_text);
        upstream.peer(connection).close();
        settle();
    }
    void unchanged(const std::string& request, const std::string& answer) {
        exchange(request, request, answer, answer);
    }
};

TEST_F(ProxyFaithfulTest, HeadersPassInOrderWithDuplicatesAndCase) {
    start();
    unchanged(
        "GET /allocation_candidates?resources=VCPU%3A1&limit=1000&x=a+b HTTP/1.1\r\n"
        "Host: placement.example:8778\r\naccept: application/json\r\nX-Auth-Token: secret\r\n"
        "OpenStack-API-Version: placement 1.36\r\nX-A: 1\r\nx-a: 2\r\nX-A: \r\n\r\n",
        "HTTP/1.1 200 Ok, fine\r\nset-cookie: a\r\nDate: x\r\nSet-Cookie: b\r\n"
        "Content-Length: 5\r\nX-Empty: \r\n\r\nhello");
}

TEST_F(ProxyFaithfulTest, TheTargetIsNotNormalised) {
    start();
    for (const std::string target :
         {"/", "//a//b/", "/a/../b/./c", "/%2e%2E/%zz?%", "/a?b?c=/d&&e", "/\xc3\xa4",
          "http://other.example/x?y", "/a;b=c,d@e:f!$'()*+[]|{}^`\"<>\\"})
        unchanged("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n",
                  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    unchanged("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
              "HTTP/1.1 204 No Content\r\nAllow: GET\r\n\r\n");
}

TEST_F(ProxyFaithfulTest, EveryMethodAndItsBodyPass) {
    start();
    for (const std::string method : {"PUT", "POST", "DELETE", "PATCH", "QUERY", "GET"})
        unchanged(method + " /a HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n\x00\xff\r\n"s,
                  "HTTP/1.1 409 Conflict\r\nContent-Length: 3\r\n\r\n{}\n");
}

TEST_F(ProxyFaithfulTest, AnswersWithoutABodyEndWithTheirHead) {
    start();
    unchanged("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n",
              "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
    unchanged("GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
              "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\nETag: x\r\n\r\n");
    unchanged("DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n");
    unchanged("PUT /a HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
              "HTTP/1.1 201 Created\r\nLocation: http://a/b\r\nContent-Length: 0\r\n\r\n");
}

TEST_F(ProxyFaithfulTest, ErrorsAndTheirReasonsPass) {
    start();
    for (const std::string status :
         {"400 Bad", "401 ", "404 Not Found", "500 Oh no!", "503 Service Unavailable", "599 \xff"})
        unchanged("GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
                  "HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_F(ProxyFaithfulTest, WhatIsOfTheConnectionStaysOnIt) {
    start();
    exchange(
        "GET /a HTTP/1.1\r\nConnection: keep-alive, X-Hop\r\nHost: a\r\nX-Hop: 1\r\n"
        "Keep-Alive: timeout=1\r\nTE: trailers\r\nUpgrade: h2c\r\nX-End: 2\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: a\r\nX-End: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close, X-Own\r\nX-Own: 1\r\nKeep-Alive: max=1\r\n"
        "Content-Length: 1\r\nUpgrade: h2c\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
}

TEST_F(ProxyFaithfulTest, ChunksPassInBothDirections) {
    start();
    exchange(
        "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
        "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: a\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nabcde\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n"
        "1\r\na\r\n4\r\nbcde\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
}

TEST_F(ProxyFaithfulTest, AChunkGoesOutWhenItCame) {
    start();
    const auto peer = client();
    peer->say("POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    upstream_hears(head);
    peer->say("3\r\nabc\r\n");
    upstream_hears(head += "3\r\nabc\r\n");
    peer->say("0\r\n\r\n");
    upstream_hears(head += "0\r\n\r\n");
    std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    upstream.peer().say(answer);
    client_hears(*peer, answer);
    for (const std::string piece : {"2\r\nab\r\n", "1\r\nc\r\n", "0\r\n\r\n"}) {
        upstream.peer().say(piece);
        client_hears(*peer, answer += piece);
    }
    EXPECT_FALSE(peer->ended());
}

TEST_F(ProxyFaithfulTest, AnAnswerUntilTheEndOfTheConnectionComesInChunks) {
    start();
    const auto peer = client();
    peer->say("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().say("HTTP/1.1 200 OK\r\n\r\nabc");
    until([&] { return peer->has_heard("3\r\nabc\r\n"); });
    upstream.peer().close();
    client_hears(*peer,
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    EXPECT_FALSE(peer->ended());
}

TEST_F(ProxyFaithfulTest, AnOldClientGetsWhatItUnderstands) {
    start();
    const auto peer = client();
    peer->say("GET /a HTTP/1.0\r\nX: y\r\n\r\n");
    const std::string host = "Host: 127.0.0.1:" + std::to_string(upstream.port()) + "\r\n";
    upstream_hears("GET /a HTTP/1.1\r\nX: y\r\n" + host + "\r\n");
    upstream.peer().say(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    until([&] { return peer->ended(); });
    EXPECT_EQ(peer->heard(), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    EXPECT_FALSE(peer->broken());
    upstream.peer().close();
    settle();
    exchange("GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
             "GET /a HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
             "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\na");
}

TEST_F(ProxyFaithfulTest, AnUpstreamWithHttp10IsUnderstood) {
    start();
    const auto peer = client();
    peer->say("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().say("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc");
    client_hears(*peer, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
    until([&] { return upstream.peer().ended(); });
}

TEST_F(ProxyFaithfulTest, TheUpstreamSaysWhetherTheBodyMayCome) {
    start();
    const auto peer = client();
    const std::string head =
        "PUT /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    peer->say(head);
    upstream_hears(head);
    settle();
    EXPECT_EQ(peer->heard(), "");
    upstream.peer().say("HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 100 Go on\r\n\r\n");
    peer->forget();
    peer->say("abc");
    upstream_hears(head + "abc");
    upstream.peer().say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

TEST_F(ProxyFaithfulTest, AnUpstreamThatWantsNoBodyIsHeard) {
    start();
    const auto peer = client();
    const std::string head =
        "PUT /a HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    peer->say(head);
    upstream_hears(head);
    upstream.peer().say("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}");
    until([&] { return peer->ended(); });
    EXPECT_EQ(peer->heard(),
              "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    until([&] { return upstream.peer().ended(); });
}

TEST_F(ProxyFaithfulTest, AnInterimAnswerIsNotForAnOldClient) {
    start();
    exchange("GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
             "GET /a HTTP/1.1\r\nHost: a\r\n\r\n",
             "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
             "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
}

TEST_F(ProxyFaithfulTest, BytesOneByOneAreTheSameBytes) {
    start();
    const auto peer = client();
    const std::string request =
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789";
    peer->say_bytewise(request);
    upstream_hears(request);
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdefghij";
    upstream.peer().say_bytewise(answer);
    client_hears(*peer, answer);
    // Chunks, too.
    peer->forget();
    upstream.peer().forget();
    peer->say_bytewise(
        "POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "a;x\r\n0123456789\r\n0\r\nX: y\r\n\r\n");
    until([&] { return upstream.peer().heard().ends_with("\r\n0\r\n\r\n"); });
    EXPECT_EQ(upstream.accepted(), 1U);
    upstream.peer().say_bytewise(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
    until([&] { return peer->heard().ends_with("\r\n0\r\n\r\n"); });
    std::string said, heard;
    for (const auto& [text, into] :
         {std::pair{&upstream.peer().heard(), &said}, std::pair{&peer->heard(), &heard}})
        for (const char byte : text->substr(text->find("\r\n\r\n") + 4))
            if (byte != '\r' && byte != '\n') *into += byte;
    EXPECT_THAT(heard, Not(HasSubstr("HTTP")));
    EXPECT_EQ(said.size(), 20U + 1U) << "ten chunks of one byte, and the last";
    EXPECT_EQ(heard, "1a1b1c0");
}

TEST_F(ProxyFaithfulTest, ConnectionsAreKeptOnBothSides) {
    upstream.on_heard = always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    start();
    const auto one = client();
    const auto two = client();
    for (int i = 1; i <= 20; ++i)
        for (const auto& peer : {one, two}) {
            peer->forget();
            peer->say("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
            client_hears(*peer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    EXPECT_EQ(upstream.accepted(), 1U);
    EXPECT_EQ(proxy->state().served, 40U);
    EXPECT_EQ(proxy->state().connections, 2U);
    EXPECT_EQ(proxy->state().calls, 0U);
}

TEST_F(ProxyFaithfulTest, AClientThatWantsNoMoreIsLet) {
    upstream.on_heard = always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    start();
    const auto peer = client();
    peer->say("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    until([&] { return peer->ended(); });
    EXPECT_EQ(peer->heard(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
}

TEST_F(ProxyFaithfulTest, RequestsSentAheadAreAnsweredInOrder) {
    start();
    const auto peer = client();
    peer->say(
        "\r\nPOST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
        "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
        "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
        "GET /4 HTTP/1.1\r\nHost: a\r\n\r\n");
    std::string heard;
    for (const std::string request :
         {"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
          "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
          "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
          "GET /4 HTTP/1.1\r\nHost: a\r\n\r\n"}) {
        upstream_hears(request);
        settle();
        EXPECT_EQ(upstream.peer().heard(), request) << "one after the other";
        upstream.peer().forget();
        const std::string answer =
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + request.substr(request.find('/'), 2);
        upstream.peer().say(answer);
        client_hears(*peer, heard += answer);
    }
    EXPECT_EQ(upstream.accepted(), 1U);
}

TEST_F(ProxyFaithfulTest, TheUpstreamsPathIsOurPrefix) {
    start(settings_for("/placement/"));
    unchanged("GET /placement/traits?a HTTP/1.1\r\nHost: a\r\n\r\n",
              "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    const auto peer = client();
    peer->say("GET /identity HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), HasSubstr("HTTP/1.1 404 Not Found\r\n"));
    EXPECT_THAT(peer->heard(), HasSubstr("only under /placement/"));
    EXPECT_FALSE(peer->ended());
}

TEST_F(ProxyFaithfulTest, AnotherPrefixIsExchangedInTheTargetOnly) {
    auto settings = settings_for("/placement");
    settings.path_prefix = "/";
    start(std::move(settings));
    exchange("GET /traits?a=/b HTTP/1.1\r\nHost: a\r\nReferer: /traits\r\n\r\n",
             "GET /placement/traits?a=/b HTTP/1.1\r\nHost: a\r\nReferer: /traits\r\n\r\n",
             "HTTP/1.1 201 Created\r\nLocation: /placement/x\r\nContent-Length: 0\r\n\r\n",
             "HTTP/1.1 201 Created\r\nLocation: /placement/x\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace reaper::proxy_faithful_test
