// What `reaper history --follow` tells, look by look.
#include "reaper/report/journal_news.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/report/examples.hpp"

namespace reaper::report::test::journal_news_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

RequestSummary summary_of(const std::string& id, int received) {
    RequestSummary line{example_request(), noon(received), 0, std::nullopt};
    line.request.id = RequestId{id};
    return line;
}

std::vector<std::string> told(const std::vector<NewsLine>& lines) {
    std::vector<std::string> all;
    for (const auto& line : lines)
        all.push_back(line.json.value("news", "") + " " +
                      line.json.at("request").value("id", "").substr(0, 5));
    return all;
}

TEST(JournalNews, TellsEachThingOnceOldestFirst) {
    RequestNews news;
    RequestSummary first = summary_of("req-1", 0);
    RequestSummary second = summary_of("req-2", 1'000);
    EXPECT_THAT(told(news.look({second, first})), ElementsAre("received req-1", "received req-2"));
    EXPECT_THAT(news.look({second, first}), IsEmpty());
    first.outcome = Outcome{OutcomeKind::freed, "room for 2 slots", noon(2'000)};
    const auto ended = news.look({second, first});
    EXPECT_THAT(told(ended), ElementsAre("ended req-1"));
    EXPECT_EQ(ended[0].text, "2024-05-01T12:00:02.000Z  ended  req-1 freed: room for 2 slots");
    EXPECT_EQ(ended[0].json.at("outcome").at("kind"), "freed");
    first.freed_room = FreedRoomResult{FreedRoomResultKind::taken, "by r", {}, noon(9'000)};
    const auto room = news.look({second, first});
    EXPECT_THAT(told(room), ElementsAre("freed-room req-1"));
    EXPECT_THAT(room[0].text, HasSubstr("req-1 taken: by r"));
}

TEST(JournalNews, WhatEndedBetweenLooksIsReportedInOrderOfTime) {
    RequestNews news;
    RequestSummary first = summary_of("req-1", 0);
    RequestSummary second = summary_of("req-2", 1'000);
    first.outcome = Outcome{OutcomeKind::freed, "", noon(3'000)};
    second.outcome = Outcome{OutcomeKind::refused, "", noon(2'000)};
    EXPECT_THAT(told(news.look({second, first})),
                ElementsAre("received req-1", "received req-2", "ended req-2", "ended req-1"));
}

TEST(JournalNews, ARequestThatStartsAgainIsReported) {
    RequestNews news;
    RequestSummary first = summary_of("req-1", 0);
    first.outcome = Outcome{OutcomeKind::refused, "", noon(1)};
    EXPECT_THAT(news.look({first}), SizeIs(2));
    first.outcome.reset();
    EXPECT_THAT(news.look({first}), IsEmpty());
    first.outcome = Outcome{OutcomeKind::freed, "", noon(5)};
    EXPECT_THAT(told(news.look({first})), ElementsAre("ended req-1"));
}

TEST(JournalNews, ItSaysWhenToLookFurtherBack) {
    RequestNews news;
    RequestSummary first = summary_of("req-1", 0);
    RequestSummary second = summary_of("req-2", 1'000);
    const RequestSummary third = summary_of("req-3", 2'000);
    EXPECT_TRUE(news.reach({second, first})) << "there was no look before";
    first.outcome = Outcome{OutcomeKind::refused, "", noon(3)};
    news.look({second, first});
    EXPECT_TRUE(news.reach({third, second}));
    EXPECT_FALSE(news.reach({third})) << "it was not seen before: others may be new besides";
    news.look({third, second});
    EXPECT_FALSE(news.reach({third})) << "the second was not over";
    second.outcome = Outcome{OutcomeKind::freed, "", noon(4)};
    news.look({third, second});
    EXPECT_FALSE(news.reach({third})) << "what becomes of its room is not known";
    second.freed_room = FreedRoomResult{FreedRoomResultKind::taken, "", {}, noon(5)};
    news.look({third, second});
    EXPECT_TRUE(news.reach({third}));
    RequestSummary late = summary_of("req-4", 2 * 3'600'000);
    news.look({late, third});
    EXPECT_TRUE(news.reach({late})) << "what hangs for hours is not waited for";
}

TEST(JournalNews, ALookThatGoesFartherBackTellsNothingAgain) {
    RequestNews news;
    const RequestSummary oldest = summary_of("req-0", 0);
    const RequestSummary first = summary_of("req-1", 1);
    const RequestSummary second = summary_of("req-2", 2);
    RequestSummary third = summary_of("req-3", 2);  // at the same time
    EXPECT_THAT(news.look({second, first}), SizeIs(2));
    EXPECT_THAT(told(news.look({third, second})), ElementsAre("received req-3"));
    EXPECT_THAT(news.look({third, second, first}), IsEmpty()) << "the first was reported";
    EXPECT_THAT(news.look({third, second, first, oldest}), IsEmpty()) << "it was before the look";
    RequestSummary ended = oldest;
    ended.outcome = Outcome{OutcomeKind::freed, "", noon(50)};
    EXPECT_THAT(told(news.look({third, second, first, ended})), ElementsAre("ended req-0"));
}

TEST(JournalNews, VictimsOfALookThatGoesFartherBackAreNotToldAgain) {
    VictimNews news;
    const auto victim = [](const char* server, int at) {
        return VictimEntry{noon(at), RequestId{"req-1"}, ServerId{server},
                           "batch",  ProjectId{"p"},     "compute-1"};
    };
    EXPECT_THAT(news.look({victim("s-2", 2), victim("s-1", 1)}), SizeIs(2));
    EXPECT_THAT(news.look({victim("s-3", 2), victim("s-2", 2)}), SizeIs(1));
    EXPECT_THAT(news.look({victim("s-3", 2), victim("s-2", 2), victim("s-1", 1)}), IsEmpty());
    EXPECT_THAT(news.look({victim("s-1", 1), victim("s-0", 0)}), IsEmpty());
}

TEST(JournalNews, ALineIsALine) {
    RequestNews news;
    RequestSummary line = summary_of("req-\n1", 0);
    line.outcome = Outcome{OutcomeKind::failed, "a\nb\x1b[2J", noon(1)};
    for (const auto& each : news.look({line})) {
        EXPECT_THAT(each.text, Not(HasSubstr("\n")));
        EXPECT_THAT(each.text, Not(HasSubstr("\x1b")));
    }
}

TEST(JournalNews, VictimsAreReportedAsTheyGo) {
    VictimNews news;
    const VictimEntry first{noon(1'000), RequestId{"req-1"}, ServerId{"s-1"},
                            "batch\n1",  ProjectId{"p"},     "compute-1"};
    VictimEntry second = first;
    second.server = ServerId{"s-2"};
    second.at = noon(2'000);
    EXPECT_THAT(news.look({first}), SizeIs(1));
    const auto lines = news.look({second, first});
    ASSERT_THAT(lines, SizeIs(1));
    EXPECT_EQ(lines[0].text,
              "2024-05-01T12:00:02.000Z  s-2 batch\\n1 on compute-1, project p, for req-1");
    EXPECT_EQ(lines[0].json.at("server"), "s-2");
    EXPECT_TRUE(news.reach({second}));
    VictimEntry third = second;
    third.server = ServerId{"s-3"};
    EXPECT_FALSE(news.reach({third}));
    EXPECT_THAT(news.look({second, first}), IsEmpty());
}

}  // namespace
}  // namespace reaper::report::test::journal_news_test
