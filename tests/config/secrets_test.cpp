#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/config/world.hpp"

namespace reaper::config::test::secrets_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A file whose password and broker URLs stand as the lines say.
std::string with(const std::string& password, const std::string& urls) {
    return "cloud:\n"                                       // 1
           "  auth:\n"                                      // 2
           "    auth_url: https://keystone.example:5000\n"  // 3
           "    user_id: u\n"                               // 4
           "    project_id: p\n"                            // 5
           "    " +
           password +
           "\n"         // 6
           "broker:\n"  // 7
           "  " +
           urls + "\n" +  // 8
           "taggers: [project]\n";
}

const std::string good_urls = "urls: ['amqp://a:b@c/']";

std::vector<std::string> revealed(const std::vector<Secret>& secrets) {
    std::vector<std::string> texts;
    for (const auto& secret : secrets) texts.push_back(secret.reveal());
    return texts;
}

TEST(Secrets, ComeFromAFileWithoutItsNewline) {
    World world;
    world.files["/run/password"] = {"pass word \n", false};
    const auto settings = world.good(with("password_file: /run/password", good_urls));
    EXPECT_EQ(settings.cloud.credentials.password.reveal(), "pass word ");
    EXPECT_THAT(world.warnings, IsEmpty());
}

TEST(Secrets, ComeFromAVariable) {
    World world;
    world.variables["WORD"] = "pw";
    const auto settings = world.good(with("password_env: WORD", good_urls));
    EXPECT_EQ(settings.cloud.credentials.password.reveal(), "pw");
}

TEST(Secrets, MissingOnesAreErrors) {
    World world;
    world.files["/empty"] = {"\n", false};
    world.variables["EMPTY"] = "";
    EXPECT_THAT(world.errors(with("password_env: NOT_SET", good_urls)),
                testing::Contains("reaper.yaml:6: cloud.auth.password_env: the variable "
                                  "\"NOT_SET\" is not set; expected the name of a variable that "
                                  "is set"));
    EXPECT_THAT(world.errors(with("password_env: EMPTY", good_urls)),
                testing::Contains(HasSubstr("the variable \"EMPTY\" is empty")));
    EXPECT_THAT(world.errors(with("password_file: /none", good_urls)),
                testing::Contains(HasSubstr("can't read \"/none\" (No such file or directory)")));
    EXPECT_THAT(world.errors(with("password_file: /empty", good_urls)),
                testing::Contains(HasSubstr("the file \"/empty\" is empty")));
}

TEST(Secrets, EachMissingOneIsOneLine) {
    World world;
    EXPECT_EQ(world.errors(with("password_env: NOT_SET", good_urls)).size(), 1U);
    EXPECT_EQ(world.errors(with("password_env: [a]", good_urls)).size(), 1U);
}

TEST(Secrets, SpellingsExcludeEachOther) {
    World world;
    world.files["/p"] = {"x", false};
    EXPECT_THAT(world.errors(with("password: a\n    password_file: /p", good_urls)),
                ElementsAre("reaper.yaml:7: cloud.auth.password_file: given with password (line "
                            "6), which has the same meaning; expected only one of password, "
                            "password_file, password_env"));
}

TEST(Secrets, AFileThatEveryoneCanReadIsAWarning) {
    World world;
    world.files["/p"] = {"x", true};
    world.good(with("password_file: /p", good_urls));
    EXPECT_THAT(world.warning_lines(),
                ElementsAre("reaper.yaml:6: cloud.auth.password_file: everyone can read \"/p\"; "
                            "expected a file of mode 0640 or less"));
}

TEST(Secrets, InAConfigurationThatEveryoneCanReadAreAWarning) {
    World world;
    world.files["/etc/reaper/reaper.yaml"] = {minimal(), true};
    std::vector<ConfigError> warnings;
    const auto result = load_settings("/etc/reaper/reaper.yaml", world.environment(), &warnings);
    EXPECT_TRUE(std::holds_alternative<Settings>(result));
    EXPECT_EQ(warnings.size(), 2U);
}

TEST(BrokerUrls, ComeFromAFileOrAVariable) {
    World world;
    world.files["/urls"] = {"# two brokers\namqp://a:b@one/\n\namqps://a:b@two:5671/v\n", false};
    world.variables["URLS"] = "amqp://a:b@one/  amqp://a:b@two/";
    EXPECT_THAT(revealed(world.good(with("password: x", "urls_file: /urls")).broker.urls),
                ElementsAre("amqp://a:b@one/", "amqps://a:b@two:5671/v"));
    EXPECT_THAT(revealed(world.good(with("password: x", "urls_env: URLS")).broker.urls),
                ElementsAre("amqp://a:b@one/", "amqp://a:b@two/"));
}

TEST(BrokerUrls, WrongOnesAreErrorsThatDoNotShowThem) {
    World world;
    const auto errors =
        world.errors(with("password: x",
                          "urls:\n    - http://a:topsecret@one/\n    - amqp://a:topsecret@/\n"
                          "    - amqp://a:topsecret@h:99999/"));
    EXPECT_THAT(errors,
                ElementsAre(HasSubstr("reaper.yaml:9: broker.urls[0]: broker URL: expected"),
                            HasSubstr("reaper.yaml:10: broker.urls[1]: broker URL: the host"),
                            HasSubstr("reaper.yaml:11: broker.urls[2]: broker URL: the port")));
    for (const auto& error : errors) EXPECT_THAT(error, Not(HasSubstr("topsecret")));
}

TEST(BrokerUrls, AreCheckedByWhatConnects) {
    World world;
    for (const char* const url :
         {"amqp://a:topsecret@one/v?heartbeat=5", "amqp://a:topsecret@one/a/b",
          "amqp://a:topsecret%zz@one/", "amqp://:topsecret@one/", "rabbit://a:topsecret@one/"}) {
        const auto errors = world.errors(with("password: x", "urls: ['" + std::string(url) + "']"));
        EXPECT_THAT(errors, ElementsAre(HasSubstr("broker.urls[0]: broker URL: "))) << url;
        for (const auto& error : errors) EXPECT_THAT(error, Not(HasSubstr("topsecret")));
    }
}

TEST(BrokerUrls, AreNeeded) {
    World world;
    EXPECT_THAT(world.errors(with("password: x", "exchange: nova")),
                ElementsAre("reaper.yaml:7: broker: has no URL of a broker; expected one of urls, "
                            "urls_file, urls_env"));
    EXPECT_THAT(world.errors(with("password: x", "urls: []")),
                ElementsAre(HasSubstr("broker.urls: names no URL")));
    EXPECT_THAT(world.errors(with("password: x", "urls: amqp://a/")),
                ElementsAre(HasSubstr("broker.urls: is not a list")));
}

TEST(Dump, ShowsNoSecret) {
    World world;
    const std::string text = to_yaml(world.good(minimal()));
    EXPECT_THAT(text, Not(HasSubstr("hidden-word")));
    EXPECT_THAT(text, Not(HasSubstr("secret@")));
    EXPECT_THAT(text, HasSubstr("***"));
    EXPECT_THAT(text, HasSubstr("call_timeout: 30s"));
    EXPECT_THAT(text, HasSubstr("max_body_mib: 256"));
    EXPECT_THAT(text, HasSubstr("username: reaper"));
}

}  // namespace
}  // namespace reaper::config::test::secrets_test
