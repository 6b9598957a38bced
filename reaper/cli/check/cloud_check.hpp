// The parts of `reaper check` that ask the cloud: what they share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/cli/check/checks.hpp"
#include "reaper/model/records.hpp"

namespace reaper::cli {

struct CloudCheck {
    CloudPorts cloud;
    CloudSession& session;
    const config::Policy& policy;
    const Report& report;
    ProjectId ours{};  ///< the project that the user works in, as Keystone says

    void ok(std::string what, std::string detail, std::optional<ServiceRule> rule = {}) const {
        report({Verdict::ok, std::move(what), std::move(detail), std::move(rule)});
    }
    void info(std::string what, std::string detail) const {
        report({Verdict::info, std::move(what), std::move(detail)});
    }
    void warn(std::string what, std::string detail) const {
        report({Verdict::warn, std::move(what), std::move(detail)});
    }
    void fail(std::string what, std::string detail, std::optional<ServiceRule> rule = {}) const {
        report({Verdict::fail, std::move(what), std::move(detail), std::move(rule)});
    }
};

/// Every name of the configuration, with what it leads to in the cloud.
Task<void> check_names(const CloudCheck& check);

/// Are servers of other projects seen one by one, as the list shows them?
Task<void> check_sight(const CloudCheck& check, const std::vector<ServerRecord>& servers);

/// What owners do to servers to have them protected, where that counts: how many are. A spelling
/// that differs from the configured one in its letters' case alone is told. Where it does not
/// count: who locked those that are locked.
Task<void> check_protected(const CloudCheck& check, const std::vector<ServerRecord>& servers);

}  // namespace reaper::cli
