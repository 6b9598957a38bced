// The gateway of a reaper that may stand by: until it takes over, searches and claims go to the
// gateway of the active reaper, which knows what is promised. One that does not answer is left out:
// Placement is asked itself, so that no search fails because one takes over.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reaper/ports/proxy_handler.hpp"

namespace reaper {

class StandbyGateway final : public ProxyHandler {
public:
    struct Ports {
        std::shared_ptr<ProxyHandler> service;  ///< decides when we are active
        std::function<bool()> stands_by;
        /// URL of the active reaper's gateway; none: it has none, or gives no sign of life.
        std::function<std::optional<std::string>()> active;
    };
    explicit StandbyGateway(Ports ports) : ports_(std::move(ports)) {}

    bool wants(std::string_view method, std::string_view target) const override;
    bool owns(std::string_view target) const override;
    std::string line() const override;
    Task<ProxyAnswer> handle(HttpRequest request, ProxyCall& call) override;

private:
    Task<std::optional<ProxyAnswer>> hand_on(const HttpRequest& request, ProxyCall& call);

    Ports ports_;
};

}  // namespace reaper
