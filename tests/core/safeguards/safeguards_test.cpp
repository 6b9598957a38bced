// Decisions under the safeguards: limits, hosts in cooldown, thrashing workloads; what gives way
// and what does not, and which safeguard a refusal names.
#include "reaper/safeguards/safeguards.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::safeguards_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr long now = 100'000;
const Resources one{{"VCPU", 1}};
const Resources two{{"VCPU", 2}};

/// A full host of revocable servers of so many VCPU each, named `host-0`, `host-1`, ...
Host full(const std::string& name, const std::vector<Amount>& sizes) {
    Amount sum = 0;
    for (const Amount size : sizes) sum += size;
    Host made = host(name, {{"VCPU", sum}});
    for (std::size_t i = 0; i < sizes.size(); ++i)
        put(made, revocable(name + "-" + std::to_string(i), made.id, {{"VCPU", sizes[i]}}));
    return made;
}

Snapshot cloud_of(std::vector<Host> hosts) {
    return Snapshot{at(now), std::move(hosts), {}};
}

PastVictim past(const std::string& id, long when, const std::string& host = "h1",
                const std::string& request = "req-old") {
    return {at(when), RequestId{request}, ServerId{id}, "gone-" + id, ProjectId{"cheap"}, host, ""};
}

Decision decide(Safeguards& safeguards, const Snapshot& cloud, const Request& wanted,
                const std::string& strategy = "strict", int alternatives = 1,
                const Ledger& ledger = {}, const SchedulerRules* scheduler = nullptr) {
    PlanOptions options;
    options.scheduler = scheduler;
    options.alternatives = alternatives;
    options.now = at(now);
    return plan_under(safeguards, wanted,
                      CloudIndex{cloud, Protection{safeguards.settings().protect}}, ledger,
                      *make_strategy(strategy), strategy, options);
}

const NotEnough& refusal(const Decision& decision) {
    return std::get<NotEnough>(decision);
}

/// All that it says to people.
std::string told(const Decision& decision) {
    std::string text = refusal(decision).reason;
    for (const Rejection& each : refusal(decision).rejected) text += "; " + each.reason;
    return text;
}

// ---- limits ----

TEST(Limits, TheNumberForOneRequestIsKeptByOtherVictimsThanTheStrategyWants) {
    // strict would take the two small ones: nothing is left unused.
    const Snapshot cloud = cloud_of({full("h1", {1, 1, 3})});
    SafeguardSettings settings;
    Safeguards safeguards{settings};
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(two))), ElementsAre("h1-0", "h1-1"));
    settings.limits.victims_per_request = 1;
    safeguards.reload(settings);
    const auto decision = decide(safeguards, cloud, request(two));
    EXPECT_THAT(victim_ids(decision), ElementsAre("h1-2"));
    EXPECT_THAT(std::get<Plan>(decision).note,
                AllOf(HasSubstr("0 of 1 victim for this request"), HasSubstr("stay within it")));
}

TEST(Limits, NoServerIsDeletedWhereTheFewestVictimsAreTooMany) {
    const Snapshot cloud = cloud_of({full("h1", {1, 1, 1})});
    SafeguardSettings settings;
    settings.limits.victims_per_request = 1;
    Safeguards safeguards{settings};
    const auto decision = decide(safeguards, cloud, request(two));
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_EQ(refusal(decision).safeguard, "limit-request");
    EXPECT_THAT(refusal(decision).reason,
                AllOf(HasSubstr("no choice of victims within the limits frees 1 slot"),
                      HasSubstr("1 left, 2 needed")));
    EXPECT_THAT(summary(decision), HasSubstr("(safeguard: limit-request)"));
    EXPECT_EQ(rejection_of(decision, "h1").code, RejectionCode::over_limit);
}

TEST(Limits, AlternativesAreGivenUpFirst) {
    const Snapshot cloud = cloud_of({full("h1", {1, 1, 1, 1, 1})});
    SafeguardSettings settings;
    settings.limits.victims_per_request = 3;
    Safeguards safeguards{settings};
    const auto decision = decide(safeguards, cloud, request(one, 2), "strict", 2);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    EXPECT_EQ(std::get<Plan>(decision).slots_freed, 3);
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("3 of 4 slots are freed"));
}

TEST(Limits, WhatWasDeletedInTheWindowCountsAndWhatIsOlderDoesNot) {
    const Snapshot cloud = cloud_of({full("h1", {1, 1})});
    SafeguardSettings settings;
    settings.limits.victims_per_window = 2;
    Safeguards safeguards{settings};
    safeguards.note_victim(past("old", now - 3'600));
    safeguards.note_victim(past("a", now - 3'599));
    EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one))).size(), 1U);
    safeguards.note_victim(past("b", now - 1));
    const auto decision = decide(safeguards, cloud, request(one));
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision));
    EXPECT_EQ(refusal(decision).safeguard, "limit-window");
    EXPECT_THAT(refusal(decision).reason, HasSubstr("2 of 2 victims in the last 1h"));
    safeguards.note_refused_deletion(ServerId{"b"}, past("b", now).request);
    EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one))).size(), 1U)
        << "a deletion that was refused counts for nothing";
}

TEST(Limits, EarlierRoundsOfTheRequestCount) {
    const Snapshot cloud = cloud_of({full("h1", {1, 1})});
    SafeguardSettings settings;
    settings.limits.victims_per_request = 1;
    Safeguards safeguards{settings};
    safeguards.note_victim(past("a", now - 60, "h1", "req-1"));
    EXPECT_EQ(refusal(decide(safeguards, cloud, request(one))).safeguard, "limit-request");
    EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one, 1, "req-2"))).size(), 1U);
}

TEST(Limits, WhatIsPlannedAndNotYetSentCounts) {
    const Snapshot cloud = cloud_of({full("h1", {1, 1, 1})});
    const auto other = request(one, 1, "req-other");
    Ledger ledger;
    const auto planned = plan(other, cloud);
    ledger.enter(other, std::get<Plan>(planned), at(now));
    for (const auto member :
         {&LimitSettings::victims_per_window, &LimitSettings::victims_per_project}) {
        SafeguardSettings settings;
        settings.limits.*member = 1;
        Safeguards safeguards{settings};
        EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one), "strict", 1, ledger)),
                    IsEmpty());
        settings.limits.*member = 2;
        safeguards.reload(settings);
        EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one), "strict", 1, ledger)).size(),
                  1U);
        // Sent, it is in the history: it does not count twice.
        for (const auto& victim : std::get<Plan>(planned).victims())
            safeguards.note_victim(
                {at(now), other.id, victim.server, victim.name, victim.project, victim.host, ""});
        EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one), "strict", 1, ledger)).size(),
                  1U);
    }
}

TEST(Limits, AProjectThatHasGivenEnoughIsSparedAndAnotherOneGives) {
    Host mixed = full("h1", {1, 1, 1});
    mixed.servers[2].project = ProjectId{"poor"};
    const Snapshot cloud = cloud_of({mixed});
    SafeguardSettings settings;
    settings.limits.victims_per_project = 1;
    Safeguards safeguards{settings};
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one, 2))), ElementsAre("h1-0", "h1-2"))
        << "one of each, though strict takes the first ones";
    safeguards.note_victim(past("x", now - 60));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-2"));
    const auto decision = decide(safeguards, cloud, request(two));
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision));
    EXPECT_EQ(refusal(decision).safeguard, "limit-project");
    Snapshot named = cloud;
    named.project_names[ProjectId{"cheap"}] = "web";
    EXPECT_THAT(told(decide(safeguards, named, request(two))),
                HasSubstr("project web (cheap): 1 of 1 victim in the last 1h"));
    EXPECT_THAT(told(decision), HasSubstr("project cheap: 1 of 1 victim in the last 1h"));
    EXPECT_THAT(rejection_of(decision, "h1").reason,
                HasSubstr("project cheap: 1 of 1 victim in the last 1h"));
}

TEST(Limits, AnAggregateThatHasGivenEnoughIsSparedAndOtherHostsGive) {
    Host crowded = full("h1", {1, 1, 1});
    crowded.aggregates = {"east", "fast"};
    Host other = full("h2", {4, 4});
    const Snapshot cloud = cloud_of({crowded, other});
    SafeguardSettings settings;
    settings.limits.victims_per_aggregate = 2;
    Safeguards safeguards{settings};
    EXPECT_THAT(victim_ids(plan(request(one, 3), cloud)), ElementsAre("h1-0", "h1-1", "h1-2"));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one, 3))), ElementsAre("h2-0"));
    safeguards.note_victim(past("x", now - 60, "h1"));
    safeguards.note_victim(past("y", now - 60, "elsewhere"));
    safeguards.note_victim(past("z", now - 60, "h1"));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h2-0"));
    const auto decision = decide(safeguards, cloud_of({crowded}), request(one));
    EXPECT_EQ(refusal(decision).safeguard, "limit-aggregate");
    EXPECT_THAT(rejection_of(decision, "h1").reason,
                HasSubstr("aggregate east: 2 of 2 victims in the last 1h"));
}

TEST(Limits, AShardOfSeveralAggregatesCountsLikeOne) {
    Host one_side = full("h1", {1, 1});
    one_side.aggregates = {"north"};
    one_side.member_of = {{"u-n", {"north", {}}}};
    Host other_side = full("h2", {1, 1});
    other_side.aggregates = {"south"};
    other_side.member_of = {{"u-s", {"south", {}}}};
    const Snapshot cloud = cloud_of({one_side, other_side});
    SchedulerRules scheduler;
    scheduler.watched = {{"north", "u-s"}};
    SafeguardSettings settings;
    settings.limits.victims_per_aggregate = 2;
    Safeguards safeguards{settings};
    safeguards.note_victim(past("x", now - 60, "h1"));
    const auto in_shards = [&] {
        return decide(safeguards, cloud, request(one), "strict", 1, {}, &scheduler);
    };
    EXPECT_EQ(victim_ids(in_shards()).size(), 1U);
    safeguards.note_victim(past("y", now - 60, "h2"));
    const auto decision = in_shards();
    EXPECT_EQ(refusal(decision).safeguard, "limit-aggregate");
    EXPECT_THAT(rejection_of(decision, "h1").reason,
                HasSubstr("aggregate north|u-s: 2 of 2 victims in the last 1h"));
    // Without the shard each of them has taken one only.
    EXPECT_EQ(victim_ids(decide(safeguards, cloud, request(one))).size(), 1U);
}

TEST(Limits, RoomThatIsThereNeedsNoAllowance) {
    Host free = full("h1", {1});
    free.providers[0].inventories[ResourceClass{"VCPU"}].total = 2;
    SafeguardSettings settings;
    settings.limits.victims_per_window = 1;
    Safeguards safeguards{settings};
    safeguards.note_victim(past("a", now - 1));
    EXPECT_TRUE(
        std::holds_alternative<NothingToDo>(decide(safeguards, cloud_of({free}), request(one))));
}

// ---- run times ----

TEST(MinRunTime, SparesTheYoungAndIsNamedWhereItPreventsAPlan) {
    Host only = full("h1", {1, 1});
    only.servers[0].created = at(now - 60);
    const Snapshot cloud = cloud_of({only});
    SafeguardSettings settings;
    settings.protect.min_run_time = 10min;
    Safeguards safeguards{settings};
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-1"));
    const auto decision = decide(safeguards, cloud, request(two));
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision));
    EXPECT_EQ(refusal(decision).safeguard, "min-run-time");
    EXPECT_THAT(rejection_of(decision, "h1").reason, HasSubstr("has not run for 10min yet"));
}

TEST(Protected, AreNamedWhereTheyPreventAPlan) {
    Host only = full("h1", {1, 1});
    only.servers[0].tags = std::set<std::string>{"reaper-protected"};
    only.servers[1].created = at(now - 60);
    SafeguardSettings by_owners;
    by_owners.protect.owners = true;
    Safeguards safeguards{by_owners};
    const auto decision = decide(safeguards, cloud_of({only}), request(two));
    EXPECT_EQ(refusal(decision).safeguard, "protected");
    EXPECT_EQ(refusal(decide(safeguards, cloud_of({only}), request({{"VCPU", 3}}))).safeguard, "")
        << "no brake prevented what was impossible anyway";
    SafeguardSettings both = by_owners;
    both.protect.min_run_time = 10min;
    safeguards.reload(both);
    EXPECT_EQ(refusal(decide(safeguards, cloud_of({only}), request(two))).safeguard, "protected")
        << "of two that together prevent it, the last to give way";
}

// ---- thrash ----

/// `web` was evicted so often.
void evict_often(Safeguards& safeguards, int times) {
    for (int i = 0; i < times; ++i) {
        PastVictim victim =
            past("web-" + std::to_string(i), now - 600 - i, "h1", "req-" + std::to_string(100 + i));
        victim.name = "web-" + std::to_string(i);
        safeguards.note_victim(std::move(victim));
    }
}

Host host_with_web(long age) {
    Host made = full("h1", {1, 1});
    made.servers[0].name = "web-77";
    made.servers[0].created = at(now - age);
    made.servers[1].created = at(now - age);
    return made;
}

TEST(Thrash, AWorkloadThatKeepsBeingEvictedIsSparedWhileItIsYoung) {
    const Snapshot cloud = cloud_of({host_with_web(60)});
    Safeguards safeguards{SafeguardSettings{}};
    evict_often(safeguards, 2);
    EXPECT_THAT(safeguards.thrashing(at(now)), IsEmpty());
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-0"));
    evict_often(safeguards, 3);
    ASSERT_EQ(safeguards.thrashing(at(now)).size(), 1U);
    EXPECT_EQ(safeguards.thrashing(at(now))[0].evictions, 3);
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-1"));
    const Snapshot old = cloud_of({host_with_web(1'800)});
    EXPECT_THAT(victim_ids(decide(safeguards, old, request(one))), ElementsAre("h1-0"))
        << "it has had its time";
}

TEST(Thrash, TheGraceDoublesWithEachEvictionUpToItsLargest) {
    const ThrashSettings settings;
    EXPECT_EQ(grace_for(settings, 2), 0min);
    EXPECT_EQ(grace_for(settings, 3), 30min);
    EXPECT_EQ(grace_for(settings, 4), 1h);
    EXPECT_EQ(grace_for(settings, 6), 4h);
    EXPECT_EQ(grace_for(settings, 7), 8h);
    EXPECT_EQ(grace_for(settings, 1'000'000), 8h);
    EXPECT_EQ(grace_for(ThrashSettings{.after = 0}, 100), 0min) << "0 is off";
}

TEST(Thrash, GivesWayWhenNothingElseFreesTheRoomAndThePlanSaysSo) {
    const Snapshot cloud = cloud_of({host_with_web(60)});
    Safeguards safeguards{SafeguardSettings{}};
    evict_often(safeguards, 5);
    const auto decision = decide(safeguards, cloud, request(two));
    EXPECT_THAT(victim_ids(decision), ElementsAre("h1-0", "h1-1"));
    EXPECT_THAT(std::get<Plan>(decision).note,
                AllOf(HasSubstr("1 victim of workloads that were evicted often"),
                      HasSubstr("nothing else is enough")));
}

TEST(Thrash, MayNameWorkloadsByMetadataAndThePlanKeepsTheName) {
    Host made = full("h1", {1});
    made.servers[0].metadata.insert_or_assign("job", "nightly");
    SafeguardSettings settings;
    settings.thrash.workload_key = "job";
    Safeguards safeguards{settings};
    const auto decision = decide(safeguards, cloud_of({made}), request(one));
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_EQ(std::get<Plan>(decision).victims()[0].workload, "nightly");
}

// ---- doubts ----

TEST(Cooldown, AHostWhoseFreedRoomWasNotTakenRanksLower) {
    const Snapshot cloud = cloud_of({full("h1", {1}), full("h2", {1, 2})});
    Safeguards safeguards{SafeguardSettings{}};
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-0"));
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h1"}}, at(now - 60));
    const auto decision = decide(safeguards, cloud, request(one));
    EXPECT_THAT(victim_ids(decision), ElementsAre("h2-0"));
    EXPECT_EQ(rejection_of(decision, "h1").code, RejectionCode::in_cooldown);
    EXPECT_THAT(rejection_of(decision, "h1").reason,
                HasSubstr("room freed there for req-0 was not taken"));
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h1"}}, at(now - 1'800));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h2-0"))
        << "the latest word counts";
}

TEST(Cooldown, EndsAfterItsTime) {
    const Snapshot cloud = cloud_of({full("h1", {1}), full("h2", {1, 2})});
    Safeguards safeguards{SafeguardSettings{}};
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h1"}}, at(now - 1'800));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud, request(one))), ElementsAre("h1-0"));
}

TEST(Cooldown, GivesWayWhenTheOtherHostsAreNotEnoughAndThePlanSaysSo) {
    const Snapshot cloud = cloud_of({full("h1", {1}), full("h2", {1})});
    Safeguards safeguards{SafeguardSettings{}};
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h1"}}, at(now - 60));
    const auto decision = decide(safeguards, cloud, request(one, 2));
    EXPECT_THAT(victim_ids(decision), ElementsAre("h1-0", "h2-0"));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("h1 is used although room freed there"));
}

TEST(Cooldown, GivesWayAfterTheSparingOfThrashingWorkloads) {
    Host in_cooldown = full("h2", {1});
    Host web = host_with_web(60);
    web.servers[1].name = "web-78";
    Safeguards safeguards{SafeguardSettings{}};
    evict_often(safeguards, 3);
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h2"}}, at(now - 60));
    EXPECT_THAT(victim_ids(decide(safeguards, cloud_of({web, in_cooldown}), request(one))),
                ElementsAre("h1-0"));
}

TEST(Cooldown, RoomInTheMakingForTheRequestItselfStillCounts) {
    const Snapshot cloud = cloud_of({full("h1", {1}), full("h2", {1})});
    const auto own = request(one);
    Ledger ledger;
    ledger.enter(own, std::get<Plan>(plan(own, cloud)), at(now));
    Safeguards safeguards{SafeguardSettings{}};
    safeguards.note_cooldown(RequestId{"req-0"}, {HostId{"h1"}}, at(now - 60));
    EXPECT_TRUE(
        std::holds_alternative<NothingToDo>(decide(safeguards, cloud, own, "strict", 1, ledger)));
}

}  // namespace
}  // namespace reaper::safeguards_test
