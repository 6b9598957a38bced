#include "config/visit.hpp"

#include <functional>
#include <gtest/gtest.h>

namespace reaper::config::visit_test {
namespace {

Settings some_settings() {
    Settings settings;
    settings.cloud.credentials.password = Secret("old");
    settings.broker.urls.emplace_back("amqp://u:old@h/");
    settings.policy.taggers.push_back({"project", {}});
    settings.policy.strategy = {"strict", {}};
    return settings;
}

TEST(Difference, EqualSettingsChangeNothing) {
    const auto change = difference(some_settings(), some_settings());
    EXPECT_TRUE(change.empty());
    EXPECT_EQ(to_string(change), "nothing changed");
}

TEST(Difference, NamesWhatChangesLiveAndWhatNeedsARestart) {
    const struct {
        const char* name;
        bool live;
        std::function<void(Settings&)> edit;
    } cases[] = {
        {"trigger.max_age", true, [](Settings& s) { s.trigger.max_age *= 2; }},
        {"taggers", true, [](Settings& s) { s.policy.taggers.front().parameters["tag"] = "x"; }},
        {"strategy", true, [](Settings& s) { s.policy.strategy.name = "chance"; }},
        {"alternatives", true, [](Settings& s) { s.policy.alternatives = 2; }},
        {"protect.tags", true, [](Settings& s) { s.policy.safeguards.protect.tags = {"mine"}; }},
        {"limits.victims_per_window", true,
         [](Settings& s) { s.policy.safeguards.limits.victims_per_window = 9; }},
        {"thrash.after", true, [](Settings& s) { s.policy.safeguards.thrash.after = 9; }},
        {"notice.period", true,
         [](Settings& s) { s.policy.notice.period += std::chrono::seconds{9}; }},
        {"breaker.failed", true, [](Settings& s) { s.policy.safeguards.breaker.failed = 9; }},
        {"host_cooldown", true, [](Settings& s) { s.policy.safeguards.host_cooldown *= 2; }},
        {"cull.promise", true, [](Settings& s) { s.cull.promise *= 2; }},
        {"log.level", true, [](Settings& s) { s.log.level = "debug"; }},
        {"cloud.region", false, [](Settings& s) { s.cloud.region = "two"; }},
        {"cloud.auth.password", false,
         [](Settings& s) { s.cloud.credentials.password = Secret("new"); }},
        {"http.max_retries", false, [](Settings& s) { s.http.max_retries = 9; }},
        {"broker.urls", false,
         [](Settings& s) { s.broker.urls.front() = Secret("amqp://u:new@h/"); }},
        {"broker.prefetch", false, [](Settings& s) { s.broker.prefetch = 9; }},
        {"cull.max_parallel_deletions", false,
         [](Settings& s) { s.cull.max_parallel_deletions = 3; }},
        {"scheduler.tenant_filter", true,
         [](Settings& s) { s.policy.scheduler.tenant_filter = true; }},
        {"labels.servers", true, [](Settings& s) { s.labels.servers = "all"; }},
        {"cloud.endpoints.placement", false,
         [](Settings& s) { s.cloud.endpoint_overrides["placement"] = "http://p"; }},
        {"journal.path", false, [](Settings& s) { s.journal.path = "/elsewhere"; }},
        {"pause_file", false, [](Settings& s) { s.pause_file = "elsewhere"; }},
        {"log.format", false, [](Settings& s) { s.log.format = "json"; }},
        {"log.target", false, [](Settings& s) { s.log.target = "terminal"; }},
    };
    for (const auto& [name, live, edit] : cases) {
        Settings after = some_settings();
        edit(after);
        const auto change = difference(some_settings(), after);
        const std::vector<std::string> only{name};
        const std::vector<std::string> none;
        EXPECT_EQ(change.live, live ? only : none) << name;
        EXPECT_EQ(change.needs_restart, live ? none : only) << name;
    }
}

TEST(Difference, WhatADryRunKeepsElsewhereIsNoChangeOfItsOwn) {
    Settings in_force = some_settings();
    in_force.journal.path = "/var/lib/reaper/dry-run.db";
    in_force.record.directory = "/var/lib/reaper/dry-run";
    in_force.dry_run = true;
    Settings wanted = some_settings();
    wanted.journal.path = "/var/lib/reaper/journal.db";
    wanted.record.directory.clear();
    wanted.dry_run = false;
    const std::vector<std::string> only{"dry_run"};
    EXPECT_EQ(difference(in_force, wanted).needs_restart, only);
    EXPECT_EQ(difference(wanted, in_force).needs_restart, only);
    wanted.journal.path = "/srv/journal.db";
    EXPECT_EQ(difference(in_force, wanted).needs_restart,
              (std::vector<std::string>{"dry_run", "journal.path", "record.directory"}));
}

TEST(Difference, TheTextNeverHoldsASecret) {
    Settings after = some_settings();
    after.cloud.credentials.password = Secret("swordfish");
    after.cull.promise *= 2;
    EXPECT_EQ(to_string(difference(some_settings(), after)),
              "applied: cull.promise; needs a restart: cloud.auth.password");
}

TEST(WithLiveValues, WhatNeedsARestartStaysAndIsReportedAgain) {
    Settings wanted = some_settings();
    wanted.broker.prefetch = 9;
    wanted.cull.max_rounds = 9;
    const Settings in_force = with_live_values(some_settings(), wanted);
    EXPECT_EQ(in_force.broker.prefetch, some_settings().broker.prefetch);
    EXPECT_EQ(in_force.cull.max_rounds, 9);
    const auto again = difference(in_force, wanted);
    EXPECT_EQ(again.live, std::vector<std::string>{});
    EXPECT_EQ(again.needs_restart, std::vector<std::string>{"broker.prefetch"});
}

}  // namespace
}  // namespace reaper::config::visit_test
