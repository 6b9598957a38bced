// Hosts that would be of most use to a request, as the one that nova-scheduler claims.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::first_hosts_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

const Resources room{{"VCPU", 8}, {"MEMORY_MB", 8192}, {"DISK_GB", 100}};
const Resources small{{"VCPU", 2}, {"MEMORY_MB", 512}, {"DISK_GB", 10}};
const Resources large{{"VCPU", 8}, {"MEMORY_MB", 1024}, {"DISK_GB", 20}};

Host full(const std::string& name, int servers, const Resources& each) {
    Host made = host(name, room);
    for (int i = 0; i < servers; ++i) put(made, revocable(name + std::to_string(i), made.id, each));
    return made;
}

/// On the host a four servers must go for a large one, on b one.
std::vector<std::string> hosts_for(int slots, std::set<std::string> first_hosts,
                                   std::set<std::string> only_hosts = {}) {
    config::Policy policy;
    policy.taggers = {{"project", {{"tag", {"preemptible"}}}}};
    policy.strategy = {"strict", {}};
    const auto compiled = compile_policy(policy);
    if (!compiled) {
        ADD_FAILURE() << compiled.error().what;
        return {};
    }
    CloudView cloud;
    cloud.snapshot = Snapshot{at(0), {full("a", 4, small), full("b", 1, large)}, {}};
    Request wanted = request(large, slots);
    wanted.placement.first_hosts = std::move(first_hosts);
    wanted.placement.only_hosts = std::move(only_hosts);
    std::vector<std::string> names;
    for (const HostPlan& host : host_plans(decide(**compiled, wanted, cloud, Ledger{})))
        names.push_back(host.host_name);
    return names;
}

TEST(FirstHosts, RoomIsFreedThereThoughItIsCheaperElsewhere) {
    EXPECT_THAT(hosts_for(1, {}), ElementsAre("b"));
    EXPECT_THAT(hosts_for(1, {"a"}), ElementsAre("a"));
}

TEST(FirstHosts, WhereTheyCantGiveAllOfItAnyHostWillDo) {
    EXPECT_THAT(hosts_for(2, {"a"}), UnorderedElementsAre("a", "b"));
    EXPECT_THAT(hosts_for(1, {"gone"}), ElementsAre("b"));
    EXPECT_THAT(hosts_for(1, {"gone"}, {"a"}), ElementsAre("a"));
}

}  // namespace
}  // namespace reaper::first_hosts_test
