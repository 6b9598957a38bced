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
    bool full = false;  ///< as many searches wait as may: others pass through
};

/// What `GET /reaper-gateway` says.
GatewayState read_gateway_state(const std::string& body);

/// None: there is no gateway. Waits for a few seconds at most.
std::optional<GatewayState> gateway_state(const config::Gateway& gateway);

/// One line, for people.
std::string to_text(const GatewayState& state, const config::Gateway& gateway);

}  // namespace reaper::cli
