#include "reaper/cloud/reader/cache_refresher.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::cache_refresher_test {
namespace {

TEST(CacheRefresher, ACloudThatCouldNotBeReadIsNoSuccessBeforeItIsRead) {
    FakeClock clock;
    FakeCloud cloud{clock};
    cloud.add_host("h1", Resources{{"VCPU", 8}});
    config::Policy policy;
    policy.taggers.push_back({"project", {}});
    policy.strategy.name = "strict";
    config::Cache settings;
    settings.events = false;
    boost::asio::io_context io{1};
    CacheRefresher refresher{io.get_executor(), cloud.ports(), settings,
                             compile_policy(policy).value(), [] {}};
    cloud.on_call = [](const std::string&) -> std::optional<Error> {
        return Error{Errc::server_error, "nova is ill"};
    };
    EXPECT_FALSE(run_task(io, refresher.refresh()));
    // Not tried again yet, and nothing is better.
    const auto again = run_task(io, refresher.refresh());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().what, "nova is ill");
    cloud.on_call = {};
    clock.advance(std::chrono::minutes{1});
    EXPECT_TRUE(run_task(io, refresher.refresh()));
    EXPECT_TRUE(refresher.built());
}

TEST(CacheRefresher, OfManyServersThatVanishAtOnceSomeAreAskedFor) {
    FakeClock clock;
    FakeCloud cloud{clock};
    cloud.add_host("h1", Resources{{"VCPU", 100}});
    for (int i = 0; i < 40; ++i)
        cloud.add_server("s" + std::to_string(i), "h1", "web", Resources{{"VCPU", 1}});
    config::Policy policy;
    policy.taggers.push_back({"project", {}});
    policy.strategy.name = "strict";
    boost::asio::io_context io{1};
    CacheRefresher refresher{io.get_executor(), cloud.ports(), config::Cache{},
                             compile_policy(policy).value(), [] {}};
    ASSERT_TRUE(run_task(io, refresher.ensure_usable(0)));
    const Host* const host = refresher.cache().hosts().front();
    ASSERT_EQ(host->servers.size(), 40U);
    clock.advance(std::chrono::minutes{1});
    // Placement has what they hold, and Nova lists none of them on the host.
    for (int i = 0; i < 40; ++i)
        cloud.server_at("s" + std::to_string(i)).record.server.host = "elsewhere";
    cloud.calls.clear();
    std::vector<HostId> hosts{host->id};
    ASSERT_TRUE(run_task(io, refresher.read_hosts(std::move(hosts), HostDepth::all)));
    EXPECT_EQ(cloud.count("server s"), 16U);
}

TEST(CacheRefresher, WhatWasReadWhileTheClockWasSetBackIsReadAgain) {
    FakeClock clock;
    FakeCloud cloud{clock};
    cloud.add_host("h1", Resources{{"VCPU", 8}});
    config::Policy policy;
    policy.taggers.push_back({"project", {}});
    policy.strategy.name = "strict";
    boost::asio::io_context io{1};
    CacheRefresher refresher{io.get_executor(), cloud.ports(), config::Cache{},
                             compile_policy(policy).value(), [] {}};
    std::string set_at;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (set_at.empty() || !call.starts_with(set_at)) return std::nullopt;
        set_at.clear();
        clock.step(std::chrono::hours{-1});
        refresher.on_clock_step(std::chrono::hours{-1});
        return std::nullopt;
    };
    const auto shows = [&](const std::string& server) {
        cloud.add_server(server, "h1", "web", Resources{{"VCPU", 1}});
        clock.advance(std::chrono::seconds{10});
        std::vector<HostId> hosts{refresher.cache().hosts().front()->id};
        EXPECT_TRUE(run_task(io, refresher.read_hosts(std::move(hosts), HostDepth::all)));
        return refresher.cache().find(ServerId{server}) != nullptr;
    };
    set_at = "servers";
    ASSERT_TRUE(run_task(io, refresher.ensure_usable(0)));
    EXPECT_TRUE(shows("after-a-bulk-reading"));
    set_at = "servers on";
    EXPECT_TRUE(shows("meanwhile"));
    EXPECT_TRUE(shows("after-an-exact-reading"));
}

class ProjectNamesRead : public testing::Test {
protected:
    ProjectNamesRead() {
        cloud.add_host("h1", Resources{{"VCPU", 8}});
        cloud.listed_names = {{"p-1", "web"}};
        policy.taggers.push_back({"project", {}});
        policy.strategy.name = "strict";
        settings.events = true;
        settings.max_age = std::chrono::minutes{10};
    }
    void pass(Duration time, CacheRefresher& refresher) {
        clock.advance(time);
        EXPECT_TRUE(run_task(io, refresher.refresh()));
        EXPECT_TRUE(run_task(io, refresher.refresh_project_names()));
    }
    CacheRefresher make() {
        return {io.get_executor(), cloud.ports(), settings, compile_policy(policy).value(), [] {}};
    }
    std::size_t asked() const { return cloud.count("names of projects"); }

    FakeClock clock;
    FakeCloud cloud{clock};
    config::Policy policy;
    config::Cache settings;
    boost::asio::io_context io{1};
};

TEST_F(ProjectNamesRead, OnceForEachReadingOfTheWholeCloud) {
    CacheRefresher refresher = make();
    refresher.on_feed({true, ""});
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 1U);
    EXPECT_EQ(refresher.cache().project_names(), (ProjectNames{{ProjectId{"p-1"}, "web"}}));
    for (int i = 0; i < 20; ++i) pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 1U);
    cloud.listed_names["p-2"] = "batch";
    const auto builds = refresher.build();
    while (refresher.build() == builds) pass(std::chrono::seconds{30}, refresher);
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 2U);
    EXPECT_EQ(refresher.cache().project_names().size(), 2U);
}

TEST_F(ProjectNamesRead, TheReadingOfTheCloudWaitsForNoNames) {
    CacheRefresher refresher = make();
    refresher.on_feed({true, ""});
    clock.advance(std::chrono::seconds{1});
    EXPECT_TRUE(run_task(io, refresher.refresh()));
    EXPECT_TRUE(refresher.built());
    EXPECT_EQ(asked(), 0U);
}

TEST_F(ProjectNamesRead, ThatFailBreakNothingAndAreAskedForOnceAnHourWithoutTheRight) {
    CacheRefresher refresher = make();
    refresher.on_feed({true, ""});
    Errc code = Errc::server_error;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != "names of projects") return std::nullopt;
        return Error{code, "no"};
    };
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_TRUE(refresher.built());
    EXPECT_TRUE(refresher.cache().project_names().empty());
    const auto next_build = [&] {
        const auto builds = refresher.build();
        while (refresher.build() == builds) pass(std::chrono::seconds{30}, refresher);
        pass(std::chrono::seconds{1}, refresher);
    };
    code = Errc::forbidden;
    next_build();
    EXPECT_EQ(asked(), 2U);
    next_build();
    EXPECT_EQ(asked(), 2U) << "it has been refused";
    clock.advance(std::chrono::hours{1});
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 3U);
    cloud.on_call = {};
    clock.advance(std::chrono::hours{1});
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 4U);
    EXPECT_EQ(refresher.cache().project_names().size(), 1U) << "the right was granted";
}

TEST_F(ProjectNamesRead, ARefusalIsAskedAgainAtOnceAfterAReload) {
    CacheRefresher refresher = make();
    refresher.on_feed({true, ""});
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call != "names of projects") return std::nullopt;
        return Error{Errc::forbidden, "no"};
    };
    pass(std::chrono::seconds{1}, refresher);
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 1U);
    cloud.on_call = {};
    refresher.ask_refused_again();
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 2U);
    EXPECT_EQ(refresher.cache().project_names().size(), 1U);
    refresher.ask_refused_again();
    pass(std::chrono::seconds{1}, refresher);
    EXPECT_EQ(asked(), 2U) << "nothing was refused";
}

}  // namespace
}  // namespace reaper::test::cache_refresher_test
