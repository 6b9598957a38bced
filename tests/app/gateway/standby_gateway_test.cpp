// The gateway of a reaper that stands by: who answers a search or a claim.
#include "reaper/gateway/standby_gateway.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace reaper::standby_gateway_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string search = "/allocation_candidates?resources=VCPU:1";
const std::string claim = "/allocations/11111111-1111-4111-8111-111111111111";

class Answer final : public UpstreamAnswer {
public:
    Answer(int status, std::string body) : status_(status), body_(std::move(body)) {}
    int status() const override { return status_; }
    const std::string& reason() const override { return reason_; }
    const HttpHeaders& headers() const override { return headers_; }
    ResultTask<BodyRead> read_all(std::size_t) override { co_return BodyRead::whole; }
    const std::string& body() const override { return body_; }

private:
    int status_;
    std::string body_;
    std::string reason_;
    HttpHeaders headers_;
};

/// Placement, and the gateway of the active reaper.
class Call final : public ProxyCall {
public:
    ResultTask<std::unique_ptr<UpstreamAnswer>> ask(HttpRequest request) override {
        asked.push_back("placement");
        headers = request.headers;
        co_return std::unique_ptr<UpstreamAnswer>{std::make_unique<Answer>(200, "placement's")};
    }
    ResultTask<std::unique_ptr<UpstreamAnswer>> ask_other(std::string url, HttpRequest request,
                                                          std::function<bool()> is_lost) override {
        asked.push_back(url);
        headers = request.headers;
        if (meanwhile) meanwhile();
        lost = is_lost();
        if (fails) co_return Error{*fails, "as the test says"};
        co_return std::unique_ptr<UpstreamAnswer>{std::make_unique<Answer>(status, "active's")};
    }
    bool client_gone() const override { return false; }
    void on_client_gone(std::function<void()>) override {}

    int status = 200;
    std::optional<Errc> fails;
    std::function<void()> meanwhile;
    bool lost = false;
    std::vector<std::string> asked;
    HttpHeaders headers;
};

/// What decides where we are active.
class Service final : public ProxyHandler {
public:
    bool wants(std::string_view, std::string_view) const override { return serves; }
    std::string line() const override { return "serving"; }
    Task<ProxyAnswer> handle(HttpRequest, ProxyCall&) override {
        co_return OwnAnswer{200, "", {}, "ours"};
    }
    bool serves = false;
};

class StandbyGatewayTest : public testing::Test {
protected:
    /// The body of the answer, or the word for what failed.
    std::string answer(const std::string& method, const std::string& target,
                       HttpHeaders headers = {}) {
        HttpRequest request;
        request.method = method;
        request.target = target;
        request.headers = std::move(headers);
        std::optional<ProxyAnswer> got;
        boost::asio::io_context io;
        boost::asio::co_spawn(io, gateway.handle(std::move(request), call),
                              [&](const std::exception_ptr& failed, ProxyAnswer answered) {
                                  if (failed) std::rethrow_exception(failed);
                                  got = std::move(answered);
                              });
        io.run();
        if (const auto* const own = std::get_if<OwnAnswer>(&*got)) {
            status = own->status;
            return own->body;
        }
        if (const auto* const error = std::get_if<Error>(&*got)) return error->what;
        return std::get<std::unique_ptr<UpstreamAnswer>>(*got)->body();
    }

    std::shared_ptr<Service> service = std::make_shared<Service>();
    bool stands_by = true;
    std::optional<std::string> active = "http://active";
    int status = 0;
    Call call;
    StandbyGateway gateway{{service, [this] { return stands_by; }, [this] { return active; }}};
};

TEST_F(StandbyGatewayTest, HandsOnWhatTheActiveOneDecides) {
    for (const char* const method : {"PUT", "DELETE"}) EXPECT_TRUE(gateway.wants(method, claim));
    EXPECT_TRUE(gateway.wants("GET", search));
    EXPECT_FALSE(gateway.wants("GET", "/resource_providers"));
    EXPECT_EQ(answer("GET", search), "active's");
    EXPECT_EQ(answer("PUT", claim), "active's");
    EXPECT_THAT(call.asked, ElementsAre("http://active", "http://active"));
    EXPECT_FALSE(call.lost);
    EXPECT_EQ(gateway.line(), "handing on to http://active");
}

TEST_F(StandbyGatewayTest, WhatOneHandedOnNoOtherHandsOn) {
    (void)answer("GET", search);
    const HttpHeaders handed = std::exchange(call.headers, {});
    call.asked.clear();
    EXPECT_EQ(answer("GET", search, handed), "placement's");
    EXPECT_THAT(call.asked, ElementsAre("placement"));
    EXPECT_THAT(call.headers, IsEmpty()) << "Placement does not see the mark";
}

TEST_F(StandbyGatewayTest, ServesOnceItIsActive) {
    stands_by = false;
    service->serves = true;
    EXPECT_EQ(answer("GET", search), "ours");
    EXPECT_EQ(gateway.line(), "serving");
    service->serves = false;
    EXPECT_FALSE(gateway.wants("GET", search));
    EXPECT_EQ(answer("GET", search), "placement's");
}

TEST_F(StandbyGatewayTest, WithoutAnActiveOnePlacementIsAsked) {
    active.reset();
    EXPECT_EQ(answer("GET", search), "placement's");
    EXPECT_EQ(answer("PUT", claim), "placement's");
    EXPECT_THAT(call.asked, ElementsAre("placement", "placement"));
    (void)answer("GET", "/reaper-gateway");
    EXPECT_EQ(status, 503);
    EXPECT_EQ(call.asked.size(), 2U);
}

TEST_F(StandbyGatewayTest, ASearchThatFailsThereGoesToPlacement) {
    for (const Errc why : {Errc::unreachable, Errc::timeout, Errc::cancelled, Errc::bad_answer}) {
        call.fails = why;
        EXPECT_EQ(answer("GET", search), "placement's");
    }
    call.fails.reset();
    call.status = 503;
    EXPECT_EQ(answer("GET", search), "placement's");
}

TEST_F(StandbyGatewayTest, AClaimGoesToPlacementOnlyIfItWasNeverSent) {
    call.fails = Errc::unreachable;
    EXPECT_EQ(answer("PUT", claim), "placement's");
    for (const Errc why : {Errc::timeout, Errc::cancelled, Errc::bad_answer}) {
        call.fails = why;
        EXPECT_EQ(answer("PUT", claim), "as the test says");
    }
    call.fails.reset();
    call.status = 409;
    EXPECT_EQ(answer("PUT", claim), "active's") << "its answer, whatever it is";
}

TEST_F(StandbyGatewayTest, TakesOverInTheMiddleOfACall) {
    call.meanwhile = [this] {
        stands_by = false;
        service->serves = true;
    };
    call.fails = Errc::unreachable;
    EXPECT_EQ(answer("PUT", claim), "ours");
    EXPECT_TRUE(call.lost);
    stands_by = true;
    call.meanwhile = [this] { active = "http://another"; };
    service->serves = false;
    call.fails = Errc::cancelled;
    EXPECT_EQ(answer("GET", search), "placement's");
    EXPECT_TRUE(call.lost) << "another one is active";
}

}  // namespace
}  // namespace reaper::standby_gateway_test
