#include "reaper/gateway/gateway_log.hpp"

#include "reaper/model/text.hpp"
#include "reaper/runtime/log.hpp"

namespace reaper {
namespace {

/// Until the message of a search that failed has come.
constexpr Duration until_it_failed = std::chrono::minutes{10};
/// A search that was answered claims within.
constexpr Duration claims_within{60'000};

}  // namespace

GatewayLog::GatewayLog(const Clock& clock)
    : had_hosts(clock, until_it_failed), wishes(clock, claims_within) {}

void GatewayLog::pass(const RequestId& id, const std::string& why) {
    ++counts.passed;
    spdlog::info("gateway: {}: Placement's answer passes as it is: {}", printable(id.str()), why);
}

void GatewayLog::pause(const std::optional<std::string>& why) const {
    if (why) spdlog::error("gateway: {}", printable(*why));
}

}  // namespace reaper
