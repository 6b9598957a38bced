// The journals of this machine that a command reads. A daemon and a dry run of one configuration
// keep one each; what was really deleted is in the daemon's, whichever of them the configuration
// asks for now.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "config/loader.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/report/explanation.hpp"

namespace reaper::cli {

/// Both are read only. They post to an io_context, which outlives them.
struct Journals {
    std::unique_ptr<JournalReader> own;
    std::unique_ptr<JournalReader> other;  ///< none: there is none, or it can't be read
    std::string own_path, other_path;
    bool dry_run = false;  ///< `own` is a dry run's
};

/// Where a command asks about the past: the daemon that --api names, or else journals.
struct Past {
    Journals journals;               ///< none with --api
    DaemonApi own;                   ///< the daemon, or the own journal
    std::optional<DaemonApi> other;  ///< the other journal, if there is one
};

/// How two journals are read.
enum class Reading {
    apart,
    together,  ///< `own` lists the victims of both
    followed,  ///< `own` streams until Ctrl-C
};

/// The journal of the path `only`; empty: those of the configuration. Where its own is not there
/// yet, the other one takes its place, with a warning. An other one that can't be read is a
/// warning. An exit code: the reason was printed. `io` must outlive it.
std::variant<Past, ExitCode> open_past(boost::asio::io_context& io, const GlobalOptions& global,
                                       const std::string& only, Reading how,
                                       const Terminal& terminal);

/// The answer to a GET. None: `why` has the complaint, and `code` is `unknown` for 404.
std::optional<nlohmann::json> asked_quietly(DaemonApi& api, const std::string& target,
                                            ExitCode& code, std::string& why);

/// A line on stderr where the other journal has requests that may be those looked for: in a dry
/// run always, else if it has newer ones.
void tell_of_other(boost::asio::io_context& io, Journals& journals, const Terminal& terminal);

/// The same, of a command that reads its journal by itself.
void tell_of_other(const config::LocalSettings& settings, const Terminal& terminal);

/// A line on stderr where `history victims --follow` leaves out what the other journal may tell.
void warn_of_followed_alone(const Journals& journals, bool planned, const Terminal& terminal);

struct FoundRecord {
    std::optional<RequestRecord> record{};
    bool several = false;  ///< requests are about that server
    /// Without a record: `unknown` if there is none, or how the command ends.
    ExitCode code{};
    std::string why{};  ///< the reason, in one line; empty: already on stderr
};

/// The request of that id; else the newest one in which a server of that id or name was chosen, or
/// waited. A line on stderr says if the other journal has it alone, or too.
FoundRecord shown_by(Past& past, const std::string& asked, const Terminal& terminal);

/// The result for a server, by `own` and by what the other journal answers to `target`: the newest
/// deletion goes before what was only planned, and of a server that waited the newest request is
/// shown. A warning says if it is the other journal's. None: neither knows it.
std::optional<report::Explanation> explained_by(Past& past, const std::string& target,
                                                std::optional<report::Explanation> own,
                                                const Terminal& terminal);

}  // namespace reaper::cli
