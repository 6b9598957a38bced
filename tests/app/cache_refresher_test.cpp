#include "reaper/cloud_reader/cache_refresher.hpp"

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

}  // namespace
}  // namespace reaper::test::cache_refresher_test
