#include "reaper/daemon/logging.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reaper::cli::logging_test {
namespace {

std::string stream_name(int fd) {
    struct stat status {};
    fstat(fd, &status);
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

TEST(JournalStream, IsRecognisedByDeviceAndInode) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(is_journal_stream(ends[1], stream_name(ends[1]).c_str()));
    EXPECT_FALSE(is_journal_stream(ends[1], "1:2"));
    EXPECT_FALSE(is_journal_stream(ends[1], ""));
    EXPECT_FALSE(is_journal_stream(ends[1], nullptr));
    close(ends[0]);
    close(ends[1]);
    EXPECT_FALSE(is_journal_stream(-1, "1:2"));
}

TEST(Logging, JournaldGetsThePriorityInFrontOfTheText) {
    testing::internal::CaptureStderr();
    set_up_logging(LogStyle::journald, "debug", true);
    spdlog::error("broken");
    spdlog::warn("odd");
    spdlog::info("well");
    spdlog::debug("detail");
    spdlog::trace("too much");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "<3>broken\n<4>odd\n<6>well\n<7>detail\n");
}

TEST(Logging, NextToACommandEveryLineNamesTheProgram) {
    testing::internal::CaptureStderr();
    set_up_logging(LogStyle::command, "warning", false);
    spdlog::warn("odd");
    spdlog::info("well");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "reaper: warning: odd\n");
}

/// A message may hold what users of the cloud wrote.
TEST(Logging, AMessageIsOneLineThatNoTerminalObeys) {
    for (const LogStyle style : {LogStyle::journald, LogStyle::command, LogStyle::terminal}) {
        testing::internal::CaptureStderr();
        set_up_logging(style, "info", false);
        spdlog::info("server {} \u00e9 {}", "a\nERROR forged\x1b[31m\u202e\u009b\u200b",
                     std::string(1 << 20, 'x'));
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_EQ(said.find('\n'), said.size() - 1) << said.substr(0, 200);
        EXPECT_NE(said.find("server a\\x0aERROR forged\\x1b[31m\\xe2\\x80\\xae\\xc2\\x9b"
                            "\\xe2\\x80\\x8b \u00e9 x"),
                  std::string::npos)
            << said.substr(0, 200);
        EXPECT_LT(said.size(), 10'000U);
    }
}

TEST(Logging, EveryConfiguredLevelIsUnderstood) {
    set_up_logging(LogStyle::command, "info", false);
    const struct {
        const char* name;
        spdlog::level::level_enum level;
    } levels[] = {{"trace", spdlog::level::trace},
                  {"debug", spdlog::level::debug},
                  {"info", spdlog::level::info},
                  {"warning", spdlog::level::warn},
                  {"error", spdlog::level::err}};
    for (const auto& [name, level] : levels) {
        set_log_level(name);
        EXPECT_EQ(spdlog::get_level(), level) << name;
    }
}

}  // namespace
}  // namespace reaper::cli::logging_test
