// What the running daemon tells on its admin API.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/reaper_under_test.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"

namespace reaper::test::admin_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class AdminTest : public ReaperUnderTest {
protected:
    void SetUp() override {
        with_events = true;
        for (const char* host : {"h1", "h2"}) cloud.add_host(host, Resources{{"VCPU", 8}});
        cloud.add_server("spot", "h1", "spot", Resources{{"VCPU", 6}});
        cloud.add_server("regular", "h2", "regular", Resources{{"VCPU", 8}});
    }
    HttpResponse ask(const std::string& target, const std::string& method = "GET") {
        std::optional<HttpResponse> answer;
        const api::Backend backend{service(), *observed, feed};
        HttpRequest request{method, target};
        const api::Caller caller{api::Access::look};
        boost::asio::co_spawn(io(), api::answer(backend, caller, std::move(request)),
                              [&](std::exception_ptr error, HttpResponse said) {
                                  if (error) std::rethrow_exception(error);
                                  answer = std::move(said);
                              });
        run_until([&] { return answer.has_value(); });
        return *answer;
    }
    json good(const std::string& target) {
        const HttpResponse said = ask(target);
        EXPECT_EQ(said.status, 200) << said.body;
        return json::parse(said.body);
    }
    std::string error_of(const std::string& target, int expected) {
        const HttpResponse said = ask(target);
        EXPECT_EQ(said.status, expected) << said.body;
        return json::parse(said.body).at("error").at("message");
    }
    void start_and_read_the_cloud() {
        start();
        // The first reading estimates what servers hold; then each host is read exactly.
        run_until([&] {
            const auto view = service().view();
            if (!view) return false;
            const auto hosts = view->cache.hosts();
            return std::none_of(hosts.begin(), hosts.end(),
                                [](const Host* host) { return host->estimated; });
        });
    }
};

TEST_F(AdminTest, CullingCandidatesComeFromThePictureWithoutACall) {
    start_and_read_the_cloud();
    const std::size_t before = cloud.calls.size();
    const json found = good("/v1/culling_candidates?resources=VCPU:4");
    EXPECT_EQ(cloud.calls.size(), before);
    ASSERT_EQ(found.at("provider_summaries").size(), 1U) << found.dump();
    const json& summary = found.at("provider_summaries").begin().value();
    EXPECT_EQ(summary.at("host"), "h1");
    EXPECT_EQ(summary.at("resources"), json({{"VCPU", {{"used", 6}, {"capacity", 8}}}}));
    EXPECT_EQ(found.at("preemptible_allocations").begin().value(), json({{"spot", {{"VCPU", 6}}}}));
    EXPECT_EQ(good("/v1/culling_candidates?resources=VCPU%3A9").at("provider_summaries"),
              json::object());
}

TEST_F(AdminTest, CullingCandidatesAreThoseOfAZone) {
    cloud.add_host("west-1", Resources{{"VCPU", 8}}, "west");
    start_and_read_the_cloud();
    const json found = good("/v1/culling_candidates?resources=VCPU:4&zone=west");
    ASSERT_EQ(found.at("provider_summaries").size(), 1U) << found.dump();
    EXPECT_EQ(found.at("provider_summaries").begin().value().at("host"), "west-1");
    EXPECT_THAT(error_of("/v1/culling_candidates?resources=VCPU:4&zone=mars", 404),
                HasSubstr("no availability zone 'mars'"));
}

TEST_F(AdminTest, AnyNumberOfHostsIsAnsweredInSlices) {
    for (int i = 0; i < 120; ++i)
        cloud.add_host("more-" + std::to_string(i), Resources{{"VCPU", 8}});
    start_and_read_the_cloud();
    EXPECT_EQ(good("/v1/culling_candidates?resources=VCPU:8").at("provider_summaries").size(),
              121U);
}

TEST_F(AdminTest, NoRequestIsAnsweredBeforeTheCloudIsRead) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    start();
    EXPECT_THAT(error_of("/v1/culling_candidates?resources=VCPU:1", 503),
                HasSubstr("not been read"));
}

TEST_F(AdminTest, AnInvalidQueryIsAnsweredWithTheReason) {
    start_and_read_the_cloud();
    const std::string path = "/v1/culling_candidates";
    EXPECT_THAT(error_of(path, 400), HasSubstr("?resources="));
    EXPECT_THAT(error_of(path + "?resources=", 400), HasSubstr("resources=CLASS:AMOUNT"));
    EXPECT_THAT(error_of(path + "?resources=VCPU:1&flavor=a", 400), HasSubstr("one of"));
    EXPECT_THAT(error_of(path + "?resources=VCPU", 400), HasSubstr("CLASS=AMOUNT"));
    EXPECT_THAT(error_of(path + "?resources=VCPU:0", 400), HasSubstr("a whole number from 1"));
    EXPECT_THAT(error_of(path + "?resources=VCPU:1,VCPU:1", 400), HasSubstr("given twice"));
    EXPECT_THAT(error_of(path + "?resources=VCPU:1&resources=VCPU:2", 400), HasSubstr("twice"));
    EXPECT_THAT(error_of(path + "?resource=VCPU:1", 400),
                HasSubstr("unknown parameter 'resource'"));
    EXPECT_THAT(error_of("*", 400), HasSubstr("no path"));
}

TEST_F(AdminTest, ThereIsAListOfWhatThereIs) {
    start();
    EXPECT_EQ(good("/v1").at("routes").size(), api::routes().size());
    EXPECT_THAT(error_of("/v1/nonsense", 404), HasSubstr("/v1/nonsense"));
    EXPECT_THAT(error_of("/v2", 404), HasSubstr("GET /v1"));
}

TEST_F(AdminTest, AMethodThatARouteDoesNotTakeIsRefused) {
    start();
    const HttpResponse said = ask("/v1", "POST");
    EXPECT_EQ(said.status, 405);
    EXPECT_EQ(said.headers, (HttpHeaders{{"Allow", "GET"}}));
    EXPECT_EQ(ask("/v1/requests", "PUT").headers, (HttpHeaders{{"Allow", "GET, POST"}}));
    EXPECT_EQ(ask("/v1/reserve", "GET").status, 405);
    EXPECT_EQ(ask("/v1/reserve", "HEAD").status, 405);
}

TEST_F(AdminTest, WhatCanBeReadAnswersHeadToo) {
    start();
    for (const char* const path : {"/healthz", "/v1/status", "/"})
        EXPECT_EQ(ask(path, "HEAD").status, ask(path).status) << path;
}

TEST_F(AdminTest, AReadOnlyCallerCannotAct) {
    start();
    const HttpResponse said = ask("/v1/requests", "POST");
    EXPECT_EQ(said.status, 403);
    EXPECT_THAT(said.body, HasSubstr("admin.socket"));
}

}  // namespace
}  // namespace reaper::test::admin_test
