// `reaper hosts --host ... --project ...`, and how names of hosts are put in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/cli/cloud/hosts_command.hpp"
#include "reaper/report/table.hpp"

namespace reaper::cli::host_filters_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Server server(const char* id, const char* project, const char* flavor, bool revocable) {
    Server made;
    made.id = ServerId{id};
    made.project = ProjectId{project};
    made.flavor_name = flavor;
    if (revocable) made.revocable_because = "its project";
    return made;
}

Host host(const char* name, const char* zone, std::vector<Server> servers) {
    Host made;
    made.id = HostId{std::string{"id-"} + name};
    made.name = name;
    made.service_host = std::string{"svc-"} + name;
    made.availability_zone = zone;
    made.servers = std::move(servers);
    return made;
}

Snapshot cloud() {
    Snapshot made;
    made.hosts.push_back(host("host-10", "east", {server("s-1", "web", "small", true)}));
    made.hosts.push_back(
        host("host-2", "west",
             {server("s-2", "web", "large", false), server("s-3", "batch", "small", true)}));
    return made;
}

std::vector<std::string> hosts(HostFilters filters) {
    filters.host = host_in(cloud(), filters.host).value();
    std::vector<std::string> names;
    for (const Host& each : filtered(cloud(), filters, false).hosts) names.push_back(each.name);
    return names;
}

std::vector<std::string> servers(const HostFilters& filters) {
    std::vector<std::string> ids;
    for (const Host& each : filtered(cloud(), filters, true).hosts)
        for (const Server& one : each.servers) ids.push_back(one.id.str());
    return ids;
}

TEST(HostFilters, ChooseHostsAndServers) {
    EXPECT_THAT(hosts({}), ElementsAre("host-2", "host-10"));
    for (const char* const written : {"host-10", "svc-host-10", "id-host-10"})
        EXPECT_THAT(hosts({.host = written}), ElementsAre("host-10"));
    EXPECT_THAT(hosts({.zone = "west"}), ElementsAre("host-2"));
    EXPECT_THAT(hosts({.project = "batch"}), ElementsAre("host-2"));
    EXPECT_THAT(servers({.project = "web"}), ElementsAre("s-2", "s-1"));
    EXPECT_THAT(servers({.flavor = "small"}), ElementsAre("s-3", "s-1"));
    EXPECT_THAT(servers({.type = "regular"}), ElementsAre("s-2"));
    EXPECT_THAT(servers({.zone = "east", .type = "regular"}), IsEmpty());
}

TEST(HostFilters, AHostThatIsNotThereIsReported) {
    EXPECT_EQ(host_in(cloud(), "").value(), "");
    EXPECT_EQ(host_in(cloud(), "host-3").error().code, Errc::not_found);
    EXPECT_THAT(host_in(cloud(), "host-3").error().what,
                HasSubstr("there is no host 'host-3' in this cloud, by name or id; did you mean "
                          "'host-2' or 'host-10'?"));
}

TEST(HostFilters, AFlavorIsThereIfAServerIsOfIt) {
    EXPECT_TRUE(has_flavor(cloud(), ""));
    EXPECT_TRUE(has_flavor(cloud(), "small"));
    EXPECT_FALSE(has_flavor(cloud(), "nosuch"));
}

TEST(HostFilters, AProjectIsFoundByItsIdOrItsName) {
    Snapshot named = cloud();
    named.project_names = {{ProjectId{"batch"}, "night"},
                           {ProjectId{"idle"}, "web"},
                           {ProjectId{"p-1"}, "twice"},
                           {ProjectId{"p-2"}, "twice"}};
    EXPECT_EQ(project_in(named, "").value(), "");
    EXPECT_EQ(project_in(named, "night").value(), "batch");
    EXPECT_EQ(project_in(named, "web").value(), "web") << "an id before another's name";
    EXPECT_EQ(project_in(named, "idle").value(), "idle") << "it has no servers";
    EXPECT_EQ(project_in(named, "no-such").error().code, Errc::not_found);
    const auto several = project_in(named, "twice");
    EXPECT_EQ(several.error().code, Errc::bad_input);
    EXPECT_THAT(several.error().what, HasSubstr("p-1, p-2"));
}

TEST(NaturalOrder, NumbersCountAsNumbers) {
    using report::natural_less;
    EXPECT_TRUE(natural_less("host-2", "host-10"));
    EXPECT_FALSE(natural_less("host-10", "host-2"));
    EXPECT_TRUE(natural_less("a", "b"));
    EXPECT_TRUE(natural_less("a", "a1"));
    EXPECT_TRUE(natural_less("a1b2", "a1b10"));
    EXPECT_FALSE(natural_less("a", "a"));
    EXPECT_NE(natural_less("a01", "a1"), natural_less("a1", "a01")) << "one of them is first";
}

}  // namespace
}  // namespace reaper::cli::host_filters_test
