// How the gateway of this machine's reaper is: asked of itself.
#pragma once

#include <optional>
#include <string>

#include "config/settings.hpp"

namespace reaper::cli {

struct GatewayState {
    bool answers = false;
    /// Why everything passes through, or why it does not answer; empty: it helps.
    std::string why_not;
};

/// None: there is no gateway. Waits for a few seconds at most.
std::optional<GatewayState> gateway_state(const config::Gateway& gateway);

/// One line, for people.
std::string to_text(const GatewayState& state, const config::Gateway& gateway);

}  // namespace reaper::cli
