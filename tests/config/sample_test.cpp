// The sample file, the table of keys and settings.hpp say the same.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <yaml-cpp/yaml.h>

#include "config/keys.hpp"
#include "strategies/strategy_table.hpp"
#include "tagging/taggers.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::sample_test {
namespace {

std::string sample() {
    std::ifstream file{std::string{REAPER_SOURCE_DIR} + "/deploy/reaper.yaml"};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The sample with all its commented keys taken in.
YAML::Node uncommented() {
    static const std::regex key{R"(^( *)# ( *(- )?[a-z0-9_]+:( .*)?)$)"};
    std::istringstream lines{sample()};
    std::string text;
    for (std::string line; std::getline(lines, line);)
        text += std::regex_replace(line, key, "$1$2") + "\n";
    return YAML::Load(text);
}

YAML::Node at(YAML::Node node, const std::string& path) {
    std::istringstream names{path};
    for (std::string name; std::getline(names, name, '.');) {
        if (!node.IsMap()) return YAML::Node{YAML::NodeType::Undefined};
        node.reset(node[name]);
    }
    return node;
}

World world_of_sample() {
    World world;
    world.files["/etc/openstack/clouds.yaml"] = {
        "clouds:\n  mycloud:\n    auth: {auth_url: 'https://k:5000', username: u, password: p,\n"
        "           project_name: service}\n",
        false};
    return world;
}

TEST(Sample, LoadsAsItIs) {
    World world = world_of_sample();
    const Settings settings = world.good(sample());
    EXPECT_EQ(settings.cloud.credentials.username, "u");
    ASSERT_EQ(settings.broker.urls.size(), 1U);
    EXPECT_TRUE(settings.dry_run) << "the first start is read-only";
    EXPECT_EQ(settings.policy.strategy.name, "cost");
    ASSERT_EQ(settings.policy.taggers.size(), 1U);
    EXPECT_EQ(settings.policy.taggers[0].name, "project");
}

TEST(Sample, HasEveryKeyOfTheTableWithItsDefault) {
    const YAML::Node root = uncommented();
    for (const auto& section : sections()) {
        for (const auto& key : section.keys) {
            const std::string path = join_path(section.path, key.name);
            // They have tests of their own.
            if (path == "taggers" || path == "strategy" || path == "dry_run") continue;
            bool found = false;
            for (const auto& spelling : spellings(key))
                found = found || at(root, join_path(section.path, spelling)).IsDefined();
            // Some stand in a comment on their alternative: `username: ...  # or user_id`.
            const bool in_words = sample().find(std::string{key.name}) != std::string::npos;
            EXPECT_TRUE(found || in_words) << path << " is not in the sample";
            if (key.standard.empty()) continue;
            const YAML::Node value = at(root, path);
            ASSERT_TRUE(value.IsDefined()) << path;
            EXPECT_EQ(YAML::Dump(value), YAML::Dump(YAML::Load(std::string{key.standard}))) << path;
        }
    }
}

void expect_known(const YAML::Node& node, const std::string& section,
                  const std::vector<std::string>& known) {
    for (const auto& entry : node) {
        const std::string path = join_path(section, entry.first.Scalar());
        EXPECT_THAT(known, testing::Contains(path)) << "the sample shows a key that is not known";
        const bool plugin = path == "strategy" || path == "oversubscription.estimator" ||
                            path == "oversubscription.qos";
        if (entry.second.IsMap() && !plugin) expect_known(entry.second, path, known);
    }
}

TEST(Sample, HasNoKeyThatTheTableLacks) {
    std::vector<std::string> known;
    for (const auto& section : sections()) {
        known.emplace_back(section.path);
        for (const auto& key : section.keys)
            for (const auto& spelling : spellings(key))
                known.push_back(join_path(section.path, spelling));
    }
    expect_known(uncommented(), "", known);
}

TEST(Sample, ShowsTheStandardPlugins) {
    const YAML::Node shown = uncommented();
    for (const auto& spec : find_strategy("cost")->parameters)
        EXPECT_TRUE(shown["strategy"][std::string{spec.name}].IsDefined()) << spec.name;
    for (const auto& spec : find_tagger("project")->parameters)
        EXPECT_TRUE(shown["taggers"][0][std::string{spec.name}].IsDefined()) << spec.name;
    World world;
    YAML::Node root = YAML::Load(minimal());
    root["strategy"] = shown["strategy"];
    root["taggers"] = shown["taggers"];
    YAML::Emitter text;
    text << root;
    const Settings written = world.good(text.c_str());
    const Settings silent = world.good(minimal());
    EXPECT_EQ(written.policy.strategy.name, silent.policy.strategy.name);
    EXPECT_EQ(written.policy.strategy.parameters, silent.policy.strategy.parameters);
    ASSERT_EQ(written.policy.taggers.size(), 1U);
    EXPECT_EQ(written.policy.taggers[0].name, silent.policy.taggers[0].name);
    EXPECT_EQ(written.policy.taggers[0].parameters, silent.policy.taggers[0].parameters);
}

/// A value of the table with the sections around it, for the loader.
void add(YAML::Node root, const std::string& section, std::string_view name,
         const YAML::Node& value) {
    std::istringstream names{section};
    for (std::string inside; std::getline(names, inside, '.');) root.reset(root[inside]);
    root[std::string{name}] = value;
}

TEST(KeyTable, DefaultsAreThoseOfTheSettings) {
    World world;
    YAML::Node root = YAML::Load(minimal());
    for (const auto& section : sections())
        for (const auto& key : section.keys)
            if (!key.standard.empty())
                add(root, std::string{section.path}, key.name,
                    YAML::Load(std::string{key.standard}));
    YAML::Emitter text;
    text << root;
    EXPECT_EQ(to_yaml(world.good(text.c_str())), to_yaml(world.good(minimal())));
}

TEST(KeyTable, EveryKeyHasHelpAndSaysWhatItExpects) {
    for (const auto& section : sections()) {
        EXPECT_FALSE(section.help.empty()) << section.path;
        for (const auto& key : section.keys) {
            EXPECT_FALSE(key.help.empty()) << section.path << "." << key.name;
            EXPECT_FALSE(expectation(key.type).empty()) << section.path << "." << key.name;
        }
    }
}

}  // namespace
}  // namespace reaper::config::test::sample_test
