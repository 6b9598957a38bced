// Dedicated CPUs: Nova asks Placement for PCPU and, in a second query, for VCPU. Only who says that
// its hosts let such servers in by VCPU gets servers deleted for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/request_spec/request_builder.hpp"

namespace reaper::pcpu_fallback_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Resources shared_host{{"VCPU", 8}, {"MEMORY_MB", 8192}, {"DISK_GB", 100}};
const Resources pinned_host{{"PCPU", 8}, {"MEMORY_MB", 8192}, {"DISK_GB", 100}};
const Resources small{{"VCPU", 2}, {"MEMORY_MB", 512}, {"DISK_GB", 10}};
const Resources pinned_small{{"PCPU", 2}, {"MEMORY_MB", 512}, {"DISK_GB", 10}};

/// What Nova tells of a boot with dedicated CPUs: the flavor or the image asks for them.
Request asked_for(const std::map<std::string, std::string>& extra_specs,
                  const std::map<std::string, std::string>& image) {
    FailureNotice notice;
    notice.request_id = RequestId{"req-1"};
    notice.server = ServerId{"s"};
    notice.project = ProjectId{"regular"};
    notice.flavor = Flavor{"pinned", 4, 1024, 20, 0, 0, extra_specs};
    notice.image_id = "image";
    notice.image = image;
    return std::get<Request>(build_request(notice, RequesterFacts{}));
}
Request dedicated() {
    return asked_for({{"hw:cpu_policy", "dedicated"}}, {});
}

Host full(const std::string& name, const Resources& capacity, const Resources& each) {
    Host made = host(name, capacity);
    for (int i = 0; i < 4; ++i) put(made, revocable(name + std::to_string(i), made.id, each));
    return made;
}

Decision decided(const Request& request, std::vector<Host> hosts, bool fallback) {
    config::Policy policy;
    policy.taggers = {{"project", {{"tag", {"preemptible"}}}}};
    policy.strategy = {"strict", {}};
    policy.scheduler.pcpu_fallback = fallback;
    const auto compiled = compile_policy(policy);
    if (!compiled) {
        ADD_FAILURE() << compiled.error().what;
        return Refused{};
    }
    CloudView cloud;
    cloud.snapshot = Snapshot{at(0), std::move(hosts), {}};
    return decide(**compiled, request, cloud, Ledger{});
}

TEST(PcpuFallback, WithoutPcpuAnywhereNoServerIsDeleted) {
    for (const auto& request : {dedicated(), asked_for({}, {{"hw_cpu_policy", "dedicated"}})}) {
        const auto decision = decided(request, {full("a", shared_host, small)}, false);
        ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
        EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::no_such_class);
        EXPECT_THAT(rejection_of(decision, "a").reason, HasSubstr("it offers no PCPU"));
    }
}

TEST(PcpuFallback, WhereHostsTakeThemByVcpuThatIsPlanned) {
    const auto decision = decided(dedicated(), {full("a", shared_host, small)}, true);
    const auto* const plan = std::get_if<Plan>(&decision);
    ASSERT_NE(plan, nullptr) << summary(decision);
    EXPECT_EQ(plan->victims().size(), 2U);
    EXPECT_THAT(plan->note, HasSubstr("its CPUs as VCPU"));
    ASSERT_EQ(plan->hosts.size(), 1U);
    EXPECT_EQ(plan->hosts[0].slot, (Resources{{"VCPU", 4}, {"MEMORY_MB", 1024}, {"DISK_GB", 20}}));
    // The room is promised as what it is.
    Ledger ledger;
    ledger.enter(dedicated(), *plan, at(1));
    EXPECT_EQ(ledger.promised_to_others(plan->hosts[0].host, RequestId{"req-2"}),
              plan->hosts[0].slot);
}

TEST(PcpuFallback, PcpuGoesFirstWhereItCostsNoMore) {
    const auto both = [](Resources of_a) {
        return std::vector<Host>{full("a", pinned_host, of_a), full("b", shared_host, small)};
    };
    auto decision = decided(dedicated(), both(pinned_small), true);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    EXPECT_EQ(std::get<Plan>(decision).hosts[0].host_name, "a");
    EXPECT_TRUE(std::get<Plan>(decision).hosts[0].slot.empty());
    // Four servers of one PCPU each would have to go, or two of two VCPU.
    decision = decided(dedicated(),
                       {full("a", {{"PCPU", 4}, {"MEMORY_MB", 8192}, {"DISK_GB", 100}},
                             {{"PCPU", 1}, {"MEMORY_MB", 512}, {"DISK_GB", 10}}),
                        full("b", shared_host, small)},
                       true);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    EXPECT_EQ(std::get<Plan>(decision).hosts[0].host_name, "b")
        << "two servers are fewer than four";
    // Free room takes no server's room.
    decision =
        decided(dedicated(), {full("a", pinned_host, pinned_small), host("b", shared_host)}, true);
    const auto* const nothing = std::get_if<NothingToDo>(&decision);
    ASSERT_NE(nothing, nullptr) << summary(decision);
    EXPECT_EQ(nothing->hosts[0].host_name, "b");
}

TEST(PcpuFallback, FewerServersGoWhateverTheyLeaveUnused) {
    const Resources large{{"VCPU", 2}, {"MEMORY_MB", 512}, {"DISK_GB", 25}};
    const Resources one_cpu{{"PCPU", 1}, {"MEMORY_MB", 256}, {"DISK_GB", 5}};
    const auto decision =
        decided(dedicated(),
                {full("a", {{"PCPU", 4}, {"MEMORY_MB", 1024}, {"DISK_GB", 20}}, one_cpu),
                 full("b", shared_host, large)},
                true);
    ASSERT_TRUE(std::holds_alternative<Plan>(decision)) << summary(decision);
    EXPECT_EQ(std::get<Plan>(decision).victims().size(), 2U) << "four on a leave no disk unused";
}

TEST(PcpuFallback, ARequestForATraitOfNoHostLeadsToNoDeletion) {
    const auto decision =
        decided(asked_for({{"hw:tpm_version", "2.0"}}, {}), {full("a", shared_host, small)}, true);
    ASSERT_TRUE(std::holds_alternative<NotEnough>(decision)) << summary(decision);
    EXPECT_EQ(rejection_of(decision, "a").code, RejectionCode::missing_trait);
    EXPECT_THAT(rejection_of(decision, "a").reason, HasSubstr("COMPUTE_SECURITY_TPM_2_0"));
}

}  // namespace
}  // namespace reaper::pcpu_fallback_test
