// A log line for programs: as a line of JSON, and as fields of journald's own protocol.
#pragma once

#include <memory>
#include <spdlog/formatter.h>
#include <string>
#include <vector>

namespace reaper {

/// The message as every log has it: one line, of some length, that no terminal obeys.
std::string line_of(const spdlog::details::log_msg& message);

/// syslog's number of a level (RFC 5424).
char priority_of(spdlog::level::level_enum level);

/// `{"time", "level", "message"}` and, if the line is about them, `request`, `server`,
/// `server_name`, `host` and `project`. `prefix`: `<N>` before it, which journald takes off a line.
std::unique_ptr<spdlog::formatter> json_formatter(bool prefix);

/// `MESSAGE=...`, `PRIORITY=6`, `SYSLOG_IDENTIFIER=reaper`, `REAPER_REQUEST=...`, ...
std::vector<std::string> journal_fields(const spdlog::details::log_msg& message);

}  // namespace reaper
