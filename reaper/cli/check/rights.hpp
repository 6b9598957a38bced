// The policy rules that the reaper needs, by service and feature: the lines of the table in
// deploy/least-rights, which are compiled in; and which of them let the calls of `reaper check`
// pass.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "reaper/cli/check/checks.hpp"
#include "reaper/ports/http_client.hpp"

namespace reaper::cli {

struct Right {
    std::string_view service;  ///< nova
    std::string_view feature;  ///< delete
    std::string_view rule;     ///< os_compute_api:servers:delete

    friend bool operator==(const Right&, const Right&) = default;
};

/// Made by embed.cmake.
extern const std::span<const Right> needed_rights;

/// The rules without which the service refuses such a call; empty: of that call none is known.
/// `url`: all of it.
std::vector<std::string> rules_of_call(std::string_view service, http::Method method,
                                       std::string_view url);

class TriedCalls {
public:
    /// For connect_cloud. It must outlive the calls.
    http::CallObserver observer() {
        return [this](const http::CallSeen& seen) { add(seen); };
    }
    void add(const http::CallSeen& seen);

    /// Of which a call was answered as it should be.
    const std::set<ServiceRule>& allowed() const { return allowed_; }
    /// Each set: the rules of one call that was answered with 403; one of them at least is missing.
    const std::set<std::set<ServiceRule>>& refused() const { return refused_; }

private:
    std::set<ServiceRule> allowed_;
    std::set<std::set<ServiceRule>> refused_;
};

/// The features that are configured. `holds_room`: a tagger keeps revocable servers off freed room.
std::set<std::string> features_of(const config::Settings& settings, bool holds_room);

/// What `reaper check` has found, from which rights follow.
struct Evidence {
    const TriedCalls& calls;
    const std::vector<Finding>& findings;
    /// As whom the services were asked; none: Keystone did not let us in.
    std::optional<AuthInfo> who{};
};

/// For each of the features the rules that it needs: those that are missing (a call was refused for
/// them), those that were not tried, and those that let a call pass. What changes something is
/// never tried.
void check_rights(const std::set<std::string>& features, std::span<const Right> rights,
                  const Evidence& evidence, const Report& report);

}  // namespace reaper::cli
