#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/oversubscription_builder.hpp"
#include "reaper/oversubscription/host_facts.hpp"

namespace reaper::named_hosts_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Texts = std::vector<std::string>;

HostFacts host(const std::string& name, std::set<std::string> aggregates = {}) {
    HostFacts facts;
    facts.name = name + ".example.org";
    facts.service_host = name;
    facts.aggregates = std::move(aggregates);
    return facts;
}

const std::vector<HostFacts> cloud{host("c1", {"ssd", "0a1b"}), host("c2"), host("gpu1", {"gpu"})};

/// `KEY: DETAIL` of each; `?` before what covers hosts.
Texts told(const Texts& hosts, const Texts& aggregates, const Texts& overrides,
           const std::vector<HostFacts>& all = cloud) {
    const auto estimator = estimator_of("fixed", {{"overrides", overrides}});
    Texts lines;
    for (const auto& name : idle_names(hosts, aggregates, *estimator, all))
        lines.push_back((name.no_host ? "" : "?") + name.key + ": " + name.detail);
    return lines;
}

TEST(IdleNames, NamesThatCoverHostsAreNotTold) {
    EXPECT_THAT(told({"*"}, {}, {}), IsEmpty());
    EXPECT_THAT(told({"c?", "gpu1.example.org"}, {"ssd", "gpu"}, {}), IsEmpty());
    EXPECT_THAT(told({"*"}, {}, {"c2=1", "c1.*=2", "aggregate:0a1b=3", "*=4"}), IsEmpty());
}

TEST(IdleNames, EachOneThatCoversNoHostIsReportedWithItsKey) {
    const std::string name =
        " covers none of 3 hosts: no hypervisor and no nova-compute service has such a name; "
        "correct it, or take it out";
    const std::string aggregate =
        " covers none of 3 hosts: none is in an aggregate of that name or UUID; correct it, or "
        "take it out";
    EXPECT_THAT(told({"c*", "d*"}, {"ssd", "sdd"}, {"c3=5", "aggregate:hdd=0", "c1=2"}),
                ElementsAre("oversubscription.hosts: 'd*'" + name,
                            "oversubscription.aggregates: 'sdd'" + aggregate,
                            "oversubscription.estimator.overrides: 'c3=5'" + name,
                            "oversubscription.estimator.overrides: 'aggregate:hdd=0'" + aggregate));
}

TEST(IdleNames, AnAggregateIsNoHostAndAHostIsNoAggregate) {
    EXPECT_EQ(told({"*"}, {}, {"ssd=5"}).size(), 1U);
    EXPECT_EQ(told({"*"}, {}, {"aggregate:c1=5"}).size(), 1U);
}

TEST(IdleNames, HostsOfWhichNoRoomIsSoldAreDistinguished) {
    EXPECT_THAT(told({"c*"}, {}, {"gpu*=5", "*=2"}),
                ElementsAre("?oversubscription.estimator.overrides: 'gpu*=5' covers 1 host, and "
                            "room of none is sold: oversubscription.hosts and "
                            "oversubscription.aggregates leave them out"));
}

TEST(IdleNames, NothingIsSaidOfACloudWithoutHosts) {
    EXPECT_THAT(told({"c*"}, {"ssd"}, {"c3=5"}, {}), IsEmpty());
}

}  // namespace
}  // namespace reaper::named_hosts_test
