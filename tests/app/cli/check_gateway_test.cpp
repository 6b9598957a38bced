// `reaper check` of the gateway: a small server of the test is the gateway, with Placement and
// Keystone behind it.
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <gmock/gmock.h>
#include <map>
#include <nlohmann/json.hpp>

#include "clients/http_server/server.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/runtime/system_clock.hpp"

namespace reaper::cli::check_gateway_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;

class CheckGateway : public testing::Test {
protected:
    CheckGateway() {
        HttpHandler handler = [this](HttpRequest request) { return answer(std::move(request)); };
        server_ = *listen_http(io_.get_executor(), {"gateway", "127.0.0.1:0"}, std::move(handler));
        settings_.gateway.listen = server_->address();
        settings_.gateway.placement_url = url() + "/placement";
        settings_.cloud.credentials.auth_url = url();
        settings_.cloud.credentials.username = "reaper";
        settings_.cloud.credentials.password = config::Secret("swordfish");
        settings_.cloud.credentials.project_name = "service";
        answers_["/placement/reaper-gateway"] = {200, R"({"passes_through": null, "searches": 0})"};
        answers_["/placement/"] = {
            200, R"({"versions": [{"id": "v1.0", "max_version": "1.39", "min_version": "1.0"}]})"};
        answers_["/placement/allocation_candidates?resources=VCPU:1"] = {
            200, R"({"allocation_requests": [], "provider_summaries": {}})"};
    }
    std::string url() const { return "http://" + server_->address(); }
    /// What it finds; `good` if nothing keeps it from its end.
    Finding check(bool good) {
        class NoSession final : public CloudSession {
            ResultTask<AuthInfo> authenticate() override { co_return Error{}; }
            ResultTask<EndpointInfo> endpoint(CloudService) override { co_return Error{}; }
        } session;
        const auto clock = make_system_clock(io_.get_executor());
        std::vector<Finding> findings;
        const Report report = [&](Finding found) { findings.push_back(std::move(found)); };
        const bool ended = run_task(io_, check_gateway(io_, *clock, session, settings_, report));
        EXPECT_EQ(ended, good);
        EXPECT_THAT(findings, SizeIs(1));
        return findings.empty() ? Finding{} : findings.front();
    }
    std::map<std::string, std::pair<int, std::string>> answers_;  ///< by target; else 404
    config::Settings settings_;

private:
    Task<HttpResponse> answer(HttpRequest request) {
        HttpResponse said;
        if (request.target == "/v3/auth/tokens") {
            std::ifstream file(std::string(REAPER_TEST_DATA) +
                               "/openstack-zed/api/keystone-auth-tokens.json");
            json token = json::parse(file).at("body");
            token["token"]["expires_at"] = "2999-01-01T00:00:00.000000Z";
            said.status = 201;
            said.body = token.dump();
            said.headers.emplace_back("X-Subject-Token", "a-token");
            co_return said;
        }
        const auto known = answers_.find(request.target);
        said.status = known == answers_.end() ? 404 : known->second.first;
        said.body = known == answers_.end() ? "{}" : known->second.second;
        co_return said;
    }

    boost::asio::io_context io_{1};
    std::unique_ptr<HttpServer> server_;
};

TEST_F(CheckGateway, OneThatNovaSchedulerAsksIsWell) {
    answers_["/placement/reaper-gateway"].second =
        R"({"passes_through": null, "searches": 3, "last_search_s": 7, "served": 2})";
    const Finding found = check(true);
    EXPECT_EQ(found.verdict, Verdict::ok);
    EXPECT_THAT(found.detail, HasSubstr("looked for hosts here 3 times, the last 7 s ago; 2 got"));
}

TEST_F(CheckGateway, OneWithoutRequestsYetIsAWarning) {
    const Finding found = check(true);
    EXPECT_EQ(found.verdict, Verdict::warn);
    EXPECT_THAT(found.detail, HasSubstr("endpoint_override"));
}

TEST_F(CheckGateway, OneThatPassesEverythingThroughTellsWhy) {
    answers_["/placement/reaper-gateway"] = {
        503, R"({"passes_through": "the broker can't be reached", "searches": 3})"};
    const Finding found = check(true);
    EXPECT_EQ(found.verdict, Verdict::warn);
    EXPECT_THAT(found.detail, HasSubstr("passes everything through: the broker can't be reached"));
}

TEST_F(CheckGateway, OneThatDecidesNothingIsAWarning) {
    for (const char* body : {"{}", "not JSON", "[]"}) {
        answers_["/placement/reaper-gateway"] = {404, body};
        const Finding found = check(true);
        EXPECT_EQ(found.verdict, Verdict::warn) << body;
        EXPECT_THAT(found.detail, HasSubstr("decides nothing"));
    }
}

TEST_F(CheckGateway, AnswersOfAnotherKindAreNoneOfAReaper) {
    answers_["/placement/reaper-gateway"].second = R"({"passes_through": 3, "searches": "many"})";
    EXPECT_EQ(check(true).verdict, Verdict::warn);
    answers_["/placement/reaper-gateway"].second =
        R"({"passes_through": null, "searches": "many", "served": []})";
    EXPECT_EQ(check(true).verdict, Verdict::warn);
}

TEST_F(CheckGateway, AtADeadPortNovaSchedulerFindsNoPlacement) {
    settings_.gateway.listen = "127.0.0.1:1";
    const Finding found = check(false);
    EXPECT_EQ(found.verdict, Verdict::warn);
    EXPECT_EQ(found.what, "gateway 127.0.0.1:1");
    EXPECT_THAT(found.detail, HasSubstr("is 'reaper run' running?"));
}

TEST_F(CheckGateway, OneThatLeadsElsewhereIsAFailure) {
    answers_["/placement/"] = {502, "the gateway can't reach Placement"};
    Finding found = check(false);
    EXPECT_EQ(found.verdict, Verdict::fail);
    EXPECT_THAT(found.detail, HasSubstr("does not lead to Placement: HTTP 502"));
    answers_["/placement/"] = {200, "<html>some other server</html>"};
    found = check(false);
    EXPECT_EQ(found.verdict, Verdict::fail);
    EXPECT_THAT(found.detail, HasSubstr("does not lead to Placement: HTTP 200"));
}

TEST_F(CheckGateway, ASearchThatFailsThroughItIsAFailure) {
    answers_["/placement/allocation_candidates?resources=VCPU:1"] = {
        403, R"({"errors": [{"status": 403, "detail": "Policy does not allow it"}]})"};
    const Finding found = check(false);
    EXPECT_EQ(found.verdict, Verdict::fail);
    EXPECT_THAT(found.detail, HasSubstr("a search for hosts with our token fails through it"));
    EXPECT_THAT(found.detail, HasSubstr("Policy does not allow it"));
}

TEST_F(CheckGateway, SoIsOneWhosePathIsNotPlacements) {
    settings_.gateway.path_prefix = "/elsewhere";
    answers_["/elsewhere/reaper-gateway"] = answers_["/placement/reaper-gateway"];
    const Finding found = check(false);
    EXPECT_EQ(found.verdict, Verdict::fail);
    EXPECT_THAT(found.detail, HasSubstr("does not lead to Placement: HTTP 404"));
}

}  // namespace
}  // namespace reaper::cli::check_gateway_test
