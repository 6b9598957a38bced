#include "reaper/cli/output/error_lines.hpp"

#include <nlohmann/json.hpp>

#include "reaper/daemon/logging.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t longest_error_line = 8'000;

}  // namespace

std::string error_line(std::string_view message, ExitCode code) {
    return report::dump({{"error",
                          {{"message", printable(message, longest_error_line)},
                           {"exit_code", static_cast<int>(code)}}}}) +
           "\n";
}

std::string warning_line(std::string_view message) {
    return report::dump({{"warning", {{"message", printable(message, longest_error_line)}}}}) +
           "\n";
}

bool asks_for_json(int argc, const char* const* argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
        if (word == "--json" || word == "-ojson" || word == "--output=json") return true;
        if ((word == "-o" || word == "--output") && next == "json") return true;
        if (word == "--") return false;
    }
    return false;
}

std::function<void(std::string)> daemon_lines(const Terminal& terminal,
                                              spdlog::level::level_enum level) {
    if (daemon_style("auto") != LogStyle::journald)
        return [&terminal, level](const std::string& line) {
            level == spdlog::level::warn ? terminal.warn(line) : terminal.complain(line);
        };
    set_up_logging(LogStyle::journald, "info", false);
    return [level](const std::string& line) { spdlog::log(level, "{}", line); };
}

}  // namespace reaper::cli
