#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/fake_cloud.hpp"
#include "fakes/fake_metrics.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli::check_oversubscription_test {
namespace {

using testing::HasSubstr;

class FakeSession final : public CloudSession {
public:
    std::vector<std::string> roles{"admin"};

    ResultTask<AuthInfo> authenticate() override {
        AuthInfo who;
        who.roles = roles;
        co_return who;
    }
    ResultTask<EndpointInfo> endpoint(CloudService) override { co_return EndpointInfo{}; }
};

class CheckOversubscription : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name : {"h1", "h2"}) cloud_.add_host(name, Resources{{"VCPU", 8}});
        cloud_.classes.insert("CUSTOM_REVOCABLE_VCPU");
        Flavor flavor;
        flavor.name = "revocable.small";
        flavor.extra_specs = {{"resources:VCPU", "0"},
                              {"resources_revocable:CUSTOM_REVOCABLE_VCPU", "1"}};
        cloud_.flavors["f-1"] = flavor;
        settings_.enabled = true;
        settings_.estimator = {"usage_slack", {}};
        settings_.prometheus.usage_query = "usage";
        settings_.prometheus.cores_query = "cores";
        settings_.prometheus.age_query = "age";
        for (const char* name : {"h1:9100", "h2:9100"}) {
            measure("usage", name, 2);
            measure("cores", name, 8);
            measure("age", name, 5);
        }
    }

    void measure(const std::string& expression, const std::string& instance, double value) {
        metrics_.measure(expression, {{"instance", instance}}, value);
    }
    bool run() {
        findings_.clear();
        const Report report = [this](Finding finding) { findings_.push_back(std::move(finding)); };
        return run_task(
            io_, check_oversubscription(cloud_.ports(), session_, &metrics_, settings_, report));
    }
    /// All findings of that name in one text, with their verdicts.
    std::string told(const std::string& what) const {
        std::string text;
        for (const auto& finding : findings_)
            if (finding.what == what) text += to_line(finding, false);
        return text;
    }

    config::Oversubscription settings_;
    test::FakeClock clock_;
    test::FakeCloud cloud_{clock_};
    test::FakeMetrics metrics_{clock_};
    FakeSession session_;
    boost::asio::io_context io_{1};
    std::vector<Finding> findings_;
};

TEST_F(CheckOversubscription, AllIsWell) {
    EXPECT_TRUE(run());
    EXPECT_EQ(told("oversubscription.hosts"), "ok   oversubscription.hosts: 2 of 2 hosts\n");
    EXPECT_EQ(told("usage_query"), "ok   usage_query: 2 of 2 hosts measured\n");
    EXPECT_EQ(told("age_query"), "ok   age_query: 2 of 2 hosts measured\n");
    EXPECT_EQ(told("revocable flavors"), "ok   revocable flavors: 'revocable.small'\n");
    EXPECT_THAT(told("oversubscription.class"),
                HasSubstr("warn oversubscription.class: CUSTOM_REVOCABLE_VCPU is there, with a "
                          "provider on 0 of 2 hosts; not on 'h1', 'h2'"));
    EXPECT_EQ(told("load5_query"), "") << "no setting needs it";
    EXPECT_THAT(told("right to publish"), HasSubstr("info "));
    session_.roles = {"reaper"};
    EXPECT_TRUE(run());
    EXPECT_THAT(told("right to publish"),
                HasSubstr("placement:resource_providers:inventories:update"));
}

TEST_F(CheckOversubscription, WhatIsOffAndNotMeasuredIsNotChecked) {
    settings_.enabled = false;
    const Report report = [this](Finding finding) { findings_.push_back(std::move(finding)); };
    EXPECT_TRUE(run_task(
        io_, check_oversubscription(cloud_.ports(), session_, nullptr, settings_, report)));
    EXPECT_TRUE(findings_.empty());
    EXPECT_TRUE(run());
    EXPECT_THAT(told("oversubscription"), HasSubstr("off"));
    EXPECT_THAT(told("usage_query"), HasSubstr("2 of 2"));
}

TEST_F(CheckOversubscription, HostsWithoutMetricsAndMetricsWithoutHostsAreNamed) {
    metrics_.forget("usage", {{"instance", "h2:9100"}});
    measure("usage", "web:9100", 1);
    EXPECT_TRUE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("1 of 2 hosts measured; not: 'h2'"));
    EXPECT_THAT(told("usage_query"), HasSubstr("hosts of no such name: 'web:9100'"));
    metrics_.forget("usage", {{"instance", "h1:9100"}});
    EXPECT_FALSE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("FAIL usage_query: its 1 figure names none"));
    metrics_.forget("usage", {{"instance", "web:9100"}});
    EXPECT_FALSE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("answers, but with nothing"));
}

TEST_F(CheckOversubscription, WhatCannotCountIsReported) {
    metrics_.measure("usage", {{"instance", "h1:9100"}, {"job", "other"}}, 2);
    metrics_.measure("cores", {{"host", "h1"}}, 2);
    measure("usage", "h2:9100", std::nan(""));
    measure("age", "h2:9100", 61);
    EXPECT_FALSE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("FAIL usage_query: more than one figure of a host"));
    EXPECT_THAT(told("usage_query"), HasSubstr("impossible figures, which count as unknown: 'h2'"));
    EXPECT_THAT(told("cores_query"), HasSubstr("1 figure without the label 'instance'"));
    EXPECT_THAT(told("stale metrics"), HasSubstr("1 host not measured within max_age (1min)"));
}

TEST_F(CheckOversubscription, ServersNeedTheirLabel) {
    settings_.prometheus.server_label = "uuid";
    metrics_.forget("usage", {{"instance", "h2:9100"}});
    for (const char* server : {"s1", "s2"})
        metrics_.measure("usage", {{"instance", "h2:9100"}, {"uuid", server}}, 1);
    EXPECT_TRUE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("1 of 2 hosts measured; not: 'h1'"));
    EXPECT_THAT(told("usage_query"), HasSubstr("without the label 'instance' or 'uuid'"));
}

TEST_F(CheckOversubscription, APrometheusThatDoesNotAnswerIsReportedOnce) {
    metrics_.down = Error{Errc::unreachable, "prometheus: connection refused"};
    EXPECT_FALSE(run());
    EXPECT_THAT(told("usage_query"), HasSubstr("FAIL usage_query: prometheus: connection refused"));
    EXPECT_EQ(told("cores_query"), "");
    metrics_.down.reset();
    metrics_.fails.emplace("usage", Error{Errc::rejected, "prometheus: bad_data"});
    EXPECT_FALSE(run());
    EXPECT_THAT(told("cores_query"), HasSubstr("ok")) << "the others may be right";
}

TEST_F(CheckOversubscription, AClockThatDiffersIsReported) {
    metrics_.skew = std::chrono::seconds{31};
    EXPECT_FALSE(run());
    EXPECT_THAT(told("prometheus' clock"), HasSubstr("differs from this machine's by 31s"));
    metrics_.skew = std::chrono::seconds{29};
    EXPECT_TRUE(run());
}

TEST_F(CheckOversubscription, TheClassAndTheFlavorsAreLookedFor) {
    cloud_.classes.erase("CUSTOM_REVOCABLE_VCPU");
    cloud_.flavors["f-1"].extra_specs.erase("resources:VCPU");
    EXPECT_FALSE(run());
    EXPECT_THAT(told("oversubscription.class"), HasSubstr("reaper setup oversubscription --apply"));
    EXPECT_THAT(told("revocable flavors"), HasSubstr("hold ordinary VCPU too: 'revocable.small'"));
    cloud_.flavors.clear();
    run();
    EXPECT_THAT(told("revocable flavors"), HasSubstr("warn revocable flavors: none asks for"));
    settings_.hosts = {"other-*"};
    EXPECT_FALSE(run());
    EXPECT_THAT(told("oversubscription.hosts"), HasSubstr("none of 2 hosts"));
}

TEST_F(CheckOversubscription, NamesThatCoverNoHostAreReported) {
    settings_.hosts = {"h*", "compute-*"};
    settings_.estimator = {"fixed", {{"overrides", std::vector<std::string>{"h1=2", "h11=0"}}}};
    EXPECT_FALSE(run());
    EXPECT_THAT(told("oversubscription.hosts"),
                HasSubstr("FAIL oversubscription.hosts: 'compute-*' covers none of 2 hosts"));
    EXPECT_EQ(told("oversubscription.estimator.overrides"),
              "FAIL oversubscription.estimator.overrides: 'h11=0' covers none of 2 hosts: no "
              "hypervisor and no nova-compute service has such a name; correct it, or take it "
              "out\n");
    settings_.hosts = {"h1"};
    settings_.estimator.parameters["overrides"] = std::vector<std::string>{"h2=2"};
    EXPECT_TRUE(run());
    EXPECT_THAT(told("oversubscription.estimator.overrides"),
                HasSubstr("warn oversubscription.estimator.overrides: 'h2=2' covers 1 host, and"));
}

TEST_F(CheckOversubscription, HostsAreTriedForTheirUptimeInEveryRelease) {
    settings_.qos = {"load", {{"load_threshold_5min", ParameterValue{std::string{"8"}}}}};
    settings_.qos_source = "nova";
    cloud_.nova_release = NovaRelease::r2026_1;
    EXPECT_FALSE(run());
    EXPECT_THAT(told("oversubscription.qos_source"),
                HasSubstr("FAIL oversubscription.qos_source: nova: it asks the host for its load; "
                          "0 of 2 hosts that were tried told it; not 'h1', 'h2': "));
    cloud_.load_averages_of["h2"] = {1, 1};
    EXPECT_TRUE(run());
    EXPECT_THAT(told("oversubscription.qos_source"), HasSubstr("warn"));
    EXPECT_THAT(told("oversubscription.qos_source"), HasSubstr("1 of 2 hosts that were tried"));
    cloud_.load_averages_of["h1"] = {1, 1};
    EXPECT_TRUE(run());
    EXPECT_THAT(told("oversubscription.qos_source"), HasSubstr("ok "));
    EXPECT_EQ(told("load5_query"), "");
    settings_.qos_source = "prometheus";
    settings_.prometheus.load5_query = "five";
    EXPECT_FALSE(run());
    EXPECT_THAT(told("load5_query"), HasSubstr("FAIL load5_query: answers, but with nothing"));
}

}  // namespace
}  // namespace reaper::cli::check_oversubscription_test
