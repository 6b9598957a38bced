// `reaper help` and `reaper version`, and errors in JSON mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/program.hpp"
#include "reaper/cli/output/terminal.hpp"

namespace reaper::test::own_commands_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(ProgramHelpCommand, ShowsWhatTheOptionShows) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{}, {"plan"}, {"history"}, {"history", "show"}, {"version"}}) {
        auto command = words;
        command.insert(command.begin(), "help");
        auto option = words;
        option.push_back("--help");
        const auto shown = run_program(command);
        EXPECT_EQ(shown.exit_code, 0);
        EXPECT_EQ(shown.err, "");
        EXPECT_EQ(shown.out, run_program(option).out);
    }
}

TEST(ProgramHelpCommand, OfNoCommandSaysSo) {
    const auto near = run_program({"help", "plann"});
    EXPECT_EQ(near.exit_code, 2);
    EXPECT_EQ(near.out, "");
    EXPECT_EQ(near.err, "reaper: 'reaper' has no command 'plann'; did you mean 'plan'?\n");
    EXPECT_EQ(
        run_program({"help", "history", "frobnicate"}).err,
        "reaper: 'reaper history' has no command 'frobnicate'; see 'reaper history --help'\n");
}

TEST(ProgramVersionCommand, SaysWhatTheOptionSays) {
    const auto shown = run_program({"version"});
    EXPECT_EQ(shown.exit_code, 0);
    EXPECT_EQ(shown.out, run_program({"--version"}).out);
    const auto document = json::parse(run_program({"version", "--json"}).out);
    EXPECT_EQ("reaper " + document.at("program_version").get<std::string>() + "\n", shown.out);
    EXPECT_EQ(document.at("version"), 2);
}

/// Every line of stderr is a document of its own.
std::vector<json> documents_in(const std::string& text) {
    std::istringstream in{text};
    std::vector<json> found;
    for (std::string line; std::getline(in, line);) {
        found.push_back(json::parse(line, nullptr, false));
        EXPECT_TRUE(found.back().is_object()) << line;
    }
    return found;
}

TEST(ProgramJsonErrors, AreOneLineWithMessageAndExitCode) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"plann", "--json"},
          {"hosts", "-o", "json", "--columns", "host"},
          {"--json", "help", "plann"},
          {"--config", "/nonexistent/reaper.yaml", "hosts", "--json"},
          {"--config", "/nonexistent/reaper.yaml", "history", "-o", "json"},
          {"--config", "/nonexistent/reaper.yaml", "config", "--check", "--json"},
          {"hosts", "--snapshot", "/nonexistent/file", "--json", "--output=json"}}) {
        const auto failed = run_program(words);
        EXPECT_EQ(failed.exit_code, 2);
        EXPECT_EQ(failed.out, "");
        const auto told = documents_in(failed.err);
        ASSERT_EQ(told.size(), 1U) << failed.err;
        EXPECT_EQ(told[0].at("error").at("exit_code"), 2);
        EXPECT_THAT(told[0].at("error").at("message").get<std::string>(),
                    testing::Not(testing::IsEmpty()));
    }
    EXPECT_EQ(documents_in(run_program({"plann", "--json"}).err)[0].at("error").at("message"),
              "unknown command 'plann'; did you mean 'plan'?");
}

TEST(ProgramJsonErrors, OfAConfigurationAreOneForEachMistake) {
    const TemporaryDirectory directory;
    const auto failed = run_program(
        {"--config", directory.write("r.yaml", "a: 1\nb: 1\n"), "config", "--check", "--json"});
    EXPECT_EQ(failed.exit_code, 2);
    EXPECT_GE(documents_in(failed.err).size(), 2U) << failed.err;
}

TEST(ProgramConfig, TellsTheVariableOfEachKeyAndWhereItsValueComesFrom) {
    const TemporaryDirectory directory;
    const std::string file = directory.write("r.yaml", "cull:\n  deadline: 8min\n");
    const auto shown =
        run_program({"--config", file, "config", "--env"},
                    {{"REAPER_CULL_DEADLINE", "7min"}, {"REAPER_CULL_PROMISE", "9min"}});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    const auto line_of = [&](const std::string& variable) {
        const auto at = shown.out.find(variable + " ");
        return at == std::string::npos ? "" : shown.out.substr(at, shown.out.find('\n', at) - at);
    };
    EXPECT_THAT(line_of("REAPER_CULL_DEADLINE"), testing::EndsWith(" " + file + ":2"));
    EXPECT_THAT(line_of("REAPER_CULL_PROMISE"), testing::EndsWith(" environment"));
    EXPECT_THAT(line_of("REAPER_BROKER_QUEUE"), testing::EndsWith(" default"));
    EXPECT_EQ(run_program({"--config", file, "config", "--env", "--check"}).exit_code, 2);
    EXPECT_EQ(run_program({"--config", "/nonexistent.yaml", "config", "--env"}).exit_code, 2);
}

/// What is logged on the way, too.
TEST(ProgramJsonErrors, OfACloudThatIsNotThereAreJson) {
    const TemporaryDirectory directory;
    const auto failed = run_program(
        {"--config",
         directory.write("r.yaml",
                         "cloud: {auth: {auth_url: 'http://127.0.0.1:1/v3', username: u, "
                         "password: swordfish, project_name: s}}\n"
                         "http: {max_retries: 0}\n"
                         "broker: {urls: ['amqp://127.0.0.1:1/']}\n"
                         "taggers: [{name: project}]\n"),
         "-vv", "--json", "hosts"});
    EXPECT_EQ(failed.exit_code, 1);
    const auto told = documents_in(failed.err);
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told.back().at("error").at("exit_code"), 1);
    EXPECT_EQ(failed.err.find("swordfish"), std::string::npos);
}

TEST(ProgramJsonErrors, AreTextWithoutIt) {
    EXPECT_EQ(run_program({"plann"}).err,
              "reaper: unknown command 'plann'; did you mean 'plan'?\n");
}

TEST(ErrorLines, AreSafe) {
    const std::string line = cli::error_line("a\x1b[2J\nb\xff", ExitCode::failed);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(json::parse(line).at("error").at("exit_code"), 1);
    EXPECT_EQ(json::parse(cli::warning_line("odd")), (json{{"warning", {{"message", "odd"}}}}));
}

TEST(ErrorLines, AreJsonWhereTheCommandLineAsksForIt) {
    const auto asks = [](std::vector<const char*> words) {
        words.insert(words.begin(), "reaper");
        return cli::asks_for_json(static_cast<int>(words.size()), words.data());
    };
    EXPECT_TRUE(asks({"hosts", "--json"}));
    EXPECT_TRUE(asks({"hosts", "-o", "json"}));
    EXPECT_TRUE(asks({"-ojson"}));
    EXPECT_TRUE(asks({"--output", "json"}));
    EXPECT_TRUE(asks({"--output=json"}));
    EXPECT_FALSE(asks({"hosts", "-o", "yaml"}));
    EXPECT_FALSE(asks({"json"}));
    EXPECT_FALSE(asks({"--", "--json"}));
    EXPECT_FALSE(asks({"-o"}));
}

}  // namespace
}  // namespace reaper::test::own_commands_test
