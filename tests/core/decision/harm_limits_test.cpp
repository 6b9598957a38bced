// What one request, and the requests of one project, may cost by default: parts of the cloud.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"
#include "reaper/decision/decide.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::harm_limits_test {
namespace {

using namespace reaper::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr long now = 10'000;

/// So many hosts with so many revocable servers of one VCPU each.
Snapshot cloud_of(int hosts, int servers) {
    Snapshot cloud{at(now), {}, {}};
    for (int h = 0; h < hosts; ++h) {
        const std::string name = "h" + std::to_string(h);
        Host made = host(name, {{"VCPU", servers}});
        for (int i = 0; i < servers; ++i)
            put(made, revocable(name + "-" + std::to_string(i), made.id, {{"VCPU", 1}}));
        cloud.hosts.push_back(std::move(made));
    }
    return cloud;
}

class HarmLimits : public ::testing::Test {
protected:
    HarmLimits() { settings.project_breaker.unproven = 0; }
    Decision decide(const Snapshot& cloud, const Request& wanted) {
        PlanOptions options;
        options.now = at(now);
        return plan_under(safeguards, wanted, CloudIndex{cloud}, Ledger{}, *make_strategy("strict"),
                          "strict", options);
    }
    /// `planned`, or the safeguard that refuses it.
    std::string verdict(const Snapshot& cloud, const Request& wanted) {
        const Decision decision = decide(cloud, wanted);
        const auto* const less = std::get_if<NotEnough>(&decision);
        return less == nullptr ? "planned" : less->safeguard;
    }
    static Request servers(int slots) { return request(Resources{{"VCPU", 1}}, slots); }
    void gone(int victims, const std::string& for_project, long when = now - 60) {
        for (int i = 0; i < victims; ++i) {
            PastVictim victim;
            victim.at = at(when);
            victim.request = RequestId{"before"};
            victim.server = ServerId{for_project + std::to_string(++gone_)};
            victim.requester = ProjectId{for_project};
            safeguards.note_victim(victim);
        }
    }

    SafeguardSettings settings;
    Safeguards safeguards{settings};
    int gone_ = 0;
};

TEST_F(HarmLimits, OneRequestMayCostAQuarterOfTheRevocableServers) {
    safeguards.reload(settings);
    const Snapshot cloud = cloud_of(10, 30);
    EXPECT_EQ(verdict(cloud, servers(75)), "planned");
    EXPECT_EQ(verdict(cloud, servers(76)), "limit-request");
    EXPECT_THAT(std::get<NotEnough>(decide(cloud, servers(76))).reason,
                AllOf(HasSubstr("0 of 75 victims for this request (25 % of 300 revocable servers, "
                                "at least 50)"),
                      HasSubstr("an operator approves a plan (reaper plan --save, then reaper "
                                "apply)")));
}

TEST_F(HarmLimits, InALargeCloudTheNumberCounts) {
    safeguards.reload(settings);
    const Snapshot cloud = cloud_of(30, 30);
    EXPECT_EQ(verdict(cloud, servers(100)), "planned");
    EXPECT_EQ(verdict(cloud, servers(101)), "limit-request");
    settings.limits.victims_per_request = 0;
    safeguards.reload(settings);
    EXPECT_EQ(verdict(cloud, servers(225)), "planned");
    EXPECT_EQ(verdict(cloud, servers(226)), "limit-request");
    settings.limits.share_per_request = 0;
    settings.limits.share_per_requester = 0;
    safeguards.reload(settings);
    EXPECT_EQ(verdict(cloud, servers(900)), "planned") << "0 means none";
}

TEST_F(HarmLimits, ASmallCloudMeetsNone) {
    safeguards.reload(settings);
    EXPECT_EQ(verdict(cloud_of(5, 10), servers(50)), "planned");
}

TEST_F(HarmLimits, APersonsWordPassesWhatOneRequestMayCost) {
    safeguards.reload(settings);
    Request large = servers(300);
    large.approved = Approval{"ops", at(now), {}};
    EXPECT_EQ(verdict(cloud_of(10, 30), large), "planned");
    settings.limits.victims_per_window = 250;
    safeguards.reload(settings);
    EXPECT_EQ(verdict(cloud_of(10, 30), large), "limit-window") << "which is the operator's own";
}

TEST_F(HarmLimits, TheRequestsOfOneProjectMayCostHalfOfThemWithinTheWindow) {
    safeguards.reload(settings);
    const Snapshot cloud = cloud_of(10, 16);
    Request wanted = servers(20);
    wanted.project = ProjectId{"p"};
    gone(100, "p");  // of 260 that there are or were
    EXPECT_EQ(verdict(cloud, wanted), "planned");
    gone(40, "p");  // 140 and 20 are more than half of 300
    EXPECT_EQ(verdict(cloud, wanted), "limit-requester");
    EXPECT_THAT(std::get<NotEnough>(decide(cloud, wanted)).reason,
                HasSubstr("140 of 150 victims for project p in the last 1h (50 % of 300 revocable "
                          "servers, at least 50)"));
    wanted.project = ProjectId{"q"};
    EXPECT_EQ(verdict(cloud, wanted), "planned");
}

TEST_F(HarmLimits, WhoTakesBackWhatItLentHasNoShare) {
    safeguards.reload(settings);
    Request back = servers(60);
    back.source = RequestSource::reservation;
    EXPECT_EQ(verdict(cloud_of(6, 20), back), "planned");
    back.source = RequestSource::nova_failure;
    EXPECT_EQ(verdict(cloud_of(6, 20), back), "limit-request");
}

}  // namespace
}  // namespace reaper::harm_limits_test
