#include "reaper/cli/arguments/arguments.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

#include "reaper/cli/arguments/command_table.hpp"
#include "reaper/cli/arguments/history_arguments.hpp"
#include "reaper/model/time.hpp"

namespace reaper::cli::arguments_test {
namespace {

std::variant<Arguments, Leave> parse(std::vector<const char*> words) {
    words.insert(words.begin(), "reaper");
    return parse_arguments(static_cast<int>(words.size()), words.data());
}

Arguments good(std::vector<const char*> words) {
    auto parsed = parse(std::move(words));
    if (const auto* leave = std::get_if<Leave>(&parsed)) {
        ADD_FAILURE() << leave->err;
        return {};
    }
    return std::get<Arguments>(parsed);
}

std::string error(std::vector<const char*> words) {
    auto parsed = parse(std::move(words));
    const auto* leave = std::get_if<Leave>(&parsed);
    if (leave == nullptr) return "accepted";
    EXPECT_EQ(leave->code, ExitCode::usage);
    EXPECT_EQ(leave->out, "");
    return leave->err;
}

TEST(Arguments, GlobalOptionsStandBeforeOrAfterTheCommand) {
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"--config", "a.yaml", "--json", "-v", "--color", "never", "hosts"},
             {"hosts", "--config", "a.yaml", "--json", "-v", "--color", "never"}}) {
        const Arguments arguments = good(words);
        EXPECT_EQ(arguments.global.config_file, "a.yaml");
        EXPECT_TRUE(arguments.global.json);
        EXPECT_EQ(arguments.global.log_level, "debug");
        EXPECT_EQ(arguments.global.color, ColorMode::never);
        EXPECT_TRUE(std::holds_alternative<HostsCommand>(arguments.command));
    }
}

TEST(Arguments, OptionsOfListsStandBeforeTheCommandToo) {
    const auto format = [](const std::vector<const char*>& words) {
        return good(words).global.list.format;
    };
    EXPECT_EQ(format({"-o", "yaml", "hosts"}), ListFormat::yaml);
    EXPECT_EQ(format({"-oyaml", "--config", "a.yaml", "hosts"}), ListFormat::yaml);
    EXPECT_EQ(format({"--config", "-o", "-o", "csv", "history", "victims"}), ListFormat::csv)
        << "a value is no option";
    EXPECT_EQ(format({"-v", "--output=json", "history", "show", "req-1"}), ListFormat::json);
    EXPECT_EQ(format({"-o", "json", "setup", "resource-tagging", "--slots", "2"}),
              ListFormat::json);
    const auto list = good({"--sort", "host", "--columns=host,zone", "hosts"}).global.list;
    EXPECT_EQ(list.sort, "host");
    EXPECT_EQ(list.columns, (std::vector<std::string>{"host", "zone"}));
    EXPECT_EQ(error({"-o", "json", "run"}), "unknown option '-o'; see 'reaper run --help'");
    EXPECT_EQ(error({"-o", "json"}), "no command given; see 'reaper --help'");
    EXPECT_EQ(error({"-o", "xml", "hosts"}),
              "--output: is 'xml'; expected one of table, wide, json, yaml, csv, name; see 'reaper "
              "hosts --help'");
    EXPECT_NE(error({"-o", "json", "hosts", "-o", "yaml"}).find("more than once"),
              std::string::npos);
}

TEST(Arguments, OneHostIsNamedWithOrWithoutAnOption) {
    const auto host = [](const std::vector<const char*>& words) {
        return std::get<HostsCommand>(good(words).command).filters.host;
    };
    EXPECT_EQ(host({"hosts", "compute-7", "-o", "wide"}), "compute-7");
    EXPECT_EQ(host({"hosts", "--host", "compute-7"}), "compute-7");
    EXPECT_NE(error({"hosts", "compute-7", "--host", "compute-8"}), "accepted");
    EXPECT_NE(error({"hosts", "compute-7", "compute-8"}), "accepted");
}

TEST(Arguments, AStrategyHasItsParametersEverywhere) {
    const auto plan = [](const char* strategy) {
        return std::vector<const char*>{"plan", "--resources", "VCPU=1", "--project",
                                        "p",    "--strategy",  strategy};
    };
    const char* const given = "strict:leftover_order=VCPU,leftover_order=DISK_GB";
    EXPECT_EQ(std::get<PlanCommand>(good(plan(given)).command).strategy, given);
    EXPECT_EQ(std::get<ReplayCommand>(good({"replay", "d", "--strategy", given}).command).strategy,
              given);
    EXPECT_EQ(error(plan("strict:what")),
              "--strategy: has 'what'; expected NAME or NAME:key=value,...");
}

TEST(Arguments, ADaemonElsewhereIsNamedByOptionOrVariable) {
    const Arguments asked = good(
        {"status", "--api", "https://ctl:8787", "--ca-file", "ca.pem", "--token-file", "token"});
    EXPECT_EQ(asked.global.api.url, "https://ctl:8787");
    EXPECT_EQ(asked.global.api.ca_file, "ca.pem");
    EXPECT_EQ(asked.global.api.token_file, "token");
    EXPECT_EQ(good({"reapers"}).global.api.url, "");
    ::setenv("REAPER_API", "https://other:8787", 1);
    EXPECT_EQ(good({"reapers"}).global.api.url, "https://other:8787");
    ::unsetenv("REAPER_API");
    EXPECT_NE(error({"status", "--token-file", "token"}).find("--api"), std::string::npos);
}

TEST(Arguments, CandidatesTakeResourcesAsPlacementWritesThem) {
    const auto asked = good({"candidates", "--resources", "VCPU:1,MEMORY_MB=2048"});
    EXPECT_EQ(std::get<CandidatesCommand>(asked.command).resources,
              (Resources{{"VCPU", 1}, {"MEMORY_MB", 2048}}));
    EXPECT_EQ(error({"candidates"}),
              "'reaper candidates' needs one of --flavor FLAVOR and --resources LIST");
    EXPECT_EQ(error({"candidates", "--resources", "VCPU=1", "--flavor", "m1"}),
              "'reaper candidates' needs one of --flavor FLAVOR and --resources LIST");
    EXPECT_EQ(error({"candidates", "--flavor", "m1", "--snapshot", "c"}),
              "--flavor goes with the cloud: a snapshot has no flavors; use --resources");
    EXPECT_NE(error({"candidates", "--resources", "VCPU"}).find("--resources: "),
              std::string::npos);
    EXPECT_EQ(std::get<CandidatesCommand>(good({"candidates", "--flavor", "m1"}).command).flavor,
              "m1");
}

TEST(Arguments, SlotsAreSetUpByNumberOrByCapacityAndUndoneWithoutEither) {
    const auto fixed = good({"setup", "resource-tagging", "--slots", "4", "--json"});
    const auto& plain = std::get<SetupCommand>(fixed.command);
    EXPECT_TRUE(fixed.global.json);
    EXPECT_EQ(plain.slot_class, "CUSTOM_PREEMPTIBLE");
    EXPECT_EQ(plain.count.fixed, 4);
    EXPECT_EQ(plain.hosts, "*");
    EXPECT_FALSE(plain.apply);
    const auto asked = good({"setup", "resource-tagging", "--slots-per", "VCPU:2", "--class",
                             "CUSTOM_SPOT", "--hosts", "h*", "--apply"});
    const auto& by_capacity = std::get<SetupCommand>(asked.command);
    EXPECT_EQ(by_capacity.count.fixed, 0);
    EXPECT_EQ(by_capacity.count.per.str(), "VCPU");
    EXPECT_EQ(by_capacity.count.amount, 2);
    EXPECT_TRUE(by_capacity.apply);
    const auto undone = good({"setup", "resource-tagging", "--undo"});
    EXPECT_TRUE(std::get<SetupCommand>(undone.command).undo);
}

TEST(Arguments, ASetupThatIsNotClearIsRefused) {
    const auto refused = [](std::vector<const char*> words, const char* why) {
        words.insert(words.begin(), {"setup", "resource-tagging"});
        EXPECT_NE(error(words).find(why), std::string::npos) << error(words);
    };
    refused({}, "needs one of --slots N and --slots-per");
    refused({"--slots", "1", "--slots-per", "VCPU:1"}, "needs one of");
    refused({"--slots", "0"}, "--slots");
    refused({"--slots-per", "VCPU:1,DISK_GB:1"}, "expected one class, such as VCPU:2");
    refused({"--slots-per", "VCPU"}, "--slots-per: ");
    refused({"--slots", "1", "--class", "VCPU"}, "--class: is 'VCPU'");
    refused({"--slots", "1", "--class", "CUSTOM_"}, "--class: ");
    refused({"--slots", "1", "--hosts", ""}, "--hosts");
    refused({"--undo", "--slots", "1"}, "leave their number out");
    EXPECT_NE(error({"setup"}), "accepted");
}

TEST(Arguments, TheRegisterOfReservationsIsSetUpAndUndone) {
    const auto told = good({"setup", "reservations", "--json"});
    EXPECT_TRUE(told.global.json);
    EXPECT_FALSE(std::get<ReservationSetupCommand>(told.command).apply);
    const auto undone = good({"setup", "reservations", "--undo", "--apply"});
    EXPECT_TRUE(std::get<ReservationSetupCommand>(undone.command).undo);
    EXPECT_TRUE(std::get<ReservationSetupCommand>(undone.command).apply);
    EXPECT_NE(error({"setup", "reservations", "--slots", "1"}), "accepted");
}

TEST(Arguments, OversubscriptionIsSetUpOnTheConfiguredHostsOrOnes) {
    const auto told = good({"setup", "oversubscription"});
    EXPECT_EQ(std::get<RoomSetupCommand>(told.command).hosts, "");
    EXPECT_FALSE(std::get<RoomSetupCommand>(told.command).apply);
    const auto done = good({"setup", "oversubscription", "--hosts", "h*", "--apply", "--undo"});
    EXPECT_EQ(std::get<RoomSetupCommand>(done.command).hosts, "h*");
    EXPECT_TRUE(std::get<RoomSetupCommand>(done.command).apply);
    EXPECT_TRUE(std::get<RoomSetupCommand>(done.command).undo);
    EXPECT_NE(error({"setup", "oversubscription", "--hosts", ""})
                  .find("--hosts: is empty; expected a pattern"),
              std::string::npos);
}

TEST(Arguments, AnEstimateIsOfATimeAndOfEstimators) {
    const auto plain = good({"estimate"});
    const auto& week = std::get<EstimateCommand>(plain.command);
    EXPECT_EQ(week.span, std::chrono::days{7});
    EXPECT_FALSE(week.since || week.until);
    EXPECT_EQ(week.step, std::chrono::minutes{1});
    EXPECT_TRUE(week.estimators.empty());
    const auto asked =
        good({"estimate", "--since", "2d", "--step", "5min", "--estimator", "noop", "--estimator",
              "fixed:vcpus=4,overrides=a*=2,overrides=aggregate:x=1"});
    const auto& some = std::get<EstimateCommand>(asked.command);
    EXPECT_EQ(some.span, std::chrono::days{2});
    EXPECT_EQ(some.step, std::chrono::minutes{5});
    ASSERT_EQ(some.estimators.size(), 2U);
    EXPECT_EQ(some.estimators[0].name, "noop");
    EXPECT_EQ(some.estimators[1].name, "fixed");
    EXPECT_EQ(some.estimators[1].parameters.at("vcpus"), std::vector<std::string>{"4"});
    EXPECT_EQ(some.estimators[1].parameters.at("overrides"),
              (std::vector<std::string>{"a*=2", "aggregate:x=1"}));
    const auto dated = good({"estimate", "--since", "2026-11-01", "--until", "2026-11-02"});
    const auto& day = std::get<EstimateCommand>(dated.command);
    ASSERT_TRUE(day.since && day.until);
    EXPECT_EQ(*day.until - *day.since, std::chrono::days{1});
}

TEST(Arguments, AReplayIsOfARecordingUnderWhatIsAskedFor) {
    const auto plain = good({"replay", "dir"});
    EXPECT_EQ(std::get<ReplayCommand>(plain.command).directory, "dir");
    const auto asked = good({"replay", "dir", "--strategy", "cost:ties=oldest", "--set", "a.b=1",
                             "--set", "c=[d, e]", "--since", "2026-11-01"});
    const auto& replay = std::get<ReplayCommand>(asked.command);
    EXPECT_EQ(replay.strategy, "cost:ties=oldest");
    EXPECT_EQ(replay.set, (std::vector<std::string>{"a.b=1", "c=[d, e]"}));
    EXPECT_TRUE(replay.since && !replay.until);
    EXPECT_NE(error({"replay"}).find("DIR"), std::string::npos);
    EXPECT_NE(error({"replay", "dir", "--since", "7d"}).find("--since"), std::string::npos);
}

TEST(Arguments, AReportIsOfAWeek) {
    const auto plain = good({"report"});
    const auto& week = std::get<ReportCommand>(plain.command);
    EXPECT_EQ(week.span, std::chrono::days{7});
    EXPECT_EQ(week.directory, "");
    const auto asked = good({"report", "dir", "--since", "2d"});
    EXPECT_EQ(std::get<ReportCommand>(asked.command).span, std::chrono::days{2});
    EXPECT_NE(error({"report", "--until", "soon"}).find("--until"), std::string::npos);
}

TEST(Arguments, AnEstimateThatIsNotClearIsRefused) {
    const auto refused = [](std::vector<const char*> words, const char* why) {
        words.insert(words.begin(), "estimate");
        EXPECT_NE(error(words).find(why), std::string::npos) << error(words);
    };
    refused({"--since", "7"}, "--since: is '7'");
    refused({"--since", "0d"}, "--since");
    refused({"--until", "7d"}, "--until: is '7d'");
    refused({"--step", "100ms"}, "--step");
    refused({"--step", "2h"}, "from 1s to 1h");
    refused({"--estimator", ":margin=1"}, "expected NAME");
    refused({"--estimator", "usage_slack:margin"}, "expected param=value");
    refused({"--estimator", "usage_slack:=1"}, "expected param=value");
}

TEST(Arguments, GlobalOptionsStandAfterANestedCommand) {
    const Arguments arguments = good({"history", "show", "req-1", "--json"});
    EXPECT_TRUE(arguments.global.json);
    const auto& history = std::get<HistoryCommand>(arguments.command);
    EXPECT_EQ(history.what, HistoryCommand::What::show);
    EXPECT_EQ(history.request, "req-1");
}

TEST(Arguments, HistoryLooksBackAsFarAsAsked) {
    const auto victims = good({"history", "victims", "--since", "2h"});
    const auto& history = std::get<HistoryCommand>(victims.command);
    EXPECT_EQ(history.what, HistoryCommand::What::victims);
    EXPECT_EQ(history.span, std::chrono::hours{2});
    const auto totals = good({"history", "totals"});
    EXPECT_EQ(std::get<HistoryCommand>(totals.command).what, HistoryCommand::What::totals);
    EXPECT_EQ(std::get<HistoryCommand>(totals.command).span, std::chrono::hours{24});
    for (const char* const wrong : {"2", "-1h", "0s", "yesterday"})
        for (const char* const view : {"totals", "victims"})
            EXPECT_NE(error({"history", view, "--since", wrong}).find("24h or 7d"),
                      std::string::npos)
                << wrong;
}

TEST(Arguments, TheFormsOfSinceAreThoseThatItNames) {
    const auto span = [](const char* since) {
        return std::get<HistoryCommand>(good({"history", "--since", since}).command).span;
    };
    EXPECT_EQ(span("30min"), std::chrono::minutes{30});
    EXPECT_EQ(span("30m"), std::chrono::minutes{30}) << "in the configuration it is none";
    EXPECT_EQ(span("7d"), std::chrono::days{7});
    const auto dated = good({"usage", "--since", "2026-11-01T12:30:00Z"});
    EXPECT_EQ(std::get<UsageCommand>(dated.command).from, parse_time("2026-11-01T12:30:00Z"));
    EXPECT_EQ(std::get<ReportCommand>(good({"report", "--since", "5m"}).command).span,
              std::chrono::minutes{5});
    for (const char* const wrong : {"1w", "m", "-5m", "1h5m", "2026-11-26T11:00"})
        for (const char* const command : {"history", "usage", "report"})
            EXPECT_EQ(error({command, "--since", wrong}),
                      "--since: is '" + std::string{wrong} +
                          "'; expected a span such as 30min, 24h or 7d, or a date such as "
                          "2026-11-01 or 2026-11-01T12:30:00Z (UTC)");
}

/// Nothing lies in it, so an empty list would tell nothing.
TEST(Arguments, APeriodThatBeginsInTheFutureIsRefused) {
    const std::string text = iso_time(now() + std::chrono::days{2});
    const char* const future = text.c_str();
    for (std::vector<const char*> words :
         std::vector<std::vector<const char*>>{{"history"},
                                               {"history", "victims"},
                                               {"history", "messages"},
                                               {"history", "events"},
                                               {"history", "totals"},
                                               {"usage"},
                                               {"risk"},
                                               {"report"},
                                               {"replay", "dir"}}) {
        words.insert(words.end(), {"--since", future});
        EXPECT_EQ(error(words), "--since: must be before now") << words.front();
        if (words.at(1) == std::string_view{"totals"}) continue;
        words.insert(words.end(), {"--until", future});
        EXPECT_EQ(error(words), "--until: must be later than --since") << words.front();
    }
}

TEST(Arguments, HistoryTakesFiltersForRequestsAndVictims) {
    for (const auto& view : std::vector<std::vector<const char*>>{{}, {"victims"}}) {
        std::vector<const char*> words{"history"};
        words.insert(words.end(), view.begin(), view.end());
        for (const char* const word :
             {"--since", "2026-11-01", "--until", "2026-11-02", "--project", "p", "--host", "h",
              "--flavor", "f", "--server", "s", "--outcome", "freed"})
            words.push_back(word);
        const Arguments arguments = good(words);
        const JournalQuery query = query_of(std::get<HistoryCommand>(arguments.command), {});
        EXPECT_EQ(query.since, parse_time_or_date("2026-11-01"));
        EXPECT_EQ(query.until, parse_time_or_date("2026-11-02"));
        EXPECT_EQ(query.project + query.host + query.flavor + query.server, "phfs");
        EXPECT_EQ(query.outcome, OutcomeKind::freed);
        EXPECT_FALSE(query.under_way);
    }
    const Arguments open = good({"history", "--outcome", "none"});
    EXPECT_TRUE(query_of(std::get<HistoryCommand>(open.command), {}).under_way);
    EXPECT_NE(error({"history", "--outcome", "good"}).find("not-enough"), std::string::npos);
}

/// Without a wish a day's victims; with one, all that it leaves.
TEST(Arguments, VictimsAreThoseOfADayUnlessSomethingElseIsAsked) {
    const TimePoint now = *parse_time_or_date("2026-11-02");
    const auto query = [&](std::vector<const char*> words) {
        return query_of(std::get<HistoryCommand>(good(std::move(words)).command), now);
    };
    EXPECT_EQ(query({"history", "victims"}).since, parse_time_or_date("2026-11-01"));
    EXPECT_GT(query({"history", "victims"}).limit, 100'000);
    EXPECT_EQ(query({"history", "victims", "--server", "s"}).since, std::nullopt);
    EXPECT_EQ(query({"history", "victims", "--limit", "3"}).since, std::nullopt);
    EXPECT_EQ(query({"history", "victims", "--limit", "3"}).limit, 3);
    EXPECT_EQ(query({"history", "victims", "-f"}).limit, 20);
    EXPECT_EQ(query({"history"}).since, std::nullopt);
    EXPECT_EQ(query({"history"}).limit, 20);
    EXPECT_EQ(query({"history", "--since", "48h"}).since, parse_time_or_date("2026-10-31"));
}

TEST(Arguments, HistoryIsFollowedOnDemand) {
    EXPECT_FALSE(std::get<HistoryCommand>(good({"history"}).command).follow);
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"history", "-f"}, {"history", "victims", "--follow"}})
        EXPECT_TRUE(std::get<HistoryCommand>(good(words).command).follow);
}

TEST(Arguments, ExplainTakesAServerOrARequest) {
    const Arguments arguments = good({"explain", "batch-7", "--json"});
    EXPECT_TRUE(arguments.global.json);
    EXPECT_EQ(std::get<ExplainCommand>(arguments.command).asked, "batch-7");
}

TEST(Arguments, PauseTakesAReason) {
    const auto parsed = good({"pause", "--reason", "kernel update"});
    EXPECT_EQ(std::get<PauseCommand>(parsed.command).reason, "kernel update");
    EXPECT_EQ(std::get<PauseCommand>(good({"pause"}).command).reason, "");
}

TEST(Arguments, SimulateTakesAServerAndHowLong) {
    const auto simulate = [](const std::vector<const char*>& words) {
        return std::get<SimulateCommand>(good(words).command);
    };
    EXPECT_EQ(simulate({"simulate", "s", "--for", "2min"}).span, std::chrono::minutes{2});
    EXPECT_FALSE(simulate({"simulate", "s"}).span.has_value());
    EXPECT_TRUE(simulate({"simulate", "--remove", "s"}).remove);
}

TEST(Arguments, ProtectTakesAServerAndHowLongOrListsThem) {
    const auto protect = [](const std::vector<const char*>& words) {
        return std::get<ProtectCommand>(good(words).command);
    };
    const auto span = protect({"protect", "db-7", "--for", "12h", "--reason", "moves"});
    EXPECT_EQ(span.server, "db-7");
    EXPECT_EQ(span.span, std::chrono::hours{12});
    EXPECT_EQ(span.reason, "moves");
    EXPECT_FALSE(span.remove);
    EXPECT_EQ(protect({"protect", "s", "--until", "2026-11-27T08:00:00"}).until,
              parse_time("2026-11-27T08:00:00"));
    EXPECT_EQ(protect({"protect"}).server, "");
    EXPECT_EQ(protect({"protect", "--list"}).server, "");
    EXPECT_TRUE(protect({"protect", "--remove", "s"}).remove);
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"protect", "--remove"},
             {"protect", "--for", "1h"},
             {"protect", "s", "--for", "soon"},
             {"protect", "s", "--until", "tomorrow"},
             {"protect", "s", "--for", "1h", "--until", "2026-11-27"},
             {"protect", "s", "--remove", "--for", "1h"},
             {"protect", "s", "--list"}})
        EXPECT_NE(error(words), "accepted") << words.back();
}

TEST(Arguments, HistoryTakesItsLimitBeforeOrAfterMessages) {
    for (const auto& words : std::vector<std::vector<const char*>>{
             {"history", "--limit", "7", "messages"}, {"history", "messages", "--limit", "7"}}) {
        const Arguments arguments = good(words);
        const auto& history = std::get<HistoryCommand>(arguments.command);
        EXPECT_EQ(history.what, HistoryCommand::What::messages);
        EXPECT_EQ(history.limit, 7);
    }
}

TEST(Arguments, TheEnvironmentNamesTheConfigurationUnlessAnOptionDoes) {
    setenv("REAPER_CONFIG", "/from/environment", 1);
    EXPECT_EQ(good({"check"}).global.config_file, "/from/environment");
    EXPECT_EQ(good({"check", "--config", "b"}).global.config_file, "b");
    unsetenv("REAPER_CONFIG");
    EXPECT_EQ(good({"check"}).global.config_file, "/etc/reaper/reaper.yaml");
}

TEST(Arguments, AnExplicitLevelWinsOverVerbose) {
    EXPECT_EQ(good({"-vv", "check"}).global.log_level, "trace");
    EXPECT_EQ(good({"-v", "--log-level", "error", "check"}).global.log_level, "error");
    EXPECT_EQ(good({"check"}).global.log_level, std::nullopt);
}

TEST(Arguments, PlanDescribesARequest) {
    const Arguments arguments =
        good({"plan", "--resources", "VCPU=4,MEMORY_MB=2048", "--slots", "3", "--project", "web",
              "--az", "nova", "--trait", "CUSTOM_A=required", "--trait", "CUSTOM_B=forbidden",
              "--strategy", "chance", "--alternatives", "2"});
    const auto& plan = std::get<PlanCommand>(arguments.command);
    EXPECT_EQ(plan.resources, (Resources{{"VCPU", 4}, {"MEMORY_MB", 2048}}));
    EXPECT_EQ(plan.slots, 3);
    EXPECT_EQ(plan.project, "web");
    EXPECT_EQ(plan.availability_zone, "nova");
    EXPECT_EQ(plan.required_traits, std::vector<std::string>{"CUSTOM_A"});
    EXPECT_EQ(plan.forbidden_traits, std::vector<std::string>{"CUSTOM_B"});
    EXPECT_EQ(plan.strategy, "chance");
    EXPECT_EQ(plan.alternatives, 2);
}

TEST(Arguments, PlanTakesOneConstraintOnTheKindOfRoom) {
    const std::vector<const char*> described{"plan", "--resources", "VCPU=1", "--project", "p"};
    const auto with = [&](const std::vector<const char*>& constraints) {
        auto words = described;
        for (const char* const each : constraints) words.insert(words.end(), {"--res-type", each});
        return words;
    };
    const auto plan = [&](const Arguments& arguments) {
        return std::get<PlanCommand>(arguments.command);
    };
    EXPECT_EQ(plan(good(described)).phases, Phases{});
    EXPECT_EQ(plan(good(with({"~revocable"}))).phases, (Phases{ResType::revocable, true}));
    EXPECT_EQ(plan(good(with({"!=revocable"}))).res_type, "!=revocable");
    EXPECT_NE(error(with({"regular", "~revocable"})).find("one constraint at most"),
              std::string::npos);
    EXPECT_NE(error(with({"!=re*"})).find("--res-type: "), std::string::npos);
    EXPECT_EQ(error({"plan", "--notification", "x", "--res-type", "regular"}),
              "--res-type goes with --resources or --flavor: a notification says it itself");
}

TEST(Arguments, PlanTakesSeveralNotifications) {
    const Arguments arguments =
        good({"plan", "--notification", "a", "--notification", "-", "--json"});
    EXPECT_EQ(std::get<PlanCommand>(arguments.command).notifications,
              (std::vector<std::string>{"a", "-"}));
}

TEST(Arguments, AbsentPlanOptionsLeaveTheConfigurationInForce) {
    const Arguments arguments = good({"plan", "--resources", "VCPU=1", "--project", "p"});
    const auto& plan = std::get<PlanCommand>(arguments.command);
    EXPECT_EQ(plan.strategy, std::nullopt);
    EXPECT_EQ(plan.alternatives, std::nullopt);
    EXPECT_EQ(plan.availability_zone, std::nullopt);
    EXPECT_EQ(plan.slots, 1);
}

TEST(Arguments, MistakesAreOneLineThatHelps) {
    const struct {
        std::vector<const char*> words;
        const char* expected;
    } cases[] = {
        {{}, "no command given; see 'reaper --help'"},
        {{"plann"}, "unknown command 'plann'; did you mean 'plan'?"},
        {{"frobnicate"}, "unknown command 'frobnicate'; see 'reaper --help'"},
        {{"run", "--dryrun"}, "unknown option '--dryrun'; did you mean '--dry-run'?"},
        {{"hosts", "--jsn"}, "unknown option '--jsn'; did you mean '--json'?"},
        {{"history", "shwo"},
         "unknown argument 'shwo' of 'reaper history'; did you mean "
         "'show'?"},
        {{"check", "run"},
         "unknown argument 'run' of 'reaper check'; see "
         "'reaper check --help'"},
        {{"history", "show"}, "ID is required; see 'reaper history show --help'"},
        {{"--zone", "a", "hosts"}, "'--zone' stands after the command; see 'reaper hosts --help'"},
        {{"--config", "a", "--config", "b", "hosts"},
         "--config is given more than once; see 'reaper hosts --help'"},
        {{"room", "--zone"}, "--zone needs a value; see 'reaper room --help'"},
        {{"hosts", "-o", "xml"},
         "--output: is 'xml'; expected one of table, wide, json, yaml, csv, name; see 'reaper "
         "hosts --help'"},
        {{"room", "--slots", "-1"},
         "--slots: is '-1'; expected 1 to 100000; see 'reaper room --help'"},
        {{"room", "--slots", "many"},
         "--slots: is 'many'; expected 1 to 100000; see 'reaper room --help'"},
        {{"explain"}, "SERVER is required; see 'reaper explain --help'"},
        {{"history", "messages", "--follow"},
         "--follow goes with 'reaper history' and 'reaper history victims'"},
        {{"history", "--host", "h", "totals"},
         "--host goes with 'reaper history' and 'reaper history victims'"},
        {{"history", "--until", "2026-11-01", "totals"},
         "--until goes with 'reaper history' and 'reaper history victims'"},
        {{"history", "-f", "--until", "2026-11-01"}, "--follow has no end: leave out --until"},
        {{"history", "-f", "--sort", "host"},
         "--follow tells lines as they come: it goes with -o table or json, without --sort and "
         "--columns"},
        {{"history", "--since", "2026-11-02", "--until", "2026-11-01"},
         "--until: must be later than --since"},
        {{"history", "--until", "1h"},
         "--until: is '1h'; expected a date such as 2026-11-01 or 2026-11-01T12:30:00Z (UTC)"},
        {{"plan"},
         "'reaper plan' needs one of --notification FILE, --flavor FLAVOR, --resources LIST and "
         "--requests FILE"},
        {{"plan", "--notification", "x", "--resources", "VCPU=1", "--project", "p"},
         "'reaper plan' needs one of --notification FILE, --flavor FLAVOR, --resources LIST and "
         "--requests FILE"},
        {{"plan", "--notification", "x", "--slots", "2"},
         "--slots goes with --resources or --flavor: a notification says it itself"},
        {{"plan", "--resources", "VCPU=1"},
         "--resources needs --project, to know if the requester is revocable itself"},
        {{"plan", "--resources", "VCPU", "--project", "p"},
         "--resources: is 'VCPU'; expected CLASS=AMOUNT, such as VCPU=4,MEMORY_MB=2048"},
        {{"plan", "--resources", "vcpus=1", "--project", "p"},
         "--resources: 'vcpus' is not a resource class; expected one such as VCPU or CUSTOM_GPU; "
         "did you mean 'VCPU'?"},
        {{"plan", "--resources", "VCPU=1", "--project", "p", "--trait", "CUSTOM_A=maybe"},
         "--trait: trait CUSTOM_A is 'maybe'; expected required or forbidden"},
    };
    for (const auto& [words, expected] : cases) EXPECT_EQ(error(words), expected);
}

TEST(Arguments, ValuesOutOfRangeAreRefused) {
    EXPECT_NE(error({"plan", "--resources", "VCPU=1", "--project", "p", "--slots", "0"}),
              "accepted");
    EXPECT_NE(error({"plan", "--resources", "VCPU=1", "--project", "p", "--alternatives", "0"}),
              "accepted");
    EXPECT_NE(error({"history", "--limit", "0"}), "accepted");
    EXPECT_NE(error({"--log-level", "loud", "check"}), "accepted");
    EXPECT_NE(error({"--color", "blue", "check"}), "accepted");
}

// ---- every option that refuses a value says what it expected ----

/// What a command needs beside the option under test.
const std::map<std::string, std::vector<std::pair<std::string, std::string>>> needed{
    {"plan", {{"--project", "p"}, {"--resources", "VCPU=1"}}},
    {"request", {{"--project", "p"}, {"--resources", "VCPU=1"}}},
    {"room", {{"--resources", "VCPU=1"}}},
    {"candidates", {{"--resources", "VCPU=1"}}},
    {"apply", {{"", "plan.json"}}},
    {"explain", {{"", "server"}}},
    {"history show", {{"", "req-1"}}},
    {"replay", {{"", "recording"}}},
    {"protect", {{"", "server"}}},
    {"simulate", {{"", "server"}}},
    {"dead-letters show", {{"", "1"}}},
    {"setup resource-tagging", {{"--slots", "2"}}},
    {"reserve", {{"--host", "h"}, {"--role", "r"}, {"--resources", "VCPU=1"}, {"", "--lend"}}},
    {"unreserve", {{"--host", "h"}, {"--role", "r"}, {"--resources", "VCPU=1"}}}};

/// Values that are wrong on sight, by option; of `--group-policy` two groups decide.
const std::map<std::string, std::string> bad_values{{"--log-level", "loud"},
                                                    {"--color", "blue"},
                                                    {"--output", "xml"},
                                                    {"--flavor", ""},
                                                    {"--resources", "VCPU"},
                                                    {"--slots", "many"},
                                                    {"--trait", "low"},
                                                    {"--group", "low"},
                                                    {"--group-policy", "near"},
                                                    {"--res-type", "!=re*"},
                                                    {"--requests", ""},
                                                    {"--snapshot", ""},
                                                    {"--save", ""},
                                                    {"--strategy", ":"},
                                                    {"--alternatives", "0"},
                                                    {"--type", "odd"},
                                                    {"--class", "GPU"},
                                                    {"--slots-per", "VCPU"},
                                                    {"--hosts", ""},
                                                    {"--role", "a//b"},
                                                    {"--label", "=x"},
                                                    {"--refines", "a//b"},
                                                    {"--refines-label", "=x"},
                                                    {"--floor", "VCPU=-1"},
                                                    {"--longest-loan", "long"},
                                                    {"--limit", "0"},
                                                    {"--since", "once"},
                                                    {"--until", "once"},
                                                    {"--outcome", "odd"},
                                                    {"--step", "1"},
                                                    {"--estimator", ":"},
                                                    {"--set", "alternatives"},
                                                    {"--for", "long"},
                                                    {"SHELL", "fish"}};

/// Names and places: what they mean is only known where they are looked up.
bool is_free_text(const OptionEntry& option) {
    static const std::set<std::string> values{
        "FILE", "PATH", "HOST", "PROJECT", "FLAVOR", "SERVER",  "AZ",   "COLUMN",
        "ID",   "NAME", "KEY",  "TEXT",    "URL",    "ADDRESS", "LIST", "AGGREGATE"};
    return option.argument || values.contains(option.value);
}

void refuse_each(const CommandEntry& command, const std::string& path,
                 std::set<std::string>& tried) {
    for (const OptionEntry& option : command.options) {
        if (option.value.empty() && !option.argument) continue;
        const auto known = std::find_if(option.names.begin(), option.names.end(),
                                        [](const auto& each) { return bad_values.contains(each); });
        // Names that servers of a list are chosen by, and a file that is looked for later.
        const bool later = known != option.names.end() &&
                           ((*known == "--snapshot" && path != "plan") ||
                            (*known == "--flavor" && path != "plan" && path != "request"));
        if (known == option.names.end() || later) {
            EXPECT_TRUE(is_free_text(option)) << path << " " << option.names.back();
            continue;
        }
        const std::string name = *known;
        const auto bad = bad_values.find(name);
        std::vector<std::string> words;
        std::istringstream parts{path};
        for (std::string part; parts >> part;) words.push_back(part);
        if (words.empty()) words.emplace_back("hosts");
        const auto more = needed.find(path);
        const bool instead = name == "--flavor" || name == "--requests" || name == "--slots-per";
        if (more != needed.end())
            for (const auto& [with, value] : more->second) {
                if (with == name || (instead && (with == "--resources" || with == "--slots")))
                    continue;
                if (name == "--requests" && with == "--project") continue;
                if (!with.empty()) words.push_back(with);
                words.push_back(value);
            }
        if (name == "--refines-label") words.insert(words.end(), {"--refines", "eng"});
        if (!option.argument) words.push_back(name);
        words.push_back(bad->second);
        std::vector<const char*> line;
        for (const std::string& word : words) line.push_back(word.c_str());
        EXPECT_THAT(error(line), ::testing::AllOf(::testing::StartsWith(name + ": "),
                                                  ::testing::HasSubstr("expected ")))
            << path;
        tried.insert(name);
    }
    for (const CommandEntry& each : command.commands)
        refuse_each(each, path.empty() ? each.name : path + " " + each.name, tried);
}

TEST(Arguments, WhateverARefusedOptionExpectedIsInTheMessage) {
    std::set<std::string> tried;
    refuse_each(own_command_table(), "", tried);
    for (const auto& [option, value] : bad_values) EXPECT_TRUE(tried.contains(option)) << option;
}

TEST(Arguments, VersionIsAnAnswer) {
    const auto parsed = parse({"--version"});
    const auto& leave = std::get<Leave>(parsed);
    EXPECT_EQ(leave.code, ExitCode::ok);
    EXPECT_EQ(leave.out.substr(0, 7), "reaper ");
    EXPECT_EQ(leave.err, "");
}

TEST(Arguments, ASnapshotStandsInForTheCloud) {
    const Arguments hosts = good({"hosts", "--snapshot", "c.json"});
    EXPECT_EQ(std::get<HostsCommand>(hosts.command).snapshot_file, "c.json");
    EXPECT_FALSE(hosts.global.config_given);
    const Arguments plan = good({"plan", "--requests", "r.yaml", "--snapshot", "c.json",
                                 "--alternatives", "2", "--config", "x"});
    EXPECT_TRUE(plan.global.config_given);
    const auto& command = std::get<PlanCommand>(plan.command);
    EXPECT_EQ(command.requests_file, "r.yaml");
    EXPECT_EQ(command.snapshot_file, "c.json");
    EXPECT_EQ(command.alternatives, 2);
}

TEST(Arguments, ASnapshotGoesToStdoutUnlessAFileIsNamed) {
    EXPECT_EQ(std::get<SnapshotCommand>(good({"snapshot"}).command).out, "-");
    const Arguments named = good({"snapshot", "--out", "c.json", "--anonymous"});
    EXPECT_EQ(std::get<SnapshotCommand>(named.command).out, "c.json");
    EXPECT_TRUE(std::get<SnapshotCommand>(named.command).anonymous);
}

TEST(Arguments, RequestsComeFromOnePlaceOnly) {
    const std::string one =
        "'reaper plan' needs one of --notification FILE, --flavor FLAVOR, --resources LIST and "
        "--requests FILE";
    EXPECT_EQ(error({"plan"}), one);
    EXPECT_EQ(error({"plan", "--requests", "r", "--notification", "m"}), one);
    EXPECT_EQ(error({"plan", "--requests", "r", "--resources", "VCPU=1", "--project", "p"}), one);
    EXPECT_EQ(error({"plan", "--requests", "r", "--slots", "2"}),
              "--slots goes with --resources or --flavor: the file says it for each request");
    EXPECT_EQ(error({"plan", "--requests", "", "--snapshot", "c"}),
              "--requests: is empty; expected a file");
}

TEST(Arguments, AFlavorSaysWhatAServerIsInsteadOfResources) {
    const auto plan = std::get<PlanCommand>(
        good({"plan", "--flavor", "m1.two", "--project", "p", "--slots", "2"}).command);
    EXPECT_EQ(plan.flavor, "m1.two");
    EXPECT_EQ(plan.slots, 2);
    EXPECT_TRUE(plan.resources.empty());
    const auto request =
        std::get<RequestCommand>(good({"request", "--flavor", "m1.two", "--project", "p"}).command);
    EXPECT_EQ(request.flavor, "m1.two");
    EXPECT_EQ(error({"plan", "--flavor", "m1.two"}),
              "--flavor needs --project, to know if the requester is revocable itself");
    EXPECT_EQ(error({"plan", "--flavor", "a", "--resources", "VCPU=1", "--project", "p"}),
              "--resources does not go with --flavor, which says that itself");
    EXPECT_EQ(error({"request", "--flavor", "a", "--group", "VGPU=1", "--project", "p"}),
              "--group does not go with --flavor, which says that itself");
    EXPECT_EQ(error({"plan", "--flavor", "a", "--project", "p", "--snapshot", "c"}),
              "--flavor goes with the cloud: a snapshot has no flavors; use --resources");
    EXPECT_EQ(error({"request", "--project", "p"}),
              "'reaper request' needs one of --flavor FLAVOR and --resources LIST");
    EXPECT_EQ(error({"request", "--flavor", "", "--project", "p"}),
              "--flavor: is empty; expected a flavor's name or id");
}

TEST(Arguments, WhatIsUnreservedMaySayWhomItReturnsTo) {
    const auto order = [](std::vector<const char*> words) {
        words.insert(words.begin(),
                     {"unreserve", "--host", "h1", "--role", "eng/web", "--resources", "VCPU=1"});
        return std::get<ReserveCommand>(good(words).command);
    };
    EXPECT_EQ(order({}).returns_to, std::nullopt);
    EXPECT_EQ(order({"--refines", ""}).returns_to, "");
    const ReserveCommand eng = order({"--refines", "eng", "--refines-label", "a=b"});
    EXPECT_EQ(eng.returns_to, "eng");
    EXPECT_EQ(eng.refines_labels, (std::map<std::string, std::string>{{"a", "b"}}));
    EXPECT_NE(error({"unreserve", "--host", "h1", "--role", "eng", "--resources", "VCPU=1",
                     "--refines-label", "a=b"})
                  .find("goes with --refines"),
              std::string::npos);
}

}  // namespace
}  // namespace reaper::cli::arguments_test
