#include "reaper/oversubscription/host_facts.hpp"

#include <gtest/gtest.h>

namespace reaper::host_facts_test {
namespace {

const ResourceClass vcpu{"VCPU"};
const ResourceClass room{"CUSTOM_REVOCABLE_VCPU"};

Host some_host() {
    Host host;
    host.id = HostId{"h1"};
    host.name = "compute-1.example.org";
    host.service_host = "Compute-1";
    host.aggregates = {"fast"};
    host.member_of = HostAggregates{{"u-1", HostAggregate{"fast", {}}}};
    Provider root;
    root.id = host.id;
    root.inventories[vcpu] = Inventory{.total = 16, .reserved = 2, .allocation_ratio = 4};
    root.used = Resources{{"VCPU", 24}, {"MEMORY_MB", 512}};
    Provider nested;
    nested.id = ProviderId{"n1"};
    nested.parent = host.id;
    nested.inventories[room] = Inventory{.total = 6};
    nested.used = Resources{{"CUSTOM_REVOCABLE_VCPU", 3}};
    host.providers = {root, nested};
    return host;
}

HostFacts named(const char* id, const char* name, const char* service) {
    HostFacts facts;
    facts.id = HostId{id};
    facts.name = name;
    facts.service_host = service;
    return facts;
}

TEST(HostFactsOfAHost, AreThoseOfItsOrdinaryRoom) {
    const HostFacts facts = facts_of(some_host());
    EXPECT_EQ(facts.vcpus, 14);
    EXPECT_EQ(facts.allocated, 24);
    EXPECT_DOUBLE_EQ(facts.allocation_ratio, 4);
    EXPECT_EQ(facts.aggregates, (std::set<std::string>{"fast", "u-1"}));
}

TEST(HostFactsOfAHost, OfABulkAnswerOnlyTheProductIsKnown) {
    Host host = some_host();
    EXPECT_TRUE(facts_of(host).exact);
    host.providers.front().inventories[vcpu] = {.total = 56, .capacity_only = true};
    EXPECT_FALSE(facts_of(host).exact);
}

TEST(HostFactsOfAHost, NovasListsTellItsAggregates) {
    const HypervisorRecord record{HostId{"h1"}, "compute-1.example.org", "compute-1", "QEMU"};
    const HostFacts facts = facts_of(record, {{"u-1", "fast", {"compute-0", "compute-1"}, {}},
                                              {"u-2", "slow", {"compute-1.example.org"}, {}}});
    EXPECT_EQ(facts.id, HostId{"h1"});
    EXPECT_EQ(facts.aggregates, (std::set<std::string>{"fast", "u-1"}));
}

TEST(SellsRoom, ByPatternAndAggregate) {
    const HostFacts facts = facts_of(some_host());
    EXPECT_TRUE(sells_room(facts, {"*"}, {}));
    EXPECT_TRUE(sells_room(facts, {"other", "compute-1.*"}, {}));
    EXPECT_TRUE(sells_room(facts, {"Compute-1"}, {"slow", "u-1"}));
    EXPECT_FALSE(sells_room(facts, {"compute-2*"}, {"fast"})) << "both must hold";
    EXPECT_FALSE(sells_room(facts, {"*"}, {"slow"}));
}

TEST(HostNames, TakeNamesWithAndWithoutAPort) {
    HostNames names;
    names.add(facts_of(some_host()));
    const HostId h1{"h1"};
    EXPECT_EQ(names.find("compute-1"), h1);
    EXPECT_EQ(names.find("COMPUTE-1:9100"), h1);
    EXPECT_EQ(names.find("compute-1.example.org:9100"), h1);
    EXPECT_EQ(names.find("compute-1:"), std::nullopt);
    EXPECT_EQ(names.find("compute-1:http"), std::nullopt);
    EXPECT_EQ(names.find("compute-10:9100"), std::nullopt);
    EXPECT_EQ(names.find(""), std::nullopt);
}

TEST(HostNames, TakeAddresses) {
    HostNames names;
    names.add(named("h1", "fd00::7", "10.0.0.7"));
    EXPECT_EQ(names.find("10.0.0.7:9100"), HostId{"h1"});
    EXPECT_EQ(names.find("[fd00::7]:9100"), HostId{"h1"});
    EXPECT_EQ(names.find("fd00::7"), HostId{"h1"});
}

TEST(HostNames, WhatTwoHostsAreCalledMeansNeither) {
    HostNames names;
    names.add(named("h1", "a.one", "a"));
    names.add(named("h2", "a.two", "A"));
    names.add(named("h1", "a.one", "a"));
    EXPECT_EQ(names.find("a"), std::nullopt);
    EXPECT_EQ(names.find("a.one"), HostId{"h1"});
}

}  // namespace
}  // namespace reaper::host_facts_test
