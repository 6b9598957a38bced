// `reaper setup`: steps are told, or carried out and told.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "reaper/cli/output/terminal.hpp"
#include "reaper/cli/setup/setup_slots.hpp"
#include "reaper/daemon/composition.hpp"
#include "reaper/daemon/exit_code.hpp"

namespace reaper::cli {

/// What is done, for the words about it.
struct Purpose {
    ResourceClass resource_class;
    bool apply = false;
    std::string next;           ///< what is to be done after it
    std::string unit = "slot";  ///< of the class
};

/// Carries the steps out, if it is to be done, and tells them.
ExitCode carry_and_tell(boost::asio::io_context& io, Cloud& cloud, std::vector<SlotStep> steps,
                        const Purpose& purpose, const Terminal& terminal);

/// Complains.
ExitCode failed_setup(const Error& error, const Terminal& terminal);

}  // namespace reaper::cli
