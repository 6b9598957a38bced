// What the cloud has room for, held against a plain count of it, and against the planner.
#include "reaper/decision/room_oracle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::room_oracle_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const CompiledPolicy> policy_with(ProtectSettings protect = {}) {
    config::Policy policy;
    policy.taggers = {{"project", {{"tag", {"preemptible"}}}}};
    policy.strategy = {"cost", {}};
    policy.safeguards.protect = std::move(protect);
    auto compiled = compile_policy(policy);
    EXPECT_TRUE(compiled);
    return *compiled;
}

RoomAnswer asked(const Request& request, const Snapshot& cloud, const Ledger& ledger = {},
                 ProtectSettings protect = {}) {
    const auto policy = policy_with(std::move(protect));
    Safeguards safeguards{policy->safeguards};
    TagData tag_data;
    tag_data.projects_by_tag["preemptible"] = {ProjectId{"cheap"}};
    const CloudIndex hosts{cloud, policy->protection};
    return room_for(*policy, request, hosts, tag_data, ledger, at(0), safeguards);
}

Resources random_resources(int largest) {
    return Resources{{"VCPU", 1 + upto(largest)},
                     {"MEMORY_MB", 512 * (1 + upto(largest))},
                     {"DISK_GB", 10 * upto(largest)}};
}

Host random_host(const std::string& name) {
    Host made = host(name, Resources{{"VCPU", 1}, {"MEMORY_MB", 512}, {"DISK_GB", 10}});
    const int servers = upto(6);
    for (int i = 0; i < servers; ++i) {
        const std::string id = name + "-" + std::to_string(i);
        Server each = upto(3) == 0 ? server(id, made.root().id, random_resources(2))
                                   : revocable(id, made.root().id, random_resources(2), upto(5));
        if (upto(9) == 0) each.task_state = "migrating";
        if (upto(9) == 0) each.task_state = "deleting";
        put(made, std::move(each));
    }
    for (auto& [resource_class, inventory] : made.providers.front().inventories) {
        const Amount unit = inventory.total;
        inventory.total = made.root().used.get(resource_class) + unit * upto(3);
    }
    made.up = upto(9) != 0;
    made.enabled = upto(9) != 0;
    if (upto(3) == 0) made.availability_zone = "other";
    return made;
}

struct Case {
    Snapshot cloud;
    Request wanted;
    RoomAnswer answer;
};

Case random_case() {
    Case c;
    c.cloud.taken_at = at(0);
    const int hosts = 1 + upto(3);
    for (int i = 0; i < hosts; ++i) c.cloud.hosts.push_back(random_host("h" + std::to_string(i)));
    c.wanted = request(random_resources(2), 1 + upto(3));
    if (upto(3) == 0) c.wanted.availability_zone = "nova";
    c.answer = asked(c.wanted, c.cloud);
    RC_CLASSIFY(c.answer.verdict == RoomVerdict::fits_now, "fits now");
    RC_CLASSIFY(c.answer.verdict == RoomVerdict::on_its_way, "on its way");
    RC_CLASSIFY(c.answer.verdict == RoomVerdict::after_victims, "after victims");
    RC_CLASSIFY(c.answer.verdict == RoomVerdict::never, "never");
    return c;
}

/// As Placement counts, one server after the other, with those of `gone` gone.
Amount servers_that_boot(const Case& c, const std::set<ServerId>& gone) {
    Amount booted = 0;
    for (const Host& host : c.cloud.hosts) {
        if (!host.up || !host.enabled) continue;
        if (c.wanted.availability_zone && *c.wanted.availability_zone != host.availability_zone)
            continue;
        Resources used = host.root().used;
        for (const Server& server : host.servers)
            if (gone.contains(server.id))
                for (const auto& [resource_class, amount] : server.resources())
                    used.set(resource_class, used.get(resource_class) - amount);
        const auto fits = [&] {
            for (const auto& [resource_class, amount] : c.wanted.resources)
                if (amount > 0 && used.get(resource_class) + amount >
                                      host.root().inventories.at(resource_class).capacity())
                    return false;
            return true;
        };
        for (; fits(); ++booted) used += c.wanted.resources;
    }
    return booted;
}

std::set<ServerId> all_that_may_go(const Case& c) {
    std::set<ServerId> all;
    for (const Host& host : c.cloud.hosts)
        for (const Server& server : host.servers)
            if (server.revocable() && server.task_state != "migrating") all.insert(server.id);
    return all;
}

/// Those that are being deleted already are gone in any case.
std::set<ServerId> going(const Case& c) {
    std::set<ServerId> all;
    for (const Host& host : c.cloud.hosts)
        for (const Server& server : host.servers)
            if (server.task_state == "deleting") all.insert(server.id);
    return all;
}

std::set<ServerId> with(std::set<ServerId> some, const std::set<ServerId>& more) {
    some.insert(more.begin(), more.end());
    return some;
}

TEST(RoomOracle, WhatFitsNowIsWhatBootsNow) {
    holds("fits_now is the number of boots that succeed, and the hosts tell where", [] {
        const Case c = random_case();
        RC_ASSERT(c.answer.fits_now == servers_that_boot(c, {}));
        RC_ASSERT((c.answer.verdict == RoomVerdict::fits_now) ==
                  (c.answer.fits_now >= c.wanted.slots));
        int told = 0;
        for (const HostSlots& each : c.answer.there) told += each.at_once;
        RC_ASSERT(told == c.answer.fits_now);
    });
}

TEST(RoomOracle, AfterItsVictimsTheyBootAndNoVictimCouldStay) {
    holds("victims are enough, needed, and those of the planner", [] {
        const Case c = random_case();
        if (c.answer.verdict != RoomVerdict::after_victims) return;
        std::set<ServerId> gone = going(c);
        for (const Victim& victim : c.answer.victims()) gone.insert(victim.server);
        RC_ASSERT(gone.size() > going(c).size());
        RC_ASSERT(servers_that_boot(c, gone) >= c.wanted.slots);
        for (const Victim& victim : c.answer.victims()) {
            gone.erase(victim.server);
            RC_ASSERT(servers_that_boot(c, gone) < c.wanted.slots);
            gone.insert(victim.server);
        }
        const auto policy = policy_with();
        TagData no_tags;
        const CloudIndex hosts{c.cloud, policy->protection};
        RC_ASSERT(decide(*policy, c.wanted, hosts, no_tags, Ledger{}, at(0)) == c.answer.decision);
    });
}

TEST(RoomOracle, RoomOfServersInDeletionNeedsNoVictim) {
    holds("on its way means that the going ones are enough", [] {
        const Case c = random_case();
        if (c.answer.verdict != RoomVerdict::on_its_way) return;
        RC_ASSERT(c.answer.victims().empty());
        RC_ASSERT(servers_that_boot(c, {}) < c.wanted.slots);
        RC_ASSERT(servers_that_boot(c, going(c)) >= c.wanted.slots);
    });
}

TEST(RoomOracle, NeverIsNotEvenWithoutAllWhoMayGo) {
    holds("never is the planner's not enough, and possible is the most there can be", [] {
        const Case c = random_case();
        const Amount most = servers_that_boot(c, with(all_that_may_go(c), going(c)));
        RC_ASSERT(c.answer.possible == most);
        if (c.answer.verdict != RoomVerdict::never) {
            RC_ASSERT(most >= c.wanted.slots);
            return;
        }
        RC_ASSERT(most < c.wanted.slots);
        const auto* const not_enough = std::get_if<NotEnough>(&c.answer.decision);
        RC_ASSERT(not_enough != nullptr);
        RC_ASSERT(!not_enough->rejected_counts.empty());
    });
}

// ------------------------------------------------------------------------------------------------

const Resources quarter{{"VCPU", 2}, {"MEMORY_MB", 1024}};

/// 8 VCPU, of which `regular` and `revocable` servers hold 2 each.
Snapshot one_host(int regular_servers, int revocable_servers) {
    Host made = host("h", quarter + quarter + quarter + quarter);
    for (int i = 0; i < regular_servers; ++i)
        put(made, server("regular-" + std::to_string(i), made.root().id, quarter));
    for (int i = 0; i < revocable_servers; ++i)
        put(made, revocable("spot-" + std::to_string(i), made.root().id, quarter));
    return Snapshot{at(0), {made}, {}};
}

TEST(RoomOracle, CountsHoweverManyAreAsked) {
    const RoomAnswer answer = asked(request(quarter, 1), one_host(1, 1));
    EXPECT_EQ(answer.verdict, RoomVerdict::fits_now);
    EXPECT_EQ(answer.fits_now, 2);
    EXPECT_EQ(answer.possible, 3);
    EXPECT_THAT(answer.there, ElementsAre(HostSlots{HostId{"h"}, "h", 2, 2}));
    EXPECT_EQ(summary(answer, 1), "fits now: there is room for 2 such servers, on 1 host");
}

TEST(RoomOracle, SearchesNoPlanForAMillionTinyServers) {
    Host made = host("h", Resources{{"MEMORY_MB", 4'000'000}});
    for (const char* const id : {"a", "b"})
        put(made, revocable(id, made.root().id, Resources{{"MEMORY_MB", 2'000'000}}));
    const Snapshot cloud{at(0), {made}, {}};
    const RoomAnswer answer = asked(request(Resources{{"MEMORY_MB", 1}}, 1), cloud);
    EXPECT_EQ(answer.verdict, RoomVerdict::after_victims);
    EXPECT_EQ(answer.possible, 1'000'000);
}

TEST(RoomOracle, TellsHowManyHaveToGo) {
    const RoomAnswer answer = asked(request(quarter, 3), one_host(1, 2));
    EXPECT_EQ(answer.verdict, RoomVerdict::after_victims);
    EXPECT_EQ(answer.victims().size(), 2U);
    EXPECT_EQ(summary(answer, 3), "fits after 2 victims, on 1 host; room now for 1 such server");
}

TEST(RoomOracle, TellsWhyNever) {
    const RoomAnswer answer = asked(request(quarter, 4), one_host(1, 3));
    EXPECT_EQ(answer.verdict, RoomVerdict::never);
    EXPECT_EQ(answer.possible, 3);
    EXPECT_THAT(summary(answer, 4), HasSubstr("never fits 4 such servers"));
}

TEST(RoomOracle, WhatASafeguardKeepsIsNotNever) {
    ProtectSettings protect;
    protect.project_ids = {{"cheap", "cheap"}};
    protect.projects = {"cheap"};
    const RoomAnswer answer = asked(request(quarter, 2), one_host(2, 1), {}, protect);
    EXPECT_EQ(answer.verdict, RoomVerdict::held_back);
    EXPECT_EQ(answer.possible, 1);
}

TEST(RoomOracle, WhatASearchDoesNotFindIsNotNever) {
    Host made = host("h", {{"VCPU", 1}});
    for (const char* const gpu : {"gpu0", "gpu1", "gpu2"}) nest(made, gpu, {{"VGPU", 200}});
    Request wanted = request({{"VGPU", 3}}, 70);
    for (const Amount amount : {1, 2}) {
        RequestGroup group;
        group.suffix = std::to_string(amount);
        group.resources.set(ResourceClass{"VGPU"}, amount);
        wanted.groups.push_back(std::move(group));
    }
    wanted.group_policy = GroupPolicy::isolate;
    const auto answer = asked(wanted, Snapshot{at(0), {made}, {}});
    EXPECT_EQ(answer.verdict, RoomVerdict::held_back);
    EXPECT_THAT(summary(answer, 70), HasSubstr("70 slots could be found, in a search"));
}

TEST(RoomOracle, ARevocableServerGetsFreeRoomAndNothingElse) {
    Request cheap = request(quarter, 2);
    cheap.project = ProjectId{"cheap"};
    EXPECT_EQ(asked(cheap, one_host(1, 1)).verdict, RoomVerdict::fits_now);
    const RoomAnswer full = asked(cheap, one_host(1, 2));
    EXPECT_EQ(full.verdict, RoomVerdict::free_room_only);
    EXPECT_EQ(full.fits_now, 1);
    EXPECT_EQ(full.possible, 1);
    EXPECT_THAT(summary(full, 2), HasSubstr("revocable itself"));
    EXPECT_THAT(summary(full, 2), HasSubstr("waits for free room"));
    EXPECT_THAT(summary(full, 2), HasSubstr("room now for 1 such server"));
    Request large = cheap;
    large.resources = quarter * 5;
    const RoomAnswer never = asked(large, one_host(1, 2));
    EXPECT_EQ(never.verdict, RoomVerdict::never) << "no host is so large";
    EXPECT_THAT(summary(never, 2), HasSubstr("if all hosts were empty, there would be room for 0"));
    cheap.slots = 4;
    EXPECT_EQ(asked(cheap, one_host(4, 0)).verdict, RoomVerdict::free_room_only)
        << "regular servers may leave";
}

TEST(RoomOracle, ServersInDeletionBringRoomThatIsNotFreeYet) {
    Snapshot cloud = one_host(2, 2);
    cloud.hosts[0].servers.back().task_state = "deleting";
    const RoomAnswer answer = asked(request(quarter, 1), cloud);
    EXPECT_EQ(answer.verdict, RoomVerdict::on_its_way);
    EXPECT_EQ(answer.fits_now, 0);
    EXPECT_THAT(answer.there, ElementsAre(HostSlots{HostId{"h"}, "h", 0, 1}));
}

TEST(RoomOracle, RoomPromisedToAnotherRequestIsTaken) {
    const Snapshot cloud = one_host(2, 2);
    const Request other = request(quarter, 1, "req-other");
    const Decision decision = plan(other, cloud);
    Ledger ledger;
    ledger.enter(other, std::get<Plan>(decision), at(0));
    const RoomAnswer answer = asked(request(quarter, 1), cloud, ledger);
    EXPECT_EQ(answer.verdict, RoomVerdict::after_victims);
    EXPECT_EQ(answer.possible, 1);
}

// ------------------------------------------------------------------------------------------------

TEST(WhyUnknown, AZoneAndAClassThatNoHostHas) {
    const Snapshot cloud = one_host(1, 1);
    const CloudIndex hosts{cloud};
    Request wanted = request(quarter);
    EXPECT_EQ(why_unknown(wanted, hosts), std::nullopt);
    wanted.availability_zone = "nova";
    EXPECT_EQ(why_unknown(wanted, hosts), std::nullopt);
    wanted.availability_zone = "mars";
    EXPECT_EQ(why_unknown(wanted, hosts),
              "there is no availability zone 'mars' with hosts in this cloud; there are: 'nova'");
    Request odd = request(quarter + Resources{{"CUSTOM_GPU", 1}});
    EXPECT_EQ(why_unknown(odd, hosts),
              "there is no resource class 'CUSTOM_GPU' in this cloud: no host offers it");
}

TEST(WhyUnknown, ATraitThatNoHostHasIfNoFlavorDemandsIt) {
    Snapshot cloud = one_host(1, 1);
    cloud.hosts[0].providers[0].traits = Shared<std::set<Trait>>{{Trait{"CUSTOM_FAST"}}};
    const CloudIndex hosts{cloud};
    Request wanted = request(quarter);
    wanted.flavor.clear();
    wanted.required_traits = {Trait{"CUSTOM_FAST"}};
    EXPECT_EQ(why_unknown(wanted, hosts), std::nullopt);
    wanted.required_traits = {Trait{"CUSTOM_NOPE"}};
    EXPECT_EQ(why_unknown(wanted, hosts),
              "there is no trait 'CUSTOM_NOPE' in this cloud: no host has it");
    wanted.flavor = "m1.fast";
    EXPECT_EQ(why_unknown(wanted, hosts), std::nullopt) << "its flavor is not at fault";
}

TEST(WhyUnknown, OfResourcesAlone) {
    const Snapshot cloud = one_host(1, 1);
    EXPECT_EQ(why_unknown(quarter, CloudIndex{cloud}), std::nullopt);
    EXPECT_THAT(why_unknown(Resources{{"FOO", 1}}, CloudIndex{cloud}).value_or(""),
                HasSubstr("'FOO'"));
    EXPECT_EQ(why_unknown(Resources{{"FOO", 1}}, CloudIndex{}), std::nullopt);
}

TEST(ZoneRemark, IsForTheZoneThatNoAggregateMakes) {
    Snapshot cloud = one_host(1, 1);
    HostAggregates east;
    east["uuid"].metadata = {{"availability_zone", "east"}};
    cloud.hosts.push_back(host("e", quarter));
    cloud.hosts[1].availability_zone = "east";
    cloud.hosts[1].member_of = Shared<HostAggregates>{east};
    const CloudIndex hosts{cloud};
    Request wanted = request(quarter);
    EXPECT_EQ(zone_remark(wanted, hosts), std::nullopt);
    wanted.availability_zone = "east";
    EXPECT_EQ(zone_remark(wanted, hosts), std::nullopt);
    wanted.availability_zone = "nova";
    EXPECT_THAT(zone_remark(wanted, hosts).value_or(""), HasSubstr("zone 'nova'"));
}

TEST(WhyUnknown, ShortageIsNotUnknown) {
    Snapshot cloud = one_host(4, 0);
    cloud.hosts[0].up = false;
    const CloudIndex hosts{cloud};
    Request wanted = request(quarter, 100);
    wanted.availability_zone = "nova";
    EXPECT_EQ(why_unknown(wanted, hosts), std::nullopt);
    const CloudIndex no_hosts;
    wanted.availability_zone = "mars";
    EXPECT_EQ(why_unknown(wanted, no_hosts), std::nullopt);
}

}  // namespace
}  // namespace reaper::room_oracle_test
