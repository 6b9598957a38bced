// What commands make of a daemon's answers, and which of them go to one that is elsewhere.
#include "reaper/cli/channel/daemon_api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "reaper/cli/channel/remote_cloud.hpp"

namespace reaper::cli::daemon_api_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Gives the answers that the test sets.
class FakeChannel final : public ApiChannel {
public:
    explicit FakeChannel(Result<http::LocalAnswer> says, bool is_remote = true)
        : says_(std::move(says)), remote_(is_remote) {}
    Result<http::LocalAnswer> ask(http::Method, const std::string&, const std::string&) override {
        return says_;
    }
    Result<http::LocalAnswer> stream(http::Method, const std::string&, const std::string&,
                                     const std::function<void(const std::string&)>&) override {
        return says_;
    }
    std::string name() const override { return "https://ctl:8787"; }
    bool remote() const override { return remote_; }

private:
    Result<http::LocalAnswer> says_;
    bool remote_;
};

struct Told {
    std::optional<nlohmann::json> said;
    ExitCode code{};
    std::string err;
};

Told told_by(Result<http::LocalAnswer> says, bool is_remote = true,
             ExitCode missing = ExitCode::failed) {
    const Terminal terminal{GlobalOptions{}};
    DaemonApi api{std::make_unique<FakeChannel>(std::move(says), is_remote), terminal};
    Told told;
    testing::internal::CaptureStderr();
    told.said = api.get("/v1/totals?since=24h", told.code, missing);
    told.err = testing::internal::GetCapturedStderr();
    return told;
}

http::LocalAnswer refusal(int status, const std::string& why) {
    return {status, nlohmann::json{{"error", {{"code", status}, {"message", why}}}}.dump()};
}

TEST(DaemonApi, AnObjectIsTheAnswer) {
    const Told told = told_by(http::LocalAnswer{200, R"({"a": 1})"});
    ASSERT_TRUE(told.said);
    EXPECT_EQ(told.said->at("a"), 1);
    EXPECT_EQ(told.code, ExitCode::ok);
    EXPECT_THAT(told.err, IsEmpty());
}

TEST(DaemonApi, EachRefusalIsALineAndAnExitCode) {
    struct Case {
        http::LocalAnswer answer;
        ExitCode code;
        const char* line;
    };
    for (const auto& [answer, code, line] : {
             Case{refusal(400, "count: 0"), ExitCode::usage, "reaper: count: 0\n"},
             Case{refusal(401, "no token"), ExitCode::refused,
                  "https://ctl:8787: 401: no token; is the token (--token-file, OS_TOKEN)"},
             Case{refusal(403, "no role"), ExitCode::refused, "reaper: no role\n"},
             Case{refusal(404, "there is no flavor 'x'"), ExitCode::unknown, "no flavor 'x'\n"},
             Case{refusal(404, "there is no /v1/totals; GET /v1 lists what there is"),
                  ExitCode::failed,
                  "https://ctl:8787: its daemon does not know /v1/totals, or not all of it: it is "
                  "older than this program"},
             Case{refusal(400, "unknown parameter 'until'; there is 'since'"), ExitCode::failed,
                  "older than this program"},
             Case{refusal(409, "no room"), ExitCode::not_enough, "reaper: no room\n"},
             Case{refusal(503, "not read"), ExitCode::failed, "https://ctl:8787: not read\n"},
             Case{http::LocalAnswer{200, "<html>"}, ExitCode::failed, "not as a reaper does"},
             Case{http::LocalAnswer{404, "nginx"}, ExitCode::failed, "answers 404"},
         }) {
        const Told told = told_by(answer, true, ExitCode::unknown);
        EXPECT_FALSE(told.said);
        EXPECT_EQ(told.code, code) << told.err;
        EXPECT_THAT(told.err, HasSubstr(line));
        EXPECT_EQ(std::count(told.err.begin(), told.err.end(), '\n'), 1) << told.err;
    }
}

TEST(DaemonApi, OfThisMachineTheAddressIsNotRepeated) {
    const Told busy = told_by(refusal(503, "not read"), false);
    EXPECT_EQ(busy.err, "reaper: not read\n");
    const Told forbidden = told_by(refusal(403, "not yours"), false);
    EXPECT_EQ(forbidden.code, ExitCode::failed);
}

TEST(DaemonApi, AMissingAnswerIsReportedUnchanged) {
    EXPECT_EQ(told_by(Error{Errc::unreachable, "no answer"}).code, ExitCode::failed);
    EXPECT_EQ(told_by(Error{Errc::timeout, "late"}).code, ExitCode::failed);
    EXPECT_EQ(told_by(Error{Errc::bad_input, "no token"}).code, ExitCode::usage);
    EXPECT_EQ(told_by(Error{Errc::unauthorized, "Keystone"}).code, ExitCode::refused);
    EXPECT_EQ(told_by(Error{Errc::tls, "wrong CA"}).err, "reaper: wrong CA\n");
}

TEST(DaemonApi, TargetsAreEscapedAndEmptyParametersLeftOut) {
    EXPECT_EQ(target_of("/v1/room", {{"flavor", "a&b c"}, {"zone", ""}, {"count", "1"}}),
              "/v1/room?flavor=a%26b%20c&count=1");
    EXPECT_EQ(target_of("/v1/room", {{"zone", ""}}), "/v1/room");
}

std::string why(const Command& command) {
    GlobalOptions global;
    EXPECT_EQ(why_not_remote(global, command), std::nullopt) << "without --api all goes";
    global.api.url = "https://ctl:8787";
    return why_not_remote(global, command).value_or("");
}

/// With the arguments that it needs; none: it is no command of its own.
std::optional<Command> command_named(const std::string& name) {
    static const std::map<std::string, std::vector<const char*>> needed{
        {"plan", {"--flavor", "f", "--project", "p"}},
        {"request", {"--flavor", "f", "--project", "p"}},
        {"room", {"--flavor", "f"}},
        {"apply", {"plan.json"}},
        {"explain", {"server"}},
        {"candidates", {"--resources", "VCPU=1"}},
        {"reserve", {"--host", "h", "--role", "r", "--resources", "VCPU=1"}},
        {"unreserve", {"--host", "h", "--role", "r", "--resources", "VCPU=1"}},
        {"setup", {"reservations"}},
        {"simulate", {"server"}},
        {"replay", {"directory"}}};
    std::vector<const char*> words{"reaper", name.c_str()};
    if (const auto at = needed.find(name); at != needed.end())
        words.insert(words.end(), at->second.begin(), at->second.end());
    const auto parsed = parse_arguments(static_cast<int>(words.size()), words.data());
    const auto* const arguments = std::get_if<Arguments>(&parsed);
    return arguments == nullptr ? std::nullopt : std::optional{arguments->command};
}

/// The words between two texts of the help, without commas.
std::set<std::string> words_between(const std::string& begin, const std::string& end) {
    const char* const words[] = {"reaper", "--help"};
    const auto parsed = parse_arguments(2, words);
    const std::string& help = std::get<Leave>(parsed).out;
    const std::size_t from = help.find(begin) + begin.size();
    std::istringstream in{help.substr(from, help.find(end, from) - from)};
    std::set<std::string> all;
    for (std::string word; in >> word;) {
        while (word.ends_with(',') || word.ends_with(':')) word.pop_back();
        if (word != "and") all.insert(word);
    }
    return all;
}

TEST(RemoteScope, TheHelpListsTheCommandsThatAskADaemon) {
    const std::set<std::string> listed =
        words_between("no configuration or journal is read:", ". The URL");
    // They need no daemon: the program itself or a file answers.
    const std::set<std::string> alone{"strategies", "taggers", "estimators", "qos", "replay"};
    const char* const words[] = {"reaper", "--help"};
    const auto parsed = parse_arguments(2, words);
    std::istringstream help{std::get<Leave>(parsed).out};
    std::set<std::string> remote;
    bool list = false;
    for (std::string line; std::getline(help, line);) {
        if (line.empty()) list = false;
        if (list && line.starts_with("  ") && line[2] != ' ') {
            const std::string name = line.substr(2, line.find(' ', 2) - 2);
            const auto command = command_named(name);
            if (command && !alone.contains(name) && why(*command).empty()) remote.insert(name);
        }
        if (line == "Commands:") list = true;
    }
    EXPECT_GT(remote.size(), 15U);
    EXPECT_EQ(listed, remote);
}

TEST(RemoteScope, WhatTheDaemonHasNoAnswerForSaysSo) {
    for (const Command& command : std::initializer_list<Command>{
             RunCommand{}, GatewayCommand{}, SetupCommand{}, CheckCommand{}, EstimateCommand{},
             ReportCommand{}, SimulateCommand{}, ConfigCommand{}})
        EXPECT_THAT(why(command), HasSubstr("works without --api"));
    HistoryCommand follow;
    follow.follow = true;
    HistoryCommand victims;
    victims.what = HistoryCommand::What::victims;
    for (const Command& command : std::initializer_list<Command>{StatusCommand{},
                                                                 HistoryCommand{},
                                                                 follow,
                                                                 victims,
                                                                 ExplainCommand{},
                                                                 HostsCommand{},
                                                                 PlanCommand{},
                                                                 RoomCommand{},
                                                                 ReservationsCommand{},
                                                                 ReserveCommand{},
                                                                 PauseCommand{},
                                                                 ResumeCommand{},
                                                                 ReapersCommand{},
                                                                 OversubscriptionCommand{},
                                                                 StrategiesCommand{},
                                                                 ReplayCommand{},
                                                                 RequestCommand{},
                                                                 ApplyCommand{},
                                                                 SnapshotCommand{},
                                                                 CandidatesCommand{},
                                                                 UsageCommand{}})
        EXPECT_THAT(why(command), IsEmpty());
}

TEST(RemoteScope, PartsOfACommandTooAndFilesNeedNoDaemon) {
    PlanCommand plan;
    plan.strategy = "strict";
    EXPECT_THAT(why(plan), HasSubstr("--strategy"));
    plan.snapshot_file = "cloud.json";
    EXPECT_THAT(why(plan), IsEmpty());
}

}  // namespace
}  // namespace reaper::cli::daemon_api_test
