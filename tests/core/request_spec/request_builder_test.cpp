#include "reaper/request_spec/request_builder.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::request_builder_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

FailureNotice notice(FailureEvent event = FailureEvent::build_instances) {
    FailureNotice made;
    made.message_id = "m-1";
    made.event = event;
    made.request_id = RequestId{"req-1"};
    made.exception = "NoValidHost_Remote";
    made.server = ServerId{"server-2"};
    made.spec_server = ServerId{"server-1"};
    made.project = ProjectId{"p"};
    made.flavor = Flavor{"f", 4, 2048, 20, 0, 0, {}};
    made.image_id = "image";
    made.sent_at = at(0);
    return made;
}

Request built(const FailureNotice& given, const RequesterFacts& facts) {
    auto result = build_request(given, facts);
    if (const auto* refused = std::get_if<Refused>(&result)) {
        ADD_FAILURE() << refused->reason;
        return {};
    }
    return std::get<Request>(std::move(result));
}

std::string refusal(const FailureNotice& given, const RequesterFacts& facts) {
    const auto result = build_request(given, facts);
    const auto* refused = std::get_if<Refused>(&result);
    return refused == nullptr ? "not refused" : refused->reason;
}

RequesterFacts facts(const std::string& action, const std::string& host = "") {
    RequesterFacts made;
    if (!action.empty()) made.action.emplace().name = action;
    made.host = host;
    return made;
}

TEST(BuildRequest, MultiCreateIsOneRequestOfNSlots) {
    auto given = notice();
    given.num_instances = 3;
    given.availability_zone = "az1";
    given.flavor->extra_specs = {{"reaper:revocable", "true"}};
    auto known = facts("create");
    known.shown_zone = "az1";
    const auto request = built(given, known);
    EXPECT_EQ(request.flavor_extra_specs, given.flavor->extra_specs);
    EXPECT_EQ(request.id, RequestId{"req-1"});
    EXPECT_EQ(request.operation, Operation::build);
    EXPECT_EQ(request.slots, 3);
    EXPECT_EQ(request.project, ProjectId{"p"});
    EXPECT_EQ(request.resources, (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_THAT(request.requesters, ElementsAre(ServerId{"server-2"}));
    EXPECT_THAT(request.availability_zone, Optional(std::string{"az1"}));
    EXPECT_THAT(request.excluded_hosts, IsEmpty());
    EXPECT_EQ(request.sent_at, at(0));
}

TEST(BuildRequest, Rule4AllMessagesOfOneMultiCreateShareTheKey) {
    auto first = notice();
    first.num_instances = 2;
    auto second = first;
    second.message_id = "m-2";
    second.server = ServerId{"server-1"};
    EXPECT_EQ(request_key(first), request_key(second));
}

TEST(BuildRequest, OfSeveralServersThoseThatNovaKnowsAreServed) {
    auto given = notice();
    given.num_instances = 50;
    auto known = facts("create");
    known.siblings = {given.server, ServerId{"server-1"}, ServerId{"server-3"}};
    known.names = {{ServerId{"server-1"}, "web-1"}, {ServerId{"server-9"}, "no sibling"}};
    const auto request = built(given, known);
    EXPECT_EQ(request.slots, 3);
    EXPECT_THAT(request.requesters,
                ElementsAre(given.server, ServerId{"server-1"}, ServerId{"server-3"}));
    EXPECT_EQ(request.requester_names,
              (std::map<ServerId, std::string>{{ServerId{"server-1"}, "web-1"}}));
    given.num_instances = 2;
    EXPECT_EQ(built(given, known).slots, 2);
    EXPECT_EQ(built(given, known).requesters.size(), 2U);
}

TEST(BuildRequest, NovasWordOnTheServerCountsNotTheMessages) {
    auto given = notice();
    given.flavor = Flavor{"huge", 400, 1 << 20, 20, 0, 0, {}};
    given.project = ProjectId{"forged"};
    given.availability_zone = "forged";
    auto known = facts("create");
    known.project = ProjectId{"p"};
    known.flavor = Flavor{"f", 2, 1024, 10, 0, 0, {{"trait:CUSTOM_A", "required"}}};
    const auto request = built(given, known);
    EXPECT_EQ(request.project, ProjectId{"p"});
    EXPECT_EQ(request.resources, (Resources{{"VCPU", 2}, {"MEMORY_MB", 1024}, {"DISK_GB", 10}}));
    EXPECT_THAT(request.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_EQ(request.availability_zone, std::nullopt);
}

TEST(BuildRequest, AResizeToAFlavorThatNovaDoesNotKnowIsRefused) {
    const auto given = notice(FailureEvent::migrate_server);
    auto known = facts("resize", "host-1");
    known.flavor = given.flavor;
    EXPECT_THAT(refusal(given, known), HasSubstr("Nova knows no flavor"));
    known.new_flavor = Flavor{"f2", 8, 4096, 20, 0, 0, {}};
    EXPECT_EQ(built(given, known).resources.get(ResourceClass{"VCPU"}), 8);
}

/// The next try of its user found a host; the message of the first one comes late, or again.
TEST(BuildRequest, AResizeThatWasDoneSinceIsRefused) {
    const auto given = notice(FailureEvent::migrate_server);
    auto known = facts("resize", "host-1");
    known.new_flavor = Flavor{"f2", 8, 4096, 20, 0, 0, {}};
    known.flavor = known.new_flavor;
    EXPECT_THAT(refusal(given, known), HasSubstr("was resized to flavor 'f2' since"));
    known.flavor->name = "f1";
    EXPECT_EQ(built(given, known).resources.get(ResourceClass{"VCPU"}), 8);
}

TEST(BuildRequest, ItsTimeIsNovasWithinAMinute) {
    auto given = notice();
    auto known = facts("create");
    known.fault = Fault{FailureCause::no_valid_host, "", at(1000)};
    given.sent_at = at(1030);
    EXPECT_EQ(built(given, known).sent_at, at(1030));
    given.sent_at = at(100'000);
    EXPECT_EQ(built(given, known).sent_at, at(1060));
    given.sent_at = at(0);
    EXPECT_EQ(built(given, known).sent_at, at(940));
}

TEST(BuildRequest, ExhaustedRetriesAreOneSlotEachWithAKeyOfTheirOwn) {
    for (const auto* exception : {"MaxRetriesExceeded", "MaxRetriesExceeded_Remote"}) {
        auto given = notice();
        given.exception = exception;
        given.num_instances = 3;
        EXPECT_EQ(request_key(given), RequestId{"req-1/server-2"});
        const auto request = built(given, facts("create"));
        EXPECT_EQ(request.slots, 1);
        EXPECT_EQ(request.id, request_key(given));
    }
}

TEST(BuildRequest, AMoveHasOneKeyWhateverItsMessageSays) {
    auto given = notice(FailureEvent::migrate_server);
    given.exception = "MaxRetriesExceeded";
    EXPECT_EQ(request_key(given), RequestId{"req-1"});
}

struct Moved {
    FailureEvent event;
    const char* action;
    Operation operation;
};

class MovedServer : public ::testing::TestWithParam<Moved> {};

TEST_P(MovedServer, LeavesItsOwnHost) {
    auto given = notice(GetParam().event);
    given.num_instances = 5;
    auto known = facts(GetParam().action, "host-1");
    known.flavor = known.new_flavor = given.flavor;
    known.flavor->name = "its own";
    const auto request = built(given, known);
    EXPECT_EQ(request.operation, GetParam().operation);
    EXPECT_EQ(request.slots, 1);
    ASSERT_EQ(request.excluded_hosts.size(), 1U);
    EXPECT_EQ(request.excluded_hosts.begin()->first, "host-1");
    EXPECT_THAT(request.excluded_hosts.begin()->second, HasSubstr("the server"));
}

INSTANTIATE_TEST_SUITE_P(
    Actions, MovedServer,
    ::testing::Values(Moved{FailureEvent::migrate_server, "resize", Operation::resize},
                      Moved{FailureEvent::migrate_server, "migrate", Operation::migrate},
                      Moved{FailureEvent::migrate_server, "live-migration",
                            Operation::live_migrate},
                      Moved{FailureEvent::rebuild_server, "evacuate", Operation::evacuate}));

TEST(BuildRequest, LiveMigrationTakesTheServersOwnFlavor) {
    auto given = notice(FailureEvent::migrate_server);
    given.flavor.reset();
    given.image_id.reset();
    auto known = facts("live-migration", "host-1");
    known.flavor = Flavor{"own", 2, 512, 10, 0, 0, {}};
    EXPECT_EQ(built(given, known).resources,
              (Resources{{"VCPU", 2}, {"MEMORY_MB", 512}, {"DISK_GB", 10}}));
    known.boot_from_volume = true;
    EXPECT_EQ(built(given, known).resources, (Resources{{"VCPU", 2}, {"MEMORY_MB", 512}}));
    known.flavor.reset();
    EXPECT_THAT(refusal(given, known), HasSubstr("flavor"));
}

TEST(BuildRequest, AMigrationWithoutAnActionIsClassifiedByItsFlavor) {
    auto given = notice(FailureEvent::migrate_server);
    auto known = facts("", "host-1");
    known.flavor = given.flavor;
    EXPECT_EQ(built(given, known).operation, Operation::migrate);
    known.flavor->vcpus = 1;
    EXPECT_EQ(built(given, known).operation, Operation::resize);
    given.flavor.reset();
    EXPECT_EQ(built(given, known).operation, Operation::live_migrate);
}

TEST(BuildRequest, BootFromVolumeTakesNoRootDisk) {
    auto given = notice();
    auto known = facts("create");
    known.boot_from_volume = true;
    EXPECT_EQ(built(given, known).resources, (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}}));
}

TEST(BuildRequest, TraitsOfTheFlavorAreKept) {
    auto given = notice();
    given.flavor->extra_specs = {
        {"trait:CUSTOM_A", "required"},  {"resources1:VGPU", "1"},
        {"trait1:CUSTOM_B", "required"}, {"trait:CUSTOM_C", "forbidden"},
        {"trait:CUSTOM_D", "preferred"}, {"hw:cpu_thread_policy", "isolate"}};
    const auto request = built(given, facts("create"));
    EXPECT_THAT(request.required_traits, ElementsAre(Trait{"CUSTOM_A"}));
    EXPECT_THAT(request.forbidden_traits,
                ElementsAre(Trait{"CUSTOM_C"}, Trait{"HW_CPU_HYPERTHREADING"}));
    ASSERT_EQ(request.groups.size(), 1U);
    EXPECT_EQ(request.groups[0].suffix, "1");
    EXPECT_EQ(request.groups[0].resources, (Resources{{"VGPU", 1}}));
    EXPECT_THAT(request.groups[0].required_traits, ElementsAre(Trait{"CUSTOM_B"}));
    EXPECT_EQ(request.group_policy, std::nullopt);
    EXPECT_EQ(request.resources.get(ResourceClass{"VGPU"}), 1) << "of the groups too";
}

TEST(BuildRequest, GroupsOfTheFlavorAreKeptApart) {
    auto given = notice();
    given.flavor->extra_specs = {{"resources1:VGPU", "1"},
                                 {"trait1:CUSTOM_B", "required"},
                                 {"resources2:VGPU", "1"},
                                 {"resources2:VCPU", "2"},
                                 {"group_policy", "isolate"}};
    const auto request = built(given, facts("create"));
    EXPECT_EQ(request.resources,
              (Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}, {"VGPU", 2}}));
    EXPECT_EQ(ungrouped_resources(request), (Resources{{"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_THAT(request.required_traits, IsEmpty());
    ASSERT_EQ(request.groups.size(), 2U);
    EXPECT_EQ(request.groups[0].resources, (Resources{{"VGPU", 1}}));
    EXPECT_THAT(request.groups[0].required_traits, ElementsAre(Trait{"CUSTOM_B"}));
    EXPECT_EQ(request.groups[1].resources, (Resources{{"VCPU", 2}, {"VGPU", 1}}));
    EXPECT_EQ(request.group_policy, GroupPolicy::isolate);
    given.flavor->extra_specs.erase("group_policy");
    EXPECT_THAT(refusal(given, facts("create")), HasSubstr("without a group_policy"));
}

/// Nova's query then has a place in a group without resources, which Placement refuses.
TEST(BuildRequest, WhatIsAllInGroupsHasNoPlaceToAskFor) {
    auto given = notice();
    given.flavor->extra_specs = {
        {"resources1:VCPU", "2"}, {"resources1:MEMORY_MB", "1024"}, {"resources1:DISK_GB", "10"}};
    EXPECT_TRUE(ungrouped_resources(built(given, facts("create"))).empty());
    auto known = facts("create");
    known.zone = "east";
    EXPECT_THAT(refusal(given, known), HasSubstr("are in groups, and it asks for an availability"));
}

TEST(BuildRequest, RefusesWhatNoRoomCanHelp) {
    auto gone = facts("create");
    gone.exists = false;
    EXPECT_THAT(refusal(notice(), gone), HasSubstr("server-2 is gone"));
    auto deleting = facts("create");
    deleting.deleting = true;
    EXPECT_THAT(refusal(notice(), deleting), HasSubstr("server-2 is being deleted"));
    const auto rebuild = notice(FailureEvent::rebuild_server);
    EXPECT_THAT(refusal(rebuild, facts("rebuild", "h")), HasSubstr("stays on its host"));
    EXPECT_THAT(refusal(rebuild, facts("", "h")), HasSubstr("does not say"));
    auto bad = notice();
    bad.flavor->extra_specs = {{"resources1:VGPU", "1"}, {"resources2:VGPU", "1"}};
    EXPECT_THAT(refusal(bad, facts("create")), HasSubstr("2 groups of resources without a"));
    bad.flavor->extra_specs = {{"trait_a:CUSTOM_A", "required"}};
    EXPECT_THAT(refusal(bad, facts("create")), HasSubstr("traits of group '_a'"));
    bad.flavor->extra_specs = {{"hw:tpm_version", "2.0"}};
    bad.image = {{"hw_tpm_version", "1.2"}};
    EXPECT_THAT(refusal(bad, facts("create")), HasSubstr("hw:tpm_version is '2.0'"));
}

TEST(WhyExpired, JustInTimeAndJustTooLate) {
    Request request;
    request.sent_at = at(0);
    request.deadline = at(600);
    EXPECT_EQ(why_expired(request, at(600)), std::nullopt);
    EXPECT_THAT(why_expired(request, at(600) + Duration{1}),
                Optional(HasSubstr("10min old; what is older than 10min")));
    EXPECT_EQ(why_expired(request, at(-60)), std::nullopt) << "a clock that is ahead";
    request.deadline = {};
    EXPECT_EQ(why_expired(request, at(6000)), std::nullopt) << "no deadline";
}

TEST(BuildRequest, WhatTheSearchForHostsToldBindsTheRequest) {
    auto known = facts("create");
    known.schedule = Schedule{};
    known.schedule->placement.only_hosts = {"h1"};
    known.schedule->ignored_hosts = {"h2"};
    known.schedule->required_traits = {Trait{"CUSTOM_IMAGE"}};
    known.schedule->availability_zone = "az-of-search";
    known.action.reset();
    known.group = ServerGroup{"g", "n", "anti-affinity", 1, {}};
    auto given = notice();
    const auto request = built(given, known);
    EXPECT_THAT(request.placement.only_hosts, ElementsAre("h1"));
    EXPECT_EQ(request.placement.group.id, "g");
    EXPECT_TRUE(request.excluded_hosts.contains("h2"));
    EXPECT_TRUE(request.required_traits.contains(Trait{"CUSTOM_IMAGE"}));
    EXPECT_THAT(request.availability_zone, Optional(std::string{"az-of-search"}));
    given.availability_zone = "az-of-message";
    EXPECT_THAT(built(given, known).availability_zone, Optional(std::string{"az-of-message"}));
}

TEST(BuildRequest, WhatTheServerWasMadeForBinds) {
    auto known = facts("live-migration");
    known.zone = "az-of-server";
    known.same_host = {ServerId{"near"}};
    known.different_host = {ServerId{"far"}};
    auto given = notice();
    const auto request = built(given, known);
    EXPECT_THAT(request.availability_zone, Optional(std::string{"az-of-server"}));
    EXPECT_THAT(request.placement.with, ElementsAre(ServerId{"near"}));
    EXPECT_THAT(request.placement.apart_from, ElementsAre(ServerId{"far"}));
    // A message does not take back what Nova itself tells.
    known.schedule = Schedule{};
    known.schedule->availability_zone = "az-of-search";
    given.availability_zone = "az-of-message";
    EXPECT_EQ(built(given, known).placement, request.placement);
    EXPECT_THAT(built(given, known).availability_zone, Optional(std::string{"az-of-server"}));
}

TEST(BuildRequest, ASoftServerGroupBindsNoServer) {
    auto known = facts("create");
    known.group = ServerGroup{"g", "n", "soft-anti-affinity", 1, {}};
    EXPECT_EQ(built(notice(), known).placement, PlacementConstraints{});
}

TEST(BuildRequest, AnUnshelvingTakesTheFlavorOfTheServer) {
    auto given = notice(FailureEvent::unshelve_server);
    given.flavor.reset();
    given.image_id.reset();
    auto known = facts("");
    known.flavor = Flavor{"f", 4, 2048, 20, 0, 0, {}};
    const auto request = built(given, known);
    EXPECT_EQ(request.operation, Operation::unshelve);
    EXPECT_EQ(request.slots, 1);
    EXPECT_EQ(request.resources, (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_THAT(request.excluded_hosts, IsEmpty());
    known.boot_from_volume = true;
    EXPECT_EQ(built(given, known).resources.get(ResourceClass{"DISK_GB"}), 0);
}

TEST(BuildRequest, TraitsOfTheImageCountLikeThoseOfTheFlavor) {
    auto known = facts("create");
    known.image_properties = {{"trait:CUSTOM_IMAGE", "required"},
                              {"trait:CUSTOM_OLD", "forbidden"},
                              {"os_distro", "debian"}};
    auto given = notice();
    given.flavor->extra_specs = {{"trait:CUSTOM_FLAVOR", "required"}};
    const auto request = built(given, known);
    EXPECT_THAT(request.required_traits,
                ElementsAre(Trait{"CUSTOM_FLAVOR"}, Trait{"CUSTOM_IMAGE"}));
    EXPECT_THAT(request.forbidden_traits, IsEmpty()) << "an image may only require";
}

TEST(BuildRequest, PciDevicesCountWhereNovaAsksPlacementForThem) {
    auto given = notice();
    given.pci = {{"id", 1, "CUSTOM_GPU", "", "", ""}};
    auto known = facts("create");
    known.release = NovaRelease::r2023_1;
    SchedulerRules rules;
    EXPECT_THAT(built(given, known).groups, IsEmpty());
    rules.pci_in_placement = true;
    const auto request = std::get<Request>(build_request(given, known, rules));
    ASSERT_EQ(request.groups.size(), 1U);
    EXPECT_EQ(request.resources.get(ResourceClass{"CUSTOM_GPU"}), 1);
    rules.release = NovaRelease::zed;
    EXPECT_THAT(std::get<Request>(build_request(given, known, rules)).groups, IsEmpty());
}

TEST(BuildRequest, WhatNovaTookOverOfTheImageGoesBeforeWhatItIsNow) {
    auto known = facts("resize", "host-1");
    known.image_properties = {{"hw_cpu_policy", "dedicated"},
                              {"hw_tpm_version", "2.0"},
                              {"trait:CUSTOM_IMAGE", "required"}};
    auto given = notice(FailureEvent::migrate_server);
    known.new_flavor = given.flavor;
    given.image = {{"disk_format", "raw"}};
    auto request = built(given, known);
    EXPECT_EQ(request.resources.get(ResourceClass{"VCPU"}), 4);
    EXPECT_THAT(request.required_traits, ElementsAre(Trait{"CUSTOM_IMAGE"}))
        << "the message leaves out traits alone";
    given.image.clear();
    known.kept_image = {{"hw_cpu_policy", "shared"}, {"hw_tpm_version", "1.2"}};
    EXPECT_THAT(built(given, known).required_traits,
                ElementsAre(Trait{"COMPUTE_SECURITY_TPM_1_2"}, Trait{"CUSTOM_IMAGE"}));
    known.schedule = Schedule{};
    known.schedule->image = {{"hw_tpm_version", "2.0"}};
    EXPECT_THAT(built(given, known).required_traits,
                ElementsAre(Trait{"COMPUTE_SECURITY_TPM_1_2"}, Trait{"CUSTOM_IMAGE"}))
        << "no message goes before Nova's API";
    known.kept_image.clear();
    EXPECT_THAT(built(given, known).required_traits,
                ElementsAre(Trait{"COMPUTE_SECURITY_TPM_2_0"}, Trait{"CUSTOM_IMAGE"}));
    known.schedule.reset();
    request = built(given, known);
    EXPECT_EQ(request.resources.get(ResourceClass{"PCPU"}), 4) << "there is no other source";
    auto boot = facts("create");
    boot.image_properties = known.image_properties;
    auto forged = notice();
    forged.image = {{"hw_cpu_policy", "shared"}};
    EXPECT_EQ(built(forged, boot).resources.get(ResourceClass{"PCPU"}), 4)
        << "of a boot the image service tells it, not the message";
    ASSERT_TRUE(request.fallback.has_value());
    EXPECT_EQ(request.fallback->resources,
              (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
}

}  // namespace
}  // namespace reaper::request_builder_test
