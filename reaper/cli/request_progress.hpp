// What the running daemon does for a request, shown line by line: for `reaper request` and `apply`.
#pragma once

#include <nlohmann/json.hpp>

#include "config/loader.hpp"
#include "reaper/cli/terminal.hpp"
#include "reaper/request_spec/described_request.hpp"

namespace reaper::cli {

/// In the words of the list of `reaper plan --requests`.
nlohmann::json body_of(const DescribedRequest& described);

/// Where the daemon of the configuration listens; empty: nowhere, and that was told.
std::string daemon_socket(const GlobalOptions& global, const config::LocalSettings& settings,
                          const Terminal& terminal);

/// Asks it for room, and shows what it does until the outcome.
ExitCode show_request(const std::string& socket, const nlohmann::json& body,
                      const Terminal& terminal);

}  // namespace reaper::cli
