// What rights `reaper check` tells: those of deploy/least-rights, by feature.
#include "reaper/cli/check/rights.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace reaper::cli::rights_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Right table[] = {
    {"nova", "look", "os:servers:detail"},
    {"nova", "look", "os:servers:detail:all"},
    {"nova", "delete", "os:servers:delete"},
    {"placement", "look", "p:list"},
};

AuthInfo with_role(const std::string& role) {
    AuthInfo who;
    who.roles = {role};
    return who;
}

std::vector<Finding> told(const std::set<std::string>& features,
                          const std::vector<Finding>& findings, const TriedCalls& calls = {},
                          const std::optional<AuthInfo>& who = with_role("reaper")) {
    std::vector<Finding> made;
    check_rights(features, table, {calls, findings, who},
                 [&](Finding finding) { made.push_back(std::move(finding)); });
    return made;
}

http::CallSeen seen(std::string_view service, std::string_view url, int status) {
    http::CallSeen call;
    call.service = service;
    call.url = url;
    call.status = status;
    return call;
}

TEST(Rights, AreThoseOfTheScriptThatPrintsThem) {
    std::ifstream file{std::string{REAPER_SOURCE_DIR} + "/deploy/least-rights"};
    const std::string script{std::istreambuf_iterator<char>{file}, {}};
    const std::string begin = "\nTABLE = \"\"\"\n";
    const std::size_t at = script.find(begin) + begin.size();
    std::istringstream lines{script.substr(at, script.find("\"\"\"", at) - at)};
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        rows.emplace_back(std::istream_iterator<std::string>{words},
                          std::istream_iterator<std::string>{});
    }
    std::vector<std::vector<std::string>> needed;
    for (const Right& right : needed_rights)
        needed.push_back(
            {std::string{right.service}, std::string{right.feature}, std::string{right.rule}});
    EXPECT_EQ(needed, rows);
    EXPECT_THAT(needed_rights, Contains(Right{"nova", "delete", "os_compute_api:servers:delete"}));
    EXPECT_THAT(needed_rights, Contains(Right{"glance", "look", "get_image"}));
}

TEST(Rights, WhatWasNotTriedIsNotOk) {
    const auto all = told({"look", "delete", "nothing"}, {});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].what, "rights for delete");
    EXPECT_EQ(all[0].verdict, Verdict::warn);
    EXPECT_EQ(all[0].detail, "not tried: nova: os:servers:delete");
    EXPECT_EQ(all[1].verdict, Verdict::warn);
    EXPECT_EQ(all[1].detail,
              "not tried: nova: os:servers:detail, os:servers:detail:all; placement: p:list");
    const auto admin = told({"delete"}, {}, {}, with_role("admin"));
    EXPECT_EQ(admin[0].verdict, Verdict::info);
    EXPECT_THAT(admin[0].detail, HasSubstr("role admin has them"));
    const auto unasked = told({"delete"}, {}, {}, std::nullopt);
    EXPECT_EQ(unasked[0].verdict, Verdict::warn);
    EXPECT_EQ(unasked[0].detail, "not asked; needed: nova: os:servers:delete");
}

TEST(Rights, WhatARefusedCallNamesIsMissing) {
    const Finding refused{Verdict::fail, "servers",
                          "403: Policy doesn't allow os:servers:detail:all to be performed."};
    const auto all = told({"look", "delete"}, {refused});
    EXPECT_EQ(all[0].verdict, Verdict::warn) << "another feature's";
    EXPECT_EQ(all[1].verdict, Verdict::fail);
    EXPECT_TRUE(all[1].detail.starts_with("missing: nova: os:servers:detail:all ("))
        << all[1].detail;
    const Finding hint{Verdict::warn, "right to delete", "the policies os:servers:delete must ..."};
    EXPECT_EQ(told({"delete"}, {hint})[0].verdict, Verdict::warn) << "it was not refused";
    const Finding colon{Verdict::fail, "p", "Access was denied: p:list: no"};
    EXPECT_EQ(told({"look"}, {colon})[0].verdict, Verdict::fail);
}

/// Of the rights that the program needs, those for looking.
Finding looking(const TriedCalls& calls, const std::vector<Finding>& findings,
                const std::string& role = "reaper") {
    std::vector<Finding> made;
    check_rights({"look"}, needed_rights, {calls, findings, with_role(role)},
                 [&](Finding finding) { made.push_back(std::move(finding)); });
    return made.at(0);
}

TEST(Rights, ACallThatPassedShowsItsRules) {
    TriedCalls calls;
    calls.add(seen("placement", "https://p/placement/resource_providers/u-1/allocations", 200));
    calls.add(seen("nova", "https://n/v2.1/servers/detail?all_tenants=1&limit=1000", 200));
    const ServiceRule rule{"nova", "context_is_admin"};
    const Finding finding =
        looking(calls, {{Verdict::ok, "servers of other projects", "seen", rule}});
    EXPECT_EQ(finding.verdict, Verdict::warn) << "others were not tried";
    const std::string there = finding.detail.substr(finding.detail.find("tried, and there: "));
    EXPECT_EQ(there,
              "tried, and there: nova: context_is_admin, os_compute_api:servers:detail, "
              "os_compute_api:servers:detail:get_all_tenants; placement: "
              "placement:resource_providers:allocations:list");
    EXPECT_TRUE(finding.detail.starts_with("not tried: glance: ")) << finding.detail;
}

TEST(Rights, AFindingThatShowsARuleToBeMissingCounts) {
    const ServiceRule rule{"nova", "os_compute_api:os-extended-server-attributes"};
    const Finding finding =
        looking({}, {{Verdict::fail, "servers of all projects", "no hosts", rule}});
    EXPECT_TRUE(finding.detail.starts_with("missing: nova: " + rule.second + " ("))
        << finding.detail;
}

TEST(Rights, ARefusedCallCountsAgainstItsRuleWhateverTheServiceSays) {
    TriedCalls calls;
    calls.add(seen("placement", "https://p/resource_providers", 403));
    const Finding silent{Verdict::fail, "resource providers", "placement: GET ...: 403: Forbidden"};
    const Finding finding = looking(calls, {silent}, "admin");
    EXPECT_EQ(finding.verdict, Verdict::fail);
    EXPECT_TRUE(
        finding.detail.starts_with("missing: placement: placement:resource_providers:list "
                                   "(deploy/least-rights"))
        << finding.detail;
}

TEST(Rights, OfTheRulesOfOneCallTheOneThatTheServiceNamesIsMissing) {
    TriedCalls calls;
    calls.add(seen("nova", "https://n/v2.1/servers/detail?all_tenants=1", 403));
    const auto both = looking(calls, {});
    EXPECT_TRUE(
        both.detail.starts_with("missing: nova: os_compute_api:servers:detail, "
                                "os_compute_api:servers:detail:get_all_tenants ("))
        << both.detail;
    const Finding named{Verdict::fail, "servers",
                        "403: os_compute_api:servers:detail:get_all_tenants: no"};
    const auto one = looking(calls, {named});
    EXPECT_TRUE(
        one.detail.starts_with("missing: nova: os_compute_api:servers:detail:get_all_tenants ("))
        << one.detail;
}

TEST(TriedCalls, OnlyAnswersCount) {
    TriedCalls calls;
    for (const int status : {0, 401, 404, 500})
        calls.add(seen("nova", "https://n/v2.1/os-aggregates", status));
    calls.add(seen("nova", "https://n/v2.1/unheard-of", 403));
    calls.add(seen("nova", "https://n/", 200));
    http::CallSeen written = seen("nova", "https://n/v2.1/servers/s-1", 204);
    written.method = http::Method::del;
    calls.add(written);
    EXPECT_TRUE(calls.allowed().empty());
    EXPECT_TRUE(calls.refused().empty());
    calls.add(seen("nova", "https://n/v2.1/os-aggregates", 200));
    EXPECT_TRUE(calls.allowed().contains({"nova", "os_compute_api:os-aggregates:index"}));
}

TEST(TriedCalls, EachRuleIsOneOfThoseThatAreNeeded) {
    const auto rule_of = [&](const char* service, const std::string& path) {
        const auto rules = rules_of_call(service, http::Method::get, "http://h:1/v2.1" + path);
        for (const auto& rule : rules)
            EXPECT_THAT(needed_rights,
                        Contains(testing::AllOf(testing::Field(&Right::service, service),
                                                testing::Field(&Right::rule, rule))));
        return rules.empty() ? std::string{} : rules.back();
    };
    EXPECT_EQ(rule_of("nova", "/servers/s-1"), "os_compute_api:servers:show");
    EXPECT_EQ(rule_of("nova", "/servers/s-1/os-instance-actions?x=1"),
              "os_compute_api:os-instance-actions:list");
    EXPECT_EQ(rule_of("nova", "/servers/s-1/os-instance-actions/req-1"),
              "os_compute_api:os-instance-actions:show");
    EXPECT_EQ(rule_of("nova", "/os-hypervisors/detail?limit=1"),
              "os_compute_api:os-hypervisors:list-detail");
    EXPECT_EQ(rule_of("nova", "/os-hypervisors"), "os_compute_api:os-hypervisors:list");
    EXPECT_EQ(rule_of("nova", "/os-services?binary=nova-compute"),
              "os_compute_api:os-services:list");
    EXPECT_EQ(rule_of("nova", "/os-migrations?status=finished"),
              "os_compute_api:os-migrations:index:all_projects");
    EXPECT_EQ(rule_of("nova", "/os-server-groups/g"), "os_compute_api:os-server-groups:show");
    EXPECT_EQ(rule_of("nova", "/flavors/f/os-extra_specs"),
              "os_compute_api:os-flavor-extra-specs:index");
    EXPECT_EQ(rule_of("placement", "/resource_providers?name=a"),
              "placement:resource_providers:list");
    for (const char* const part : {"inventories", "traits", "aggregates", "allocations"})
        EXPECT_EQ(rule_of("placement", std::string{"/resource_providers/u/"} + part),
                  std::string{"placement:resource_providers:"} + part + ":list");
    EXPECT_EQ(rule_of("placement", "/resource_classes"), "placement:resource_classes:list");
    EXPECT_EQ(rule_of("placement", "/allocation_candidates?resources=VCPU:1"),
              "placement:allocation_candidates:list");
    EXPECT_EQ(rule_of("placement", "/allocations/c"), "placement:allocations:list");
    EXPECT_EQ(rule_of("placement", "/usages?project_id=p"), "placement:usages");
    EXPECT_EQ(rule_of("keystone", "/projects?tags=x"), "identity:list_projects");
    EXPECT_EQ(rule_of("keystone", "/projects/p"), "identity:get_project");
    EXPECT_EQ(rule_of("keystone", "/domains/d"), "identity:get_domain");
    EXPECT_EQ(rule_of("glance", "/images/i"), "get_image");
    EXPECT_EQ(rule_of("nova", "/flavors/detail"), "");
}

TEST(Rights, FeaturesAreThoseThatAreConfigured) {
    config::Settings settings;
    settings.labels.servers = "none";
    EXPECT_THAT(features_of(settings, false), ElementsAre("delete", "look"));
    settings.labels.servers = "all";
    settings.policy.notice.period = std::chrono::seconds{1};
    settings.gateway.listen = "127.0.0.1:8780";
    settings.reservations.enabled = true;
    settings.oversubscription.enabled = true;
    settings.admin.listen = "127.0.0.1:8787";
    settings.admin.auth = "keystone";
    EXPECT_THAT(features_of(settings, true),
                ElementsAre("admin", "delete", "gateway", "held-room", "labels", "look", "notice",
                            "oversubscription", "reservations"));
}

}  // namespace
}  // namespace reaper::cli::rights_test
