// Where log lines go. All of the program logs through spdlog's default logger, to stderr.
#pragma once

#include <functional>
#include <memory>
#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace reaper {

// A log line for programs: as a line of JSON, and as fields of journald's own protocol.

/// The message as every log has it: one line, of some length, that no terminal obeys.
std::string line_of(const spdlog::details::log_msg& message);

/// syslog's number of a level (RFC 5424).
char priority_of(spdlog::level::level_enum level);

/// `{"time", "level", "message"}` and, if the line is about them, `request`, `server`,
/// `server_name`, `host` and `project`. `prefix`: `<N>` before it, which journald takes off a line.
std::unique_ptr<spdlog::formatter> json_formatter(bool prefix);

/// `MESSAGE=...`, `PRIORITY=6`, `SYSLOG_IDENTIFIER=reaper`, `REAPER_REQUEST=...`, ...
std::vector<std::string> journal_fields(const spdlog::details::log_msg& message);

// A sink of spdlog that speaks journald's own protocol, so that `journalctl` finds lines by what
// they are about: `journalctl -u reaper REAPER_REQUEST=req-...`.

/// Sends one entry (`NAME=value` each); false: it did not arrive.
using JournalSend = std::function<bool(const std::vector<std::string>& fields)>;

/// `otherwise` has what did not arrive. Neither must throw.
std::shared_ptr<spdlog::sinks::sink> journal_sink(JournalSend send,
                                                  std::shared_ptr<spdlog::sinks::sink> otherwise);

/// To the journald of this machine; none if it has none.
JournalSend system_journal();

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
    bool json = false;  ///< lines of JSON instead of text
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
