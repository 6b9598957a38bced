// Granular groups: one provider each, from the flavor to the plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/model/likeness.hpp"
#include "reaper/planner/host_filter.hpp"
#include "reaper/planner/revocable_room.hpp"
#include "reaper/request_spec/resource_request.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper::groups_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RequestGroup group(const std::string& suffix, const Resources& resources,
                   std::set<Trait> required = {}) {
    RequestGroup made;
    made.suffix = suffix;
    made.resources = resources;
    made.required_traits = std::move(required);
    return made;
}

/// With memory that is in no group.
Request grouped(std::vector<RequestGroup> groups, GroupPolicy policy, int slots = 1) {
    Request made = request(Resources{{"MEMORY_MB", 1024}} + sum_of(groups), slots);
    made.groups = std::move(groups);
    made.group_policy = policy;
    return made;
}

/// A host with GPUs of so many VGPU each.
Host with_gpus(const std::string& name, const std::vector<Amount>& gpus) {
    Host made = host(name, {{"MEMORY_MB", 65536}});
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        Resources capacity;
        capacity.set(ResourceClass{"VGPU"}, gpus[i]);
        nest(made, name + "-gpu" + std::to_string(i), capacity);
    }
    return made;
}

Amount slots_on(const Host& host, const Request& wanted, const Ledger& ledger = {}) {
    const Shape shape = shape_of(wanted);
    const HostRoom room = room_on(host, shape, ledger, wanted.id);
    const Amount slots = room.slots(shape, room.room_now());
    EXPECT_TRUE(room.fits(shape, room.room_now(), slots));
    EXPECT_FALSE(room.fits(shape, room.room_now(), slots + 1));
    return slots;
}

const std::vector<RequestGroup> two_gpus{group("1", {{"VGPU", 1}}), group("2", {{"VGPU", 1}})};

TEST(Groups, IsolatedOnesNeedAProviderEach) {
    const Request apart = grouped(two_gpus, GroupPolicy::isolate);
    EXPECT_EQ(slots_on(with_gpus("a", {8}), apart), 0) << "as many as one likes, on one GPU";
    EXPECT_EQ(slots_on(with_gpus("a", {1, 1}), apart), 1);
    EXPECT_EQ(slots_on(with_gpus("a", {3, 2}), apart), 2);
    EXPECT_EQ(slots_on(with_gpus("a", {2, 2, 2}), apart), 3) << "each pair of GPUs serves one";
    EXPECT_EQ(slots_on(with_gpus("a", {9, 1, 1}), apart), 2);
}

TEST(Groups, SlotsBeyondThoseWantedAreNotSearchedFor) {
    const Request apart =
        grouped({group("1", {{"VGPU", 1}}), group("2", {{"VGPU", 2}})}, GroupPolicy::isolate);
    const Host a = with_gpus("a", {30, 30, 30});
    const Shape shape = shape_of(apart);
    const Ledger ledger;
    const HostRoom room = room_on(a, shape, ledger, apart.id);
    PackingWork of_one;
    EXPECT_EQ(room.slots(shape, room.room_now(), 1, &of_one), 1);
    PackingWork of_all;
    EXPECT_GT(room.slots(shape, room.room_now(), 20, &of_all), 10);
    EXPECT_LT(10 * of_one.steps, of_all.steps);
    const Snapshot cloud{at(0), {a}, {}};
    const CloudIndex index{cloud};
    const std::map<ServerId, std::string> skipped;
    const HostFilter hosts{index, FilterInput{apart, shape, ledger, skipped}, 3};
    ASSERT_EQ(hosts.size(), 1U);
    EXPECT_EQ(hosts[0].slots_possible, 3);
}

TEST(Groups, OthersMayShareAProvider) {
    const Request shared = grouped(two_gpus, GroupPolicy::none);
    EXPECT_EQ(slots_on(with_gpus("a", {8}), shared), 4);
    EXPECT_EQ(slots_on(with_gpus("a", {1, 1}), shared), 1);
    EXPECT_EQ(slots_on(with_gpus("a", {3, 2}), shared), 2);
    Host small = with_gpus("a", {8});
    small.providers[1].inventories[ResourceClass{"VGPU"}].max_unit = 1;
    EXPECT_EQ(slots_on(small, shared), 0) << "a server gets one of a GPU at most";
}

TEST(Groups, AllOfAGroupComesFromOneProvider) {
    Host a = host("a", {{"MEMORY_MB", 65536}});
    nest(a, "nic0", {{"NET_BW_EGR_KILOBIT_PER_SEC", 1000}});
    nest(a, "nic1", {{"NET_BW_EGR_KILOBIT_PER_SEC", 100}, {"SRIOV_NET_VF", 2}});
    const auto wants = [](Amount bandwidth) {
        Resources resources{{"SRIOV_NET_VF", 1}};
        resources.set(ResourceClass{"NET_BW_EGR_KILOBIT_PER_SEC"}, bandwidth);
        return grouped({group("1", resources)}, GroupPolicy::none);
    };
    EXPECT_EQ(slots_on(a, wants(50)), 2);
    EXPECT_EQ(slots_on(a, wants(100)), 1);
    EXPECT_EQ(slots_on(a, wants(500)), 0) << "1000 on the other one are no use";
}

TEST(Groups, EachHasTheTraitsOfItsOwnProvider) {
    Host a = with_gpus("a", {1, 1});
    a.providers[1].traits.emplace("CUSTOM_A100");
    const auto both = [](std::set<Trait> of_second) {
        return grouped({group("1", {{"VGPU", 1}}, {Trait{"CUSTOM_A100"}}),
                        group("2", {{"VGPU", 1}}, std::move(of_second))},
                       GroupPolicy::none);
    };
    EXPECT_EQ(slots_on(a, both({})), 1);
    EXPECT_EQ(slots_on(a, both({Trait{"CUSTOM_A100"}})), 0) << "there is one";
    Request refuses = grouped({group("1", {{"VGPU", 1}})}, GroupPolicy::none);
    refuses.groups[0].forbidden_traits = {Trait{"CUSTOM_A100"}};
    EXPECT_EQ(slots_on(a, refuses), 1);
    a.providers[2].traits.emplace("CUSTOM_A100");
    EXPECT_EQ(slots_on(a, refuses), 0);
}

TEST(Groups, TraitsOfWhatIsInNoneAreThoseOfItsProvidersTogether) {
    Host a = host("a", {{"MEMORY_MB", 65536}});
    nest(a, "cpu0", {{"VCPU", 4}}).traits.emplace("CUSTOM_FAST");
    nest(a, "cpu1", {{"VCPU", 8}});
    Request wanted = request({{"VCPU", 2}, {"MEMORY_MB", 1024}});
    EXPECT_EQ(slots_on(a, wanted), 6);
    wanted.required_traits = {Trait{"CUSTOM_FAST"}};
    EXPECT_EQ(slots_on(a, wanted), 2) << "cpu1 is not fast";
    wanted.required_traits = {};
    wanted.forbidden_traits = {Trait{"CUSTOM_FAST"}};
    EXPECT_EQ(slots_on(a, wanted), 4);
    a.providers[0].traits.emplace("CUSTOM_FAST");
    EXPECT_EQ(slots_on(a, wanted), 0) << "the memory is there";
}

TEST(Groups, OneOfOneClassThatNothingElseBindsMeansNothing) {
    const Request one = grouped({group("1", {{"VGPU", 1}})}, GroupPolicy::isolate);
    EXPECT_EQ(shape_of(one).parts(), nullptr);
    EXPECT_NE(shape_of(grouped(two_gpus, GroupPolicy::none)).parts(), nullptr);
    Request bound = one;
    bound.required_traits = {Trait{"CUSTOM_A"}};
    EXPECT_NE(shape_of(bound).parts(), nullptr) << "its provider does not count for the trait";
}

TEST(Groups, PromisedOnesTakeTheirPartsWhereverTheyHurtMost) {
    const Host a = with_gpus("a", {2, 2, 2});
    Request other = grouped(two_gpus, GroupPolicy::isolate);
    other.id = RequestId{"req-other"};
    HostPlan on_host;
    on_host.host = a.id;
    on_host.slots = 1;
    Plan plan;
    plan.hosts = {on_host};
    Ledger ledger;
    ledger.enter(other, plan, at(0));
    Request whole_gpus = grouped({group("1", {{"VGPU", 2}})}, GroupPolicy::none);
    EXPECT_EQ(slots_on(a, whole_gpus), 3);
    EXPECT_EQ(slots_on(a, whole_gpus, ledger), 1) << "its two may spoil two GPUs";
    Ledger summed;
    other.groups.clear();
    summed.enter(other, plan, at(0));
    EXPECT_EQ(slots_on(a, whole_gpus, summed), 2) << "two from one provider spoil one";
}

TEST(Groups, VictimsGoOnEachProviderThatIsNeeded) {
    Host a = with_gpus("a", {1, 1});
    put(a, revocable("v0", ProviderId{"a-gpu0"}, {{"VGPU", 1}}));
    put(a, revocable("v1", ProviderId{"a-gpu1"}, {{"VGPU", 1}}));
    for (const auto* strategy : {"strict", "strict_time", "chance", "cost"}) {
        const auto decision = plan(grouped(two_gpus, GroupPolicy::isolate),
                                   Snapshot{at(0), {a}, {}}, {}, {}, strategy);
        EXPECT_THAT(victim_ids(decision), ElementsAre("v0", "v1")) << strategy;
    }
}

TEST(Groups, NoServerIsDeletedForRoomOnTheSameProvider) {
    // Two of one GPU would come free, which is no use to groups that exclude each other.
    Host a = with_gpus("a", {2, 1});
    put(a, revocable("v0", ProviderId{"a-gpu0"}, {{"VGPU", 2}}));
    put(a, server("r", ProviderId{"a-gpu1"}, {{"VGPU", 1}}));
    const Snapshot cloud{at(0), {a}, {}};
    const auto apart = plan(grouped(two_gpus, GroupPolicy::isolate), cloud);
    EXPECT_THAT(victim_ids(apart), IsEmpty());
    EXPECT_THAT(rejection_of(apart, "a").reason,
                HasSubstr("a provider for VGPU=1 (group 1), VGPU=1 (group 2) short"));
    EXPECT_THAT(victim_ids(plan(grouped(two_gpus, GroupPolicy::none), cloud)), ElementsAre("v0"));
}

TEST(Groups, AVictimWithoutAPlaceForAGroupIsKept) {
    Host a = with_gpus("a", {1, 1, 1});
    put(a, revocable("v0", ProviderId{"a-gpu0"}, {{"VGPU", 1}}));
    put(a, revocable("v1", ProviderId{"a-gpu1"}, {{"VGPU", 1}}));
    const auto decision =
        plan(grouped(two_gpus, GroupPolicy::isolate), Snapshot{at(0), {a}, {}}, {}, {}, "cost");
    ASSERT_EQ(victim_ids(decision).size(), 1U);
    EXPECT_THAT(std::get<Plan>(decision).victims()[0].reason,
                HasSubstr("keeping it leaves the host 1 VGPU short"));
}

/// One GPU is free, and two servers hold the others.
Snapshot one_of_three_gpus() {
    Host a = with_gpus("a", {1, 1});
    put(a, revocable("a0", ProviderId{"a-gpu0"}, {{"VGPU", 1}}));
    Host b = with_gpus("b", {1});
    put(b, revocable("b0", ProviderId{"b-gpu0"}, {{"VGPU", 1}}));
    return {at(0), {a, b}, {}};
}

TEST(Combinations, ServersOfOneBuildTakeTheSameOne) {
    const Snapshot cloud = one_of_three_gpus();
    for (const bool in_group : {false, true}) {
        Request two = grouped({group("1", {{"VGPU", 1}}, {Trait{"CUSTOM_A"}})}, GroupPolicy::none);
        Snapshot traits = cloud;
        for (Host& host : traits.hosts)
            for (Provider& provider : host.providers) provider.traits.emplace("CUSTOM_A");
        if (!in_group) two.groups.clear();
        two.slots = 2;
        for (const auto* strategy : {"strict", "strict_time", "chance", "cost"})
            EXPECT_THAT(victim_ids(plan(two, traits, {}, {}, strategy)), ElementsAre("b0"))
                << strategy;
        traits.hosts.pop_back();
        const auto none = plan(two, traits);
        ASSERT_TRUE(std::holds_alternative<NotEnough>(none));
        EXPECT_THAT(std::get<NotEnough>(none).reason, HasSubstr("the same combination"));
    }
}

TEST(Combinations, DifferOnlyForBuildsOfSeveralWithoutDevices) {
    Snapshot cloud = one_of_three_gpus();
    put(cloud.hosts[1], revocable("b1", cloud.hosts[1].id, {{"MEMORY_MB", 1024}}));
    cloud.hosts[1].providers[0].inventories[ResourceClass{"MEMORY_MB"}].total = 1024;
    Request two = request({{"VGPU", 1}, {"MEMORY_MB", 1024}}, 2);
    EXPECT_THAT(victim_ids(plan(two, cloud, {}, {}, "cost")), ElementsAre("b0", "b1"));
    Request manual = two;
    manual.operation = Operation::manual;
    EXPECT_THAT(victim_ids(plan(manual, cloud, {}, {}, "cost")), ElementsAre("a0"));
    Request device = two;
    device.flavor_extra_specs = {{"pci_passthrough:alias", "gpu:1"}};
    EXPECT_THAT(victim_ids(plan(device, cloud, {}, {}, "cost")), ElementsAre("a0"));
}

TEST(Combinations, RoomOnEachProviderServesAllWhicheverIsFirst) {
    Host a = with_gpus("a", {4, 5, 1});
    put(a, server("r", ProviderId{"a-gpu2"}, {{"VGPU", 1}}));
    const Snapshot cloud{at(0), {a}, {}};
    PlanOptions options;
    options.one_combination = true;
    const Ledger ledger;
    for (const int slots : {4, 5}) {
        const Request many = request({{"VGPU", 1}, {"MEMORY_MB", 1024}}, slots);
        const CloudIndex index{cloud};
        EXPECT_EQ(slots_possible(many, index, ledger, options), 4);
        EXPECT_EQ(std::holds_alternative<NothingToDo>(plan(many, cloud)), slots == 4);
    }
}

struct Refusal {
    const char* name;
    Request request;
    RejectionCode code;
    const char* reason;
};

class GroupsRefused : public ::testing::TestWithParam<Refusal> {};

TEST_P(GroupsRefused, WithTheReason) {
    Host a = with_gpus("a", {2, 2});
    put(a, revocable("v", ProviderId{"a-gpu0"}, {{"VGPU", 2}}));
    a.providers[0].traits.emplace("CUSTOM_A100");
    a.providers[1].inventories[ResourceClass{"VGPU"}].max_unit = 1;
    a.providers[2].inventories[ResourceClass{"VGPU"}].max_unit = 1;
    const auto rejection = rejection_of(plan(GetParam().request, Snapshot{at(0), {a}, {}}), "a");
    EXPECT_EQ(to_string(rejection.code), to_string(GetParam().code));
    EXPECT_THAT(rejection.reason, HasSubstr(GetParam().reason));
}

Request forbidding(const char* trait) {
    Request made = grouped(two_gpus, GroupPolicy::none);
    made.forbidden_traits = {Trait{trait}};
    return made;
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, GroupsRefused,
    ::testing::Values(
        Refusal{"NoSuchClass", grouped({group("1", {{"PGPU", 1}})}, GroupPolicy::none),
                RejectionCode::no_such_class, "it offers no PGPU"},
        Refusal{"NotTogether",
                grouped({group("1", {{"VGPU", 1}, {"MEMORY_MB", 1}})}, GroupPolicy::none),
                RejectionCode::no_such_class,
                "no provider of it offers all of MEMORY_MB=1 VGPU=1 (group 1)"},
        Refusal{"Units",
                grouped({group("1", {{"VGPU", 2}}), group("2", {{"VGPU", 1}})}, GroupPolicy::none),
                RejectionCode::unit_limits, "refuse VGPU=2 (group 1)"},
        Refusal{"TraitElsewhere",
                grouped({group("1", {{"VGPU", 1}}, {Trait{"CUSTOM_A100"}})}, GroupPolicy::none),
                RejectionCode::missing_trait,
                "no provider of it that offers VGPU=1 (group 1) has CUSTOM_A100"},
        Refusal{"Forbidden", forbidding("CUSTOM_A100"), RejectionCode::forbidden_trait,
                "what offers MEMORY_MB=1024 has a forbidden trait (CUSTOM_A100)"},
        Refusal{
            "TooSmall",
            grouped({two_gpus[0], two_gpus[1], group("3", {{"VGPU", 1}})}, GroupPolicy::isolate),
            RejectionCode::not_enough_capacity, "too small even when empty: a provider for"}),
    [](const auto& row) { return row.param.name; });

// ---- flavors ----

Result<ResourceRequest> asked_for(const std::map<std::string, std::string>& specs) {
    static const ImageProperties no_image;
    const Flavor flavor{"f", 1, 1024, 1, 0, 0, specs};
    return resource_request(ServerSpec{flavor, no_image});
}

std::string refusal_of(const std::map<std::string, std::string>& specs) {
    const auto asked = asked_for(specs);
    return asked ? "none" : asked.error().what;
}

TEST(FlavorGroups, AreReadBySuffix) {
    const auto found = asked_for({{"resources1:VGPU", "1"},
                                  {"trait1:CUSTOM_A", "required"},
                                  {"trait1:CUSTOM_B", "forbidden"},
                                  {"resources_NIC:SRIOV_NET_VF", "2"},
                                  {"resources3:VGPU", "0"},
                                  {"resources:VCPU", "2"},
                                  {"trait:CUSTOM_C", "required"},
                                  {"trait4:CUSTOM_D", "perhaps"},
                                  {"group_policy", "isolate"}});
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->groups.size(), 2U) << "those that ask for nothing are none";
    RequestGroup first = group("1", {{"VGPU", 1}}, {Trait{"CUSTOM_A"}});
    first.forbidden_traits = {Trait{"CUSTOM_B"}};
    EXPECT_EQ(found->groups[0], first);
    EXPECT_EQ(found->groups[1], group("_NIC", {{"SRIOV_NET_VF", 2}}));
    EXPECT_EQ(found->group_policy, GroupPolicy::isolate);
    EXPECT_EQ(asked_for({{"group_policy", "some"}})->group_policy, std::nullopt);
}

TEST(FlavorGroups, WhatPlacementWouldNotSearchForIsRefused) {
    const std::map<std::string, std::string> two{{"resources1:VGPU", "1"},
                                                 {"resources2:VGPU", "1"}};
    EXPECT_THAT(refusal_of(two), HasSubstr("without a group_policy"));
    EXPECT_EQ(refusal_of({{"resources1:VGPU", "1"}}), "none");
    EXPECT_THAT(refusal_of({{"trait1:CUSTOM_A", "required"}}), HasSubstr("for no resources of it"));
    std::map<std::string, std::string> all_grouped{
        {"resources1:VCPU", "1"}, {"resources:MEMORY_MB", "0"}, {"resources:DISK_GB", "0"}};
    EXPECT_EQ(refusal_of(all_grouped), "none");
    all_grouped["trait:CUSTOM_A"] = "required";
    EXPECT_THAT(refusal_of(all_grouped), HasSubstr("its traits are in none"));
}

TEST(FlavorGroups, OfOtherRequestsAreOtherDemands) {
    Request one = grouped(two_gpus, GroupPolicy::isolate);
    Request other = one;
    EXPECT_TRUE(same_demands(one, other));
    other.group_policy = GroupPolicy::none;
    EXPECT_FALSE(same_demands(one, other));
    other = one;
    other.groups.pop_back();
    EXPECT_FALSE(same_demands(one, other)) << "the same sum from other providers is another shape";
}

TEST(Groups, RevocableRoomStandsForAClassOfAGroupToo) {
    Host a = host("a", {{"MEMORY_MB", 65536}});
    nest(a, "a-oversubscribed", {{"CUSTOM_REVOCABLE_VCPU", 4}});
    Request wanted = grouped({group("1", {{"VCPU", 2}})}, GroupPolicy::none);
    wanted.required_traits = {Trait{"CUSTOM_X"}};
    a.providers[0].traits.emplace("CUSTOM_X");
    const Snapshot cloud{at(0), {a}, {}, {ResourceClass{"CUSTOM_REVOCABLE_VCPU"}}};
    const auto found = find_revocable_room(wanted, CloudIndex{cloud}, {}, cloud.revocable_classes);
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(found)) << summary(found);
}

}  // namespace
}  // namespace reaper::groups_test
