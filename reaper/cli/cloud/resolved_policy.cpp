#include "reaper/cli/cloud/resolved_policy.hpp"

#include <utility>

#include "reaper/cloud_reader/cloud_directory.hpp"
#include "reaper/model/text.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::cli {

Result<PolicyInCloud> resolved_policy(boost::asio::io_context& io, const Cloud& cloud,
                                      config::Policy written) {
    auto directory = run_task(io, read_directory(cloud.ports(), names_in(written)));
    if (!directory) return directory.error();
    ResolvedPolicy resolved = resolve(std::move(written), *directory);
    PolicyInCloud known;
    for (const auto& finding : resolved.findings)
        if (finding.level != NameFinding::Level::found)
            known.remarks.push_back(finding.what + ": " + finding.detail);
    known.policy = std::move(resolved.policy);
    return known;
}

std::vector<std::string> pause_remarks(const std::optional<PauseNote>& paused) {
    if (!paused) return {};
    return {"the reaper is paused " + printable(paused->line()) +
            ": the daemon deletes no server until 'reaper resume'"};
}

}  // namespace reaper::cli
