// Keys of the file as variables of the environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "config/loader.hpp"
#include "config/visit.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::variables_test {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;
using testing::HasSubstr;

std::string origin_of(const std::vector<KeyOrigin>& all, const std::string& key) {
    for (const auto& each : all)
        if (each.key == key) return each.from;
    return "no such key";
}

TEST(Variables, EachKeyHasOneOfItsOwn) {
    std::set<std::string> names;
    for_each_key([&](const Section& section, const Key& key) {
        EXPECT_TRUE(names.insert(variable_of(section, key)).second) << variable_of(section, key);
    });
    EXPECT_TRUE(names.contains("REAPER_CULL_DEADLINE"));
    EXPECT_TRUE(names.contains("REAPER_CLOUD_AUTH_PASSWORD"));
    EXPECT_TRUE(names.contains("REAPER_DRY_RUN"));
    for (const char* const taken : {"REAPER_API", "REAPER_CONFIG"})
        EXPECT_FALSE(names.contains(taken)) << "an option of the commands";
}

TEST(Variables, SayWhatTheFileDoesNot) {
    World world;
    world.variables = {{"REAPER_CULL_DEADLINE", "7min"},
                       {"REAPER_DRY_RUN", "true"},
                       {"REAPER_OVERSUBSCRIPTION_HOSTS", "[a-*, b-*]"},
                       {"REAPER_STRATEGY", "{name: chance}"},
                       {"REAPER_LOG_LEVEL", ""},
                       {"REAPER_OVERSUBSCRIPTION_PROMETHEUS_USAGE_QUERY", "sum: {by}"}};
    const auto settings = world.good(minimal());
    EXPECT_EQ(settings.cull.deadline, minutes{7});
    EXPECT_TRUE(settings.dry_run);
    EXPECT_THAT(settings.oversubscription.hosts, ElementsAre("a-*", "b-*"));
    EXPECT_EQ(settings.policy.strategy.name, "chance");
    EXPECT_EQ(settings.log.level, "info") << "empty says nothing";
    EXPECT_EQ(settings.oversubscription.prometheus.usage_query, "sum: {by}");
}

TEST(Variables, AreOverruledByTheFile) {
    World world;
    world.variables = {{"REAPER_CULL_DEADLINE", "wrong"}, {"REAPER_BROKER_URLS", "amqp://other/"}};
    const auto settings = world.good(minimal("cull: {deadline: 8min}\n"));
    EXPECT_EQ(settings.cull.deadline, minutes{8});
    ASSERT_EQ(settings.broker.urls.size(), 1U);
    EXPECT_THAT(settings.broker.urls[0].reveal(), HasSubstr("rabbit.example"));
}

TEST(Variables, MayBeAllThatIsSaid) {
    World world;
    world.variables = {{"REAPER_CLOUD_AUTH_AUTH_URL", "https://keystone.example:5000/v3"},
                       {"REAPER_CLOUD_AUTH_USERNAME", "reaper"},
                       {"REAPER_CLOUD_AUTH_PASSWORD", "1234"},
                       {"REAPER_CLOUD_AUTH_PROJECT_NAME", "service"},
                       {"REAPER_BROKER_URLS", "amqp://u:p@a/ amqp://u:p@b/"},
                       {"REAPER_TAGGERS", "[project]"}};
    for (const char* const file : {"{}", "cloud:\nbroker:\n"}) {
        const auto settings = world.good(file);
        EXPECT_EQ(settings.broker.urls.size(), 2U);
        EXPECT_EQ(settings.cloud.credentials.password.reveal(), "1234");
        EXPECT_EQ(settings.policy.taggers.size(), 1U);
    }
}

TEST(Variables, MistakesAreTheirs) {
    World world;
    world.variables = {{"REAPER_CULL_DEADLINE", "soon"},
                       {"REAPER_TAGGERS", "[{name: project, tga: x}]"},
                       {"REAPER_WATCHED_AGGREGATES", "[a"}};
    const auto errors = world.errors(minimal("taggers: [project]\n"));
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_THAT(errors[0], HasSubstr("REAPER_CULL_DEADLINE (environment): cull.deadline: is "));
    EXPECT_THAT(errors[1],
                HasSubstr("REAPER_WATCHED_AGGREGATES (environment): watched_aggregates: not "
                          "understood"));
    const auto inner = world.errors("{}");
    EXPECT_THAT(inner, testing::Contains(
                           HasSubstr("REAPER_TAGGERS (environment): taggers[0].tga: unknown key")));
}

TEST(Variables, WhereEachValueComesFromIsReported) {
    World world;
    world.files["/f"] = {"cull: {deadline: 8min}\nbroker:\n  urls_file: /urls\n", false};
    world.variables = {{"REAPER_CULL_DEADLINE", "7min"}, {"REAPER_CULL_PROMISE", "9min"}};
    const auto all = origins("/f", world.environment());
    EXPECT_EQ(origin_of(all, "cull.deadline"), "/f:1");
    EXPECT_EQ(origin_of(all, "cull.promise"), "environment");
    EXPECT_EQ(origin_of(all, "broker.urls"), "/f:3");
    EXPECT_EQ(origin_of(all, "broker.queue"), "");
    EXPECT_TRUE(origins("/none", world.environment()).empty());
}

TEST(Variables, SayNothingOfAPolicyThatWasRecorded) {
    World world;
    world.variables = {{"REAPER_ALTERNATIVES", "5"}};
    const auto loaded =
        load_policy_text("recorded", "taggers: [project]\n", {}, world.environment());
    ASSERT_TRUE(std::holds_alternative<Policy>(loaded));
    EXPECT_EQ(std::get<Policy>(loaded).alternatives, 1);
}

}  // namespace
}  // namespace reaper::config::test::variables_test
