#include "reaper/cli/output/terminal.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include "reaper/cli/output/error_lines.hpp"
#include "reaper/model/text.hpp"

namespace reaper::cli {
namespace {

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

}  // namespace reaper::cli
