// Requests that a handler decides.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <optional>

#include "tests/clients/http_proxy/proxy_harness.hpp"

namespace reaper::proxy_handler_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Decides what the test says.
class Scripted final : public ProxyHandler {
public:
    using Script = std::function<Task<ProxyAnswer>(HttpRequest, ProxyCall&)>;

    bool wants(std::string_view method, std::string_view target) const override {
        return method != "DELETE" && target.starts_with("/mine");
    }
    bool owns(std::string_view target) const override { return target == "/mine/alone"; }
    Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) override {
        requests.push_back(request);
        return script(std::move(request), call);
    }

    Script script;
    std::vector<HttpRequest> requests;
};

class ProxyHandlerTest : public test::ProxyTest {
protected:
    ProxyHandlerTest() { handler = scripted; }

    static Task<ProxyAnswer> own(OwnAnswer answer) { co_return answer; }
    /// Asks once, and gives what comes.
    static Task<ProxyAnswer> ask_once(HttpRequest request, ProxyCall& call) {
        auto answer = co_await call.ask(std::move(request));
        if (!answer) co_return answer.error();
        co_return std::move(*answer);
    }

    std::shared_ptr<Scripted> scripted = std::make_shared<Scripted>();
};

TEST_F(ProxyHandlerTest, WhatItOwnsNeedsNoPrefix) {
    scripted->script = [](HttpRequest, ProxyCall&) { return own({}); };
    start(settings_for("/placement"));
    const auto peer = client();
    peer->say("GET /mine/alone HTTP/1.1\r\nHost: a\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    peer->forget();
    peer->say("GET /mine/too HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), ::testing::HasSubstr("404 Not Found"));
}

TEST_F(ProxyHandlerTest, GetsTheWholeRequestAndAnswersItself) {
    scripted->script = [](HttpRequest, ProxyCall&) {
        OwnAnswer answer;
        answer.status = 202;
        answer.headers = {{"X-Own", "1"}, {"content-length", "77"}, {"Connection", "x"}};
        answer.body = "{}";
        return own(answer);
    };
    start();
    const auto peer = client();
    peer->say_bytewise(
        "POST /mine?a=%20 HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nTransfer-Encoding: chunked\r\n"
        "Connection: X-Hop\r\nX-Hop: 1\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 202 Accepted\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\n{}");
    ASSERT_EQ(scripted->requests.size(), 1U);
    const HttpRequest& request = scripted->requests.front();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/mine?a=%20");
    EXPECT_EQ(request.headers, (HttpHeaders{{"Host", "a"}, {"X-A", "1"}}));
    EXPECT_EQ(request.body, "abcd");
    peer->forget();
    peer->say("HEAD /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    client_hears(*peer, "HTTP/1.1 202 Accepted\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(upstream.accepted(), 0U);
}

TEST_F(ProxyHandlerTest, OthersStream) {
    start();
    const auto peer = client();
    for (const std::string request :
         {"DELETE /mine HTTP/1.1\r\nHost: a\r\n\r\n", "GET /others HTTP/1.1\r\nHost: a\r\n\r\n"}) {
        peer->forget();
        peer->say(request);
        upstream_hears(request);
        upstream.peer().forget();
        upstream.peer().say(ok);
        client_hears(*peer, ok);
    }
    EXPECT_TRUE(scripted->requests.empty());
}

/// Asks another proxy first, and the upstream after that.
struct AsksOther {
    std::uint16_t port = 0;
    bool lost = false;
    std::optional<Errc> why{};
    std::string scheme = "http";

    Task<ProxyAnswer> operator()(HttpRequest request, ProxyCall& call) {
        HttpRequest first = request;
        std::string at = scheme + "://127.0.0.1:" + std::to_string(port);
        std::function<bool()> is_lost = [this] { return lost; };
        auto answer = co_await call.ask_other(std::move(at), std::move(first), std::move(is_lost));
        if (answer) co_return std::move(*answer);
        why = answer.error().code;
        auto passed = co_await call.ask(std::move(request));
        if (!passed) co_return passed.error();
        co_return std::move(*passed);
    }
};

TEST_F(ProxyHandlerTest, AnotherProxyIsAskedWithTheSameTarget) {
    test::RawServer other{io};
    AsksOther asks{other.port()};
    scripted->script = std::ref(asks);
    start(settings_for("/placement"));
    const auto peer = client();
    const std::string request = "GET /mine/alone HTTP/1.1\r\nHost: a\r\n\r\n";
    for (int i = 0; i < 2; ++i) {
        peer->forget();
        peer->say(request);
        until([&] { return other.accepted() > 0 && other.peer().heard() == request; });
        other.peer().forget();
        other.peer().say(ok);
        client_hears(*peer, ok);
    }
    EXPECT_EQ(other.accepted(), 1U) << "its connection is kept";
    EXPECT_EQ(upstream.accepted(), 0U);
}

/// Two are held until they are whole; the one in between would exceed the sum, and streams.
TEST_F(ProxyHandlerTest, AnswersOfAnotherProxyAreHeldUpToASum) {
    test::RawServer other{io};
    AsksOther asks{other.port()};
    scripted->script = std::ref(asks);
    limits.held_bytes = std::size_t{400} * 1024;
    start();
    struct Exchange {
        std::shared_ptr<test::RawPeer> peer;
        std::string answer;
    };
    const auto ask = [&](std::size_t kib) {
        const std::string body(kib * 1024, 'x');
        const std::string length = std::to_string(body.size());
        Exchange made{client(), "HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + body};
        const std::size_t at = other.accepted();
        made.peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
        until([&] { return other.accepted() > at && !other.peer(at).heard().empty(); });
        other.peer(at).say_in_background(made.answer.substr(0, made.answer.size() - 1));
        settle();
        return made;
    };
    const Exchange held = ask(150);
    EXPECT_EQ(held.peer->heard(), "");
    const Exchange streams = ask(600);
    until([&] { return streams.peer->heard().size() == streams.answer.size() - 1; });
    const auto give_last = [&](const Exchange& one, std::size_t at) {
        other.peer(at).say("x");
        client_hears(*one.peer, one.answer);
        one.peer->close();
    };
    give_last(held, 0);
    give_last(streams, 1);
    until([&] { return proxy->state().connections == 0; });
    other.peer(0).close();
    other.peer(1).close();
    settle();
    const Exchange again = ask(150);
    EXPECT_EQ(again.peer->heard(), "");
    give_last(again, 2);
}

TEST_F(ProxyHandlerTest, AnotherProxyThatDoesNotAnswerIsLeft) {
    test::RawServer other{io};
    AsksOther asks{other.port()};
    scripted->script = std::ref(asks);
    start();
    const auto peer = client();
    const std::string request = "GET /mine HTTP/1.1\r\nHost: a\r\n\r\n";
    peer->say(request);
    until([&] { return other.accepted() > 0 && other.peer().heard() == request; });
    asks.lost = true;
    upstream_hears(request);
    EXPECT_EQ(asks.why, Errc::cancelled);
    upstream.peer().say(ok);
    client_hears(*peer, ok);
    // An answer that breaks off is none.
    asks.lost = false;
    upstream.peer().forget();
    peer->forget();
    peer->say(request);
    until([&] { return other.accepted() > 1 && other.peer(1).heard() == request; });
    other.peer(1).say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
    other.peer(1).close();
    upstream_hears(request);
    EXPECT_EQ(asks.why, Errc::bad_answer);
    upstream.peer().say(ok);
    client_hears(*peer, ok);
    // Nothing is sent where no server listens.
    other.stop();
    upstream.peer().forget();
    peer->forget();
    peer->say(request);
    upstream_hears(request);
    EXPECT_EQ(asks.why, Errc::unreachable);
    upstream.peer().say(ok);
    client_hears(*peer, ok);
}

TEST_F(ProxyHandlerTest, AnotherProxyThatIsGivenUpBeforeTheRequestIsSentHasNotHeardIt) {
    test::RawServer other{io};
    AsksOther asks{other.port(), true};
    scripted->script = std::ref(asks);
    start();
    const auto peer = client();
    const std::string request = "GET /mine HTTP/1.1\r\nHost: a\r\n\r\n";
    for (const std::string scheme : {"http", "https"}) {
        asks.scheme = scheme;
        asks.lost = scheme == "http";  // from the beginning; else while it connects
        asks.why.reset();
        if (upstream.accepted() > 0) upstream.peer().forget();
        peer->forget();
        peer->say(request);
        if (!asks.lost)
            until([&] { return other.accepted() > 0 && !other.peer().heard().empty(); });
        asks.lost = true;
        upstream_hears(request);
        EXPECT_EQ(asks.why, Errc::unreachable) << scheme;
        upstream.peer().say(ok);
        client_hears(*peer, ok);
    }
    EXPECT_EQ(other.accepted(), 1U);
}

TEST_F(ProxyHandlerTest, AnotherProxyIsLeftWithItsClient) {
    test::RawServer other{io};
    AsksOther asks{other.port()};
    scripted->script = std::ref(asks);
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return other.accepted() > 0 && !other.peer().heard().empty(); });
    peer->close();
    until([&] { return other.peer().ended(); });
}

TEST_F(ProxyHandlerTest, AnotherProxyIsForgottenWhenTheCallThrows) {
    const std::string there = "http://127.0.0.1:" + std::to_string(upstream.port());
    scripted->script = [&there](HttpRequest request, ProxyCall& call) -> Task<ProxyAnswer> {
        const auto lost = []() -> bool { throw std::runtime_error("no answer"); };
        try {
            (void)co_await call.ask_other(there, request, lost);
            ADD_FAILURE() << "it threw";
        } catch (const std::runtime_error&) {
        }
        co_return co_await ask_once(std::move(request), call);
    };
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return upstream.accepted() > 0 && !upstream.peer().heard().empty(); });
    peer->close();  // a call that is gone is not told
    until([&] { return upstream.peer().ended(); });
}

TEST_F(ProxyHandlerTest, AnAnswerOfTheUpstreamGoesAsItCame) {
    scripted->script = ask_once;
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\nX-Auth-Token: t\r\n\r\n");
    upstream_hears("GET /mine HTTP/1.1\r\nHost: a\r\nX-Auth-Token: t\r\n\r\n");
    std::string answer = "HTTP/1.1 250 As it came\r\nX-B: 1\r\nx-b: 2\r\n";
    upstream.peer().say(answer + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    answer += "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    client_hears(*peer, answer);
    upstream.peer().say("2\r\nde\r\n0\r\n\r\n");
    client_hears(*peer, answer + "2\r\nde\r\n0\r\n\r\n");
}

/// Looks at the first answer, asks again with another target and body, and gives the second.
Task<ProxyAnswer> ask_twice(HttpRequest request, ProxyCall& call) {
    HttpRequest second = request;
    auto first = co_await call.ask(std::move(request));
    if (!first) co_return first.error();
    const auto read = co_await (*first)->read_all(100);
    if (!read) co_return read.error();
    OwnAnswer answer;
    answer.body = (*first)->body();
    if (answer.body != "empty") co_return answer;
    second.method = "POST";
    second.target = "/mine/other?x=1";
    second.body = "{}";
    auto other = co_await call.ask(std::move(second));
    if (!other) co_return other.error();
    co_return std::move(*other);
}

TEST_F(ProxyHandlerTest, MayAskAgainWithAnotherTargetAndBody) {
    scripted->script = ask_twice;
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().forget();
    upstream.peer().say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nempty");
    // The first answer is not gone yet: the second goes out on a connection of its own.
    upstream_hears("POST /mine/other?x=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}", 1);
    upstream.peer(1).say(ok);
    client_hears(*peer, ok);
    EXPECT_EQ(upstream.peer(0).ended(), false) << "it was read to its end, and is kept";
}

/// Reads a part of the request, then answers.
Task<ProxyAnswer> look_and_give(std::size_t most, BodyRead expected, HttpRequest request,
                                ProxyCall& call) {
    auto answer = co_await call.ask(std::move(request));
    if (!answer) co_return answer.error();
    const auto read = co_await (*answer)->read_all(most);
    EXPECT_TRUE(read && *read == expected);
    co_return std::move(*answer);
}

TEST_F(ProxyHandlerTest, WhatWasReadOfAnAnswerIsGivenWithTheRest) {
    for (const std::string head :
         {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"}) {
        for (const auto& [most, expected] :
             {std::pair{std::size_t{4}, BodyRead::too_large}, {10, BodyRead::whole}}) {
            scripted->script = [most = most, expected = expected](HttpRequest request,
                                                                  ProxyCall& call) {
                return look_and_give(most, expected, std::move(request), call);
            };
            start();
            const auto peer = client();
            const std::size_t connection = upstream.accepted();
            peer->say("GET /mine HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
            until([&] { return upstream.accepted() > connection; });
            until([&] { return upstream.peer(connection).heard().ends_with("\r\n\r\n"); });
            upstream.peer(connection).say_bytewise(head + "01234");
            upstream.peer(connection).say_bytewise("56789");
            upstream.peer(connection).close();
            until([&] { return peer->ended(); });
            std::string body;
            for (const char byte : peer->heard().substr(peer->heard().find("\r\n\r\n") + 4))
                if (byte >= '0' && byte <= '9') body += byte;
            if (head.find("Length") != head.npos) {
                EXPECT_EQ(body, "0123456789");
            } else {
                EXPECT_THAT(peer->heard(), AllOf(HasSubstr("chunked"), HasSubstr("\r\n0\r\n\r\n")));
            }
        }
    }
}

TEST_F(ProxyHandlerTest, AnAnswerThatBreaksOffUnderTheHandlerIsAnError) {
    std::optional<Errc> seen;
    scripted->script = [&seen](HttpRequest request, ProxyCall& call) {
        return
            [](HttpRequest asked, ProxyCall& by, std::optional<Errc>& told) -> Task<ProxyAnswer> {
                auto answer = co_await by.ask(std::move(asked));
                if (!answer) co_return answer.error();
                const auto read = co_await (*answer)->read_all(100);
                if (!read) told = read.error().code;
                if (!read) co_return read.error();
                co_return std::move(*answer);
            }(std::move(request), call, seen);
    };
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
    upstream.peer().close();
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 502 "));
    EXPECT_EQ(seen, Errc::bad_answer);
}

/// Nova takes 503 for a claim that was not done.
TEST_F(ProxyHandlerTest, AClaimThatWasSentMayHaveBeenDone) {
    scripted->script = ask_once;
    start();
    const auto peer = client();
    const std::string claim = "PUT /mine HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
    peer->say(claim);
    upstream_hears(claim);
    upstream.peer().close();
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 502 "));
}

TEST_F(ProxyHandlerTest, RequestsThatItMustNotSendAreRefused) {
    scripted->script = [](HttpRequest request, ProxyCall& call) {
        if (request.body == "out") request.target = "/elsewhere";
        if (request.body == "break") request.headers.emplace_back("X", "a\r\nY: b");
        if (request.body == "target") request.target += " HTTP/1.1\r\nX: y";
        return ask_once(std::move(request), call);
    };
    auto settings = settings_for("/mine");
    start(std::move(settings));
    for (const std::string body : {"out", "break", "target"}) {
        const auto peer = client();
        peer->say("POST /mine HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                  std::to_string(body.size()) + "\r\n\r\n" + body);
        until([&] { return peer->heard().ends_with("}\n"); });
        EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 500 ")) << body;
    }
    EXPECT_EQ(upstream.accepted(), 0U);
}

TEST_F(ProxyHandlerTest, ItsBodiesHaveALimitAndAreAskedFor) {
    scripted->script = [](HttpRequest request, ProxyCall&) {
        OwnAnswer answer;
        answer.body = std::to_string(request.body.size()) + "\n";
        return own(answer);
    };
    limits.body_bytes = 1000;
    start();
    const auto asks = client();
    asks->say(
        "PUT /mine HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
    client_hears(*asks, "HTTP/1.1 100 Continue\r\n\r\n");
    asks->say(std::string(1000, 'a'));
    until([&] { return asks->has_heard("\r\n\r\n1000\n"); });
    for (const std::string& large :
         {"Content-Length: 1001\r\n\r\n" + std::string(1001, 'a'),
          "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, 'a') + "\r\n0\r\n\r\n"}) {
        const auto peer = client();
        peer->say("PUT /mine HTTP/1.1\r\nHost: a\r\n" + large);
        until([&] { return peer->ended(); });
        EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 413 "));
    }
}

TEST_F(ProxyHandlerTest, OneThatThrowsIsAnErrorOfOurs) {
    scripted->script = [](HttpRequest, ProxyCall&) -> Task<ProxyAnswer> {
        throw std::runtime_error("broken");
    };
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), StartsWith("HTTP/1.1 500 "));
    EXPECT_FALSE(peer->ended());
}

/// Holds the call until it is released or its client goes.
struct Held {
    explicit Held(boost::asio::io_context& io)
        : released(io, boost::asio::steady_timer::time_point::max()) {}

    Task<ProxyAnswer> hold(HttpRequest request, ProxyCall& call) {
        ++holding;
        call.on_client_gone([this] {
            ++told;
            released.cancel();
        });
        co_await released.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        --holding;
        gone += call.client_gone() ? 1 : 0;
        auto answer = co_await call.ask(std::move(request));
        refused += answer ? 0 : 1;
        if (!answer) co_return answer.error();
        co_return std::move(*answer);
    }

    boost::asio::steady_timer released;
    int holding = 0, told = 0, gone = 0, refused = 0;
};

TEST_F(ProxyHandlerTest, HoldsCallsWhileOthersGoOn) {
    Held held{io};
    scripted->script = [&held](HttpRequest request, ProxyCall& call) {
        return held.hold(std::move(request), call);
    };
    upstream.on_heard = test::always(ok);
    start();
    std::vector<std::shared_ptr<test::RawPeer>> waiting;
    for (int i = 0; i < 20; ++i) {
        waiting.push_back(client());
        waiting.back()->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    until([&] { return held.holding == 20; });
    EXPECT_EQ(proxy->state().calls, 20U);
    const auto other = client();
    other->say("GET /others HTTP/1.1\r\nHost: a\r\n\r\n");
    client_hears(*other, ok);
    held.released.cancel();
    for (const auto& peer : waiting) client_hears(*peer, ok);
    EXPECT_EQ(held.told, 0);
    EXPECT_EQ(held.gone, 0);
}

TEST_F(ProxyHandlerTest, LearnsThatTheClientLeft) {
    Held held{io};
    scripted->script = [&held](HttpRequest request, ProxyCall& call) {
        return held.hold(std::move(request), call);
    };
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return held.holding == 1; });
    peer->close();
    until([&] { return held.holding == 0 && proxy->state().connections == 0; });
    EXPECT_EQ(held.told, 1);
    EXPECT_EQ(held.gone, 1);
    EXPECT_EQ(held.refused, 1) << "the upstream is not asked without a client";
    EXPECT_EQ(upstream.accepted(), 0U);
    // So it does when the proxy stops.
    const auto another = client();
    another->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    until([&] { return held.holding == 1; });
    proxy->stop();
    until([&] { return held.holding == 0 && another->ended(); });
    EXPECT_EQ(held.told, 2);
}

TEST_F(ProxyHandlerTest, AClientThatLeavesHasItsQuestionGivenUp) {
    scripted->script = ask_once;
    start();
    const auto peer = client();
    peer->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    peer->close();
    until([&] { return upstream.peer().ended() && proxy->state().connections == 0; });
}

/// The connection of an answer that was read to its end works for others, whose calls go on when
/// the client of the first one leaves.
TEST_F(ProxyHandlerTest, GivingUpACallDoesNotDisturbAnother) {
    Held held{io};
    scripted->script = [&held](HttpRequest request, ProxyCall& call) {
        return [](Held& holds, HttpRequest asked, ProxyCall& by) -> Task<ProxyAnswer> {
            {
                HttpRequest first = asked;
                auto answer = co_await by.ask(std::move(first));
                if (!answer) co_return answer.error();
                const auto read = co_await (*answer)->read_all(100);
                if (!read) co_return read.error();
            }
            auto held_answer = co_await holds.hold(std::move(asked), by);
            co_return held_answer;
        }(held, std::move(request), call);
    };
    start();
    const auto leaves = client();
    leaves->say("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /mine HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().forget();
    upstream.peer().say(ok);
    until([&] { return held.holding == 1; });
    const auto stays = client();
    stays->say("GET /others HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream_hears("GET /others HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_EQ(upstream.accepted(), 1U);
    leaves->close();
    until([&] { return held.holding == 0; });
    settle();
    upstream.peer().say(ok);
    client_hears(*stays, ok);
}

}  // namespace
}  // namespace reaper::proxy_handler_test
