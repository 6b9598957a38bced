#include "clients/http_server/listener.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>

namespace reaper::listener_test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A client that says what it is told to say, and takes what comes until the end.
class Client {
public:
    Client(asio::io_context& io, std::uint16_t port) : socket_(io) {
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

class ListenerTest : public ::testing::Test {
protected:
    void start(ListenerLimits limits = {}) {
        Answerer answerer = [this](std::string target) { return answer(std::move(target)); };
        auto made =
            listen_for_questions(io_.get_executor(), "127.0.0.1:0", std::move(answerer), limits);
        ASSERT_TRUE(made) << made.error().what;
        listener_ = std::move(*made);
    }
    Task<QuestionAnswer> answer(std::string target) {
        asked_.push_back(target);
        if (target == "/throws") throw std::runtime_error("broken");
        QuestionAnswer said;
        said.status = target == "/missing" ? 404 : 200;
        said.body = target == "/large" ? std::string(8 * 1024 * 1024, 'x') : "{\"asked\":1}";
        co_return said;
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
        Client client(io_, listener_->port());
        client.say(request);
        client.listen();
        run_until([&] { return client.ended(); });
        return client.heard();
    }

    asio::io_context io_{1};
    std::vector<std::string> asked_;
    std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, AnswersAGetAndCloses) {
    start();
    const std::string said = exchange("GET /v1/x?a=b HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(said, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(said, HasSubstr("Connection: close\r\n"));
    EXPECT_THAT(said, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_THAT(said, HasSubstr("\r\n\r\n{\"asked\":1}"));
    EXPECT_EQ(asked_, std::vector<std::string>{"/v1/x?a=b"});
    EXPECT_THAT(exchange("GET /missing HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(ListenerTest, ALargeAnswerComesWhole) {
    start();
    const std::string said = exchange("GET /large HTTP/1.1\r\n\r\n");
    EXPECT_EQ(said.size() - said.find("\r\n\r\n") - 4, 8U * 1024 * 1024);
}

TEST_F(ListenerTest, NothingButGetIsTaken) {
    start();
    for (const char* method : {"POST", "PUT", "DELETE", "HEAD"})
        EXPECT_THAT(exchange(std::string{method} + " /v1 HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"),
                    StartsWith("HTTP/1.1 405 "))
            << method;
    EXPECT_TRUE(asked_.empty());
}

TEST_F(ListenerTest, WhatIsTooLargeOrNoHttpIsRefused) {
    start();
    EXPECT_THAT(exchange("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n"),
                StartsWith("HTTP/1.1 431 "));
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n"),
                StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(exchange("\x16\x03\x01 no http at all\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
    EXPECT_TRUE(asked_.empty());
    EXPECT_THAT(exchange("GET /v1 HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ListenerTest, AnAnswererThatFailsIsAnAnswerToo) {
    start();
    EXPECT_THAT(exchange("GET /throws HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 500 "));
}

TEST_F(ListenerTest, WhoSaysNothingIsSentAwayInTime) {
    ListenerLimits limits;
    limits.read = std::chrono::milliseconds{20};
    start(limits);
    Client silent(io_, listener_->port());
    silent.listen();
    run_until([&] { return silent.ended(); });
    EXPECT_TRUE(asked_.empty());
}

TEST_F(ListenerTest, NoMoreConnectionsThanAllowedAndTheNextComesWhenOneLeaves) {
    ListenerLimits limits;
    limits.connections = 2;
    start(limits);
    auto first = std::make_unique<Client>(io_, listener_->port());
    Client second(io_, listener_->port());
    Client third(io_, listener_->port());
    third.say("GET /v1 HTTP/1.1\r\n\r\n");
    third.listen();
    // The loop is idle once the two were accepted: the third is not even read.
    while (io_.run_one_for(std::chrono::milliseconds{100}) > 0) {
    }
    EXPECT_FALSE(third.ended());
    EXPECT_TRUE(asked_.empty());
    first.reset();
    run_until([&] { return third.ended(); });
    EXPECT_THAT(third.heard(), StartsWith("HTTP/1.1 200 "));
}

TEST_F(ListenerTest, StopsListeningAndClosesWhatIsOpen) {
    start();
    const std::uint16_t port = listener_->port();
    Client waiting(io_, port);
    waiting.listen();
    io_.run_one_for(std::chrono::seconds{10});
    listener_.reset();
    run_until([&] { return waiting.ended(); });
    tcp::socket socket(io_);
    error_code error;
    socket.connect({asio::ip::address_v4::loopback(), port}, error);
    EXPECT_TRUE(error);
}

TEST_F(ListenerTest, AnAddressThatCannotBeUsedIsAnError) {
    start();
    const auto listen = [&](const std::string& address) {
        return listen_for_questions(io_.get_executor(), address, Answerer{});
    };
    for (const char* address : {"", "127.0.0.1", "localhost:80", ":80", "127.0.0.1:x", "::1:80"}) {
        const auto made = listen(address);
        ASSERT_FALSE(made) << address;
        EXPECT_EQ(made.error().code, Errc::bad_input);
    }
    const auto taken = listen(listener_->address());
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, Errc::unreachable);
    EXPECT_THAT(taken.error().what, HasSubstr(listener_->address()));
}

}  // namespace
}  // namespace reaper::listener_test
