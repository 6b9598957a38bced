// A snapshot file in place of a cloud, with the policy to work on it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "reaper/cli/arguments/arguments.hpp"
#include "reaper/cloud/reader/cloud_reader.hpp"
#include "reaper/decision/policy.hpp"
#include "reaper/report/snapshot_file.hpp"
#include "reaper/rooms/ledger.hpp"

namespace reaper::cli {

struct OfflineCloud {
    CloudView cache;
    Ledger ledger;  ///< without what is over
    std::shared_ptr<const CompiledPolicy> policy;
};

/// The policy that a configuration says, or the standard one when none was given. None if the
/// configuration is wrong: then `complain` has had every mistake.
std::optional<config::Policy> offline_policy(const GlobalOptions& global,
                                             const std::function<void(std::string)>& complain);

/// `policy` on the file that a command names (`-` is stdin); `bad_input` if it is no snapshot. If
/// its taggers were not configured, the file's word on which servers are revocable holds, and
/// requesters of the projects that it calls tagged are revocable; else the taggers decide again,
/// and `bad_input` says what the file does not tell them.
Result<OfflineCloud> open_snapshot(const std::string& path, config::Policy policy,
                                   bool taggers_configured);

/// A project as a file tells of it.
struct FileProject {
    ProjectId id;
    std::string remark{};  ///< the file does not tell whether it is there; empty: it is
};

/// By its id or its name; empty stays empty. `not_found`: the file names the cloud's projects, and
/// it is none of them; `bad_input`: several have the name.
Result<FileProject> project_in_file(const CloudView& cloud, const std::string& written);

}  // namespace reaper::cli
