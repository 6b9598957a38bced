// The journal of this machine as a channel: what it answers, and how it fails.
#include "reaper/cli/channel/journal_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fakes/fake_journal.hpp"

namespace reaper::cli::journal_channel_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TimePoint at(int seconds) {
    return TimePoint{std::chrono::seconds{seconds}};
}

/// A request in which the server was deleted.
void deletes(test::FakeJournal& journal, int seconds, const std::string& server) {
    Victim victim;
    victim.server = ServerId{server};
    victim.host = "host-of-" + server;
    HostPlan host;
    host.victims = {victim};
    Plan plan;
    plan.hosts = {host};
    RequestRecord record;
    record.request.id = RequestId{"req-" + server};
    record.plans = {PlanEntry{1, at(seconds), plan}};
    record.steps = {StepEntry{ServerId{server}, Step::delete_sent, "", at(seconds)}};
    journal.records[record.request.id] = record;
}

class JournalChannelTest : public testing::Test {
protected:
    JournalChannelTest() {
        RequestRecord record;
        record.request.id = RequestId{"req-1"};
        record.request.project = ProjectId{"web"};
        journal.records[record.request.id] = record;
    }
    Result<http::LocalAnswer> ask(const std::string& target) {
        return channel->ask(http::Method::get, target, "");
    }

    test::FakeJournal journal;
    boost::asio::io_context io{1};
    std::unique_ptr<ApiChannel> channel = journal_channel(io, journal, "/j.db");
};

TEST_F(JournalChannelTest, AnswersAsADaemonDoes) {
    const auto known = ask("/v1/requests/req-1").value();
    EXPECT_EQ(known.status, 200);
    EXPECT_EQ(json::parse(known.body).at("request").at("project"), "web");
    const auto unknown = ask("/v1/requests/req-2").value();
    EXPECT_EQ(unknown.status, 404);
    EXPECT_THAT(unknown.body, HasSubstr("the journal knows no request 'req-2'"));
    EXPECT_FALSE(channel->remote());
    EXPECT_EQ(channel->name(), "/j.db");
}

TEST_F(JournalChannelTest, PrintsTheErrorOfTheJournalUnchanged) {
    journal.events_fail = Error{Errc::storage, "the disk is gone"};
    const auto failed = ask("/v1/journal_events");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "the disk is gone");
}

TEST_F(JournalChannelTest, TheCloudIsConnectedToOnceWhatIsNamedIsNotKnownAndNotAgain) {
    int connected = 0;
    JournalChannelOptions options;
    options.connect = [&connected]() -> WhoKnows {
        ++connected;
        return {};
    };
    channel = journal_channel(io, journal, "/j.db", std::move(options));
    EXPECT_EQ(ask("/v1/requests?project=web").value().status, 200);
    EXPECT_EQ(connected, 0);
    const json first = json::parse(ask("/v1/requests?host=h1&limit=1").value().body);
    EXPECT_THAT(first.at("remarks").at(0).get<std::string>(), HasSubstr("knows no host 'h1'"));
    EXPECT_EQ(connected, 1);
    EXPECT_EQ(ask("/v1/requests?host=h1&limit=2").value().status, 200);
    EXPECT_EQ(connected, 1);
}

TEST_F(JournalChannelTest, AFilterThatIsWrongIsNamedAsItsOption) {
    for (const char* const id : {"p-1", "p-2"}) {
        RequestRecord record;
        record.request.id = RequestId{id};
        record.request.project = ProjectId{id};
        record.request.project_name = "shop";
        journal.records[record.request.id] = record;
    }
    const auto failed = ask("/v1/requests?project=shop");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::bad_input);
    EXPECT_THAT(failed.error().what, testing::StartsWith("--project: "));
}

TEST_F(JournalChannelTest, VictimsOfTwoJournalsAreOneListPageByPage) {
    test::FakeJournal other;
    deletes(journal, 10, "v-1");
    deletes(other, 20, "v-2");
    deletes(journal, 20, "v-3");
    deletes(other, 30, "v-4");
    JournalChannelOptions options;
    options.also = &other;
    options.also_unread = [](const Error&) {};
    channel = journal_channel(io, journal, "/j.db", std::move(options));
    std::vector<std::string> servers;
    std::string target = "/v1/victims?limit=1";
    while (!target.empty()) {
        const json page = json::parse(ask(target).value().body);
        servers.push_back(page.at("victims").at(0).at("server"));
        const json& links = page.at("victims_links");
        target = links.empty() ? "" : links.at(0).at("href").get<std::string>();
    }
    EXPECT_THAT(servers, testing::ElementsAre("v-4", "v-3", "v-2", "v-1"));
    const json named = json::parse(ask("/v1/victims?host=host-of-v-2").value().body);
    EXPECT_EQ(named.at("victims").size(), 1U);
    EXPECT_FALSE(named.contains("remarks")) << "the other one knows that host";
}

TEST_F(JournalChannelTest, AFollowedOneEndsWithTheLookThatFails) {
    JournalChannelOptions options;
    options.followed = true;
    channel = journal_channel(io, journal, "/j.db", std::move(options));
    journal.events_fail = Error{Errc::storage, "the disk is gone"};
    std::vector<std::string> lines;
    const auto ended =
        channel->stream(http::Method::get, "/v1/events", "", [&](const std::string& line) {
            lines.push_back(line);
            EXPECT_FALSE(ask("/v1/journal_events"));
        });
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().what, "the disk is gone");
    EXPECT_THAT(lines, testing::ElementsAre("event: request"));
}

}  // namespace
}  // namespace reaper::cli::journal_channel_test
