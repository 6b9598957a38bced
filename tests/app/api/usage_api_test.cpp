// GET /v1/usage, on a daemon's cache, on Nova and on the journal.
#include <gtest/gtest.h>

#include "app/api_house.hpp"
#include "reaper/api/server_runs.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::usage_api_test {
namespace {

using namespace test;
using std::chrono::hours;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class UsageApi : public ApiHouse {
protected:
    /// It ran from then to then, as hours before now.
    void ended(const std::string& id, const std::string& project, int from, int until) {
        ServerRecord record;
        record.server.id = ServerId{id};
        record.server.project = ProjectId{project};
        record.server.status = "DELETED";
        record.server.created = clock.now() - hours{from};
        record.server.launched = record.server.created;
        record.server.host = "h1";
        record.flavor = flavor_of(2);
        record.terminated = clock.now() - hours{until};
        cloud.ended.push_back(std::move(record));
    }
    void acted(const std::string& id, const std::string& name, int before) {
        ActionRecord action;
        action.name = name;
        action.started = clock.now() - hours{before};
        auto& history = cloud.histories[ServerId{id}];
        history.insert(history.begin(), std::move(action));
    }
    /// Made 10 hours ago, and launched again an hour ago.
    void launched_again(const std::string& id) {
        auto& server = cloud.add_server(id, "h1", "regular", small).record.server;
        server.created = clock.now() - hours{10};
        server.launched = clock.now() - hours{1};
    }
    std::string ago(int count) { return iso_time(clock.now() - hours{count}); }
};

TEST_F(UsageApi, RunningAndEndedServersAreSummedByProject) {
    cloud.add_host("h1", small * 4);
    cloud.add_server("a", "h1", "regular", small).record.server.created = clock.now() - hours{10};
    ended("b", "regular", 6, 4);
    ended("c", "spot", 3, 2);
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=5h");
    EXPECT_EQ(told.at("from"), ago(5));
    EXPECT_EQ(told.at("to"), ago(0));
    ASSERT_THAT(told.at("usage"), SizeIs(2));
    const json& regular = told.at("usage")[0];
    EXPECT_EQ(regular.at("project"), "regular");
    EXPECT_EQ(regular.at("type"), "regular");
    EXPECT_EQ(regular.at("servers"), 2);
    EXPECT_DOUBLE_EQ(regular.at("hours"), 6);
    EXPECT_DOUBLE_EQ(regular.at("resource_hours").at("VCPU"), 12);
    EXPECT_EQ(told.at("usage")[1].at("type"), "revocable");
}

TEST_F(UsageApi, AnotherLaunchEndsNoRun) {
    cloud.add_host("h1", small * 4);
    launched_again("rescued");
    acted("rescued", "create", 10);
    acted("rescued", "rescue", 2);
    launched_again("shelved");
    acted("shelved", "create", 10);
    acted("shelved", "shelve", 6);
    acted("shelved", "shelveOffload", 5);
    acted("shelved", "unshelve", 1);
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=12h");
    EXPECT_FALSE(told.contains("remarks"));
    ASSERT_THAT(told.at("usage"), SizeIs(1));
    EXPECT_EQ(told.at("usage")[0].at("servers"), 3);
    EXPECT_DOUBLE_EQ(told.at("usage")[0].at("hours"), 10 + 5 + 1);
    cloud.calls.clear();
    get("/v1/usage?since=30min");
    EXPECT_EQ(cloud.count("actions shelved"), 0U) << "it began before the time";
}

TEST_F(UsageApi, AnotherLaunchOfUnknownCauseEndsNoRun) {
    cloud.add_host("h1", small * 4);
    launched_again("a");
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=12h");
    EXPECT_DOUBLE_EQ(told.at("usage")[0].at("hours"), 10);
    EXPECT_THAT(told.at("remarks")[0].get<std::string>(), HasSubstr("counted from their creation"));
}

TEST_F(UsageApi, AServerThatItsOwnerShelvedEndedThen) {
    cloud.add_host("h1", small * 4);
    for (const char* const id : {"a", "b"}) {
        ended(id, "regular", 10, 1);
        cloud.ended.back().server.host = SharedText{};
    }
    acted("a", "create", 10);
    acted("a", "shelve", 7);
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=12h");
    EXPECT_DOUBLE_EQ(told.at("usage")[0].at("hours"), 3);
    EXPECT_THAT(told.at("remarks")[0].get<std::string>(), HasSubstr("were shelved: 1 server ("));
    EXPECT_THAT(get("/v1/usage?since=5h").at("usage"), IsEmpty()) << "it was on the shelf then";
}

TEST_F(UsageApi, ProjectsHaveTheirNamesBesideTheirIds) {
    cloud.listed_names = {{"regular", "web"}};
    cloud.add_host("h1", small * 4);
    ended("b", "regular", 6, 4);
    ended("c", "spot", 3, 2);
    start_and_read_the_cloud();
    run_until([&] { return !service().view()->cache.project_names().empty(); });
    const json told = get("/v1/usage?since=7h").at("usage");
    ASSERT_THAT(told, SizeIs(2));
    EXPECT_EQ(told[0].at("project"), "regular");
    EXPECT_EQ(told[0].at("project_name"), "web");
    EXPECT_FALSE(told[1].contains("project_name"));
}

TEST_F(UsageApi, ASpanCountsFromNowAlsoWithUntil) {
    cloud.add_host("h1", small * 4);
    ended("b", "regular", 10, 4);
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=7h&until=" + ago(5));
    EXPECT_EQ(told.at("from"), ago(7));
    EXPECT_EQ(told.at("to"), ago(5));
    ASSERT_THAT(told.at("usage"), SizeIs(1));
    EXPECT_DOUBLE_EQ(told.at("usage")[0].at("hours"), 2);
}

TEST_F(UsageApi, ADeletedServerOfAnUnknownProjectIsReportedWithItsEnd) {
    cloud.add_host("h1", small * 4);
    cloud.add_server("a", "h1", "regular", small).record.server.created = clock.now() - hours{4};
    auto& going = cloud.add_server("b", "h1", "", small).record.server;
    going.created = clock.now() - hours{4};
    going.task_state = "deleting";
    start_and_read_the_cloud();
    const json told = get("/v1/usage?since=5h");
    ASSERT_THAT(told.at("usage"), SizeIs(1));
    EXPECT_EQ(told.at("usage")[0].at("project"), "regular");
    EXPECT_EQ(told.at("usage")[0].at("servers"), 1);
}

TEST_F(UsageApi, WhatTheReaperDeletedIsReclaimed) {
    full_host("h1");
    start_and_read_the_cloud();
    requester();
    const NovaFailure one = failure();
    messages->deliver(body_of(one));
    outcome_of(one.request_id);
    const json told = get("/v1/usage?since=1h&project=spot");
    ASSERT_THAT(told.at("usage"), SizeIs(1));
    EXPECT_EQ(told.at("usage")[0].at("servers"), 4);
    EXPECT_EQ(told.at("usage")[0].at("reclaimed"), 1);
    EXPECT_THAT(get("/v1/usage?since=1h&project=regular").at("usage"), IsEmpty());
    const json risk = get("/v1/risk?since=1h");
    EXPECT_EQ(risk.at("lines")[0].at("of"), "all");
    EXPECT_EQ(risk.at("lines")[0].at("evictions"), 1);
    EXPECT_THAT(risk.at("by_hour"), SizeIs(168));
    EXPECT_THAT(get("/v1/risk?since=1h&zone=no-such").at("lines"), IsEmpty());
    EXPECT_THAT(why(get("/v1/risk?since=2400h", 400)), HasSubstr("93 days"));
}

TEST_F(UsageApi, WhatIsWrongIsNamed) {
    full_host("h1");
    start_and_read_the_cloud();
    EXPECT_THAT(why(get("/v1/usage?since=often", 400)), HasSubstr("since: expected a time"));
    EXPECT_THAT(why(get("/v1/usage?until=2h", 400)), HasSubstr("until: expected a time"));
    EXPECT_THAT(why(get("/v1/usage?since=" + ago(1) + "&until=" + ago(2), 400)),
                HasSubstr("before until"));
    EXPECT_THAT(why(get("/v1/usage?since=2h&until=" + ago(5), 400)),
                HasSubstr("a duration counts from now"));
    EXPECT_THAT(why(get("/v1/usage?since=2400h", 400)), HasSubstr("93 days"));
    EXPECT_THAT(why(get("/v1/usage?days=1", 400)), HasSubstr("'days'"));
    cloud.no_projects.insert("no-such");
    EXPECT_THAT(why(get("/v1/usage?project=no-such", 404)), HasSubstr("no-such"));
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "ended servers") return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    EXPECT_THAT(why(get("/v1/usage", 503)), HasSubstr("Nova can't be asked: nova: no answer"));
    cloud.on_call = {};
    get("/v1/usage");
}

TEST_F(UsageApi, OneIsCountedAtATime) {
    full_host("h1");
    start_and_read_the_cloud();
    const api::Backend asked = backend();
    std::optional<HttpResponse> first, second;
    const auto ask_for = [&](std::optional<HttpResponse>& answer) {
        const api::Caller caller{api::Access::look, {}};
        HttpRequest request{"GET", "/v1/usage", {}};
        boost::asio::co_spawn(io(), api::answer(asked, caller, std::move(request)),
                              [&](std::exception_ptr, HttpResponse said) { answer = said; });
    };
    ask_for(first);
    ask_for(second);
    run_until([&] { return first && second; });
    EXPECT_EQ(first->status, 200);
    EXPECT_EQ(second->status, 503);
    EXPECT_THAT(second->body, HasSubstr("for another client"));
}

TEST(ReclaimedRuns, AreReadADayAtATime) {
    FakeClock clock;
    FakeJournal journal;
    boost::asio::io_context io{1};
    for (const int days : {5, 2, 0}) {
        RequestRecord record;
        record.request.id = RequestId{"req-" + std::to_string(days)};
        const ServerId server{"s-" + std::to_string(days)};
        const TimePoint at = clock.now() - hours{24 * days};
        Victim victim;
        victim.server = server;
        HostPlan host;
        host.victims = {victim};
        Plan plan;
        plan.hosts = {host};
        record.plans = {{1, at, plan}};
        record.steps = {{server, Step::delete_sent, "", at}, {server, Step::gone, "", at}};
        record.outcome = Outcome{OutcomeKind::freed, "", at};
        journal.records[record.request.id] = record;
    }
    int reads = 0;
    journal.on_read = [&](const std::string& what) { reads += what == "culls" ? 1 : 0; };
    const auto runs =
        run_task(io, reclaimed_runs(journal, {}, clock.now() - hours{60}, clock.now())).value();
    EXPECT_EQ(reads, 3);
    std::vector<std::string> servers;
    for (const ServerRun& run : runs) servers.push_back(run.server.str());
    EXPECT_THAT(servers, testing::ElementsAre("s-2", "s-0"));
    // One that was shelved before the time, and deleted by its owner within it.
    ServerRecord shelved;
    shelved.server.id = ServerId{"s-5"};
    shelved.server.launched = clock.now() - hours{24 * 6};
    const auto with_it =
        run_task(io, reclaimed_runs(journal, {shelved}, clock.now() - hours{60}, clock.now()));
    EXPECT_THAT(with_it.value(), SizeIs(3));
    shelved.server.host = "h1";
    const auto ran_on =
        run_task(io, reclaimed_runs(journal, {shelved}, clock.now() - hours{60}, clock.now()));
    EXPECT_THAT(ran_on.value(), SizeIs(2));
    reads = 0;
    run_task(io, reclaimed_runs(journal, {}, TimePoint{}, clock.now())).value();
    EXPECT_LE(reads, 1001) << "however long ago it is";
}

}  // namespace
}  // namespace reaper::usage_api_test
