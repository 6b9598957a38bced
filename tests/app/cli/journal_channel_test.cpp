// The journal of this machine as a channel: what it answers, and how it fails.
#include "reaper/cli/channel/journal_channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fakes/fake_journal.hpp"

namespace reaper::cli::journal_channel_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

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

TEST_F(JournalChannelTest, ATroubleOfTheJournalIsToldAsTheJournalSaysIt) {
    journal.events_fail = Error{Errc::storage, "the disk is gone"};
    const auto failed = ask("/v1/journal_events");
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().what, "the disk is gone");
}

}  // namespace
}  // namespace reaper::cli::journal_channel_test
