#include "reaper/cloud/cache/assemble.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/reservations/reservation_record.hpp"
#include "tagging/taggers.hpp"

namespace reaper::assemble_test {
namespace {

using namespace reaper::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ResourceClass vcpu{"VCPU"};

Taggers project_tagger_only() {
    const auto* info = find_tagger("project");
    Taggers taggers;
    taggers.push_back(std::move(
        std::get<std::unique_ptr<Tagger>>(info->make(with_standards(info->parameters, {})))));
    return taggers;
}

TagData cheap_projects() {
    return TagData{{{"preemptible", {ProjectId{"cheap"}}}}};
}

ServerRecord record(const std::string& id, const std::string& on, const std::string& project) {
    ServerRecord made;
    made.server.id = ServerId{id};
    made.server.host = on;
    made.server.project = ProjectId{project};
    made.server.status = "ACTIVE";
    return made;
}

/// Two hosts, the first with a nested provider; a server each of a cheap and a usual project.
CloudRecords records() {
    CloudRecords made;
    const ProviderId a{"a-uuid"};
    const ProviderId nested{"a-nested"};
    const ProviderId b{"b-uuid"};
    made.providers = {{nested, "a-numa", a, a}, {b, "b", {}, b}, {a, "a", {}, a}};
    made.states[a].inventories[vcpu] = Inventory{.total = 8};
    made.states[a].traits.emplace("CUSTOM_SSD");
    made.states[a].allocations = {{ServerId{"s1"}, {{"VCPU", 2}}},
                                  {ServerId{"migration"}, {{"VCPU", 1}}}};
    made.states[nested].allocations = {{ServerId{"s1"}, {{"CUSTOM_PREEMPTIBLE", 1}}}};
    made.states[b].inventories[vcpu] = Inventory{.total = 4};
    made.states[b].allocations = {{ServerId{"s2"}, {{"VCPU", 3}}}};
    made.hypervisors = {{b, "b", "service-b", "QEMU"}, {a, "a", "service-a", "QEMU"}};
    made.services = {{"service-a", "az1", true, true, ""},
                     {"service-b", "", false, true, "new disks"}};
    made.aggregates = {{"u1", "fast", {"service-b", "service-a"}, {}},
                       {"u2", "zone two", {"service-b"}, {{"availability_zone", "az2"}}}};
    made.servers = {record("s2", "service-b", "usual"), record("s1", "service-a", "cheap")};
    return made;
}

Snapshot assembled(const CloudRecords& given) {
    return assemble(given, project_tagger_only(), cheap_projects(), at(7));
}

TEST(Assemble, PutsHostsTogetherInOrder) {
    const auto snapshot = assembled(records());
    EXPECT_EQ(snapshot.taken_at, at(7));
    EXPECT_THAT(snapshot.remarks, IsEmpty());
    ASSERT_EQ(snapshot.hosts.size(), 2U);
    const auto& a = snapshot.hosts[0];
    EXPECT_EQ(a.name, "a");
    EXPECT_EQ(a.id, HostId{"a-uuid"});
    EXPECT_EQ(a.service_host, "service-a");
    EXPECT_TRUE(a.enabled && a.up);
    EXPECT_EQ(a.availability_zone, "az1");
    EXPECT_THAT(a.aggregates, ElementsAre("fast"));
    ASSERT_EQ(a.providers.size(), 2U);
    EXPECT_EQ(a.root().id, a.id);
    EXPECT_TRUE(a.root().traits.contains(Trait{"CUSTOM_SSD"}));
    EXPECT_EQ(a.providers[1].id, ProviderId{"a-nested"});
    const auto& b = snapshot.hosts[1];
    EXPECT_FALSE(b.enabled);
    EXPECT_EQ(b.why_unavailable, "new disks");
    EXPECT_EQ(b.availability_zone, "az2") << "of its aggregate";
    EXPECT_THAT(b.aggregates, ElementsAre("fast", "zone two"));
}

TEST(Assemble, CountsAllConsumersAndTellsTheOthers) {
    const auto snapshot = assembled(records());
    const auto& root = snapshot.hosts[0].root();
    EXPECT_EQ(root.used, (Resources{{"VCPU", 3}}));
    ASSERT_EQ(root.other_consumers.size(), 1U);
    EXPECT_EQ(root.other_consumers.begin()->first, ServerId{"migration"});
}

TEST(Assemble, ServersHoldWhatPlacementSaysAndAreTagged) {
    const auto snapshot = assembled(records());
    ASSERT_EQ(snapshot.hosts[0].servers.size(), 1U);
    const auto& cheap = snapshot.hosts[0].servers[0];
    EXPECT_EQ(cheap.resources(), (Resources{{"VCPU", 2}, {"CUSTOM_PREEMPTIBLE", 1}}));
    ASSERT_TRUE(cheap.revocable());
    EXPECT_EQ(*cheap.revocable_because, "its project cheap carries the tag 'preemptible'");
    EXPECT_FALSE(snapshot.hosts[1].servers[0].revocable());
}

TEST(Assemble, HostInNoZoneIsInNovasOwn) {
    auto given = records();
    given.aggregates.clear();
    EXPECT_EQ(assembled(given).hosts[1].availability_zone, "nova");
}

TEST(Assemble, OrderOfTheRecordsPlaysNoPart) {
    auto given = records();
    const auto first = assembled(given);
    std::reverse(given.providers.begin(), given.providers.end());
    std::reverse(given.hypervisors.begin(), given.hypervisors.end());
    std::reverse(given.services.begin(), given.services.end());
    std::reverse(given.servers.begin(), given.servers.end());
    const auto second = assembled(given);
    ASSERT_EQ(first.hosts.size(), second.hosts.size());
    for (std::size_t i = 0; i < first.hosts.size(); ++i) {
        EXPECT_EQ(first.hosts[i].id, second.hosts[i].id);
        EXPECT_EQ(first.hosts[i].providers.size(), second.hosts[i].providers.size());
        for (std::size_t p = 0; p < first.hosts[i].providers.size(); ++p)
            EXPECT_EQ(first.hosts[i].providers[p].id, second.hosts[i].providers[p].id);
    }
}

TEST(Assemble, ProviderWithoutHypervisorIsRemarked) {
    auto given = records();
    given.hypervisors.pop_back();
    const auto snapshot = assembled(given);
    EXPECT_EQ(snapshot.hosts.size(), 1U);
    EXPECT_THAT(snapshot.remarks,
                Contains(HasSubstr("provider a-uuid (a) has no hypervisor in Nova")));
    EXPECT_THAT(snapshot.remarks, Contains(HasSubstr("compute service 'service-a' has no")));
    EXPECT_THAT(snapshot.remarks, Contains(HasSubstr("server s1 is on host 'service-a', which")));
}

TEST(Assemble, TheRegisterOfReservationsIsLeftOutSilently) {
    auto given = records();
    const auto before = assembled(given);
    const ProviderId id{reservation_register::provider_id};
    given.providers.push_back({id, reservation_register::provider_name, {}, id});
    const auto snapshot = assembled(given);
    EXPECT_EQ(snapshot.hosts.size(), before.hosts.size());
    EXPECT_EQ(snapshot.remarks, before.remarks);
}

TEST(Assemble, HypervisorWithoutServiceIsDownAndRemarked) {
    auto given = records();
    given.services.erase(given.services.begin());
    const auto snapshot = assembled(given);
    EXPECT_FALSE(snapshot.hosts[0].up);
    EXPECT_THAT(snapshot.hosts[0].why_unavailable, HasSubstr("no compute service"));
    EXPECT_THAT(snapshot.remarks, ElementsAre(HasSubstr("taken to be down")));
}

TEST(Assemble, HypervisorWithoutProviderIsRemarked) {
    auto given = records();
    std::erase_if(given.providers, [](const auto& p) { return p.id == ProviderId{"b-uuid"}; });
    EXPECT_THAT(assembled(given).remarks,
                Contains(HasSubstr("hypervisor b (b-uuid) has no resource provider")));
}

TEST(Assemble, HostWithAnUnreadProviderIsLeftOut) {
    auto given = records();
    given.states.erase(ProviderId{"a-nested"});
    const auto snapshot = assembled(given);
    EXPECT_EQ(snapshot.hosts.size(), 1U);
    EXPECT_THAT(snapshot.remarks, Contains(HasSubstr("provider a-nested (a-numa) of its tree")));
}

TEST(Assemble, ActiveServerWithoutAllocationIsRemarked) {
    auto given = records();
    given.states[ProviderId{"b-uuid"}].allocations.clear();
    const auto snapshot = assembled(given);
    EXPECT_THAT(snapshot.remarks, ElementsAre(HasSubstr("server s2 is ACTIVE on b, but holds")));
    EXPECT_EQ(snapshot.hosts[1].servers.size(), 1U);
}

TEST(Assemble, ServersWithoutAHostAreNoOddity) {
    auto given = records();
    given.servers.push_back(record("failed", "", "usual"));
    EXPECT_THAT(assembled(given).remarks, IsEmpty());
}

TEST(Assemble, OneServiceWithSeveralHypervisorsPlacesServersByTheirAllocations) {
    auto given = records();
    given.hypervisors[0].service_host = "service-a";  // b
    given.services.pop_back();
    given.servers[0].server.host = "service-a";  // s2 holds room on b
    const auto snapshot = assembled(given);
    ASSERT_EQ(snapshot.hosts[1].servers.size(), 1U);
    EXPECT_EQ(snapshot.hosts[1].servers[0].id, ServerId{"s2"});
}

TEST(Assemble, RemarksShowNoControlCharacters) {
    auto given = records();
    given.servers[0].server.host = "x\x1b[31m\n";
    for (const auto& text : assembled(given).remarks)
        EXPECT_EQ(text.find_first_of("\x1b\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace reaper::assemble_test
