// The policy with its names looked up, as the daemon goes by it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/model/error.hpp"
#include "reaper/model/records.hpp"

namespace reaper::cli {

struct PolicyInCloud {
    config::Policy policy;
    std::vector<std::string> remarks;  ///< names that lead nowhere, and what keeps the daemon back
};

/// An error if the cloud can't be asked.
Result<PolicyInCloud> resolved_policy(boost::asio::io_context& io, const Cloud& cloud,
                                      config::Policy written);

/// What an operator who looks at a plan must know of the daemon: that it is paused; none if not.
std::vector<std::string> pause_remarks(const std::optional<PauseNote>& paused);

}  // namespace reaper::cli
