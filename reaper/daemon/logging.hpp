// Where log lines go. All of the program logs through spdlog's default logger, to stderr.
#pragma once

#include <memory>
#include <spdlog/sinks/sink.h>
#include <string>

#include "config/settings.hpp"

namespace reaper {

/// How a line looks.
enum class LogStyle {
    terminal,  ///< time, level, text
    journald,  ///< `<3>text`: the priority for journald, which knows the time itself
    command,   ///< `reaper: level: text`: next to a command's answer
};

/// The daemon's style for `log.target`; auto is journald when stderr is journald's own stream.
LogStyle daemon_style(const std::string& target);

/// True when file descriptor `fd` is the stream that JOURNAL_STREAM (`device:inode`) names.
bool is_journal_stream(int fd, const char* journal_stream);

struct LogOptions {
    LogStyle style = LogStyle::terminal;
    std::string level = "info";  ///< one of the configured names
    bool color = false;
    bool json = false;  ///< lines of JSON instead of text (log_records.hpp)
};

/// The daemon's; `level`: instead of the configured one.
LogOptions daemon_log(const config::Log& log, const std::string& level, bool color);

/// Replaces the default logger. Under journald, text goes there with fields of its own.
void set_up_logging(const LogOptions& options);
void set_up_logging(LogStyle style, const std::string& level, bool color);

/// What writes to stderr in this way.
std::shared_ptr<spdlog::sinks::sink> stderr_sink(const LogOptions& options);

/// Changes the level only. `level` is one of the configured names.
void set_log_level(const std::string& level);

}  // namespace reaper
