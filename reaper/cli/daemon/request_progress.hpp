// What the running daemon does for a request, shown line by line: for `reaper request` and `apply`.
#pragma once

#include <nlohmann/json.hpp>

#include "reaper/cli/channel/daemon_api.hpp"
#include "reaper/cli/output/terminal.hpp"
#include "reaper/request_spec/described_request.hpp"

namespace reaper::cli {

/// In the words of the list of `reaper plan --requests`.
nlohmann::json body_of(const DescribedRequest& described);

/// Asks the daemon for room, and shows what it does until the outcome.
ExitCode show_request(DaemonApi& api, const nlohmann::json& body, const Terminal& terminal);

}  // namespace reaper::cli
