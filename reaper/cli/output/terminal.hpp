// Where a command writes: the answer to stdout, everything else to stderr.
#pragma once

#include <functional>
#include <spdlog/common.h>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/report/render.hpp"

namespace reaper::cli {

class Terminal {
public:
    /// Looks at stdout, stderr, NO_COLOR and TERM.
    explicit Terminal(const GlobalOptions& options);

    bool json() const { return json_; }
    const ListOptions& list() const { return list_; }
    bool interactive() const { return interactive_; }                       ///< stdout
    bool color() const { return color_; }                                   ///< on stdout
    bool error_color() const { return error_color_; }                       ///< on stderr
    std::size_t width() const { return static_cast<std::size_t>(width_); }  ///< columns
    /// Ages in the answer are relative to `now`.
    report::RenderOptions render_options(TimePoint now) const;

    void answer(std::string_view text) const;
    /// A line to stderr, with the prefix `reaper: `. In JSON mode `finish` writes it, with the exit
    /// code.
    void complain(std::string_view line) const;
    /// The command ends with this code, as it is returned.
    ExitCode finish(ExitCode code) const;

    /// The same; returns the exit code.
    ExitCode fail(ExitCode code, const Error& error) const;
    /// With `usage` for what the configuration or the command line is at fault for, else `failed`.
    ExitCode fail(const Error& error) const;

    /// The same for what works, but should be fixed: `reaper: warning: `.
    void warn(std::string_view line) const;

    /// A line that replaces itself while something long goes on; only if stderr is a terminal.
    void progress(std::string_view line) const;
    void end_progress() const;

private:
    bool json_;
    ListOptions list_;
    bool interactive_;
    bool color_;
    bool error_color_;
    bool error_terminal_;
    int width_;
    mutable bool progress_shown_ = false;
    mutable std::vector<std::string> complaints_;  ///< in JSON mode: not written yet
};

// What stderr says in JSON mode: one line of JSON for each error and warning.

/// `{"error": {"message", "exit_code"}}`, with a newline.
std::string error_line(std::string_view message, ExitCode code);

/// `{"warning": {"message"}}`, with a newline.
std::string warning_line(std::string_view message);

/// Does a command line that is not understood ask for JSON?
bool asks_for_json(int argc, const char* const* argv);

// What a daemon says before its configuration is loaded.

/// Lines about a configuration that may not be loaded yet: journald gets their priority, people the
/// program's name. The terminal must outlive it.
std::function<void(std::string)> daemon_lines(const Terminal& terminal,
                                              spdlog::level::level_enum level);

}  // namespace reaper::cli
