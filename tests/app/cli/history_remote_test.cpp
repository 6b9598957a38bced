// `reaper history --api`: what is asked of the daemon, and what is shown of its answers.
#include <gmock/gmock.h>

#include "app/cli/remote_daemon.hpp"
#include "reaper/report/json.hpp"

namespace reaper::cli::history_remote_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using What = HistoryCommand::What;

RequestSummary summary(const std::string& id) {
    RequestSummary line;
    line.request.id = RequestId{id};
    line.received_at = TimePoint{Duration{1'000}};
    return line;
}

class HistoryRemote : public RemoteDaemon {
protected:
    ExitCode run(const HistoryCommand& command, bool as_json = false) {
        return captured(as_json, [&](const GlobalOptions& global, const Terminal& terminal) {
            return carry_out(global, command, terminal);
        });
    }
};

json page(const char* name, const json& lines, const std::string& next = "") {
    json links = json::array();
    if (!next.empty()) links.push_back({{"rel", "next"}, {"href", next}});
    return {{"version", 2}, {name, lines}, {std::string{name} + "_links", links}};
}

TEST_F(HistoryRemote, TheFiltersGoToTheDaemonAndPagesAreFollowed) {
    HistoryCommand command;
    command.project = "web";
    command.host = "h1";
    command.outcome = OutcomeKind::freed;
    command.limit = 3;
    const std::string first = "/v1/requests?limit=3&outcome=freed&project=web&host=h1";
    answers(first, page("requests", json::array({report::to_json(summary("req-1"))}),
                        "/v1/requests?marker=a"));
    answers("/v1/requests?marker=a",
            page("requests", json::array({report::to_json(summary("req-2"))})));
    serve();
    EXPECT_EQ(run(command, true), ExitCode::ok) << err_;
    EXPECT_THAT(asked(), ElementsAre(first, "/v1/requests?marker=a"));
    const json told = json::parse(out_);
    ASSERT_EQ(told.at("requests").size(), 2U);
    EXPECT_EQ(told.at("requests").at(1).at("request").at("id"), "req-2");
}

TEST_F(HistoryRemote, ASpanIsAskedForAsCountedFromNow) {
    serve();
    HistoryCommand command;
    command.span = std::chrono::hours{1};
    command.limit = 1;
    EXPECT_EQ(run(command), ExitCode::failed);
    ASSERT_EQ(asked().size(), 1U);
    EXPECT_THAT(asked()[0], HasSubstr("/v1/requests?limit=1&since="));
    command.until = TimePoint{};
    const ExitCode code =
        captured(false, [&](const GlobalOptions& global, const Terminal& terminal) {
            return carry_out(global, command, terminal);
        });
    EXPECT_EQ(code, ExitCode::usage);
    EXPECT_THAT(err_, HasSubstr("--until: must be later than --since, which counts from now: "));
    EXPECT_EQ(asked().size(), 1U) << "of no time nothing is asked";
}

TEST_F(HistoryRemote, WhatTheDaemonCouldNotAskIsReported) {
    json first =
        page("requests", json::array({report::to_json(summary("req-1"))}), "/v1/requests?marker=a");
    first["remarks"] = json::array({"whether there is one could not be asked"});
    answers("/v1/requests?limit=3&project=web", first);
    json second = page("requests", json::array({report::to_json(summary("req-2"))}));
    second["remarks"] = first["remarks"];
    answers("/v1/requests?marker=a", second);
    serve();
    HistoryCommand command;
    command.project = "web";
    command.limit = 3;
    EXPECT_EQ(run(command), ExitCode::ok);
    EXPECT_EQ(err_, "reaper: warning: whether there is one could not be asked\n") << "once";
}

TEST_F(HistoryRemote, VictimsMessagesAndEventsTooAndNoMoreThanAskedFor) {
    const TimePoint at{Duration{2'000}};
    const VictimEntry victim{at, RequestId{"req-1"}, ServerId{"s-1"}, "web", ProjectId{"p"}, "h1"};
    answers("/v1/victims?limit=1",
            page("victims", {report::to_json(victim), report::to_json(victim)}));
    answers("/v1/messages?limit=1",
            page("messages", json::array({report::to_json(
                                 MessageEntry{"m-1", "e", RequestId{}, "ignored", "why", at})})));
    answers("/v1/journal_events?limit=1",
            page("events", json::array({report::to_json(JournalEvent{"paused", "lunch", at})})));
    serve();
    HistoryCommand command;
    command.limit = 1;
    command.what = What::victims;
    EXPECT_EQ(run(command, true), ExitCode::ok) << err_;
    EXPECT_EQ(json::parse(out_).at("victims").size(), 1U);
    command.what = What::messages;
    EXPECT_EQ(run(command), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("m-1"));
    command.what = What::events;
    EXPECT_EQ(run(command), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("lunch"));
}

TEST_F(HistoryRemote, FollowAsksAgainWhenTheDaemonSaysThatSomethingHappened) {
    HistoryCommand command;
    command.follow = true;
    answers("/v1/requests?limit=200",
            page("requests", json::array({report::to_json(summary("req-1"))})));
    replies_["/v1/events"] = test::json_reply(
        200, "event: hello\ndata: {}\n\n: nothing\n\nevent: request\ndata: {}\n\n");
    serve();
    // The stream ends; the daemon that comes back says no.
    std::thread later{[this] {
        while (asked().size() < 4) std::this_thread::yield();
        answers("/v1/events", {{"error", {{"code", 403}, {"message", "not for you"}}}}, 403);
    }};
    EXPECT_EQ(run(command), ExitCode::refused);
    later.join();
    EXPECT_THAT(err_, HasSubstr("not for you"));
    EXPECT_THAT(out_, HasSubstr("  received  "));
    EXPECT_THAT(out_, HasSubstr("req-1)\n"));
    EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 1) << out_;
    const auto all = asked();
    ASSERT_GE(all.size(), 4U);
    EXPECT_THAT(std::vector<std::string>(all.begin(), all.begin() + 4),
                ElementsAre("/v1/requests?limit=200", "/v1/events", "/v1/requests?limit=200",
                            "/v1/requests?limit=200"));
}

TEST_F(HistoryRemote, FollowGoesOnOverARestartAndTellsNothingTwice) {
    HistoryCommand command;
    command.follow = true;
    const std::string list = "/v1/requests?limit=200";
    const auto listed = [](std::vector<std::string> ids) {
        json lines = json::array();
        for (const std::string& id : ids) lines.push_back(report::to_json(summary(id)));
        return test::json_reply(200, page("requests", lines).dump());
    };
    const auto stream = test::json_reply(200, "event: hello\ndata: {}\n\n");
    const auto away = test::json_reply(503, R"({"error": {"message": "it starts"}})");
    test::Reply cut = test::json_reply(200, "event: hello\ndata: {}\n\nevent: hello\ndata: {}\n");
    cut.cut_body = 23;
    // It is there, is cut off, is away, comes back with news, and refuses in the end.
    answers_first(list, {listed({"req-1"}), listed({"req-1"}), listed({"req-2", "req-1"})});
    answers_first("/v1/events", {cut, away, stream});
    answers("/v1/events", {{"error", {{"code", 403}, {"message", "who are you"}}}}, 403);
    serve();
    EXPECT_EQ(run(command), ExitCode::refused);
    EXPECT_EQ(std::count(out_.begin(), out_.end(), '\n'), 2) << out_;
    EXPECT_LT(out_.find("req-1)"), out_.find("req-2)"));
    const auto lost = err_.find("the connection ended");
    const auto again = err_.find("connected again");
    EXPECT_LT(lost, again) << err_;
    EXPECT_NE(again, std::string::npos) << err_;
    EXPECT_THAT(err_, HasSubstr("connecting again"));
    EXPECT_THAT(err_, Not(HasSubstr("it starts"))) << "one line for each time";
}

TEST_F(HistoryRemote, ALookThatFailsIsMadeAgain) {
    HistoryCommand command;
    command.follow = true;
    const std::string list = "/v1/requests?limit=200";
    const auto empty = test::json_reply(200, page("requests", json::array()).dump());
    const auto full = test::json_reply(
        200, page("requests", json::array({report::to_json(summary("req-1"))})).dump());
    const auto away = test::json_reply(503, R"({"error": {"message": "not now"}})");
    answers_first(list, {empty, away, full});
    replies_["/v1/events"] = test::json_reply(200, "event: hello\n\n: still here\n\n");
    answers_first("/v1/events", {replies_["/v1/events"]});
    answers("/v1/events", {{"error", {{"code", 403}, {"message", "no"}}}}, 403);
    serve();
    EXPECT_EQ(run(command), ExitCode::refused);
    EXPECT_THAT(out_, HasSubstr("req-1)"));
}

TEST_F(HistoryRemote, ARequestThatTheJournalDoesNotKnowIsUnknown) {
    replies_["/v1/requests/req-9"] =
        test::json_reply(404, R"({"error": {"message": "the journal knows no request 'req-9'"}})");
    answers("/v1/requests?limit=2&server=req-9", page("requests", json::array()));
    serve();
    HistoryCommand command;
    command.what = What::show;
    command.request = "req-9";
    EXPECT_EQ(run(command), ExitCode::unknown);
    EXPECT_EQ(err_, "reaper: the journal knows no request 'req-9'\n");
}

TEST_F(HistoryRemote, TheNewestRequestOfAServerIsShown) {
    replies_["/v1/requests/v-1"] =
        test::json_reply(404, R"({"error": {"message": "the journal knows no request 'v-1'"}})");
    RequestRecord record;
    record.request.id = RequestId{"req-2"};
    answers("/v1/requests?limit=2&server=v-1",
            page("requests", json::array({report::to_json(summary("req-2")),
                                          report::to_json(summary("req-1"))})));
    answers("/v1/requests/req-2", report::to_json(record));
    serve();
    HistoryCommand command;
    command.what = What::show;
    command.request = "v-1";
    EXPECT_EQ(run(command), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("Request req-2"));
    EXPECT_THAT(err_, HasSubstr("several requests are about server 'v-1'"));
}

}  // namespace
}  // namespace reaper::cli::history_remote_test
