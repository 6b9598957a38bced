// What tagging by resource class costs: calls for each provider, not for each server.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "app/reaper_under_test.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::tagging_reads_test {
namespace {

const Resources spot{{"VCPU", 1}, {"CUSTOM_PREEMPTIBLE", 1}};

class TaggingReads : public ReaperUnderTest {
protected:
    TaggingReads() { settings.policy.taggers.front().name = "resource"; }
    void fill(int servers_on_each) {
        for (const char* host : {"h1", "h2"}) {
            cloud.add_host(host, Resources{{"VCPU", 64}, {"CUSTOM_PREEMPTIBLE", 64}});
            for (int i = 0; i < servers_on_each; ++i)
                cloud.add_server(std::string{host} + "-" + std::to_string(i), host, "any", spot);
        }
    }
    Snapshot read() {
        const auto policy = compile_policy(settings.policy).value();
        boost::asio::io_context io{1};
        UnfinishedDeletions unfinished{cloud.ports()};
        return run_task(io, read_cloud(cloud.ports(), unfinished, policy->taggers,
                                       CloudDepth::exact, {}))
            .value()
            .snapshot;
    }
    std::size_t known_servers() {
        std::size_t all = 0;
        for (const Host* host : service().view()->cache.hosts()) all += host->servers.size();
        return all;
    }
};

TEST_F(TaggingReads, OneReadingForEachProviderHoweverManyServersHoldTheClass) {
    for (const int servers : {2, 40}) {
        cloud.clear();
        fill(servers);
        std::size_t revocable = 0;
        for (const Host& host : read().hosts)
            for (const Server& server : host.servers) revocable += server.revocable() ? 1U : 0U;
        EXPECT_EQ(revocable, static_cast<std::size_t>(2 * servers));
        EXPECT_EQ(cloud.count("provider "), 2U);
        EXPECT_EQ(cloud.count("allocations "), 0U);
        EXPECT_EQ(cloud.count("server "), 0U);
    }
}

/// Placement does not count a deletion in the provider's generation: nothing here may rest on it.
TEST_F(TaggingReads, ADeletionWithoutAnEventIsNoticedWhenTheHostIsReadAgain) {
    fill(3);
    with_events = true;
    settings.cache.host_max_age = std::chrono::minutes{1};
    start();
    run_until([&] { return service().view().has_value() && known_servers() == 6; });
    const auto bulk = std::count(cloud.calls.begin(), cloud.calls.end(), "servers");
    cloud.remove("h1-0");
    run_until([&] { return known_servers() == 5; });
    EXPECT_EQ(std::count(cloud.calls.begin(), cloud.calls.end(), "servers"), bulk)
        << "by reading the host, not the whole cloud";
}

}  // namespace
}  // namespace reaper::test::tagging_reads_test
