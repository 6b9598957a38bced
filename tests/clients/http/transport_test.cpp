// The retries over a transport of the test's own: no sockets, and time as the transport tells it.
#include "clients/http/transport.hpp"

#include <gtest/gtest.h>

#include "clients/http/client_harness.hpp"

namespace reaper::http::transport_test {
namespace {

using namespace std::chrono_literals;

/// Answers in the given order; each takes a second.
class Scripted final : public Transport {
public:
    explicit Scripted(std::vector<Try> with) : script(std::move(with)) {}
    TimeLimit now() const override { return time; }
    Task<Try> exchange(const Outgoing&, TimeLimit) override {
        time += 1s;
        co_return script.at(tries++);
    }

    std::vector<Try> script;
    std::size_t tries = 0;
    TimeLimit time{};
};

class TransportTest : public ::testing::Test {
protected:
    Result<Response> get(std::vector<Transport::Try> script) {
        transport = std::make_shared<Scripted>(std::move(script));
        Options options;
        options.call_timeout = 20s;
        options.random = [] { return 0.0; };
        auto watched = observed(transport, [this](const CallSeen& call) {
            EXPECT_EQ(call.url, "http://cloud/path");
            date = call.date;
            seen.push_back(std::string{call.service} + " " + std::string{to_string(call.method)} +
                           " " + std::to_string(call.status) + " " +
                           std::string{call.status == 0 ? reaper::to_string(call.failure) : ""} +
                           " " + std::to_string(call.took.count()));
        });
        client = make_client(std::move(watched), options, clock);
        Request request;
        request.url = "http://cloud/path";
        request.service = "nova";
        return test::run(io, client->call(std::move(request)));
    }

    boost::asio::io_context io;
    test::ManualClock clock{io, TimePoint{1'000s}};
    std::shared_ptr<Scripted> transport;
    std::unique_ptr<Client> client;
    std::optional<TimePoint> date;  ///< of the last answer
    std::vector<std::string> seen;  ///< each try: service, method, status, failure, seconds
};

TEST_F(TransportTest, ABrokenAnswerIsAskedForAgain) {
    const auto answer =
        get({Failure{Errc::unreachable, "cut", true, true}, Response{200, {}, "x"}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "x");
    EXPECT_EQ(transport->tries, 2U);
}

TEST_F(TransportTest, EachTryIsReported) {
    ASSERT_TRUE(get({Failure{Errc::unreachable, "cut", true, true}, Response{503, {}, ""},
                     Response{200, {}, "x"}}));
    EXPECT_EQ(seen, (std::vector<std::string>{"nova GET 0 unreachable 1.000000",
                                              "nova GET 503  1.000000", "nova GET 200  1.000000"}));
}

TEST_F(TransportTest, TheDateOfAnAnswerIsReported) {
    ASSERT_TRUE(get({Response{200, {{"Date", "Thu, 01 Jan 1970 00:10:00 GMT"}}, ""}}));
    EXPECT_EQ(date, TimePoint{600s});
    ASSERT_TRUE(get({Response{200, {{"Date", "now"}}, ""}}));
    EXPECT_EQ(date, std::nullopt);
}

TEST_F(TransportTest, ACancelledRequestIsNoTry) {
    Failure unwanted{Errc::cancelled, "not wanted", false};
    unwanted.unwanted = true;
    EXPECT_FALSE(get({unwanted}));
    EXPECT_TRUE(seen.empty());
}

TEST_F(TransportTest, RetryAfterIsWaitedFor) {
    Response busy{503, {{"Retry-After", "7"}}, ""};
    ASSERT_TRUE(get({busy, Response{200, {}, ""}}));
    EXPECT_EQ(clock.sleeps, std::vector<Duration>{7s});
}

TEST_F(TransportTest, TheDeadlineIsOfTheTransportsClock) {
    Response busy{503, {{"Retry-After", "19"}}, ""};
    const auto answer = get({busy, Response{200, {}, ""}});
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503);  // a second of the 20 had passed
    EXPECT_EQ(transport->tries, 1U);
}

}  // namespace
}  // namespace reaper::http::transport_test
