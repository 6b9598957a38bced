// Where a request may land: server groups, forced and hinted hosts, aggregates, isolation, shards.
#include "reaper/planner/constraint_checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::places_test {
namespace {

using namespace reaper::testing;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Resources whole{{"VCPU", 8}, {"MEMORY_MB", 8192}};
const Resources half{{"VCPU", 4}, {"MEMORY_MB", 4096}};

/// Three hosts; the first is the cheapest: one small victim makes a slot there, two elsewhere.
Snapshot three_hosts() {
    Snapshot cloud;
    cloud.taken_at = at(1000);
    for (const char* const name : {"a", "b", "c"}) {
        Host made = host(name, whole);
        const std::string id{name};
        put(made, server(id + "-member", made.id, half));
        if (id == "a") {
            put(made, revocable(id + "-1", made.id, half));
        } else {
            put(made, revocable(id + "-1", made.id, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
            put(made, revocable(id + "-2", made.id, {{"VCPU", 2}, {"MEMORY_MB", 2048}}));
        }
        cloud.hosts.push_back(std::move(made));
    }
    return cloud;
}

Request grouped(const char* policy, std::set<ServerId> members, int slots = 1) {
    Request wanted = request(half, slots);
    wanted.placement.group = {"g-1", "the group", policy, 1, std::move(members)};
    return wanted;
}

std::vector<std::string> hosts_of(const Decision& decision) {
    std::vector<std::string> names;
    if (const auto* plan = std::get_if<Plan>(&decision))
        for (const auto& host : plan->hosts) names.push_back(host.host_name);
    return names;
}

TEST(ConstraintChecker, WithoutAGroupTheCheapestHostIsTaken) {
    EXPECT_THAT(victim_ids(plan(request(half), three_hosts())), ::testing::ElementsAre("a-1"));
}

/// Room on a host is promised to a server of the group, which is not there yet.
Ledger promised_to_a_mate(const char* where, const char* group = "g-1") {
    Ledger::Promise promise;
    promise.request = RequestId{"req-mate"};
    promise.host = host(where, whole).id;
    promise.slot = {{"VCPU", 1}};
    promise.slots = 1;
    promise.requesters = {ServerId{"mate"}};
    promise.group = group;
    return Ledger{{}, {promise}};
}

TEST(ConstraintChecker, AMateOnItsWayToAHostCountsAsThere) {
    const Ledger coming = promised_to_a_mate("a");
    const auto apart = plan(grouped("anti-affinity", {}), three_hosts(), {}, coming);
    EXPECT_EQ(rejection_of(apart, "a").code, RejectionCode::server_group);
    EXPECT_EQ(hosts_of(apart).size(), 1U);
    const auto together = plan(grouped("affinity", {}), three_hosts(), {}, promised_to_a_mate("b"));
    EXPECT_THAT(hosts_of(together),
                IsEmpty());  // its slot is gone from b, and a and c are elsewhere
    EXPECT_EQ(rejection_of(together, "a").code, RejectionCode::server_group);
}

TEST(ConstraintChecker, AMemberThatIsToMoveIsStillWhereItIs) {
    // Its resize may end on the promised host, or never.
    const Request wanted = grouped("affinity", {ServerId{"c-member"}});
    const auto decision = plan(wanted, three_hosts(), {}, promised_to_a_mate("b"));
    EXPECT_EQ(rejection_of(decision, "b").code, RejectionCode::server_group);
}

TEST(ConstraintChecker, PromisesToOthersOrToTheServerItselfRejectNoHost) {
    const auto of_others =
        plan(grouped("anti-affinity", {}), three_hosts(), {}, promised_to_a_mate("c", "g-2"));
    EXPECT_THAT(victim_ids(of_others), ::testing::ElementsAre("a-1"));
    Request again = grouped("anti-affinity", {});
    again.requesters = {ServerId{"mate"}};
    EXPECT_EQ(rejection_of(plan(again, three_hosts(), {}, promised_to_a_mate("a")), "a").code,
              RejectionCode::not_enough_revocable);
}

TEST(ConstraintChecker, AntiAffinityKeepsOffTheHostsOfTheGroup) {
    const auto decision =
        plan(grouped("anti-affinity", {ServerId{"a-member"}, ServerId{"c-member"}}), three_hosts());
    EXPECT_THAT(victim_ids(decision), ::testing::ElementsAre("b-1", "b-2"));
    const auto rejection = rejection_of(decision, "a");
    EXPECT_EQ(rejection.code, RejectionCode::server_group);
    EXPECT_THAT(rejection.reason, HasSubstr("'the group'"));
    EXPECT_THAT(rejection.reason, HasSubstr("anti-affinity"));
}

TEST(ConstraintChecker, SoftPoliciesRejectNoHost) {
    for (const char* const policy : {"soft-anti-affinity", "soft-affinity", ""})
        EXPECT_THAT(victim_ids(plan(grouped(policy, {ServerId{"a-member"}}), three_hosts())),
                    ::testing::ElementsAre("a-1"))
            << policy;
}

TEST(ConstraintChecker, AntiAffinityOfSeveralOnAHostAllowsSoMany) {
    Request wanted = grouped("anti-affinity", {ServerId{"a-member"}});
    wanted.placement.group.max_on_a_host = 2;
    EXPECT_THAT(victim_ids(plan(wanted, three_hosts())), ::testing::ElementsAre("a-1"));
}

TEST(ConstraintChecker, AffinityGoesWhereTheGroupIs) {
    const auto decision = plan(grouped("affinity", {ServerId{"c-member"}}), three_hosts());
    EXPECT_THAT(victim_ids(decision), ::testing::ElementsAre("c-1", "c-2"));
    EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::server_group);
}

TEST(ConstraintChecker, AffinityKeepsAServerThatMovesWhereItsGroupIs) {
    Request wanted = grouped("affinity", {ServerId{"c-member"}});
    wanted.requesters = {ServerId{"c-member"}};
    wanted.from_host = "c";
    wanted.excluded_hosts = {{"c", "the server migrates away from it"}};
    for (const auto operation :
         {Operation::resize, Operation::migrate, Operation::live_migrate, Operation::evacuate}) {
        wanted.operation = operation;
        const auto alone = plan(wanted, three_hosts());
        EXPECT_THAT(victim_ids(alone), IsEmpty()) << to_string(operation);
        EXPECT_EQ(rejection_of(alone, "a").code, RejectionCode::server_group);
    }
    wanted.placement.group.members.emplace("b-member");
    EXPECT_THAT(hosts_of(plan(wanted, three_hosts())), ::testing::ElementsAre("b"));
    wanted.placement.group.policy = "soft-affinity";
    EXPECT_THAT(hosts_of(plan(wanted, three_hosts())), ::testing::ElementsAre("a"));
}

TEST(ConstraintChecker, AServerThatIsUnshelvedOrLeavesAntiAffinityDoesNotBindItself) {
    Request wanted = grouped("affinity", {ServerId{"c-member"}});
    wanted.requesters = {ServerId{"c-member"}};
    wanted.operation = Operation::unshelve;
    EXPECT_THAT(victim_ids(plan(wanted, three_hosts())), ::testing::ElementsAre("a-1"));
    wanted = grouped("anti-affinity", {ServerId{"a-member"}});
    wanted.requesters = {ServerId{"a-member"}};
    wanted.operation = Operation::resize;
    EXPECT_THAT(victim_ids(plan(wanted, three_hosts())), ::testing::ElementsAre("a-1"));
}

TEST(ConstraintChecker, WhenEveryHostHoldsOneOfTheGroupNoServerIsDeleted) {
    const auto decision = plan(grouped("anti-affinity", {ServerId{"a-member"}, ServerId{"b-member"},
                                                         ServerId{"c-member"}}),
                               three_hosts());
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_THAT(std::get<NotEnough>(decision).reason, HasSubstr("3 server-group"));
}

/// Hosts that could give two slots each.
Snapshot roomy() {
    Snapshot cloud;
    cloud.taken_at = at(1000);
    for (const char* const name : {"a", "b", "c"}) {
        Host made = host(name, whole);
        const std::string id{name};
        put(made, revocable(id + "-1", made.id, half));
        put(made, revocable(id + "-2", made.id, half));
        cloud.hosts.push_back(std::move(made));
    }
    return cloud;
}

TEST(ConstraintChecker, AntiAffinityOfOneRequestSpreadsItsSlots) {
    for (const char* const strategy : {"strict", "chance", "cost"}) {
        const auto decision = plan(grouped("anti-affinity", {}, 3), roomy(), {}, {}, strategy);
        EXPECT_THAT(hosts_of(decision), ::testing::ElementsAre("a", "b", "c")) << strategy;
        EXPECT_EQ(victim_ids(decision).size(), 3U) << strategy;
    }
}

TEST(ConstraintChecker, AntiAffinityGetsNoMoreSlotsThanHosts) {
    const auto decision = plan(grouped("anti-affinity", {}, 4), roomy());
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_EQ(std::get<NotEnough>(decision).slots_possible, 3);
}

TEST(ConstraintChecker, FreeRoomBesideAMemberIsNoRoom) {
    Snapshot cloud = roomy();
    cloud.hosts[0].servers.clear();
    cloud.hosts[0].providers[0].used = {};
    // Two slots are free on one host, and anti-affinity may have only one of them.
    const auto decision = plan(grouped("anti-affinity", {}, 2), cloud);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    EXPECT_EQ(victim_ids(decision).size(), 1U);
    EXPECT_TRUE(std::holds_alternative<NothingToDo>(plan(request(half, 2), cloud)));
}

TEST(ConstraintChecker, AffinityOfAnEmptyGroupPutsAllSlotsOnOneHost) {
    Snapshot cloud = roomy();
    put(cloud.hosts[0], server("in-the-way", cloud.hosts[0].id, {}));
    cloud.hosts[0].servers[0].task_state = "migrating";  // a gives one slot only
    for (const char* const strategy : {"strict", "chance", "cost"}) {
        const auto decision = plan(grouped("affinity", {}, 2), cloud, {}, {}, strategy);
        EXPECT_EQ(hosts_of(decision).size(), 1U) << strategy;
        EXPECT_NE(hosts_of(decision), std::vector<std::string>{"a"}) << strategy;
        EXPECT_EQ(victim_ids(decision).size(), 2U) << strategy;
    }
    const auto too_many = plan(grouped("affinity", {}, 3), cloud);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(too_many)) << summary(too_many);
    EXPECT_THAT(std::get<NotEnough>(too_many).reason, HasSubstr("on one host (affinity)"));
    EXPECT_EQ(std::get<NotEnough>(too_many).slots_possible, 2);
}

TEST(ConstraintChecker, AffinityGetsNoAlternatives) {
    Host made = host("a", {{"VCPU", 6}});
    for (const char* const id : {"1", "2", "3", "4", "5", "6"})
        put(made, revocable(id, made.id, {{"VCPU", 1}}));
    Request wanted = grouped("affinity", {}, 2);
    wanted.resources = {{"VCPU", 1}};
    PlanOptions options;
    options.alternatives = 3;
    const auto decision = plan(wanted, Snapshot{at(0), {made}, {}}, options);
    EXPECT_EQ(victim_ids(decision).size(), 2U) << summary(decision);
}

/// A full host.
Host full(const std::string& name, const std::vector<Server>& servers) {
    Host made = host(name, {});
    for (Server each : servers) {
        each.allocations = {{made.id, sum_of(each.allocations)}};
        put(made, each);
    }
    for (const auto& [name_of, amount] : made.providers[0].used)
        made.providers[0].inventories[name_of].total = amount;
    return made;
}

Server of(const std::string& project, const std::string& id, Amount vcpus) {
    Server made = revocable(id, {}, {{"VCPU", vcpus}});
    made.project = ProjectId{project};
    return made;
}

Request two_together() {
    Request wanted = grouped("affinity", {}, 2);
    wanted.resources = {{"VCPU", 1}};
    return wanted;
}

TEST(ConstraintChecker, AffinityTakesTheHostThatCostsLeastHoweverManyVictimsItHas) {
    Snapshot cloud{at(0), {}, {}};
    for (int i = 0; i < 40; ++i)
        cloud.hosts.push_back(full("h" + std::to_string(i), {of("gold", std::to_string(i), 2)}));
    cloud.hosts.push_back(full("z", {of("silver", "z1", 1), of("silver", "z2", 1)}));
    const Parameters tiers{{"objective", std::vector<std::string>{"priority"}},
                           {"priorities", std::vector<std::string>{"gold=9", "silver=1"}}};
    const auto decision = plan(two_together(), cloud, {}, {}, "cost", tiers);
    EXPECT_THAT(victim_ids(decision), ::testing::ElementsAre("z1", "z2")) << summary(decision);
}

TEST(ConstraintChecker, AffinityWithinLimitsGoesOnUntilAHostIsFound) {
    for (const bool used_up : {true, false}) {
        Snapshot cloud{at(0), {}, {}};
        for (int i = 0; i < 40; ++i) {
            const std::string id = std::to_string(i);
            cloud.hosts.push_back(full("h" + id, {of("p", id + "-1", 1), of("p", id + "-2", 1)}));
        }
        cloud.hosts.push_back(full("z", {of(used_up ? "q" : "p", "z1", 1), of("q", "z2", 1)}));
        Budgets budgets;
        budgets.each_project = Budget{used_up ? 2 : 1, "limit-window", "some"};
        if (used_up) budgets.projects.emplace(ProjectId{"p"}, Budget{0, "limit-window", "all"});
        PlanOptions options;
        options.budgets = &budgets;
        const auto decision = plan(two_together(), cloud, options);
        EXPECT_THAT(victim_ids(decision), ::testing::ElementsAre("z1", "z2")) << summary(decision);
    }
}

TEST(ConstraintChecker, AffinityTakesTheSameHostWhateverIsKnownOfTheHosts) {
    const auto held = [](const char* project, const char* id, const Resources& resources) {
        Server made = of(project, id, 1);
        made.allocations = {{ProviderId{}, resources}};
        return made;
    };
    Request wanted = two_together();
    wanted.resources = {{"VCPU", 1}, {"MEMORY_MB", 1}};
    // The cheapest exceeds the limit. Two have to go on each of the others: on the last, that is
    // known only when it has been searched.
    const Snapshot cloud{
        at(0),
        {full("a", {held("cheap", "a1", wanted.resources), held("cheap", "a2", wanted.resources)}),
         full("b", {held("gold", "b1", wanted.resources), held("dear", "b2", wanted.resources)}),
         full("z", {held("gold", "z1", {{"VCPU", 2}}), held("dear", "z2", {{"MEMORY_MB", 2}})})},
        {}};
    const auto strategy = make_strategy(
        "cost", {{"objective", std::vector<std::string>{"priority"}},
                 {"priorities", std::vector<std::string>{"cheap=1", "gold=9", "dear=9"}}});
    Request on_last = wanted;
    on_last.placement.group = {};
    on_last.placement.only_hosts = {"z"};
    Budgets budgets;
    budgets.each_project = Budget{1, "limit-window", "some"};
    PlanOptions options;
    options.budgets = &budgets;
    std::vector<std::vector<std::string>> chosen;
    for (const bool known : {false, true}) {
        const CloudIndex index{cloud};
        if (known) make_plan(on_last, index, Ledger{}, *strategy, "cost", options);
        chosen.push_back(
            victim_ids(make_plan(wanted, index, Ledger{}, *strategy, "cost", options)));
        EXPECT_EQ(chosen.back().size(), 2U);
    }
    EXPECT_EQ(chosen[0], chosen[1]);
}

TEST(ConstraintChecker, AForcedHostIsTheOnlyOne) {
    Request wanted = request(half);
    wanted.placement.only_hosts = {"b"};
    wanted.placement.why_only = "the request is forced onto";
    const auto decision = plan(wanted, three_hosts());
    EXPECT_THAT(victim_ids(decision), ::testing::ElementsAre("b-1", "b-2"));
    EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::not_requested);
    EXPECT_THAT(rejection_of(decision, "a").reason, HasSubstr("forced onto 'b' only"));
}

TEST(ConstraintChecker, HintsAboutOtherServersAreObeyed) {
    Request together = request(half);
    together.placement.with = {ServerId{"b-member"}};
    EXPECT_THAT(hosts_of(plan(together, three_hosts())), ::testing::ElementsAre("b"));
    Request apart = request(half);
    apart.placement.apart_from = {ServerId{"a-member"}, ServerId{"b-member"}};
    EXPECT_THAT(hosts_of(plan(apart, three_hosts())), ::testing::ElementsAre("c"));
    Request nowhere = request(half);
    nowhere.placement.with = {ServerId{"who"}};
    EXPECT_TRUE(std::holds_alternative<NotEnough>(plan(nowhere, three_hosts())));
}

/// Nova's list leaves it out, and Nova's scheduler does not.
TEST(ConstraintChecker, ASoftDeletedServerIsOnItsHostAsBefore) {
    Snapshot cloud = three_hosts();
    for (Host& each : cloud.hosts)
        if (each.name == "a") {
            std::erase_if(each.servers,
                          [](const Server& server) { return server.id.str() == "a-member"; });
            each.providers.front().other_consumers.emplace(ServerId{"a-member"}, half);
        }
    Request apart = request(half);
    EXPECT_THAT(hosts_of(plan(apart, cloud)), ::testing::ElementsAre("a"));
    apart.placement.apart_from = {ServerId{"a-member"}, ServerId{"b-member"}};
    EXPECT_THAT(hosts_of(plan(apart, cloud)), ::testing::ElementsAre("c"));
    Request together = request(half);
    together.placement.with = {ServerId{"a-member"}};
    EXPECT_THAT(hosts_of(plan(together, cloud)), ::testing::ElementsAre("a"));
    // It moves from there.
    for (Host& each : cloud.hosts)
        if (each.name == "c") put(each, server("a-member", each.id, {}));
    EXPECT_THAT(hosts_of(plan(together, cloud)), ::testing::ElementsAre("c"));
}

/// Nova takes no host that the server has left.
TEST(ConstraintChecker, AServerOfASameHostHintIsNoVictim) {
    Request with = request(half);
    with.placement.with = {ServerId{"a-1"}};
    const auto alone = plan(with, three_hosts());
    EXPECT_THAT(victim_ids(alone), IsEmpty());
    EXPECT_TRUE(std::holds_alternative<NotEnough>(alone));
    with.placement.with = {ServerId{"b-1"}, ServerId{"c-1"}};
    EXPECT_TRUE(std::holds_alternative<NotEnough>(plan(with, three_hosts())));
    with.placement.with = {ServerId{"a-1"}, ServerId{"b-member"}};
    EXPECT_THAT(victim_ids(plan(with, three_hosts())), ::testing::ElementsAre("b-1", "b-2"));

    const auto mates = grouped("affinity", {ServerId{"a-1"}, ServerId{"c-member"}});
    EXPECT_THAT(victim_ids(plan(mates, three_hosts())), ::testing::ElementsAre("c-1", "c-2"));
}

// ---- aggregates ----

Snapshot with_aggregate(const HostAggregate& of_a) {
    Snapshot cloud = three_hosts();
    cloud.hosts[0].member_of = HostAggregates{{"uuid-a", of_a}};
    cloud.hosts[0].aggregates = {of_a.name};
    return cloud;
}

Decision under(const SchedulerRules& rules, const Request& wanted, const Snapshot& cloud) {
    PlanOptions options;
    options.scheduler = &rules;
    return plan(wanted, cloud, options);
}

TEST(ConstraintChecker, ATenantsAggregateIsForItsProjects) {
    const auto cloud = with_aggregate({"theirs", {{"filter_tenant_id", "x, other"}}});
    SchedulerRules rules;
    EXPECT_THAT(hosts_of(under(rules, request(half), cloud)), ::testing::ElementsAre("a"));
    rules.tenant_filter = true;
    const auto kept_out = under(rules, request(half), cloud);
    EXPECT_THAT(hosts_of(kept_out), ::testing::ElementsAre("b"));
    EXPECT_EQ(rejection_of(kept_out, "a").code, RejectionCode::isolated);
    EXPECT_THAT(rejection_of(kept_out, "a").reason, HasSubstr("'theirs' is for other projects"));
    Request theirs = request(half);
    theirs.project = ProjectId{"other"};
    EXPECT_THAT(hosts_of(under(rules, theirs, cloud)), ::testing::ElementsAre("a"));
}

TEST(ConstraintChecker, TenantsUnderOtherKeysCountSince2024_2) {
    const auto cloud = with_aggregate({"theirs", {{"filter_tenant_id2", "other"}}});
    SchedulerRules rules;
    rules.tenant_filter = true;
    for (const auto& [release, host] : {std::pair{std::optional<NovaRelease>{}, "b"},
                                        std::pair{std::optional{NovaRelease::r2024_2}, "b"},
                                        std::pair{std::optional{NovaRelease::r2024_1}, "a"}}) {
        rules.release = release;
        EXPECT_THAT(hosts_of(under(rules, request(half), cloud)), ::testing::ElementsAre(host));
    }
}

TEST(ConstraintChecker, AProjectWithAggregatesOfItsOwnStaysInThem) {
    Snapshot cloud = three_hosts();
    cloud.hosts[2].member_of =
        HostAggregates{{"uuid-c", {"own", {{"filter_tenant_id7", "regular"}}}}};
    SchedulerRules rules;
    rules.own_aggregates = SchedulerRules::OwnAggregates::limit;
    Request owner = request(half);
    owner.project = ProjectId{"regular"};
    EXPECT_THAT(hosts_of(under(rules, owner, cloud)), ::testing::ElementsAre("c"));
    Request stranger = request(half);
    stranger.project = ProjectId{"stranger"};
    EXPECT_THAT(hosts_of(under(rules, stranger, cloud)), ::testing::ElementsAre("a"));
    rules.own_aggregates = SchedulerRules::OwnAggregates::required;
    EXPECT_THAT(hosts_of(under(rules, stranger, cloud)), IsEmpty());
}

TEST(ConstraintChecker, AnAggregateOfSeveralProjectsBelongsToNone) {
    // nova-scheduler's query for Placement looks for the value, its filter for the names in it.
    const auto cloud = with_aggregate({"several", {{"filter_tenant_id", "regular,other"}}});
    SchedulerRules rules;
    rules.own_aggregates = SchedulerRules::OwnAggregates::required;
    Request wanted = request(half);
    wanted.project = ProjectId{"regular"};
    EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), IsEmpty());
    rules.own_aggregates = SchedulerRules::OwnAggregates::limit;
    EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), ::testing::ElementsAre("a"))
        << "it has none of its own, so that it may go anywhere";
    rules = SchedulerRules{};
    rules.tenant_filter = true;
    EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), ::testing::ElementsAre("a"));
}

TEST(ConstraintChecker, AFlavorsWishOnAggregatesBindsWhereTheFilterIsOn) {
    const auto cloud = with_aggregate({"fast", {{"ssd", "true, nvme"}}});
    SchedulerRules rules;
    Request wanted = request(half);
    wanted.flavor_extra_specs = {{"aggregate_instance_extra_specs:ssd", "false"},
                                 {"hw:cpu_policy", "shared"}};
    EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), ::testing::ElementsAre("a"));
    rules.extra_specs_filter = true;
    const auto nowhere = under(rules, wanted, cloud);
    EXPECT_EQ(rejection_of(nowhere, "a").code, RejectionCode::isolated);
    EXPECT_THAT(rejection_of(nowhere, "b").reason, HasSubstr("'ssd=false'"));
    for (const char* const wish : {"true", "nvme", "<or> nvme <or> sata"}) {
        wanted.flavor_extra_specs = {{"ssd", wish}};
        EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), ::testing::ElementsAre("a")) << wish;
    }
    wanted.operation = Operation::rebuild;
    wanted.flavor_extra_specs = {{"ssd", "false"}};
    EXPECT_THAT(hosts_of(under(rules, wanted, cloud)), ::testing::ElementsAre("a"));
}

TEST(SpecMatch, JudgesAsNovasOperatorsDo) {
    struct Line {
        const char* value;
        const char* wish;
        bool met;
    };
    const Line lines[] = {{"1", "1", true},
                          {"", "1", false},
                          {"3", "1", false},
                          {"222", "2", false},
                          {"4", "> 2", false},
                          {"123", "= 123", true},
                          {"124", "= 123", true},
                          {"34", "= 234", false},
                          {"34", "=", false},
                          {"123", "== 123", true},
                          {"123.0", "== 123", true},
                          {"123", "!= 123", false},
                          {"123", "!= 12", true},
                          {"123", ">= 123", true},
                          {"2", "<= 3", true},
                          {"3", "<= 2", false},
                          {"x", ">= 2", false},
                          {"3", "== x", false},
                          {"123", "s== 123", true},
                          {"1234", "s== 123", false},
                          {"1234", "s!= 123", true},
                          {"1000", "s>= 234", false},
                          {"2345", "s> 1234", true},
                          {"12", "s< 2", true},
                          {"2", "s<= 2", true},
                          {"12311321", "<in> 11", true},
                          {"12310321", "<in> 11", false},
                          {"12311321", "<in>", false},
                          {"12", "<or> 11 <or> 12", true},
                          {"13", "<or> 11 <or> 12", false},
                          {"aes mmx aux", "<all-in> aes mmx", true},
                          {"aes mmx aux", "<all-in> txt", false},
                          {"aes", "<all-in>", false},
                          {"+2", "== 2", true},
                          {" 2 ", "= 1", true},
                          {"two words", "two words", true}};
    for (const auto& [value, wish, met] : lines)
        EXPECT_EQ(meets(value, wish), met) << "'" << value << "' and '" << wish << "'";
}

TEST(ConstraintChecker, AnAggregateIsolatedByATraitIsForThoseWhoRequireIt) {
    auto cloud = with_aggregate({"gpus", {{"trait:CUSTOM_GPU", "required"}}});
    cloud.hosts[0].providers[0].traits.emplace("CUSTOM_GPU");
    SchedulerRules rules;
    EXPECT_THAT(hosts_of(under(rules, request(half), cloud)), ::testing::ElementsAre("a"));
    rules.trait_isolation = true;
    EXPECT_THAT(hosts_of(under(rules, request(half), cloud)), ::testing::ElementsAre("b"));
    Request with_gpu = request(half);
    with_gpu.required_traits.emplace("CUSTOM_GPU");
    EXPECT_THAT(hosts_of(under(rules, with_gpu, cloud)), ::testing::ElementsAre("a"));
}

TEST(ConstraintChecker, ARequestedAggregateIsTheOnlyOne) {
    const auto cloud = with_aggregate({"fast", {}});
    Request wanted = request(half);
    wanted.placement.aggregates = {{"uuid-z", "uuid-a"}};
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), ::testing::ElementsAre("a"));
    wanted.placement.aggregates.push_back({"uuid-y"});
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), IsEmpty());
}

TEST(ConstraintChecker, AZoneThatPlacementDoesNotKnowIsNoPlace) {
    auto cloud = with_aggregate({"zone", {{"availability_zone", "east"}}});
    cloud.hosts[0].availability_zone = "east";
    Request wanted = request(half);
    wanted.availability_zone = "east";
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), ::testing::ElementsAre("a")) << "not read";
    cloud.hosts[0].placement_aggregates = std::set<std::string>{"uuid-a"};
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), ::testing::ElementsAre("a"));
    cloud.hosts[0].placement_aggregates = std::set<std::string>{"another"};
    const auto decision = plan(wanted, cloud);
    EXPECT_THAT(hosts_of(decision), IsEmpty());
    EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::not_in_placement);
    EXPECT_THAT(rejection_of(decision, "a").reason, HasSubstr("sync_aggregates"));
    EXPECT_THAT(hosts_of(plan(request(half), cloud)), ::testing::ElementsAre("a")) << "no zone";
}

TEST(ConstraintChecker, ARequestedAggregateThatPlacementDoesNotKnowIsNoPlace) {
    auto cloud = with_aggregate({"fast", {}});
    Request wanted = request(half);
    wanted.placement.aggregates = {{"uuid-a"}};
    cloud.hosts[0].placement_aggregates = std::set<std::string>{"uuid-a"};
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), ::testing::ElementsAre("a"));
    cloud.hosts[0].placement_aggregates->clear();
    EXPECT_THAT(hosts_of(plan(wanted, cloud)), IsEmpty());
}

// ---- shards ----

TEST(ConstraintChecker, OnlyHostsOfWatchedAggregatesAreCulledOn) {
    Snapshot cloud = three_hosts();
    cloud.hosts[1].member_of = HostAggregates{{"uuid-b", {"east", {}}}};
    cloud.hosts[2].member_of = HostAggregates{{"uuid-c", {"west", {}}}};
    SchedulerRules rules;
    rules.watched = {{"west", "uuid-b"}};
    const auto decision = under(rules, request(half, 2), cloud);
    EXPECT_THAT(hosts_of(decision), ::testing::ElementsAre("b", "c"));
    EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::unwatched);
    rules.watched = {{"west"}, {"nowhere"}};
    EXPECT_THAT(hosts_of(under(rules, request(half), cloud)), ::testing::ElementsAre("c"));
}

TEST(ConstraintChecker, ARequestOutsideEveryShardIsReported) {
    Snapshot cloud = three_hosts();
    cloud.hosts[1].member_of = HostAggregates{{"uuid-b", {"east", {}}}};
    cloud.hosts[1].availability_zone = "az-east";
    const CloudIndex index{cloud};
    SchedulerRules rules;
    EXPECT_EQ(outside_all_shards(request(half), rules, index), std::nullopt);
    rules.watched = {{"east", "south"}, {"north"}};
    EXPECT_EQ(outside_all_shards(request(half), rules, index), std::nullopt);
    Request elsewhere = request(half);
    elsewhere.availability_zone = "nova";
    const auto why = outside_all_shards(elsewhere, rules, index);
    ASSERT_TRUE(why);
    EXPECT_THAT(*why, HasSubstr("outside the watched aggregates (east|south, north)"));
    EXPECT_THAT(*why, HasSubstr("availability zone 'nova'"));
    elsewhere.availability_zone = "az-east";
    EXPECT_EQ(outside_all_shards(elsewhere, rules, index), std::nullopt);
}

TEST(ConstraintChecker, WhatIsAllInGroupsHasNoSearchBesideIsolatedAggregates) {
    Snapshot cloud = three_hosts();
    cloud.hosts[1].member_of =
        HostAggregates{{"uuid-b", {"gpus", {{"trait:CUSTOM_GPU", "required"}}}}};
    const CloudIndex index{cloud};
    SchedulerRules rules;
    rules.trait_isolation = true;
    Request grouped = request(half);
    EXPECT_EQ(refused_for_isolation(grouped, rules, index), std::nullopt);
    RequestGroup group;
    group.suffix = "1";
    group.resources = half;
    grouped.groups.push_back(std::move(group));
    const auto why = refused_for_isolation(grouped, rules, index);
    ASSERT_TRUE(why);
    EXPECT_THAT(*why, HasSubstr("aggregate 'gpus' is for requests that require CUSTOM_GPU"));
    EXPECT_EQ(refused_for_isolation(grouped, {}, index), std::nullopt);
    grouped.required_traits = {Trait{"CUSTOM_GPU"}};
    EXPECT_EQ(refused_for_isolation(grouped, rules, index), std::nullopt);
}

}  // namespace
}  // namespace reaper::places_test
