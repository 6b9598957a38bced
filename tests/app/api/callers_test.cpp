// Who may ask the admin API, and as whom.
#include "reaper/api/callers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/fake_cloud.hpp"

namespace reaper::test::callers_test {
namespace {

using api::Access;
using api::Caller;
using api::CallerRules;
using api::Callers;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class CallersTest : public ::testing::Test {
protected:
    CallersTest() {
        by_token.tokens = true;
        by_token.roles = {"admin", "operator"};
        by_token.keystone_url = "https://keystone/v3";
        cloud.tokens["good"] = {"ops", "Default", {"member", "operator"}, hours_from_now(1)};
        cloud.tokens["of-a-user"] = {"eve", "Default", {"member"}, hours_from_now(1)};
    }
    TimePoint hours_from_now(int hours) { return clock.now() + std::chrono::hours{hours}; }
    std::variant<Caller, HttpResponse> ask(Callers& callers, HttpHeaders headers,
                                           const std::string& certificate = "",
                                           const std::string& address = "192.0.2.1") {
        std::optional<std::variant<Caller, HttpResponse>> said;
        HttpRequest request{"GET", "/v1", std::move(headers), "", certificate, address};
        boost::asio::co_spawn(io, callers.identify(std::move(request)),
                              [&](std::exception_ptr error, auto caller) {
                                  if (error) std::rethrow_exception(error);
                                  said = std::move(caller);
                              });
        io.restart();
        EXPECT_TRUE(clock.run_until(io, [&] { return said.has_value(); }));
        return *said;
    }
    std::variant<Caller, HttpResponse> with(Callers& callers, const std::string& token,
                                            const std::string& address = "192.0.2.1") {
        return ask(callers, {{"x-auth-token", token}}, "", address);
    }
    static std::string principal(const std::variant<Caller, HttpResponse>& said) {
        const auto* const caller = std::get_if<Caller>(&said);
        return caller == nullptr ? "refused" : caller->principal.value_or("none");
    }
    static int status(const std::variant<Caller, HttpResponse>& said) {
        const auto* const refused = std::get_if<HttpResponse>(&said);
        return refused == nullptr ? 200 : refused->status;
    }

    boost::asio::io_context io;
    FakeClock clock;
    FakeCloud cloud{clock};
    CallerRules by_token;
};

TEST_F(CallersTest, WhoIsNotKnownLooks) {
    Callers callers{{}, cloud, clock};
    const auto said = ask(callers, {{"X-Auth-Token", "good"}});
    EXPECT_EQ(principal(said), "none");
    EXPECT_EQ(std::get<Caller>(said).access, Access::look);
    EXPECT_EQ(cloud.count("token"), 0U);
}

TEST_F(CallersTest, AUserWithOneOfTheRolesActsAsHimself) {
    Callers callers{by_token, cloud, clock};
    const auto said = with(callers, "good");
    EXPECT_EQ(principal(said), "ops@Default");
    EXPECT_EQ(std::get<Caller>(said).access, Access::act);
}

TEST_F(CallersTest, AUserWithOneOfTheReadRolesMayNotAct) {
    by_token.read_roles = {"service", "member"};
    cloud.tokens["nova"] = {"nova", "Default", {"service"}, hours_from_now(1), ProjectId{"p"}};
    Callers callers{by_token, cloud, clock};
    const auto said = with(callers, "nova");
    EXPECT_EQ(std::get<Caller>(said).access, Access::look);
    EXPECT_EQ(principal(said), "nova@Default");
    EXPECT_EQ(std::get<Caller>(said).project, ProjectId{}) << "owners may not ask";
    EXPECT_EQ(std::get<Caller>(with(callers, "good")).access, Access::act) << "he has both";
}

TEST_F(CallersTest, AnyOtherUserOwnsWhatHisProjectHas) {
    by_token.owners = true;
    cloud.tokens["of-a-project"] = {"eve", "Default", {"x"}, hours_from_now(1), ProjectId{"p-1"}};
    cloud.tokens["good"].project = ProjectId{"p-2"};
    Callers callers{by_token, cloud, clock};
    const auto owner = with(callers, "of-a-project");
    EXPECT_EQ(std::get<Caller>(owner).access, Access::own);
    EXPECT_EQ(std::get<Caller>(owner).project, ProjectId{"p-1"});
    EXPECT_EQ(principal(owner), "eve@Default");
    EXPECT_EQ(std::get<Caller>(with(callers, "of-a-user")).project, ProjectId{}) << "unscoped";
    EXPECT_EQ(std::get<Caller>(with(callers, "good")).access, Access::act);
    EXPECT_EQ(std::get<Caller>(with(callers, "good")).project, ProjectId{"p-2"});
    EXPECT_EQ(status(with(callers, "forged")), 401);
    clock.advance(std::chrono::hours{1});
    cloud.tokens.erase("of-a-project");
    EXPECT_EQ(status(with(callers, "of-a-project")), 401) << "it has expired";
}

TEST_F(CallersTest, NoNameIsThatOfAnotherDomain) {
    cloud.tokens["one"] = {"a@b", "c", {"admin"}, hours_from_now(1)};
    cloud.tokens["two"] = {"a", "b@c", {"admin"}, hours_from_now(1)};
    Callers callers{by_token, cloud, clock};
    EXPECT_EQ(principal(with(callers, "one")), "a%40b@c");
    EXPECT_EQ(principal(with(callers, "two")), "a@b%40c");
}

TEST_F(CallersTest, NoOtherCallerIsAnswered) {
    Callers callers{by_token, cloud, clock};
    const auto without = ask(callers, {});
    EXPECT_EQ(status(without), 401);
    EXPECT_THAT(std::get<HttpResponse>(without).headers,
                Contains(Pair("WWW-Authenticate", "Keystone uri=\"https://keystone/v3\"")));
    EXPECT_EQ(status(ask(callers, {{"X-Auth-Token", "good"}, {"X-Auth-Token", "good"}})), 401);
    EXPECT_EQ(status(with(callers, "g\tood")), 401);
    EXPECT_EQ(cloud.count("token"), 0U) << "those are no tokens";
    const auto unknown = with(callers, "forged");
    EXPECT_EQ(status(unknown), 401);
    EXPECT_THAT(std::get<HttpResponse>(unknown).body, Not(HasSubstr("forged")));
    const auto user = with(callers, "of-a-user");
    EXPECT_EQ(status(user), 403);
    EXPECT_THAT(std::get<HttpResponse>(user).body, HasSubstr("eve@Default"));
}

TEST_F(CallersTest, WhatKeystoneSaysHoldsForAMinuteAndNoLongerThanTheToken) {
    Callers callers{by_token, cloud, clock};
    EXPECT_EQ(status(with(callers, "good")), 200);
    EXPECT_EQ(status(with(callers, "good")), 200);
    EXPECT_EQ(cloud.count("token"), 1U);
    cloud.tokens.erase("good");  // revoked
    clock.advance(std::chrono::seconds{61});
    EXPECT_EQ(status(with(callers, "good")), 401);
    cloud.tokens["short"] = {"ops", "Default", {"admin"}, clock.now() + std::chrono::seconds{5}};
    EXPECT_EQ(status(with(callers, "short")), 200);
    cloud.tokens.erase("short");
    clock.advance(std::chrono::seconds{6});
    EXPECT_EQ(status(with(callers, "short")), 401);
}

TEST_F(CallersTest, ManyForgedTokensCostKeystoneFewCalls) {
    Callers callers{by_token, cloud, clock};
    EXPECT_EQ(status(with(callers, "good")), 200);
    for (int i = 0; i < 100; ++i) with(callers, "forged-" + std::to_string(i));
    EXPECT_EQ(cloud.count("token"), 1U + 30U);
    const auto later = with(callers, "of-a-user");
    EXPECT_EQ(status(later), 503);
    EXPECT_THAT(std::get<HttpResponse>(later).headers, Contains(Pair("Retry-After", "1")));
    EXPECT_EQ(status(with(callers, "good")), 200) << "who is known is answered";
    clock.advance(std::chrono::seconds{1});
    EXPECT_EQ(status(with(callers, "of-a-user")), 403) << "then a few a second are asked about";
    clock.advance(std::chrono::minutes{1});
    EXPECT_EQ(status(with(callers, "forged-again")), 401);
}

TEST_F(CallersTest, AFloodOfForgedTokensLocksNoOtherCallerOut) {
    Callers callers{by_token, cloud, clock};
    EXPECT_EQ(status(with(callers, "good")), 200);
    cloud.tokens["new"] = {"ops", "Default", {"admin"}, hours_from_now(1)};
    for (int i = 0; i < 300; ++i) {
        with(callers, "forged-" + std::to_string(i));
        clock.advance(std::chrono::milliseconds{333});
    }
    EXPECT_EQ(status(with(callers, "good")), 200) << "it was good a minute ago";
    EXPECT_EQ(status(with(callers, "new", "192.0.2.2")), 200);
    EXPECT_EQ(status(with(callers, "new")), 200) << "three a second leave room at one address too";
    for (int i = 0; i < 300; ++i) with(callers, "forged-again-" + std::to_string(i));
    EXPECT_EQ(status(with(callers, "of-a-user")), 503);
    EXPECT_EQ(status(with(callers, "of-a-user", "192.0.2.2")), 403);
    cloud.tokens.erase("good");
    clock.advance(std::chrono::seconds{61});
    EXPECT_EQ(status(with(callers, "good")), 401) << "revoked";
    EXPECT_EQ(status(with(callers, "good")), 401);
}

TEST_F(CallersTest, ManyForgedTokensAtOnceCostNoMore) {
    Callers callers{by_token, cloud, clock};
    int answered = 0;
    const auto ask_at_once = [&](int number) {
        for (int i = 0; i < number; ++i) {
            HttpHeaders headers{{"X-Auth-Token", "forged-" + std::to_string(answered + i)}};
            HttpRequest request{"GET", "/v1", std::move(headers), "", "", ""};
            boost::asio::co_spawn(io, callers.identify(std::move(request)),
                                  [&](std::exception_ptr, auto) { ++answered; });
        }
        const int all = answered + number;
        io.restart();
        EXPECT_TRUE(clock.run_until(io, [&] { return answered == all; }));
    };
    ask_at_once(100);
    EXPECT_EQ(cloud.count("token"), 30U);
    clock.advance(std::chrono::seconds{1});
    ask_at_once(10);
    EXPECT_EQ(cloud.count("token"), 31U);
}

TEST_F(CallersTest, WhileKeystoneIsAwayNoNewCallerIsAnswered) {
    Callers callers{by_token, cloud, clock};
    EXPECT_EQ(status(with(callers, "good")), 200);
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "token") return std::nullopt;
        return Error{Errc::unreachable, "keystone is away"};
    };
    EXPECT_EQ(status(with(callers, "good")), 200);
    EXPECT_EQ(status(with(callers, "of-a-user")), 503);
}

TEST_F(CallersTest, ACertificatesNameIsThePrincipal) {
    CallerRules rules;
    rules.certificates = true;
    rules.principals = {"controller-*", "ops%40Default"};
    Callers callers{rules, cloud, clock};
    EXPECT_EQ(principal(ask(callers, {}, "controller-1")), "controller-1");
    EXPECT_EQ(status(ask(callers, {}, "compute-1")), 403) << "any certificate of the CA";
    EXPECT_EQ(status(ask(callers, {}, "")), 403);
    EXPECT_EQ(principal(ask(callers, {}, "ops@Default")), "ops%40Default") << "not a user's";
}

}  // namespace
}  // namespace reaper::test::callers_test
