// `reaper usage --api` and `reaper risk --api`: what is asked of the daemon, and what is shown of
// its answer.
#include <gmock/gmock.h>

#include "app/cli/remote_daemon.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/risk.hpp"
#include "reaper/report/usage.hpp"

namespace reaper::cli::usage_remote_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class UsageRemote : public RemoteDaemon {
protected:
    ExitCode run(const UsageCommand& command, bool as_json = false) {
        return captured(as_json, [&](const GlobalOptions& global, const Terminal& terminal) {
            return carry_out(global, command, terminal);
        });
    }
};

TimePoint november(int day) {
    return TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 11 / day}};
}

report::UsageReport of_web() {
    report::UsageReport usage;
    usage.from = november(3);
    usage.to = november(10);
    UsageLine line;
    line.project = ProjectId{"web"};
    line.revocable = true;
    line.servers = 2;
    line.reclaimed = 1;
    line.hours = 3.5;
    line.resource_hours = {{ResourceClass{"VCPU"}, 7.0}};
    usage.lines = {line};
    return usage;
}

TEST_F(UsageRemote, TheTimeAndTheProjectGoToTheDaemonAndTheListIsItsOwn) {
    const std::string target =
        "/v1/usage?since=2026-11-03T00%3A00%3A00.000Z&until=2026-11-10T00%3A00%3A00.000Z&project="
        "web";
    answers(target, report::to_json(of_web()));
    serve();
    UsageCommand command;
    command.from = november(3);
    command.to = november(10);
    command.project = "web";
    EXPECT_EQ(run(command, true), ExitCode::ok) << err_;
    EXPECT_THAT(asked(), ElementsAre(target));
    EXPECT_EQ(nlohmann::json::parse(out_), report::to_json(of_web()));
    EXPECT_EQ(run(command), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("web"));
}

TEST_F(UsageRemote, RiskIsThatOfTheDaemonToo) {
    report::RiskSum sum{november(3), november(10), {}, {{"h1", {"az1", {"fast"}}}}};
    sum.add({ServerId{"a"},
             ProjectId{"spot"},
             {},
             november(3),
             november(4),
             true,
             true,
             "small",
             "h1"});
    const nlohmann::json told = report::to_json(sum.report());
    const std::string target =
        "/v1/risk?since=2026-11-03T00%3A00%3A00.000Z&until=2026-11-10T00%3A00%3A00.000Z&flavor="
        "small&zone=az1";
    answers(target, told);
    serve();
    RiskCommand command;
    command.when.from = november(3);
    command.when.to = november(10);
    command.flavor = "small";
    command.zone = "az1";
    const auto shown = [&](bool as_json) {
        return captured(as_json, [&](const GlobalOptions& global, const Terminal& terminal) {
            return carry_out(global, command, terminal);
        });
    };
    EXPECT_EQ(shown(true), ExitCode::ok) << err_;
    EXPECT_THAT(asked(), ElementsAre(target));
    EXPECT_EQ(nlohmann::json::parse(out_), told);
    EXPECT_EQ(shown(false), ExitCode::ok) << err_;
    for (const char* const words : {"aggregate", "fast", "PERCENT_WITHIN_24_HOURS", "63.2"})
        EXPECT_THAT(out_, HasSubstr(words));
}

TEST_F(UsageRemote, ASpanCountsFromNowAndNothingIsAskedOfNoTime) {
    serve();
    UsageCommand command;
    command.span = std::chrono::days{7};
    EXPECT_EQ(run(command), ExitCode::failed);
    ASSERT_EQ(asked().size(), 1U);
    const auto since = parse_time_or_date(asked()[0].substr(asked()[0].find('=') + 1, 10));
    ASSERT_TRUE(since) << asked()[0];
    const auto back = std::chrono::system_clock::now() - *since;
    EXPECT_GE(back, std::chrono::days{7});
    EXPECT_LT(back, std::chrono::days{9});
    command.to = november(10) - std::chrono::days{3650};
    EXPECT_EQ(run(command), ExitCode::usage);
    EXPECT_THAT(err_, HasSubstr("--until: must be later than --since, which counts from now: "));
    EXPECT_EQ(asked().size(), 1U);
}

TEST_F(UsageRemote, ANameReplacesTheIdWhichIsShownToo) {
    report::UsageReport usage = of_web();
    usage.lines[0].project_name = "shop";
    answers("/v1/usage", report::to_json(usage));
    serve();
    EXPECT_EQ(run({}), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("shop"));
    EXPECT_EQ(run({}, true), ExitCode::ok) << err_;
    const auto told = nlohmann::json::parse(out_);
    EXPECT_EQ(told["usage"][0]["project"], "web");
    EXPECT_EQ(told["usage"][0]["project_name"], "shop");
}

TEST_F(UsageRemote, WithoutTimesTheDaemonsMonthIsMeantAndUnknownProjectsEndInTheirCode) {
    answers("/v1/usage", report::to_json(report::UsageReport{}));
    answers("/v1/usage?project=no-such",
            {{"error", {{"code", 404}, {"message", "project: there is no 'no-such'"}}}}, 404);
    serve();
    EXPECT_EQ(run({}), ExitCode::ok) << err_;
    UsageCommand command;
    command.project = "no-such";
    EXPECT_EQ(run(command), ExitCode::unknown);
    EXPECT_THAT(err_, HasSubstr("there is no 'no-such'"));
}

}  // namespace
}  // namespace reaper::cli::usage_remote_test
