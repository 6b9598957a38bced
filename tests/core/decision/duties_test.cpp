// Whether a server that was to go for a duty still has to, when its plan is
// made.
#include "reaper/decision/duties.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"
#include "reaper/decision/decide.hpp"

namespace reaper::duties_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Resources two_vcpus{{"VCPU", 2}};

struct DutiesTest : ::testing::Test {
    DutiesTest() { policy.scheduler.watched = {}; }
    void runs(const std::string& id, bool may_go = true) {
        put(one, may_go ? revocable(id, HostId{"one"}, two_vcpus)
                        : server(id, HostId{"one"}, two_vcpus));
    }
    Decision decide(RequestSource source, std::initializer_list<const char*> servers) {
        Request wanted;
        wanted.id = RequestId{"watermark-1"};
        wanted.source = source;
        wanted.slots = 0;
        wanted.correction = Correction{HostId{"one"}, "one", {}};
        for (const char* const id : servers)
            wanted.correction->servers.push_back({ServerId{id}, "too much is used"});
        const Snapshot cloud{at(7'200), {one, two}, {}};
        return reaper::decide(policy, wanted, CloudIndex{cloud}, {}, ledger, at(7'200));
    }
    static std::vector<std::string> gone(const Decision& decision) {
        std::vector<std::string> all;
        if (const auto* const plan = std::get_if<Plan>(&decision))
            for (const auto& victim : plan->victims()) all.push_back(victim.server.str());
        return all;
    }

    Host one = host("one", {{"VCPU", 10}});
    Host two = host("two", {{"VCPU", 10}});
    CompiledPolicy policy;
    Ledger ledger;
};

TEST_F(DutiesTest, NoMoreGoThanTheLowMarkNeedsNow) {
    policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 40, 20}};
    for (const char* const id : {"a", "b", "c", "d"}) runs(id);
    const Decision decision = decide(RequestSource::watermark, {"d", "a", "b"});
    EXPECT_THAT(gone(decision), ElementsAre("d", "a")) << "8 of 20 are used, 4 may be";
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("stays: usage is at the low mark by now"));
    ledger.enter(Request{}, std::get<Plan>(decision), at(7'200));
    EXPECT_THAT(gone(decide(RequestSource::watermark, {"b"})), IsEmpty()) << "two go already";
    policy.duties.watermark.marks.clear();
    ledger = {};
    EXPECT_THAT(gone(decide(RequestSource::watermark, {"d"})), IsEmpty()) << "it was turned off";
}

TEST_F(DutiesTest, OfACorrectionNoneGoesThatCouldBeLeftOut) {
    const auto staying = [&](Amount needed, std::map<ServerId, std::string> skipped = {}) {
        const Snapshot cloud{at(7'200), {one, two}, {}};
        Correction correction{HostId{"one"}, "one", {}};
        for (const char* const id : {"gone", "small", "a", "large"})
            correction.servers.push_back({ServerId{id}, "too much is held"});
        skip_beyond(Resources{{"VCPU", needed}}, correction, CloudIndex{cloud}, ledger, skipped);
        std::vector<std::string> ids;
        for (const auto& [id, why] : skipped) ids.push_back(id.str());
        return ids;
    };
    put(one, revocable("small", HostId{"one"}, {{"VCPU", 1}}));
    put(one, revocable("a", HostId{"one"}, {{"VCPU", 2}}));
    put(one, revocable("large", HostId{"one"}, {{"VCPU", 5}}));
    EXPECT_THAT(staying(8), IsEmpty());
    EXPECT_THAT(staying(5), ElementsAre("a", "small")) << "the large one is enough";
    EXPECT_THAT(staying(3), ElementsAre("large"));
    EXPECT_THAT(staying(3, {{ServerId{"a"}, "it is locked"}}), ElementsAre("a", "small"));
    EXPECT_THAT(staying(0), ElementsAre("a", "large", "small"));
    HostPlan there;
    there.host = HostId{"one"};
    Victim large;
    large.server = ServerId{"large"};
    large.resources = {{"VCPU", 5}};
    there.victims = {large};
    Plan plan;
    plan.hosts = {there};
    ledger.enter(Request{}, plan, at(7'200));
    EXPECT_THAT(staying(3), ElementsAre("a", "small")) << "the large one goes already";
}

TEST_F(DutiesTest, ARequestWithoutANeedComesOnlyBelowTheLowMarks) {
    const auto may_come = [&](int slots, const char* host) {
        Request request;
        request.resources = two_vcpus;
        request.slots = slots;
        const std::vector<HostSlots> there{{HostId{host}, host, 4, 4}};
        return stays_below_marks(policy, request, there, {&one, &two}, ledger);
    };
    runs("a");
    EXPECT_TRUE(may_come(4, "one")) << "no marks";
    policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 90, 30},
                                     {ResourceClass{"MEMORY_MB"}, 90, 1}};
    EXPECT_TRUE(may_come(2, "two")) << "6 of 20 would be used, and none of the memory";
    EXPECT_FALSE(may_come(3, "two"));
    policy.scheduler.watched = {std::set<std::string>{"tenant"}};
    EXPECT_TRUE(may_come(3, "two")) << "its usage does not count";
}

TEST_F(DutiesTest, RegularAndProtectedServersStay) {
    policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 20, 1}};
    policy.duties.life_span.after = 1min;
    policy.duties.life_span.jitter = 0s;
    runs("regular", false);
    runs("kept");
    runs("spot");
    policy.safeguards.protect.servers = {{"kept", "moves tonight"}};
    policy.protection = Protection{policy.safeguards.protect};
    for (const auto source : {RequestSource::watermark, RequestSource::life_span})
        EXPECT_THAT(gone(decide(source, {"regular", "kept", "spot"})), ElementsAre("spot"));
}

TEST_F(DutiesTest, TenantsStayForAWatermarkAndEndWithTheirLifeSpans) {
    policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 20, 1}};
    policy.duties.life_span.after = 1min;
    policy.duties.life_span.jitter = 0s;
    runs("tenant");
    runs("spot");
    ReservedRoom::OnHost lent;
    lent.tenants[ServerId{"tenant"}] = Role::parse("eng").value();
    ledger.reserve(one.id, lent);
    const Decision decision = decide(RequestSource::watermark, {"tenant", "spot"});
    EXPECT_THAT(gone(decision), ElementsAre("spot"));
    EXPECT_THAT(std::get<Plan>(decision).note,
                HasSubstr("stays: the room that it holds goes back to a reservation"));
    EXPECT_THAT(gone(decide(RequestSource::life_span, {"tenant"})), ElementsAre("tenant"));
}

TEST_F(DutiesTest, AServerWhoseLifeSpanIsNotOverStays) {
    policy.duties.life_span.after = 3h;
    policy.duties.life_span.jitter = 0s;
    runs("spot");
    EXPECT_THAT(std::get<NotEnough>(decide(RequestSource::life_span, {"spot"})).reason,
                HasSubstr("its life span ends at "));
    policy.duties.life_span.after = 2h;
    EXPECT_THAT(gone(decide(RequestSource::life_span, {"spot"})), ElementsAre("spot"));
    policy.duties.life_span.after = 0h;
    EXPECT_THAT(std::get<NotEnough>(decide(RequestSource::life_span, {"spot"})).reason,
                HasSubstr("it has no life span"));
}

TEST_F(DutiesTest, EachShardCountsByItself) {
    policy.duties.watermark.marks = {{ResourceClass{"VCPU"}, 40, 30}};
    one.member_of = HostAggregates{{"uuid-1", {"rack-1", {}}}};
    two.member_of = HostAggregates{{"uuid-2", {"rack-2", {}}}};
    for (const char* const id : {"a", "b", "c"}) runs(id);
    EXPECT_THAT(gone(decide(RequestSource::watermark, {"a"})), IsEmpty()) << "6 of 20";
    policy.scheduler.watched = {{"rack-1"}, {"uuid-2"}};
    EXPECT_THAT(gone(decide(RequestSource::watermark, {"a", "b", "c"})), ElementsAre("a", "b"))
        << "6 of 10";
    policy.duties.life_span.after = 1min;
    policy.duties.life_span.jitter = 0s;
    for (const auto source : {RequestSource::watermark, RequestSource::life_span}) {
        policy.scheduler.watched = {{"rack-1"}};
        EXPECT_THAT(gone(decide(source, {"a"})), ElementsAre("a"));
        policy.scheduler.watched = {{"rack-2"}};
        EXPECT_THAT(std::get<NotEnough>(decide(source, {"a"})).reason,
                    HasSubstr("its host is in none of watched_aggregates"));
    }
}

}  // namespace
}  // namespace reaper::duties_test
