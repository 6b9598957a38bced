// `reaper request`: an operator asks the running daemon for room.
#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/full_house.hpp"
#include "reaper/api/routes.hpp"

namespace reaper::test::operator_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class OperatorTest : public FullHouse {
protected:
    /// What the daemon tells, line by line; a refusal is one line.
    std::vector<json> ask(const json& body) {
        const api::Backend backend{service(), *observed, feed};
        std::vector<json> lines;
        std::optional<int> answered;
        boost::asio::co_spawn(io(), read_all(backend, body.dump(), lines),
                              [&](std::exception_ptr error, int said) {
                                  if (error) std::rethrow_exception(error);
                                  answered = said;
                              });
        run_until([&] { return answered.has_value(); });
        last_status = *answered;
        return lines;
    }
    static Task<int> read_all(const api::Backend& backend, std::string body,
                              std::vector<json>& lines) {
        HttpRequest request{"POST", "/v1/requests", {}, std::move(body)};
        api::Caller caller;
        caller.access = api::Access::act;
        HttpResponse said = co_await api::answer(backend, std::move(caller), std::move(request));
        if (!said.more) lines.push_back(json::parse(said.body));
        std::optional<std::string> line;
        if (said.more) line = co_await said.more();
        while (line) {
            lines.push_back(json::parse(*line));
            line = co_await said.more();
        }
        co_return said.status;
    }
    static json wanted(const std::string& id = "") {
        json body = {{"project", "regular"}, {"resources", "VCPU=2"}};
        if (!id.empty()) body["id"] = id;
        return body;
    }
    static std::string outcome_in(const std::vector<json>& lines) {
        return lines.back().at("outcome").at("kind");
    }
    static std::vector<std::string> events_of(const std::vector<json>& lines) {
        std::vector<std::string> kinds;
        for (const auto& line : lines) kinds.push_back(line.at("event"));
        return kinds;
    }

    int last_status = 0;
};

TEST_F(OperatorTest, RoomIsFreedAndEachStepIsReported) {
    full_host();
    start();
    const auto lines = ask(wanted());
    EXPECT_EQ(last_status, 200);
    const auto kinds = events_of(lines);
    EXPECT_EQ(kinds.front(), "accepted");
    EXPECT_EQ(kinds[1], "plan");
    EXPECT_THAT(kinds, ::testing::Contains("step"));
    EXPECT_EQ(outcome_in(lines), "freed");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    const RequestId id{std::string{lines.front().at("id")}};
    EXPECT_THAT(id.str(), ::testing::StartsWith("operator-"));
    EXPECT_EQ(journal.records.at(id).request.source, RequestSource::operator_);
}

TEST_F(OperatorTest, AskingAgainUnderTheSameIdIsTheSameRequest) {
    full_host();
    start();
    EXPECT_EQ(outcome_in(ask(wanted("mine"))), "freed");
    const auto again = ask(wanted("mine"));
    EXPECT_EQ(events_of(again), (std::vector<std::string>{"accepted", "outcome"}));
    EXPECT_EQ(outcome_in(again), "freed");
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(OperatorTest, WhatIsWrongIsReportedAndNothingIsDone) {
    full_host();
    start();
    const auto lines = ask({{"project", "regular"}, {"resources", "VCPU=x"}, {"slot", 2}});
    EXPECT_EQ(last_status, 400);
    EXPECT_THAT(std::string{lines.front().at("error").at("message")}, HasSubstr("slot"));
    ask(json::array({wanted(), wanted()}));
    EXPECT_EQ(last_status, 400);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(OperatorTest, AReaperThatDoesNotServeTheQueueTakesNoRequest) {
    full_host();
    start();
    messages->serves = false;
    const auto lines = ask(wanted());
    EXPECT_EQ(last_status, 409);
    EXPECT_THAT(std::string{lines.front().at("error").at("message")},
                HasSubstr("does not serve the queue"));
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(OperatorTest, APausedReaperDeletesNoServers) {
    full_host();
    start();
    pause.why = "paused by alice";
    EXPECT_EQ(outcome_in(ask(wanted())), "refused");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(OperatorTest, ARequestThatARestartCutShortIsServedToItsEnd) {
    full_host();
    start();
    DescribedRequest described;
    described.id = "mine";
    described.project = "regular";
    described.resources = Resources{{"VCPU", 2}};
    ASSERT_TRUE(service().operators()->submit(described, RequestId{"mine"}, {}));
    run_until([&] { return cloud.count("DELETE") == 1U; });
    crash();
    start();
    EXPECT_EQ(outcome_of("mine").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

}  // namespace
}  // namespace reaper::test::operator_test
