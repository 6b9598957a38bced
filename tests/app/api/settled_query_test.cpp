// What filters of the history name: found in the journal, else in the cloud.
#include "reaper/api/settled_query.hpp"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "fakes/fake_journal.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::settled_query_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SettledQueryTest : public testing::Test {
protected:
    SettledQueryTest() {
        RequestRecord record;
        record.request.id = RequestId{"req-1"};
        record.request.project = ProjectId{"p-1"};
        record.request.project_name = "gone";
        journal.records[record.request.id] = record;
        cloud.no_projects = {"gone", "p-1", "typo"};
    }
    SettledQuery ask(const JournalQuery& query, bool with_cloud = true) {
        WhoKnows who;
        if (with_cloud) who = {&cloud, &cloud};
        auto known = run_task(io, journal.known_values(query)).value();
        return run_task(io, settle(query, std::move(known), who));
    }

    FakeClock clock;
    FakeCloud cloud{clock};
    FakeJournal journal;
    boost::asio::io_context io{1};
};

TEST_F(SettledQueryTest, WhatTheJournalTellsOfIsKnownAlthoughTheCloudHasItNoMore) {
    for (const char* const written : {"gone", "p-1"}) {
        const SettledQuery settled = ask({.project = written});
        EXPECT_EQ(settled.query.project, "p-1");
        EXPECT_FALSE(settled.unknown) << *settled.unknown;
    }
    EXPECT_THAT(cloud.calls, IsEmpty()) << "no other service is asked";
}

TEST_F(SettledQueryTest, WhatTheCloudAloneKnowsIsKnown) {
    cloud.project_names["web"] = "p-2";
    cloud.services["h1"] = {};
    cloud.flavors["1"].name = "large";
    const SettledQuery settled = ask({.project = "web", .host = "h1", .flavor = "large"});
    EXPECT_EQ(settled.query.project, "p-2");
    EXPECT_FALSE(settled.unknown) << *settled.unknown;
    EXPECT_THAT(settled.not_asked, IsEmpty());
}

TEST_F(SettledQueryTest, AHostIsKnownByItsHypervisorTooAndNamedByItsService) {
    cloud.add_host("h1", Resources{{"VCPU", 8}});
    const SettledQuery settled = ask({.host = cloud.provider_of("h1")});
    EXPECT_EQ(settled.query.host, "h1");
    EXPECT_FALSE(settled.unknown) << *settled.unknown;
}

TEST_F(SettledQueryTest, LaterRequestsAreNotAskedAboutAgain) {
    RecentlySettled recently;
    const JournalQuery asked{.project = "web", .host = "h1", .limit = 7};
    EXPECT_FALSE(recently.find(asked, Duration{0}));
    recently.keep(asked, {.project = "p-2", .host = "h1"}, Duration{0});
    for (int second = 50; second < 500; second += 50) {
        const auto settled = recently.find(asked, std::chrono::seconds{second});
        ASSERT_TRUE(settled) << second;
        EXPECT_EQ(settled->project, "p-2");
        EXPECT_EQ(settled->limit, 7);
        EXPECT_FALSE(recently.find({.project = "web"}, std::chrono::seconds{second}));
    }
    EXPECT_FALSE(recently.find(asked, std::chrono::seconds{600})) << "no request came for a minute";
}

TEST_F(SettledQueryTest, WhatNoServiceKnowsIsUnknown) {
    for (const auto& [query, what] :
         {std::pair{JournalQuery{.project = "typo"}, "a project 'typo'"},
          {JournalQuery{.host = "typo"}, "a host 'typo'"},
          {JournalQuery{.flavor = "typo"}, "a flavor 'typo'"}})
        EXPECT_THAT(ask(query).unknown.value_or(""), HasSubstr(what));
}

TEST_F(SettledQueryTest, WhatCanNotBeAskedIsNotDenied) {
    const SettledQuery alone = ask({.project = "typo", .host = "typo", .flavor = "typo"}, false);
    EXPECT_FALSE(alone.unknown);
    EXPECT_EQ(alone.not_asked.size(), 3U);
    cloud.on_call = [](const std::string&) { return Error{Errc::unreachable, "away"}; };
    const SettledQuery away = ask({.host = "typo"});
    EXPECT_FALSE(away.unknown);
    EXPECT_THAT(away.not_asked, ElementsAre(HasSubstr("could not be asked: away")));
}

TEST_F(SettledQueryTest, ANameOfSeveralProjectsListsThem) {
    RequestRecord second = journal.records.at(RequestId{"req-1"});
    second.request.id = RequestId{"req-2"};
    second.request.project = ProjectId{"p-2"};
    journal.records[second.request.id] = second;
    EXPECT_THAT(ask({.project = "gone"}).ambiguous.value_or(""), HasSubstr("p-1, p-2"));
}

}  // namespace
}  // namespace reaper::test::settled_query_test
