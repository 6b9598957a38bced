// Room that is kept free: which servers go, and when.
#include "reaper/duties/watermark.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "core/seeded.hpp"

namespace reaper::watermark_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ResourceClass vcpu{"VCPU"};
const ResourceClass memory{"MEMORY_MB"};

std::vector<std::string> ids(const std::vector<WatermarkCandidate>& chosen) {
    std::vector<std::string> all;
    for (const auto& each : chosen) all.push_back(each.server.str());
    return all;
}

WatermarkCandidate candidate(const std::string& id, long started, Resources held) {
    return {ServerId{id}, nullptr, at(started), std::move(held)};
}

TEST(Watermark, TheNewestGoAndNoneThatCouldStay) {
    const std::vector<WatermarkCandidate> all{
        candidate("old", 10, {{"VCPU", 8}}), candidate("new", 30, {{"VCPU", 2}}),
        candidate("middle", 20, {{"VCPU", 4}}), candidate("other", 40, {{"DISK_GB", 100}})};
    EXPECT_THAT(ids(choose_for({{"VCPU", 2}}, all)), ElementsAre("new"));
    EXPECT_THAT(ids(choose_for({{"VCPU", 5}}, all)), ElementsAre("new", "middle"));
    EXPECT_THAT(ids(choose_for({{"VCPU", 8}}, all)), ElementsAre("old"))
        << "it alone does for what the newer ones were chosen for";
    EXPECT_THAT(ids(choose_for({{"VCPU", 99}}, all)), ElementsAre("new", "middle", "old"));
    EXPECT_THAT(choose_for({}, all), IsEmpty());
}

struct Usages : ::testing::Test {
    Usages() {
        one.providers.front().used.set(vcpu, 0);
        put(one, server("regular", HostId{"one"}, {{"VCPU", 5}, {"MEMORY_MB", 10}}));
        put(one, revocable("spot", HostId{"one"}, {{"VCPU", 4}, {"MEMORY_MB", 10}}));
    }
    Resources excess() { return excess_of(marks, {&one, &two}, ledger, over); }
    void use(Amount vcpus) { two.providers.front().used.set(vcpu, vcpus); }

    Host one = host("one", {{"VCPU", 10}, {"MEMORY_MB", 100}});
    Host two = host("two", {{"VCPU", 10}, {"MEMORY_MB", 100}});
    std::vector<Mark> marks{{vcpu, 80, 60}, {memory, 90, 50}};
    std::set<ResourceClass> over;
    Ledger ledger;
};

TEST_F(Usages, BeginAboveTheHighMarkAndEndAtTheLowOne) {
    use(7);
    EXPECT_EQ(excess(), Resources{}) << "16 of 20 are the high mark";
    use(8);
    EXPECT_EQ(excess(), (Resources{{"VCPU", 5}})) << "down to 12 of 20";
    use(4);
    EXPECT_EQ(excess(), (Resources{{"VCPU", 1}})) << "not at the low mark yet";
    use(3);
    EXPECT_EQ(excess(), Resources{});
    use(7);
    EXPECT_EQ(excess(), Resources{}) << "it was at the low mark: nothing begins between the two";
}

TEST_F(Usages, LeaveOutHostsThatTakeNoServersAndWhatIsBeingDeleted) {
    use(10);
    two.enabled = false;
    EXPECT_EQ(excess(), (Resources{{"VCPU", 3}})) << "9 of 10";
    one.servers.back().task_state = "deleting";
    EXPECT_EQ(excess(), Resources{}) << "5 of 10";
}

TEST(WatermarkProperties, AsMuchGoesAsIsNeededAndNoServerMore) {
    holds("no victim is needless, and all that helps goes if it is not enough", [] {
        std::vector<WatermarkCandidate> all;
        Resources there;
        for (int i = upto(12); i > 0; --i) {
            Resources held{{"VCPU", upto(8)}, {"MEMORY_MB", upto(4)}};
            there += held;
            all.push_back(candidate("s" + std::to_string(i), upto(5), held));
        }
        const Resources excess{{"VCPU", upto(30)}, {"MEMORY_MB", upto(20)}};
        Resources freed;
        const auto chosen = choose_for(excess, all);
        for (const auto& each : chosen) freed += each.held;
        const Resources enough = common(there, excess);
        RC_ASSERT(enough.fits_in(freed));
        for (const auto& each : chosen) RC_ASSERT(!enough.fits_in(freed - each.held));
    });
}

TEST(WatermarkProperties, UsageThatMovesBetweenTheMarksNeverFlaps) {
    holds("a class is over from its high mark to its low one", [] {
        Host one = host("one", {{"VCPU", 100}});
        const int low = 1 + upto(97);
        const int high = low + 1 + upto(98 - low);
        std::set<ResourceClass> over;
        bool expected = false;
        for (int i = 0; i < 40; ++i) {
            const int used = upto(100);
            one.providers.front().used.set(vcpu, used);
            expected = used > (expected ? low : high);
            const Resources excess = excess_of({{vcpu, high, low}}, {&one}, {}, over);
            RC_ASSERT(excess.get(vcpu) == (expected ? used - low : 0));
        }
    });
}

}  // namespace
}  // namespace reaper::watermark_test
