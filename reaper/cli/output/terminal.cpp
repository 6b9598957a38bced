#include "reaper/cli/output/terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "reaper/daemon/logging.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper::cli {
namespace {

constexpr std::size_t longest_error_line = 8'000;

bool wants_color(ColorMode mode, int fd) {
    if (mode != ColorMode::automatic) return mode == ColorMode::always;
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const term = std::getenv("TERM");
    const bool refused = no_color != nullptr && *no_color != '\0';
    const bool dumb = term == nullptr || std::string_view(term) == "dumb";
    return !refused && !dumb && isatty(fd) == 1;
}

bool has_colors(ListFormat format) {
    return format == ListFormat::table || format == ListFormat::wide;
}

int columns() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 100;
    return std::clamp<int>(size.ws_col, 60, 160);
}

}  // namespace

Terminal::Terminal(const GlobalOptions& options)
    : json_(options.json),
      list_(options.list),
      interactive_(isatty(STDOUT_FILENO) == 1),
      color_(has_colors(options.list.format) && wants_color(options.color, STDOUT_FILENO)),
      error_color_(wants_color(options.color, STDERR_FILENO)),
      error_terminal_(isatty(STDERR_FILENO) == 1),
      width_(columns()) {}

report::RenderOptions Terminal::render_options(TimePoint now) const {
    report::RenderOptions options;
    options.width = width_;
    options.color = color_;
    options.now = now;
    return options;
}

void Terminal::answer(std::string_view text) const {
    std::cout << text << std::flush;
}

void Terminal::complain(std::string_view line) const {
    end_progress();
    if (json_) {
        complaints_.emplace_back(line);
        return;
    }
    constexpr std::size_t longest = 8'000;
    std::cerr << "reaper: " << printable(line, longest) << "\n" << std::flush;
}

void Terminal::warn(std::string_view line) const {
    if (!json_) return complain("warning: " + std::string(line));
    end_progress();
    std::cerr << warning_line(line) << std::flush;
}

ExitCode Terminal::finish(ExitCode code) const {
    for (const std::string& line : std::exchange(complaints_, {}))
        std::cerr << (code == ExitCode::ok ? warning_line(line) : error_line(line, code))
                  << std::flush;
    return code;
}

void Terminal::progress(std::string_view line) const {
    if (!error_terminal_) return;
    std::cerr << "\r\x1b[K" << line << std::flush;
    progress_shown_ = true;
}

void Terminal::end_progress() const {
    if (progress_shown_) std::cerr << "\r\x1b[K" << std::flush;
    progress_shown_ = false;
}

ExitCode Terminal::fail(ExitCode code, const Error& error) const {
    complain(error.what);
    return code;
}

ExitCode Terminal::fail(const Error& error) const {
    return fail(error.code == Errc::bad_input ? ExitCode::usage : ExitCode::failed, error);
}

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
