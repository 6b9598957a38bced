// The way to a daemon elsewhere: addresses, tokens, and what goes wrong between.
#include "reaper/daemon/api_channel.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <thread>

#include "config/environment.hpp"
#include "support/http_server.hpp"
#include "support/http_server_tls.hpp"

namespace reaper::cli::api_channel_test {
namespace {

using test::HttpServer;
using test::Reply;
using test::ServerRequest;
using testing::HasSubstr;
using testing::Not;

/// A server that runs while the channel waits for it.
class Elsewhere {
public:
    explicit Elsewhere(HttpServer::Handler handler,
                       std::shared_ptr<boost::asio::ssl::context> tls = nullptr)
        : server(io_, std::move(handler), std::move(tls)), runs_([this] { io_.run(); }) {}
    ~Elsewhere() { end(); }
    /// What was asked may be looked at then.
    void end() {
        io_.stop();
        if (runs_.joinable()) runs_.join();
    }

private:
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
        io_.get_executor()};

public:
    HttpServer server;

private:
    std::thread runs_;
};

using Variables = std::map<std::string, std::string>;

config::Environment environment_of(Variables variables, Variables files = {}) {
    config::Environment environment;
    environment.variable = [variables](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    };
    environment.read_file = [files](const std::string& path) -> Result<config::FileText> {
        const auto found = files.find(path);
        if (found == files.end()) return Error{Errc::not_found, "No such file or directory"};
        return config::FileText{found->second};
    };
    return environment;
}

Result<http::LocalAnswer> ask(const ApiOptions& options, const config::Environment& environment) {
    auto channel = api_channel(options, environment);
    if (!channel) return channel.error();
    return (*channel)->ask(http::Method::get, "/v1/status", "");
}

TEST(ApiChannel, WaitsForAnAnswerAsLongAsConfigured) {
    Elsewhere elsewhere{[](const ServerRequest&) {
        Reply reply;
        reply.hang = true;
        return reply;
    }};
    ApiOptions options;
    options.url = elsewhere.server.url();
    auto channel = api_channel(options, environment_of({}));
    ASSERT_TRUE(channel);
    (*channel)->wait_for(std::chrono::milliseconds{20});
    const auto answer = (*channel)->ask(http::Method::get, "/v1/usage", "");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::timeout);
    EXPECT_THAT(answer.error().what, HasSubstr("/v1/usage"));
}

ApiOptions to(const std::string& url) {
    ApiOptions options;
    options.url = url;
    return options;
}

/// Answers who shows this token.
HttpServer::Handler demanding(const std::string& token) {
    return [token](const ServerRequest& request) {
        if (request.method == "POST" && request.target == "/v3/auth/tokens") {
            Reply given = test::json_reply(201, R"({"token": {}})");
            if (request.body.find("right-password") == std::string::npos)
                return test::json_reply(401, "{}");
            given.headers.emplace_back("X-Subject-Token", token);
            return given;
        }
        const bool known = request.header("x-auth-token") == token;
        return test::json_reply(known ? 200 : 401, R"({"who": "you"})");
    };
}

Variables login(const std::string& keystone, const std::string& password) {
    return {{"OS_AUTH_URL", keystone},          {"OS_USERNAME", "ops"},
            {"OS_PASSWORD", password},          {"OS_PROJECT_NAME", "admin"},
            {"OS_USER_DOMAIN_NAME", "Default"}, {"OS_PROJECT_DOMAIN_NAME", "Default"}};
}

TEST(ApiChannel, SendsTheTokenOfAFileOrOfTheEnvironment) {
    Elsewhere there{demanding("secret-1")};
    ApiOptions options = to(there.server.url() + "/v1/");
    EXPECT_EQ(ask(options, environment_of({{"OS_TOKEN", "secret-1"}})).value().status, 200);
    options.token_file = "/t";
    const auto by_file = environment_of({{"OS_TOKEN", "other"}}, {{"/t", "secret-1\n"}});
    EXPECT_EQ(ask(options, by_file).value().status, 200);
    there.end();
    EXPECT_EQ(there.server.count("GET", "/v1/status"), 2U);
}

TEST(ApiChannel, AsksKeystoneOnlyWhenTheDaemonDemandsAToken) {
    Elsewhere there{demanding("secret-2")};
    const auto environment = environment_of(login(there.server.url() + "/v3", "right-password"));
    auto channel = api_channel(to(there.server.url()), environment);
    ASSERT_TRUE(channel);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ((*channel)->ask(http::Method::get, "/v1/status", "").value().status, 200);
    Elsewhere open{[](const ServerRequest&) { return test::json_reply(200, "{}"); }};
    EXPECT_EQ(ask(to(open.server.url()), environment).value().status, 200);
    there.end();
    EXPECT_EQ(there.server.count("POST", "/v3/auth/tokens"), 1U);
}

TEST(ApiChannel, CredentialsThatKeystoneRefusesAreReported) {
    Elsewhere there{demanding("secret-3")};
    const auto wrong = ask(to(there.server.url()),
                           environment_of(login(there.server.url() + "/v3", "wrong-password")));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Errc::unauthorized);
    EXPECT_THAT(wrong.error().what, HasSubstr("OS_*"));
    EXPECT_THAT(wrong.error().what, Not(HasSubstr("wrong-password")));
    const auto none = ask(to(there.server.url()), environment_of({}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::unauthorized);
    EXPECT_THAT(none.error().what, HasSubstr("OS_TOKEN or --token-file"));
    const auto half =
        ask(to(there.server.url()), environment_of({{"OS_AUTH_URL", there.server.url() + "/v3"}}));
    ASSERT_FALSE(half);
    EXPECT_EQ(half.error().code, Errc::bad_input);
}

TEST(ApiChannel, NoTokenCrossesTheNetworkInTheClear) {
    const auto refused =
        ask(to("http://192.0.2.1:8787"), environment_of({{"OS_TOKEN", "secret-4"}}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::bad_input);
    EXPECT_THAT(refused.error().what, HasSubstr("use https"));
    EXPECT_THAT(refused.error().what, Not(HasSubstr("secret-4")));
}

TEST(ApiChannel, TokensThatAreNoneAreNotSent) {
    ApiOptions options = to("https://ctl:8787");
    options.token_file = "/t";
    EXPECT_THAT(ask(options, environment_of({})).error().what,
                HasSubstr("--token-file: /t can't be read"));
    for (const char* const text : {"", "two words", "line\nbreak"})
        EXPECT_THAT(ask(options, environment_of({}, {{"/t", text}})).error().what,
                    HasSubstr("holds no token"));
    EXPECT_THAT(ask(to("https://ctl:8787"), environment_of({{"OS_TOKEN", "a b"}})).error().what,
                HasSubstr("OS_TOKEN: holds no token"));
}

TEST(ApiChannel, AddressesThatAreNoneAreRefused) {
    for (const char* const url : {"ctl:8787", "ftp://ctl", "https://", "unix:relative",
                                  "https://ctl:8787/?a=b", "https://me:secret-5@ctl:8787"}) {
        const auto refused = api_channel(to(url), environment_of({}));
        ASSERT_FALSE(refused) << url;
        EXPECT_EQ(refused.error().code, Errc::bad_input);
        EXPECT_THAT(refused.error().what, HasSubstr("--api: "));
        EXPECT_THAT(refused.error().what, Not(HasSubstr("secret-5")));
    }
}

TEST(ApiChannel, ADeadPortIsReported) {
    boost::asio::io_context io;
    const std::string port = std::to_string(test::closed_port(io));
    const auto refused = ask(to("http://127.0.0.1:" + port), environment_of({}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unreachable);
    EXPECT_THAT(refused.error().what, HasSubstr("127.0.0.1:" + port));
    EXPECT_THAT(refused.error().what, HasSubstr("admin.listen"));
    const auto socket = ask(to("unix:/nowhere/admin.sock"), environment_of({}));
    ASSERT_FALSE(socket);
    EXPECT_THAT(socket.error().what, HasSubstr("/nowhere/admin.sock"));
}

TEST(ApiChannel, TheRightAuthorityIsBelievedAndAnotherIsNot) {
    test::TestAuthority right, wrong;
    Elsewhere there{demanding("secret-6"), right.server(right.issue("ctl", "IP:127.0.0.1"))};
    ApiOptions options = to(there.server.url());
    const auto environment = environment_of({{"OS_TOKEN", "secret-6"}});
    options.ca_file = right.ca_file();
    EXPECT_EQ(ask(options, environment).value().status, 200);
    options.ca_file = wrong.ca_file();
    const auto refused = ask(options, environment);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::tls);
    EXPECT_THAT(refused.error().what, HasSubstr("--ca-file"));
    options.ca_file = "/nowhere/ca.pem";
    EXPECT_EQ(ask(options, environment).error().code, Errc::bad_input);
}

/// The lines of a stream, and how it ended.
struct Streamed {
    std::vector<std::string> lines;
    Result<http::LocalAnswer> end;
};

Streamed stream(const ApiOptions& options, const config::Environment& environment,
                http::Method method, const std::string& body = "") {
    auto channel = api_channel(options, environment);
    if (!channel) return {{}, channel.error()};
    Streamed told{{}, Error{Errc::cancelled, ""}};
    told.end = (*channel)->stream(method, "/v1/events", body,
                                  [&](const std::string& line) { told.lines.push_back(line); });
    return told;
}

TEST(ApiChannelStream, LinesComeAsTheyAreSentAndTheTokenGoesAlong) {
    Elsewhere there{[demand = demanding("secret-7")](const ServerRequest& request) {
        Reply reply = demand(request);
        if (reply.status != 200) return reply;
        reply.body = request.method + " " + request.body + "\ntwo\nno end";
        reply.chunked = true;
        return reply;
    }};
    const auto environment = environment_of(login(there.server.url() + "/v3", "right-password"));
    const Streamed posted = stream(to(there.server.url()), environment, http::Method::post, "{}");
    ASSERT_TRUE(posted.end) << posted.end.error().what;
    EXPECT_EQ(posted.end->status, 200);
    EXPECT_THAT(posted.lines, testing::ElementsAre("POST {}", "two"));
    const Streamed got = stream(to(there.server.url()), environment, http::Method::get);
    EXPECT_THAT(got.lines, testing::ElementsAre("GET ", "two"));
}

TEST(ApiChannelStream, OverTlsToo) {
    test::TestAuthority right;
    Elsewhere there{[](const ServerRequest&) { return test::json_reply(200, "one\n"); },
                    right.server(right.issue("ctl", "IP:127.0.0.1"))};
    ApiOptions options = to(there.server.url());
    options.ca_file = right.ca_file();
    const Streamed told = stream(options, environment_of({}), http::Method::get);
    ASSERT_TRUE(told.end) << told.end.error().what;
    EXPECT_THAT(told.lines, testing::ElementsAre("one"));
    options.ca_file.clear();
    const Streamed refused = stream(options, environment_of({}), http::Method::get);
    ASSERT_FALSE(refused.end);
    EXPECT_EQ(refused.end.error().code, Errc::tls);
}

TEST(ApiChannelStream, ARefusalHasItsBodyAndNoLines) {
    Elsewhere there{[](const ServerRequest&) { return test::json_reply(409, R"({"error": {}})"); }};
    const Streamed told = stream(to(there.server.url()), environment_of({}), http::Method::post);
    ASSERT_TRUE(told.end);
    EXPECT_EQ(told.end->status, 409);
    EXPECT_EQ(told.end->body, R"({"error": {}})");
    EXPECT_THAT(told.lines, testing::IsEmpty());
}

TEST(ApiChannelStream, ABrokenStreamEndsAndADeadPortIsReported) {
    Elsewhere there{[](const ServerRequest&) {
        Reply reply = test::json_reply(200, "one\ntwo\nthree\n");
        reply.cut_body = 6;
        return reply;
    }};
    const Streamed told = stream(to(there.server.url()), environment_of({}), http::Method::get);
    ASSERT_TRUE(told.end) << told.end.error().what;
    EXPECT_THAT(told.lines, testing::ElementsAre("one"));
    boost::asio::io_context io;
    const std::string closed = "http://127.0.0.1:" + std::to_string(test::closed_port(io));
    const Streamed none = stream(to(closed), environment_of({}), http::Method::get);
    ASSERT_FALSE(none.end);
    EXPECT_EQ(none.end.error().code, Errc::unreachable);
    EXPECT_THAT(none.end.error().what, HasSubstr("admin.listen"));
}

}  // namespace
}  // namespace reaper::cli::api_channel_test
