// Our real clients against the simulated cloud, over a real socket: they read what the cloud has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/openstack/openstack.hpp"
#include "tests/clients/http/client_harness.hpp"
#include "tests/cloudsim/program/http_server.hpp"
#include "tests/cloudsim/tests/box.hpp"

namespace reaper::cloudsim::test::clients_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ClientsTest : public ::testing::Test {
protected:
    ClientsTest() : server(io, box.site, 0), clock(io, TimePoint(1'790'000'000s)) {
        box.site.set_root("http://127.0.0.1:" + std::to_string(server.port()));
        box.world().settings.page_limit = 2;  // several pages
    }

    OpenStack connect(const std::string& user = "reaper") {
        config::Cloud cloud;
        const UserEntry& who = box.world().settings.users.at(user);
        cloud.credentials.auth_url = box.site.root() + "/identity/v3";
        cloud.credentials.username = user;
        cloud.credentials.password = config::Secret(who.password);
        cloud.credentials.project_name = who.project;
        cloud.region = "RegionOne";
        auto parts = connect_openstack(io.get_executor(), cloud, config::Http{}, clock);
        EXPECT_TRUE(parts);
        return std::move(*parts);
    }
    template <class T>
    T run(Task<T> task) {
        return reaper::test::run(io, std::move(task));
    }

    boost::asio::io_context io;
    Box box;
    HttpServer server;
    reaper::test::ManualClock clock;
};

TEST_F(ClientsTest, LogInAndListAllPages) {
    std::vector<std::string> ids;
    for (const char* host : {"host-1", "host-2", "host-3"})
        ids.push_back(box.boot("small", "spot", host));
    ids.push_back(box.boot("small", "regular", "host-1"));
    auto parts = connect();
    const auto who = run(parts.session->authenticate());
    ASSERT_TRUE(who) << who.error().what;
    EXPECT_EQ(who->project_name, "service");
    const auto servers = run(parts.compute->servers(nullptr));
    ASSERT_TRUE(servers) << servers.error().what;
    EXPECT_THAT(*servers, SizeIs(4));
    for (const ServerRecord& each : *servers) {
        EXPECT_EQ(each.server.status, "ACTIVE");
        EXPECT_EQ(each.flavor.vcpus, 2);
    }
    const auto hypervisors = run(parts.compute->hypervisors());
    ASSERT_TRUE(hypervisors) << hypervisors.error().what;
    EXPECT_THAT(*hypervisors, SizeIs(3));
    EXPECT_THAT(*run(parts.compute->compute_services()), SizeIs(3));
    EXPECT_THAT(*run(parts.compute->aggregates()), SizeIs(0));
    EXPECT_THAT(*run(parts.identity->projects_with_tag("preemptible")), SizeIs(1));
    EXPECT_THAT(*run(parts.placement->providers()), SizeIs(3));
}

TEST_F(ClientsTest, SeeWhatAServerHoldsUntilItIsGone) {
    const ServerId id(box.boot("small", "spot", "host-2"));
    auto parts = connect();
    const ProviderId provider(box.provider("host-2"));
    const auto held = run(parts.placement->allocations(id));
    ASSERT_TRUE(held) << held.error().what;
    EXPECT_EQ(held->at(provider).get(ResourceClass("VCPU")), 2);
    const auto state = run(parts.placement->provider(provider));
    ASSERT_TRUE(state) << state.error().what;
    EXPECT_EQ(state->inventories.at(ResourceClass("VCPU")).capacity(), 10);
    EXPECT_TRUE(state->allocations.contains(id));
    const auto deleted = run(parts.compute->delete_server(id, {}));
    ASSERT_TRUE(deleted) << deleted.error().what;
    EXPECT_EQ(*deleted, DeleteAnswer::accepted);
    EXPECT_EQ(run(parts.compute->server(id)).value()->server.task_state, "deleting");
    box.settle();
    EXPECT_FALSE(run(parts.compute->server(id)).value());
    EXPECT_THAT(*run(parts.placement->allocations(id)), SizeIs(0));
    EXPECT_EQ(*run(parts.compute->delete_server(id, {})), DeleteAnswer::gone);
}

TEST_F(ClientsTest, ReserveWhatIsLeftSoThatNothingMoreFits) {
    box.boot("small", "spot", "host-2");
    auto parts = connect();
    ReservedChange all;
    all.provider = ProviderId(box.provider("host-2"));
    all.resource_class = ResourceClass("VCPU");
    all.to = 10;
    const auto set = run(parts.placement->change_reserved(all, 5s));
    ASSERT_TRUE(set) << set.error().what;
    EXPECT_TRUE(set->done);
    const auto state = run(parts.placement->provider(all.provider));
    ASSERT_TRUE(state) << state.error().what;
    EXPECT_EQ(state->inventories.at(all.resource_class).capacity(), 0);
    EXPECT_THAT(state->allocations, SizeIs(1)) << "existing allocations stay";
    std::swap(all.from, all.to);
    EXPECT_TRUE(run(parts.placement->change_reserved(all, 5s))->done);
    EXPECT_EQ(
        run(parts.placement->provider(all.provider))->inventories.at(all.resource_class).capacity(),
        10);
}

TEST_F(ClientsTest, WithoutRightsAreRefused) {
    auto parts = connect("onlooker");
    const auto providers = run(parts.placement->providers());
    ASSERT_FALSE(providers);
    EXPECT_EQ(providers.error().code, Errc::forbidden);
    const auto servers = run(parts.compute->servers(nullptr));
    ASSERT_FALSE(servers);
    EXPECT_EQ(servers.error().code, Errc::forbidden);
}

TEST_F(ClientsTest, ComeThroughABrokenBody) {
    auto parts = connect();
    ASSERT_TRUE(run(parts.session->authenticate()));
    box.call("POST", "/admin/faults",
             {{"pattern", "/placement/resource_providers"}, {"truncate_at", 100}, {"count", 1}});
    box.call("POST", "/admin/faults",
             {{"pattern", "/compute/v2.1/os-services*"}, {"drop", true}, {"count", 1}});
    EXPECT_THAT(*run(parts.placement->providers()), SizeIs(3)) << "asked again";
    EXPECT_THAT(*run(parts.compute->compute_services()), SizeIs(3));
}

}  // namespace
}  // namespace reaper::cloudsim::test::clients_test
