// Log lines for programs: JSON, and journald's fields.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reaper/daemon/logging.hpp"
#include "reaper/model/time.hpp"
#include "reaper/runtime/log_about.hpp"

namespace reaper::cli::log_records_test {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;

std::string logged(const LogOptions& options, const std::function<void()>& log) {
    testing::internal::CaptureStderr();
    set_up_logging(options);
    log();
    set_up_logging(LogStyle::command, "info", false);
    return testing::internal::GetCapturedStderr();
}

const LogOptions as_json{LogStyle::terminal, "info", true, true};

TEST(JsonLog, HasALineForEachMessage) {
    const std::string text = logged(as_json, [] {
        spdlog::warn("odd");
        log_about({.request = "req-1",
                   .server = "s-1",
                   .server_name = "spot-1",
                   .host = "compute-1",
                   .project = "p-1"},
                  spdlog::level::info, "{}: deleting {}", "req-1", "spot-1");
        spdlog::debug("too much");
    });
    std::istringstream in{text};
    std::vector<json> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    ASSERT_EQ(lines.size(), 2U) << text;
    for (json& line : lines) {
        EXPECT_TRUE(parse_time(line.at("time").get<std::string>()));
        line.erase("time");
    }
    EXPECT_EQ(lines[0], json({{"level", "warning"}, {"message", "odd"}}));
    EXPECT_EQ(lines[1], json({{"level", "info"},
                              {"message", "req-1: deleting spot-1"},
                              {"request", "req-1"},
                              {"server", "s-1"},
                              {"server_name", "spot-1"},
                              {"host", "compute-1"},
                              {"project", "p-1"}}));
    EXPECT_TRUE(text.starts_with("{\"time\":\"")) << "people look for the time first";
}

TEST(JsonLog, NamesEachLevelAsTheConfigurationDoes) {
    LogOptions all = as_json;
    all.level = "trace";
    const std::string text = logged(all, [] {
        spdlog::trace("t");
        spdlog::debug("d");
        spdlog::info("i");
        spdlog::warn("w");
        spdlog::error("e");
    });
    std::istringstream in{text};
    std::vector<std::string> levels;
    for (std::string line; std::getline(in, line);) levels.push_back(json::parse(line)["level"]);
    EXPECT_THAT(levels, ElementsAre("trace", "debug", "info", "warning", "error"));
}

/// Neither the text nor a field ends the line, or is taken for another field.
TEST(JsonLog, HostileWordsStayInTheirPlace) {
    const std::string hostile = "a\",\"level\":\"error\n{\"x\x1b[2J\xff\xe2\x80\xae";
    const std::string text = logged(as_json, [&] {
        log_about({.request = hostile, .server_name = hostile}, spdlog::level::info, "{}", hostile);
    });
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
    const json line = json::parse(text);
    EXPECT_EQ(line.size(), 5U);
    EXPECT_EQ(line.at("level"), "info");
}

TEST(JsonLog, UnderJournaldKeepsItsPriority) {
    LogOptions options = as_json;
    options.style = LogStyle::journald;
    const std::string text = logged(options, [] { spdlog::error("broken"); });
    EXPECT_TRUE(text.starts_with("<3>{\"time\":")) << text;
}

TEST(TextLog, LeavesTheFieldsOut) {
    const std::string text = logged({LogStyle::journald, "info", false, false}, [] {
        log_about({.request = "req-1"}, spdlog::level::info, "{}: well", "req-1");
    });
    EXPECT_EQ(text, "<6>req-1: well\n");
}

struct Sent {
    std::vector<std::vector<std::string>> entries;
    bool arrives = true;
};

std::string sent_to(Sent& sent, const std::function<void(spdlog::logger&)>& log) {
    std::ostringstream otherwise;
    testing::internal::CaptureStderr();
    const auto sink = journal_sink(
        [&sent](const std::vector<std::string>& fields) {
            sent.entries.push_back(fields);
            return sent.arrives;
        },
        stderr_sink(LogOptions{LogStyle::journald, "info", false, false}));
    spdlog::logger logger{"reaper", sink};
    log(logger);
    return testing::internal::GetCapturedStderr();
}

TEST(JournalSink, SendsFieldsOfItsOwn) {
    Sent sent;
    const std::string text = sent_to(sent, [](spdlog::logger& logger) {
        logger.log(log_details::place_of({.request = "req-1", .server_name = "a\nPRIORITY=0"}),
                   spdlog::level::warn, "req-1: odd");
        logger.info("well");
    });
    EXPECT_EQ(text, "");
    ASSERT_EQ(sent.entries.size(), 2U);
    EXPECT_THAT(sent.entries[0],
                ElementsAre("MESSAGE=req-1: odd", "PRIORITY=4", "SYSLOG_IDENTIFIER=reaper",
                            "REAPER_REQUEST=req-1", "REAPER_SERVER_NAME=a\\x0aPRIORITY=0"));
    EXPECT_THAT(sent.entries[1],
                ElementsAre("MESSAGE=well", "PRIORITY=6", "SYSLOG_IDENTIFIER=reaper"));
}

TEST(JournalSink, WhatDoesNotArriveGoesToStderr) {
    Sent sent;
    sent.arrives = false;
    EXPECT_EQ(sent_to(sent, [](spdlog::logger& logger) { logger.error("broken"); }), "<3>broken\n");
    EXPECT_EQ(sent.entries.size(), 1U);
}

}  // namespace
}  // namespace reaper::cli::log_records_test
