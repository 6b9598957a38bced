// One view of the cloud, read now, for commands that look.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cli/cloud/names_of_projects.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::cli {

// What the journal knows of room in the making, for commands that look.

/// Empty without a journal; a journal that can't be read is warned of in the log, as `doing` (such
/// as `planned`) is then done without it.
Ledger known_ledger(boost::asio::io_context& io, const config::Settings& settings, TimePoint now,
                    const char* doing);

/// What it knows of the past that safeguards plans: victims, hosts in cooldown. The same without
/// one.
Safeguards known_safeguards(boost::asio::io_context& io, const config::Settings& settings,
                            TimePoint now, const char* doing);

/// Servers that operators protect, each with the reason. None without a journal.
std::map<std::string, std::string> known_protections(const config::Settings& settings,
                                                     TimePoint now);

/// The configuration; none if it is wrong: then every mistake was printed. (`check` tells warnings;
/// here they would only stand in the way.)
std::optional<config::Settings> settings_for_looking(const GlobalOptions& global,
                                                     const Terminal& terminal);

/// The cloud, with the policy by which the daemon would go.
struct CloudToLookAt {
    Cloud cloud;
    std::shared_ptr<const CompiledPolicy> policy;
    std::vector<std::string> remarks;  ///< names that lead nowhere, and what keeps the daemon back
};
/// Else how to end: the reason was printed. `look_up`: the cloud is asked for the names in the
/// policy.
std::variant<CloudToLookAt, ExitCode> cloud_to_look_at(boost::asio::io_context& io,
                                                       const config::Settings& settings,
                                                       const Terminal& terminal,
                                                       bool look_up = true);

/// What Keystone returned; where it failed, the reason is printed, and there are none.
ProjectNames names_told(boost::asio::io_context& io, NamesOfProjects& names,
                        const Terminal& terminal);

/// Shows its progress.
Result<CloudView> cloud_view(boost::asio::io_context& io, const Cloud& cloud,
                             const CompiledPolicy& policy, const Terminal& terminal);

/// The request, of servers of the flavor that is written as its name or id; else how to end: the
/// reason was printed.
std::variant<Request, ExitCode> of_named_flavor(boost::asio::io_context& io,
                                                const CloudToLookAt& look, Request request,
                                                const std::string& written,
                                                const Terminal& terminal);

/// Puts the id in the place of a project's id or name; nothing happens if none is given. How the
/// command ends, with the reason printed, if Keystone knows none, or can't be asked.
std::optional<ExitCode> find_project(boost::asio::io_context& io, const Cloud& cloud,
                                     std::string& project, const Terminal& terminal);

}  // namespace reaper::cli
