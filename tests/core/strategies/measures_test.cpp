// What the measures of an objective count, where that is easily mistaken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::measures_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr long month = 30L * 24 * 3600;

std::vector<std::string> victims(const Request& wanted, const std::vector<Host>& hosts,
                                 std::string_view strategy, Parameters parameters = {}) {
    PlanOptions options;
    options.now = at(month);
    return victim_ids(
        plan(wanted, Snapshot{at(month), hosts, {}}, options, {}, strategy, std::move(parameters)));
}

TEST(LostWork, CountsDedicatedProcessorsToo) {
    const Resources all{{"VCPU", 16}, {"PCPU", 16}, {"MEMORY_MB", 1024}};
    Host a = host("a", all);
    put(a, revocable("a-month-of-pcpu", a.id, {{"PCPU", 16}, {"MEMORY_MB", 1024}}, 0));
    Host b = host("b", all);
    put(b,
        revocable("ten-minutes-of-vcpu", b.id, {{"VCPU", 16}, {"MEMORY_MB", 1024}}, month - 600));
    EXPECT_THAT(victims(request({{"MEMORY_MB", 1024}}), {a, b}, "cost"),
                ElementsAre("ten-minutes-of-vcpu"));
    EXPECT_THAT(victims(request({{"MEMORY_MB", 1024}}), {a, b}, "cost",
                        {{"work_class", std::string{"VCPU"}}}),
                ElementsAre("a-month-of-pcpu"));
}

TEST(LostWork, AStoppedServerLosesNone) {
    Host a = host("a", {{"VCPU", 4}});
    Server stopped = revocable("stopped", a.id, {{"VCPU", 4}}, 0);
    stopped.status = "SHUTOFF";
    put(a, stopped);
    Host b = host("b", {{"VCPU", 4}});
    put(b, revocable("running", b.id, {{"VCPU", 4}}, month - 600));
    EXPECT_THAT(victims(request({{"VCPU", 4}}), {b, a}, "cost"), ElementsAre("stopped"));
}

TEST(Waste, IsNotLessForAnotherProviderThatIsOverfull) {
    // On a the nested provider is overfull by 4096; b fits exactly.
    Host a = host("a", {{"VCPU", 8}, {"MEMORY_MB", 8192}});
    put(a, revocable("a1", a.id, {{"VCPU", 8}, {"MEMORY_MB", 8192}}));
    nest(a, "a-node", {{"MEMORY_MB", 4096}}).used.set(ResourceClass{"MEMORY_MB"}, 8192);
    Host b = host("b", {{"VCPU", 4}, {"MEMORY_MB", 8192}});
    put(b, revocable("b1", b.id, {{"VCPU", 4}, {"MEMORY_MB", 8192}}));
    EXPECT_THAT(victims(request({{"VCPU", 4}, {"MEMORY_MB", 8192}}), {a, b}, "strict"),
                ElementsAre("b1"));
}

TEST(Waste, TiesGoByClassesThatAreNotRequested) {
    Host made = host("a", {{"VCPU", 8}, {"DISK_GB", 900}});
    put(made, revocable("1-with-disk", made.id, {{"VCPU", 4}, {"DISK_GB", 900}}));
    put(made, revocable("2-on-a-volume", made.id, {{"VCPU", 4}}));
    EXPECT_THAT(victims(request({{"VCPU", 4}}), {made}, "strict"), ElementsAre("2-on-a-volume"));
}

TEST(Levels, ThatAreTooManyAreOneAndThePlanSaysSo) {
    Resources all{{"VCPU", 4}};
    for (int i = 0; i < 12; ++i) all.set(ResourceClass{"CUSTOM_" + std::to_string(i)}, 1);
    Host made = host("a", all);
    put(made, revocable("a1", made.id, all));
    const auto decision = plan(request(all), Snapshot{at(0), {made}, {}});
    ASSERT_TRUE(std::holds_alternative<Plan>(decision));
    EXPECT_THAT(std::get<Plan>(decision).note, HasSubstr("count as one sum"));
}

}  // namespace
}  // namespace reaper::measures_test
