#include "reaper/daemon/reload.hpp"

#include <functional>
#include <gtest/gtest.h>

namespace reaper::cli::reload_test {
namespace {

using config::Settings;

Settings some_settings() {
    Settings settings;
    settings.cloud.credentials.password = config::Secret("old");
    settings.broker.urls.emplace_back("amqp://u:old@h/");
    settings.policy.taggers.push_back({"project", {}});
    settings.policy.strategy = {"strict", {}};
    return settings;
}

TEST(CompareSettings, EqualSettingsChangeNothing) {
    const auto change = compare_settings(some_settings(), some_settings());
    EXPECT_TRUE(change.empty());
    EXPECT_EQ(to_string(change), "nothing changed");
}

TEST(CompareSettings, NamesWhatChangesLiveAndWhatNeedsARestart) {
    const struct {
        const char* name;
        bool live;
        std::function<void(Settings&)> edit;
    } cases[] = {
        {"trigger", true, [](Settings& s) { s.trigger.max_age *= 2; }},
        {"taggers", true, [](Settings& s) { s.policy.taggers.front().parameters["tag"] = "x"; }},
        {"strategy", true, [](Settings& s) { s.policy.strategy.name = "chance"; }},
        {"alternatives", true, [](Settings& s) { s.policy.alternatives = 2; }},
        {"protect", true, [](Settings& s) { s.policy.brakes.protect.tags = {"mine"}; }},
        {"limits", true, [](Settings& s) { s.policy.brakes.limits.victims_per_window = 9; }},
        {"thrash", true, [](Settings& s) { s.policy.brakes.thrash.after = 9; }},
        {"breaker", true, [](Settings& s) { s.policy.brakes.breaker.failed = 9; }},
        {"doubt", true, [](Settings& s) { s.policy.brakes.doubt *= 2; }},
        {"cull", true, [](Settings& s) { s.cull.promise *= 2; }},
        {"log.level", true, [](Settings& s) { s.log.level = "debug"; }},
        {"cloud", false, [](Settings& s) { s.cloud.region = "two"; }},
        {"cloud", false, [](Settings& s) { s.cloud.credentials.password = config::Secret("new"); }},
        {"http", false, [](Settings& s) { s.http.max_retries = 9; }},
        {"broker", false,
         [](Settings& s) { s.broker.urls.front() = config::Secret("amqp://u:new@h/"); }},
        {"broker", false, [](Settings& s) { s.broker.prefetch = 9; }},
        {"journal", false, [](Settings& s) { s.journal.path = "/elsewhere"; }},
        {"pause_file", false, [](Settings& s) { s.pause_file = "elsewhere"; }},
        {"log.target", false, [](Settings& s) { s.log.target = "terminal"; }},
    };
    for (const auto& [name, live, edit] : cases) {
        Settings after = some_settings();
        edit(after);
        const auto change = compare_settings(some_settings(), after);
        const std::vector<std::string> only{name};
        const std::vector<std::string> none;
        EXPECT_EQ(change.live, live ? only : none) << name;
        EXPECT_EQ(change.needs_restart, live ? none : only) << name;
    }
}

TEST(CompareSettings, TheTextNeverHoldsASecret) {
    Settings after = some_settings();
    after.cloud.credentials.password = config::Secret("swordfish");
    after.cull.promise *= 2;
    EXPECT_EQ(to_string(compare_settings(some_settings(), after)),
              "applied: cull; needs a restart: cloud");
}

TEST(WithLiveParts, WhatNeedsARestartStaysAndIsToldAgain) {
    Settings wanted = some_settings();
    wanted.broker.prefetch = 9;
    wanted.cull.max_rounds = 9;
    const Settings in_force = with_live_parts(some_settings(), wanted);
    EXPECT_EQ(in_force.broker.prefetch, some_settings().broker.prefetch);
    EXPECT_EQ(in_force.cull.max_rounds, 9);
    const auto again = compare_settings(in_force, wanted);
    EXPECT_EQ(again.live, std::vector<std::string>{});
    EXPECT_EQ(again.needs_restart, std::vector<std::string>{"broker"});
}

}  // namespace
}  // namespace reaper::cli::reload_test
