#include "clients/http_server/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <list>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace reaper::server_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A client that sends what the test gives it, and reads until the end.
class Client {
public:
    Client(asio::io_context& io, std::uint16_t port, const std::string& from = "127.0.0.1")
        : socket_(io) {
        socket_.open(tcp::v4());
        socket_.bind({asio::ip::make_address(from), 0});
        socket_.connect({asio::ip::address_v4::loopback(), port});
    }
    void say(const std::string& text) { asio::write(socket_, asio::buffer(text)); }
    /// Reads in the background of the io_context.
    void listen() {
        asio::async_read(socket_, asio::dynamic_buffer(heard_),
                         [this](error_code, std::size_t) { ended_ = true; });
    }
    bool ended() const { return ended_; }
    const std::string& heard() const { return heard_; }

private:
    tcp::socket socket_;
    std::string heard_;
    bool ended_ = false;
};

class HttpServerTest : public ::testing::Test {
protected:
    void start(HttpServerLimits limits = {}, const std::string& address = "127.0.0.1:0",
               std::optional<HttpServerTls> tls = {}) {
        HttpServerSettings settings{"test", address, std::move(tls), limits};
        HttpHandler handler = [this](HttpRequest request) { return answer(std::move(request)); };
        auto made = listen_http(io_.get_executor(), std::move(settings), std::move(handler));
        ASSERT_TRUE(made) << made.error().what;
        server_ = std::move(*made);
    }
    Task<HttpResponse> answer(HttpRequest request) {
        asked_.push_back(request.method + " " + request.target);
        bodies_.push_back(request.body);
        asio::steady_timer timer(io_);
        while (request.target == "/held" && !released_) {
            timer.expires_after(std::chrono::milliseconds{5});
            co_await timer.async_wait(asio::use_awaitable);
        }
        if (request.target == "/throws") throw std::runtime_error("broken");
        HttpResponse said;
        said.status = request.target == "/missing" ? 404 : 200;
        said.body =
            request.target == "/large" ? std::string(8 * 1024 * 1024, 'x') : "{\"asked\":1}";
        if (request.target == "/stream") {
            said.body = "first";
            said.more = [pieces = std::make_shared<std::vector<std::string>>(
                             std::vector<std::string>{"third", "second"})] { return next(pieces); };
        }
        co_return said;
    }
    static Task<std::optional<std::string>> next(std::shared_ptr<std::vector<std::string>> pieces) {
        if (pieces->empty()) co_return std::nullopt;
        std::string piece = std::move(pieces->back());
        pieces->pop_back();
        co_return piece;
    }
    /// Fails the test if it takes longer than anything here may.
    void run_until(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes{4};
        while (!done()) {
            io_.restart();
            io_.run_one_for(std::chrono::milliseconds{50});
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never happened";
        }
    }
    std::string exchange(const std::string& request) {
        Client client(io_, server_->port());
        client.say(request);
        client.listen();
        run_until([&] { return client.ended(); });
        return client.heard();
    }

    asio::io_context io_{1};
    std::vector<std::string> asked_, bodies_;
    bool released_ = false;
    std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersAndClosesWhenAsked) {
    start();
    const std::string said =
        exchange("GET /v1/x?a=b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(said, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(said, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(said, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(said, HasSubstr("\r\n\r\n{\"asked\":1}"));
    EXPECT_EQ(asked_, std::vector<std::string>{"GET /v1/x?a=b"});
    EXPECT_THAT(exchange("GET /missing HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.0 404 "));
}

TEST_F(HttpServerTest, ALargeAnswerComesWhole) {
    start();
    const std::string said = exchange("GET /large HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(said.size() - said.find("\r\n\r\n") - 4, 8U * 1024 * 1024);
}

TEST_F(HttpServerTest, EveryMethodAndItsBodyReachTheHandler) {
    start();
    for (const char* method : {"POST", "PUT", "DELETE", "PATCH"})
        EXPECT_THAT(exchange(std::string{method} +
                             " /v1 HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"),
                    StartsWith("HTTP/1.1 200 "))
            << method;
    EXPECT_EQ(asked_, (std::vector<std::string>{"POST /v1", "PUT /v1", "DELETE /v1", "PATCH /v1"}));
    EXPECT_EQ(bodies_, std::vector<std::string>(4, "{}"));
}

TEST_F(HttpServerTest, AConnectionIsKeptForFurtherRequests) {
    start();
    const std::string said = exchange(
        "GET /a HTTP/1.1\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nxyz"
        "GET /c HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(asked_, (std::vector<std::string>{"GET /a", "POST /b", "GET /c"}));
    EXPECT_EQ(bodies_[1], "xyz");
    EXPECT_THAT(said, HasSubstr("Connection: close\r\n"));
}

TEST_F(HttpServerTest, AStreamComesInChunksAndTheConnectionIsKept) {
    start();
    const std::string said =
        exchange("GET /stream HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(said, HasSubstr("Transfer-Encoding: chunked\r\n"));
    EXPECT_THAT(said, HasSubstr("5\r\nfirst\r\n6\r\nsecond\r\n5\r\nthird\r\n0\r\n\r\n"));
    EXPECT_THAT(said, HasSubstr("{\"asked\":1}"));
}

TEST_F(HttpServerTest, AClientThatKnowsNoChunksGetsTheStreamUntilTheEnd) {
    start();
    const std::string said = exchange("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_THAT(said, HasSubstr("\r\n\r\nfirstsecondthird"));
}

TEST_F(HttpServerTest, AClientThatExpectsContinueGetsIt) {
    start();
    const std::string said = exchange(
        "POST /v1 HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\n"
        "Content-Length: 2\r\n\r\n{}");
    EXPECT_THAT(said, StartsWith("HTTP/1.1 100 "));
    EXPECT_THAT(said, HasSubstr("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AUnixSocketMayBeForTheGroupOfItsDirectoryToo) {
    std::string directory = ::testing::TempDir() + "reaper-look-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    // Any group but the one that files get of their process.
    const ::gid_t group = ::getegid() + 1;
    const bool given = ::chown(directory.c_str(), ::geteuid(), group) == 0;
    ASSERT_EQ(::chmod(directory.c_str(), 02750), 0);
    const std::string path = directory + "/reaper.sock";
    HttpServerSettings settings{"test", "unix:" + path};
    settings.group_too = true;
    auto server = listen_http(io_.get_executor(), std::move(settings), HttpHandler{});
    ASSERT_TRUE(server) << server.error().what;
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0660U);
    EXPECT_EQ(found.st_gid, given ? group : ::getegid());
    server->reset();
    ::rmdir(directory.c_str());
}

TEST_F(HttpServerTest, AUnixSocketIsItsOwnersAndALeftOverOneIsReplaced) {
    const std::string path = ::testing::TempDir() + "reaper-http-" + std::to_string(::getpid());
    ::unlink(path.c_str());
    {
        // What a process that was killed leaves.
        asio::local::stream_protocol::acceptor killed{io_, path};
    }
    start({}, "unix:" + path);
    struct stat found {};
    ASSERT_EQ(::stat(path.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0600U);
    EXPECT_EQ(server_->address(), "unix:" + path);
    const auto ask = [&](const std::string& headers) {
        asio::local::stream_protocol::socket client{io_};
        client.connect(path);
        asio::write(client, asio::buffer("GET /v1 HTTP/1.0\r\n" + headers + "\r\n"));
        std::string said;
        bool ended = false;
        asio::async_read(client, asio::dynamic_buffer(said),
                         [&](error_code, std::size_t) { ended = true; });
        run_until([&] { return ended; });
        return said;
    };
    EXPECT_THAT(ask("Host: any\r\n"), StartsWith("HTTP/1.0 200 "));
    // A browser comes through a tunnel: its page must be of the tunnel's end.
    for (const std::string own : {"localhost:8787", "127.0.0.1:8787", "[::1]:8787"})
        EXPECT_THAT(ask("Host: " + own + "\r\nOrigin: http://" + own + "\r\n"),
                    StartsWith("HTTP/1.0 200 "));
    EXPECT_THAT(ask("Host: evil.example:8787\r\nOrigin: http://evil.example:8787\r\n"),
                StartsWith("HTTP/1.0 403 "));
    // One that is in use is not taken away.
    auto second = listen_http(io_.get_executor(), {"test", "unix:" + path}, HttpHandler{});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::unreachable);
    server_.reset();
    EXPECT_NE(::stat(path.c_str(), &found), 0) << "it is removed with the server";
}

TEST_F(HttpServerTest, WhatIsTooLargeOrNoHttpIsRefused) {
    start();
    EXPECT_THAT(exchange("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"),
                StartsWith("HTTP/1.1 431 "));
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n"),
                StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(exchange("\x16\x03\x01 no http at all\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
    EXPECT_TRUE(asked_.empty());
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
}

struct Sender {
    const char* headers;
    int status;
};

/// A browser asks under any name that resolves to us, and for the pages of any site.
TEST_F(HttpServerTest, OnlyItsOwnNamesAreAnsweredAndNoPageOfAnotherSite) {
    start();
    for (const auto& [headers, status] :
         std::vector<Sender>{{"Host: 127.0.0.1:PORT\r\n", 200},
                             {"Host: 127.0.0.1\r\n", 200},
                             {"Host: localhost:PORT\r\n", 200},
                             {"Host: LocalHost.:9999\r\n", 200},  // through a tunnel
                             {"", 200},
                             {"Host: evil.example\r\n", 421},
                             {"Host: evil.example:PORT\r\n", 421},
                             {"Host: localhost.evil.example:PORT\r\n", 421},
                             {"Host: 127.0.0.1.evil.example\r\n", 421},
                             {"Host: 127.0.0.2:PORT\r\n", 421},
                             {"Host: [::1]:PORT\r\n", 421},
                             {"Host: [\r\n", 421},
                             {"Host: \r\n", 421},
                             {"Host: localhost\r\nHost: evil.example\r\n", 400},
                             {"Host: localhost:PORT\r\nOrigin: http://localhost:PORT\r\n", 200},
                             {"Host: localhost:PORT\r\nOrigin: http://localhost:1\r\n", 403},
                             {"Host: localhost:PORT\r\nOrigin: https://evil.example\r\n", 403},
                             {"Host: localhost:PORT\r\nOrigin: null\r\n", 403},
                             {"Origin: http://localhost:PORT\r\n", 403},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: none\r\n", 200},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: same-origin\r\n", 200},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: same-site\r\n", 403},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n", 403},
                             // A user follows a link to us; a frame or a script does not.
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n"
                              "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
                              200},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n"
                              "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n",
                              403},
                             {"Host: localhost:PORT\r\nSec-Fetch-Site: cross-site\r\n"
                              "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: document\r\n",
                              403}}) {
        std::string lines = headers;
        for (std::size_t at; (at = lines.find("PORT")) != std::string::npos;)
            lines.replace(at, 4, std::to_string(server_->port()));
        asked_.clear();
        const std::string said =
            exchange("GET /v1 HTTP/1.1\r\n" + lines + "Connection: close\r\n\r\n");
        EXPECT_THAT(said, StartsWith("HTTP/1.1 " + std::to_string(status) + " ")) << lines;
        EXPECT_EQ(asked_.size(), status == 200 ? 1U : 0U) << lines;
        EXPECT_THAT(said, HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n")) << lines;
        EXPECT_THAT(said, HasSubstr("X-Content-Type-Options: nosniff\r\n")) << lines;
        EXPECT_THAT(said, Not(HasSubstr("Access-Control"))) << lines;
    }
}

TEST_F(HttpServerTest, ANameThatItWasGivenIsItsOwn) {
    HttpServerSettings settings{"test", "127.0.0.1:0", {}, {}, {"reaper.example"}};
    HttpHandler handler = [this](HttpRequest request) { return answer(std::move(request)); };
    auto listening = listen_http(io_.get_executor(), std::move(settings), std::move(handler));
    server_ = std::move(*listening);
    const auto ask = [&](const std::string& host) {
        return exchange("GET /v1 HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    };
    EXPECT_THAT(ask("Reaper.Example:8787"), StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(ask("reaper.example.org"), StartsWith("HTTP/1.1 421 "));
}

TEST_F(HttpServerTest, AnAnswererThatFailsIsAnAnswerToo) {
    start();
    EXPECT_THAT(exchange("GET /throws HTTP/1.1\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 500 "));
}

TEST_F(HttpServerTest, WhoSaysNothingIsSentAwayInTime) {
    HttpServerLimits limits;
    limits.read = std::chrono::milliseconds{20};
    start(limits);
    Client silent(io_, server_->port());
    silent.listen();
    run_until([&] { return silent.ended(); });
    EXPECT_TRUE(asked_.empty());
}

TEST_F(HttpServerTest, TheSlowestHalfOpenConnectionLeavesForTheNext) {
    HttpServerLimits limits;
    limits.connections = 2;
    start(limits);
    Client first(io_, server_->port());
    first.say("GET /v1 HTTP/1.1\r\n");
    first.listen();
    Client second(io_, server_->port());
    second.listen();
    while (io_.run_one_for(std::chrono::milliseconds{100}) > 0) {
    }
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n"),
                StartsWith("HTTP/1.1 200 "));
    run_until([&] { return first.ended(); });
    EXPECT_FALSE(second.ended());
    second.say("GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n");
    run_until([&] { return second.ended(); });
    EXPECT_THAT(second.heard(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, ManyHalfOpenConnectionsOfOneAddressLeaveTheOthersAlone) {
    HttpServerLimits limits;
    limits.connections = 3;
    start(limits);
    Client other(io_, server_->port(), "127.0.0.2");
    other.listen();
    std::list<Client> flood;
    for (int i = 0; i < 20; ++i) {
        flood.emplace_back(io_, server_->port());
        flood.back().listen();
        while (io_.run_one_for(std::chrono::milliseconds{10}) > 0) {
        }
    }
    EXPECT_TRUE(flood.front().ended());
    EXPECT_FALSE(other.ended());
}

TEST_F(HttpServerTest, ConnectionsThatDoNotReadTheirAnswersLeaveForTheNext) {
    HttpServerLimits limits;
    limits.connections = 4;
    limits.write = std::chrono::hours{1};
    start(limits);
    Client held(io_, server_->port(), "127.0.0.2");
    held.say("GET /held HTTP/1.1\r\nConnection: close\r\n\r\n");
    held.listen();
    Client slow(io_, server_->port(), "127.0.0.3");
    std::list<Client> flood;
    for (Client* const each : {&slow, &flood.emplace_back(io_, server_->port()),
                               &flood.emplace_back(io_, server_->port())})
        each->say("GET /large HTTP/1.1\r\nConnection: close\r\n\r\n");
    run_until([&] { return asked_.size() == 4; });
    // While the answers do not fill yet what the kernel takes, there is no place.
    run_until([&] {
        return exchange("GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200 ");
    });
    released_ = true;
    slow.listen();
    run_until([&] { return held.ended() && slow.ended(); });
    EXPECT_THAT(held.heard(), StartsWith("HTTP/1.1 200 "));
    EXPECT_GT(slow.heard().size(), 8U * 1024 * 1024);
}

TEST_F(HttpServerTest, WhenAllPlacesAreAnsweredProbesHavePlacesOfTheirOwn) {
    HttpServerLimits limits;
    limits.connections = 2;
    limits.for_probes = 1;
    start(limits);
    std::list<Client> held;
    for (int i = 0; i < 2; ++i) {
        held.emplace_back(io_, server_->port());
        held.back().say("GET /held HTTP/1.1\r\n\r\n");
        held.back().listen();
    }
    run_until([&] { return asked_.size() == 2; });
    Client silent(io_, server_->port());  // in the place for probes
    silent.listen();
    EXPECT_THAT(exchange("GET /healthz HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
    EXPECT_TRUE(silent.ended());
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503 "));
    released_ = true;
    run_until([&] { return held.front().heard().starts_with("HTTP/1.1 200 "); });
}

TEST_F(HttpServerTest, StopsListeningAndClosesWhatIsOpen) {
    start();
    const std::uint16_t port = server_->port();
    Client waiting(io_, port);
    waiting.listen();
    io_.run_one_for(std::chrono::seconds{10});
    server_.reset();
    run_until([&] { return waiting.ended(); });
    tcp::socket socket(io_);
    error_code error;
    socket.connect({asio::ip::address_v4::loopback(), port}, error);
    EXPECT_TRUE(error);
}

TEST_F(HttpServerTest, AnAddressThatCannotBeUsedIsAnError) {
    start();
    const auto listen = [&](const std::string& address) {
        return listen_http(io_.get_executor(), {"test", address}, HttpHandler{});
    };
    for (const char* address : {"", "127.0.0.1", "localhost:80", ":80", "127.0.0.1:x", "::1:80",
                                "unix:", "unix:relative"}) {
        const auto made = listen(address);
        ASSERT_FALSE(made) << address;
        EXPECT_EQ(made.error().code, Errc::bad_input);
    }
    const auto taken = listen(server_->address());
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Errc::unreachable);
    EXPECT_THAT(taken.error().what, HasSubstr(server_->address()));
}

}  // namespace
}  // namespace reaper::server_test
