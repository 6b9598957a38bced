// Many clients, large bodies, slow readers; TLS on both sides.
#include <random>

#include "clients/http/client.hpp"
#include "tests/clients/http_proxy/proxy_harness.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/http_server_tls.hpp"

namespace reaper::proxy_load_test {
namespace {

using test::always;
using ::testing::HasSubstr;

std::string noise(std::size_t size) {
    std::mt19937_64 random{size};
    std::string text(size, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
}

/// The body of a chunked message.
std::string unchunked(const std::string& text) {
    std::string body;
    std::size_t at = 0;
    while (true) {
        const std::size_t end = text.find("\r\n", at);
        const std::size_t size = std::stoul(text.substr(at, end - at), nullptr, 16);
        if (size == 0) return text.size() == end + 4 ? body : "not all of it";
        body += text.substr(end + 2, size);
        at = end + 2 + size + 2;
    }
}

class ProxyLoadTest : public test::ProxyTest {};

TEST_F(ProxyLoadTest, FiveHundredClientsWorkAtOnce) {
    ASSERT_TRUE(test::allow_files(4096));
    start();
    std::vector<std::shared_ptr<test::RawPeer>> clients;
    for (int i = 0; i < 500; ++i) {
        clients.push_back(client());
        clients.back()->say("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n");
        io.poll();
    }
    until([&] { return upstream.accepted() == 500 && proxy->state().calls == 500; });
    for (std::size_t i = 0; i < 500; ++i) {
        until([&] { return upstream.peer(i).heard().ends_with("\r\n\r\n"); });
        const std::string& asked = upstream.peer(i).heard();
        const std::string path = asked.substr(4, asked.find(' ', 4) - 4);
        upstream.peer(i).say("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(path.size()) +
                             "\r\n\r\n" + path);
    }
    for (std::size_t i = 0; i < 500; ++i) {
        const std::string path = "/" + std::to_string(i);
        client_hears(*clients[i], "HTTP/1.1 200 OK\r\nContent-Length: " +
                                      std::to_string(path.size()) + "\r\n\r\n" + path);
    }
    EXPECT_EQ(proxy->state().served, 500U);
}

TEST_F(ProxyLoadTest, LargeBodiesPassUnchanged) {
    const std::string body = noise(4 * 1024 * 1024);
    start();
    const auto peer = client();
    const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    peer->say_in_background("PUT /a HTTP/1.1\r\nHost: a\r\n" + length + body);
    const std::string whole = "PUT /a HTTP/1.1\r\nHost: a\r\n" + length + body;
    until(
        [&] { return upstream.accepted() == 1 && upstream.peer().heard().size() >= whole.size(); });
    ASSERT_TRUE(upstream.peer().heard() == whole);
    upstream.peer().say_in_background("HTTP/1.1 200 OK\r\n" + length + body);
    const std::string answer = "HTTP/1.1 200 OK\r\n" + length + body;
    until([&] { return peer->heard().size() >= answer.size(); });
    ASSERT_TRUE(peer->heard() == answer);
    EXPECT_FALSE(peer->ended());
}

TEST_F(ProxyLoadTest, ChunksOfAnySizePassUnchanged) {
    const std::string body = noise(4 * 1024 * 1024);
    std::mt19937_64 random{3};
    std::string chunks;
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t size = std::min<std::size_t>(1 + random() % 50'000, body.size() - at);
        char head[32];
        std::snprintf(head, sizeof head, "%zx\r\n", size);
        chunks += head + body.substr(at, size) + "\r\n";
        at += size;
    }
    chunks += "0\r\n\r\n";
    start();
    const auto peer = client();
    const std::string coding = "Transfer-Encoding: chunked\r\n\r\n";
    peer->say_in_background("PUT /a HTTP/1.1\r\nHost: a\r\n" + coding + chunks);
    until([&] {
        return upstream.accepted() == 1 && upstream.peer().heard().ends_with("\r\n0\r\n\r\n");
    });
    const std::string& heard = upstream.peer().heard();
    ASSERT_TRUE(unchunked(heard.substr(heard.find(coding) + coding.size())) == body);
    upstream.peer().say_in_background("HTTP/1.1 200 OK\r\n" + coding + chunks);
    until([&] { return peer->heard().ends_with("\r\n0\r\n\r\n"); });
    ASSERT_TRUE(unchunked(peer->heard().substr(peer->heard().find(coding) + coding.size())) ==
                body);
}

/// A client that does not read: connected, with buffers as small as the system has them.
class Sleeper {
public:
    Sleeper(boost::asio::io_context& io, std::uint16_t port) : socket_(io) {
        socket_.open(boost::asio::ip::tcp::v4());
        socket_.set_option(boost::asio::socket_base::receive_buffer_size(4096));
        socket_.connect({boost::asio::ip::address_v4::loopback(), port});
    }
    boost::asio::ip::tcp::socket take() { return std::move(socket_); }
    boost::asio::ip::tcp::socket& socket() { return socket_; }

private:
    boost::asio::ip::tcp::socket socket_;
};

/// What is beyond the buffers of kernels and the proxy stays with the upstream until the client
/// reads on.
TEST_F(ProxyLoadTest, ASlowReaderHoldsTheUpstreamBack) {
    const std::string body = noise(64 * 1024 * 1024);
    start();
    Sleeper sleeper(io, proxy->port());
    boost::asio::write(sleeper.socket(),
                       boost::asio::buffer(std::string("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")));
    upstream_hears("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    std::size_t taken = 0;
    bool stuck = false;
    while (!stuck && taken < body.size()) {
        // As much as fits, until nothing moves.
        upstream.peer().say_in_background((taken == 0 ? head : std::string()) +
                                          body.substr(taken, 1024 * 1024));
        taken += 1024 * 1024;
        const std::size_t goal = taken + head.size();
        settle();
        stuck = upstream.peer().said() < goal;
    }
    EXPECT_TRUE(stuck);
    EXPECT_LT(taken, 24U * 1024 * 1024) << "the proxy buffers all of it";
    // The client reads on, and so does the upstream go on.
    const auto peer = std::make_shared<test::RawPeer>(sleeper.take());
    peer->listen();
    upstream.peer().say_in_background(body.substr(taken));
    until([&] { return peer->heard().size() >= head.size() + body.size() || peer->ended(); });
    EXPECT_TRUE(peer->heard() == head + body);
}

TEST_F(ProxyLoadTest, WhoReadsNothingForTooLongIsSentAway) {
    limits.write = Duration{50};
    start();
    Sleeper sleeper(io, proxy->port());
    boost::asio::write(sleeper.socket(),
                       boost::asio::buffer(std::string("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")));
    upstream_hears("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    upstream.peer().say_in_background("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" +
                                      noise(50'000'000));
    until([&] { return upstream.peer().ended() && proxy->state().connections == 0; });
}

TEST_F(ProxyLoadTest, AConnectionThatBecomesIdleGivesWayToOneThatWaits) {
    limits.connections = 2;
    start();
    const std::string get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
    const auto first = client();
    const auto second = client();
    first->say(get);
    upstream_hears(get, 0);
    second->say(get);
    upstream_hears(get, 1);
    const auto third = client();
    third->say(get);
    settle();
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    upstream.peer(0).say(answer);
    client_hears(*first, answer);
    // By the kept connection of the first.
    upstream_hears(get + get, 0);
    upstream.peer(0).say(answer);
    client_hears(*third, answer);
}

class ProxyTlsTest : public test::ProxyTest {
protected:
    ProxyTlsTest() {
        options.tls.ca_file = authority.ca_file();
        options.call_timeout = options.connect_timeout = options.idle_timeout = test::patience;
    }
    Result<http::Response> call(http::Client& by, http::Method method, std::string body) {
        http::Request request;
        request.method = method;
        request.url = "https://" + proxy->address() + "/a";
        request.body = std::move(body);
        return test::run(io, by.call(std::move(request)));
    }

    test::TestAuthority authority;
    http::Options options;
    test::ManualClock clock{io, TimePoint{}};
};

TEST_F(ProxyTlsTest, OnBothSidesWithCertificatesOfAll) {
    const std::string large = noise(900 * 1024);
    test::HttpServer server(
        io,
        [&](const test::ServerRequest& request) {
            test::Reply reply;
            reply.body = request.method == "GET" ? large : std::to_string(request.body.size());
            reply.chunked = request.method == "GET";
            return reply;
        },
        authority.server(authority.issue("upstream", "IP:127.0.0.1"), true));
    const auto ours = authority.issue("gateway", "IP:127.0.0.1");
    auto settings = settings_for();
    settings.upstream.endpoint = {true, "127.0.0.1", server.port()};
    settings.upstream_tls.ca_file = authority.ca_file();
    settings.upstream_tls.cert_file = ours.cert_file;
    settings.upstream_tls.key_file = ours.key_file;
    settings.tls = HttpServerTls{ours.cert_file, ours.key_file, authority.ca_file()};
    start(std::move(settings));
    auto anonymous = http::make_client(io.get_executor(), options, clock).value();
    EXPECT_FALSE(call(*anonymous, http::Method::post, "x")) << "it shows no certificate";
    const auto known = authority.issue("scheduler", "");
    options.tls.cert_file = known.cert_file;
    options.tls.key_file = known.key_file;
    auto authenticated = http::make_client(io.get_executor(), options, clock).value();
    for (int i = 0; i < 3; ++i) {
        const auto put = call(*authenticated, http::Method::put, large);
        ASSERT_TRUE(put) << put.error().what;
        EXPECT_EQ(put->body, std::to_string(large.size()));
        const auto got = call(*authenticated, http::Method::get, "");
        ASSERT_TRUE(got) << got.error().what;
        EXPECT_TRUE(got->body == large);
    }
    EXPECT_EQ(server.connections(), 1);
    EXPECT_EQ(proxy->state().connections, 1U);
}

/// A megabyte with its length, each way, where only one side has TLS.
TEST_F(ProxyTlsTest, OnOneSideAlone) {
    const std::string large = noise(1024 * 1024);
    const auto answer = [&](const test::ServerRequest& request) {
        test::Reply reply;
        reply.body = request.method == "GET" ? large : std::to_string(request.body.size());
        return reply;
    };
    const auto ours = authority.issue("gateway", "IP:127.0.0.1");
    for (const bool in_front : {true, false}) {
        test::HttpServer server =
            in_front ? test::HttpServer(io, answer)
                     : test::HttpServer(io, answer,
                                        authority.server(authority.issue("up", "IP:127.0.0.1")));
        auto settings = settings_for();
        settings.upstream.endpoint = {!in_front, "127.0.0.1", server.port()};
        settings.upstream_tls.ca_file = authority.ca_file();
        if (in_front) settings.tls = HttpServerTls{ours.cert_file, ours.key_file};
        start(std::move(settings));
        auto by = http::make_client(io.get_executor(), options, clock).value();
        for (const auto method : {http::Method::put, http::Method::get}) {
            http::Request request;
            request.method = method;
            request.url = (in_front ? "https://" : "http://") + proxy->address() + "/a";
            if (method == http::Method::put) request.body = large;
            const auto said = test::run(io, by->call(std::move(request)));
            ASSERT_TRUE(said) << said.error().what;
            EXPECT_TRUE(said->body == (method == http::Method::get ? large : "1048576"));
        }
        proxy.reset();
    }
}

TEST_F(ProxyTlsTest, AnUpstreamOfAnotherAuthorityIsNotTrusted) {
    test::HttpServer server(
        io, [](const test::ServerRequest&) { return test::Reply{}; },
        authority.server(authority.issue("upstream", "IP:127.0.0.1")));
    auto settings = settings_for();
    settings.upstream.endpoint = {true, "127.0.0.1", server.port()};
    start(std::move(settings));
    const auto peer = client();
    peer->say("GET /a HTTP/1.1\r\nHost: a\r\nX-Auth-Token: t\r\n\r\n");
    until([&] { return peer->heard().ends_with("}\n"); });
    EXPECT_THAT(peer->heard(), ::testing::StartsWith("HTTP/1.1 503 "));
    EXPECT_THAT(peer->heard(), HasSubstr("certificate verify failed"));
    EXPECT_TRUE(server.requests().empty());
}

TEST_F(ProxyTlsTest, AClientThatLeavesIsNoticedUnderTls) {
    const auto ours = authority.issue("gateway", "IP:127.0.0.1");
    auto settings = settings_for();
    settings.tls = HttpServerTls{ours.cert_file, ours.key_file};
    start(std::move(settings));
    options.call_timeout = Duration{300};
    options.max_retries = 0;
    auto client_of_tls = http::make_client(io.get_executor(), options, clock).value();
    const auto answer = call(*client_of_tls, http::Method::post, "x");
    EXPECT_FALSE(answer);
    until([&] { return upstream.accepted() > 0 ? upstream.peer().ended() : true; });
    until([&] { return proxy->state().connections == 0; });
}

}  // namespace
}  // namespace reaper::proxy_load_test
