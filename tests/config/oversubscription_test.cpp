// The section `oversubscription`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/visit.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::oversubscription_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* tagger = "taggers: [{name: resource, class: CUSTOM_REVOCABLE_VCPU}]\n";

constexpr const char* whole = R"(
oversubscription:
  enabled: true
  class: CUSTOM_REVOCABLE_VCPU
  hosts: ["compute-*"]
  aggregates: [fast]
  estimator: {name: usage_slack, margin: 0.2, peak: 2h}
  oversubscribed_resources_interval: 30s
  rise_after: 5min
  rise_step: 0.5
  hysteresis: 2
  flaps: 4
  flap_window: 2h
  quiet: 1h
  max_quiet: 4h
  trust_after: 3h
  max_age: 90s
  excess: drain
  qos: {name: load, load_threshold_5min: 1.5}
  qos_correction_interval_min: 40s
  qos_source: nova
  prometheus:
    url: https://prometheus.example/path
    username: reaper
    password_env: PROMETHEUS_PASSWORD
    ca_file: /ca.pem
    timeout: 2s
    host_label: nodename
    server_label: uuid
    usage_query: servers
    cores_query: cores
    load5_query: five
    load15_query: fifteen
    steal_query: stolen
    pressure_query: waiting
    guest_steal_query: delays
    age_query: age
)";

/// Enabled, with its tagger; `more` are lines of the section.
std::string enabled(const std::string& more) {
    return minimal(std::string{tagger} + "oversubscription:\n  enabled: true\n" + more);
}

World with_secret() {
    World world;
    world.variables["PROMETHEUS_PASSWORD"] = "swordfish";
    world.files["/ca.pem"] = {"PEM", true};
    return world;
}

std::string only_error(const std::string& text) {
    World world = with_secret();
    const auto errors = world.errors(text);
    if (errors.size() != 1)
        ADD_FAILURE() << errors.size() << " errors: " << testing::PrintToString(errors);
    return errors.empty() ? "" : errors.front();
}

TEST(Oversubscription, IsReadWhole) {
    World world = with_secret();
    const Oversubscription read = world.good(minimal(tagger + std::string{whole})).oversubscription;
    EXPECT_TRUE(read.enabled);
    EXPECT_EQ(read.room_class, "CUSTOM_REVOCABLE_VCPU");
    EXPECT_THAT(read.hosts, ElementsAre("compute-*"));
    EXPECT_THAT(read.aggregates, ElementsAre("fast"));
    EXPECT_EQ(read.estimator.name, "usage_slack");
    EXPECT_EQ(read.estimator.parameters.at("margin"), ParameterValue{std::string{"0.2"}});
    EXPECT_TRUE(read.estimator.parameters.contains("ceiling")) << "the standard is filled in";
    const PublicationRules& rules = read.publication;
    EXPECT_EQ(rules.interval, seconds(30));
    EXPECT_EQ(rules.rise_after, minutes(5));
    EXPECT_DOUBLE_EQ(rules.rise_step, 0.5);
    EXPECT_EQ(rules.hysteresis, 2);
    EXPECT_EQ(rules.flaps, 4);
    EXPECT_EQ(rules.flap_window, hours(2));
    EXPECT_EQ(rules.quiet, (RetrySettings{hours(1), hours(4)}));
    EXPECT_EQ(rules.trust_after, hours(3));
    EXPECT_EQ(rules.max_age, seconds(90));
    EXPECT_EQ(read.excess, "drain");
    EXPECT_EQ(read.qos.name, "load");
    EXPECT_EQ(read.qos_correction_interval_min, seconds(40));
    EXPECT_EQ(read.qos_source, "nova");
    const Prometheus& from = read.prometheus;
    EXPECT_EQ(from.url, "https://prometheus.example/path");
    EXPECT_EQ(from.username, "reaper");
    EXPECT_EQ(from.password.reveal(), "swordfish");
    EXPECT_EQ(from.ca_file, "/ca.pem");
    EXPECT_EQ(from.timeout, seconds(2));
    EXPECT_EQ(from.host_label, "nodename");
    EXPECT_EQ(from.server_label, "uuid");
    EXPECT_EQ(from.usage_query, "servers");
    EXPECT_EQ(from.cores_query, "cores");
    EXPECT_EQ(from.load5_query, "five");
    EXPECT_EQ(from.load15_query, "fifteen");
    EXPECT_EQ(from.steal_query, "stolen");
    EXPECT_EQ(from.pressure_query, "waiting");
    EXPECT_EQ(from.guest_steal_query, "delays");
    EXPECT_EQ(from.age_query, "age");
}

TEST(Oversubscription, IsOffAndCompleteByDefault) {
    World world;
    const Oversubscription read = world.good(minimal()).oversubscription;
    EXPECT_FALSE(read.enabled);
    EXPECT_EQ(read.estimator.name, "noop");
    EXPECT_EQ(read.qos.name, "noop");
    EXPECT_EQ(read.publication, PublicationRules{});
    EXPECT_EQ(read.prometheus, Prometheus{});
}

TEST(Oversubscription, SecretsAreNeverShown) {
    World world = with_secret();
    const std::string shown = to_yaml(world.good(minimal(tagger + std::string{whole})));
    EXPECT_THAT(shown, HasSubstr("password: \"***\""));
    EXPECT_THAT(shown, testing::Not(HasSubstr("swordfish")));
    world.files["/reaper.yaml"] = {enabled("  prometheus: {token: swordfish}\n"), true};
    load_settings("/reaper.yaml", world.environment(), &world.warnings);
    EXPECT_THAT(world.warning_lines(), Contains(HasSubstr("oversubscription.prometheus.token")));
}

TEST(Oversubscription, NeedsATaggerThatKnowsItsHolders) {
    const char* const section =
        "oversubscription: {enabled: true, estimator: {name: fixed, vcpus: 4}}\n";
    for (const char* taggers :
         {"taggers: [project]\n", "taggers: [{name: resource, class: CUSTOM_PREEMPTIBLE}]\n"})
        EXPECT_THAT(only_error(minimal(std::string{taggers} + section)),
                    testing::AllOf(HasSubstr("oversubscription.enabled"),
                                   HasSubstr("{name: resource, class: CUSTOM_REVOCABLE_VCPU}")))
            << taggers;
    World world;
    EXPECT_THAT(world.errors(minimal(std::string{tagger} + section)), IsEmpty());
    EXPECT_THAT(only_error(minimal("taggers: [project, {name: resource, class: "
                                   "CUSTOM_REVOCABLE_VCPU}]\ntagger_conflict: all\n" +
                                   std::string{section})),
                HasSubstr("tagger_conflict"));
}

TEST(Oversubscription, IsOfCpuAlone) {
    const auto error_of = [](const char* name) {
        return only_error(minimal("oversubscription: {class: " + std::string{name} + "}\n"));
    };
    EXPECT_THAT(error_of("CUSTOM_REVOCABLE_MEMORY_MB"), HasSubstr("stands for MEMORY_MB"));
    EXPECT_THAT(error_of("CUSTOM_REVOCABLE_DISK_GB"), HasSubstr("can't be taken"));
    EXPECT_THAT(error_of("CUSTOM_REVOCABLE_PCPU"), HasSubstr("not for VCPU"));
    EXPECT_THAT(error_of("CUSTOM_PREEMPTIBLE"), HasSubstr("stands for no vCPUs"));
}

TEST(Oversubscription, WhatMeasuresNeedsASource) {
    EXPECT_THAT(only_error(enabled("  estimator: usage_slack\n")),
                testing::AllOf(HasSubstr("oversubscription.estimator"),
                               HasSubstr("oversubscription.prometheus.url")));
    EXPECT_THAT(only_error(enabled("  qos: {name: load, load_threshold_15min: 8}\n")),
                HasSubstr("oversubscription.qos"));
    EXPECT_THAT(only_error(enabled("  qos: {name: pressure, steal_threshold: 0.1}\n"
                                   "  qos_source: nova\n")),
                HasSubstr("neither steal nor pressure"));
    const std::string guests = "  qos: {name: pressure, guest_steal_threshold: 0.1}\n";
    EXPECT_THAT(only_error(enabled(guests + "  prometheus: {url: http://p}\n")),
                HasSubstr("oversubscription.prometheus.guest_steal_query"));
    World world;
    EXPECT_THAT(world.errors(enabled(guests + "  prometheus: {url: http://p, usage_query: use, "
                                              "server_label: uuid, guest_steal_query: waits}\n")),
                IsEmpty());
    EXPECT_THAT(world.errors(enabled("  qos: {name: load, load_threshold_15min: 8}\n"
                                     "  qos_source: nova\n")),
                IsEmpty());
    EXPECT_THAT(world.errors(minimal("oversubscription: {estimator: usage_slack}\n")), IsEmpty())
        << "it is not enabled";
}

TEST(Oversubscription, AWrongParameterIsReportedWithItsLine) {
    EXPECT_THAT(only_error(enabled("  estimator: {name: usage_slack, margin: 2}\n")),
                testing::AllOf(HasSubstr("oversubscription.estimator.margin"),
                               HasSubstr("reaper.yaml:12")));
    EXPECT_THAT(only_error(enabled("  estimator: slack\n")), HasSubstr("usage_slack"));
    EXPECT_THAT(only_error(enabled("  qos: {name: load, load_treshold_5min: 2}\n")),
                HasSubstr("load_threshold_5min"));
}

TEST(Oversubscription, AParameterThatIsNotGivenMayBeWrittenSo) {
    World world;
    const auto read =
        world.good(enabled("  qos: {name: load, load_threshold_5min: 2, load_threshold_15min: ''}\n"
                           "  qos_source: nova\n"));
    EXPECT_EQ(read.oversubscription.qos.parameters.at("load_threshold_15min"),
              ParameterValue{std::string{}});
    EXPECT_THAT(to_yaml(read), HasSubstr("load_threshold_15min: \"\""));
    EXPECT_THAT(only_error(enabled("  estimator: {name: usage_slack, margin: ''}\n"
                                   "  prometheus: {url: 'http://p:9090'}\n")),
                HasSubstr("is empty"));
}

TEST(Oversubscription, NumbersHaveBounds) {
    for (const char* wrong : {"0", "1.01", "-0.5", "inf", "nan", "1e-1", "0.5x", "[0.5]"})
        EXPECT_THAT(
            only_error(minimal("oversubscription: {rise_step: " + std::string{wrong} + "}\n")),
            HasSubstr("a number from 0.01 to 1"))
            << wrong;
    EXPECT_THAT(only_error(minimal("oversubscription: {quiet: 9h}\n")), HasSubstr("max_quiet"));
    EXPECT_THAT(only_error(minimal("oversubscription: {max_age: 10s}\n")),
                HasSubstr("oversubscribed_resources_interval"));
}

TEST(Oversubscription, CredentialsAreWholeAndOfOneKind) {
    const auto error_of = [](const std::string& keys) {
        return only_error(minimal("oversubscription: {prometheus: {" + keys + "}}\n"));
    };
    EXPECT_THAT(error_of("username: u"), HasSubstr("without password"));
    EXPECT_THAT(error_of("password: p"), HasSubstr("without username"));
    EXPECT_THAT(error_of("username: u, password: p, token: t"), HasSubstr("only one"));
    EXPECT_THAT(error_of("url: 'http://u:p@h:9090'"), HasSubstr("user information"));
}

TEST(Oversubscription, LabelsAndQueriesGoTogether) {
    const auto errors_of = [](const std::string& keys) {
        World world;
        return world.errors(minimal("oversubscription: {prometheus: {" + keys + "}}\n"));
    };
    EXPECT_THAT(errors_of("server_label: uuid"),
                ElementsAre(HasSubstr("oversubscription.prometheus.server_label")));
    EXPECT_THAT(errors_of("server_label: uuid, usage_query: mine"), IsEmpty());
    EXPECT_EQ(errors_of("host_label: node").size(), 3U);
    EXPECT_THAT(errors_of("host_label: node, usage_query: a, cores_query: b, steal_query: c"),
                IsEmpty());
}

TEST(Oversubscription, WhatAReloadChanges) {
    Settings before;
    Settings after = before;
    after.oversubscription.estimator.name = "fixed";
    after.oversubscription.publication.rise_step = 0.75;
    after.oversubscription.enabled = true;
    after.oversubscription.prometheus.url = "http://elsewhere:9090";
    const auto change = difference(before, after);
    EXPECT_THAT(change.live,
                ElementsAre("oversubscription.estimator", "oversubscription.rise_step"));
    EXPECT_THAT(change.needs_restart,
                ElementsAre("oversubscription.enabled", "oversubscription.prometheus.url"));
}

TEST(Oversubscription, WarnsWhereNothingIsDone) {
    World world;
    world.good(enabled(""));
    EXPECT_THAT(world.warning_lines(), Contains(HasSubstr("nothing is published")));
}

}  // namespace
}  // namespace reaper::config::test::oversubscription_test
