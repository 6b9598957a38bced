// The calls that `reaper check` makes to the cloud's services, and which of the services' policy
// rules have let them pass, or have not.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/http/client.hpp"

namespace reaper::cli {

/// A service (`nova`) and one of its policy rules.
using ServiceRule = std::pair<std::string, std::string>;

/// The rules without which the service refuses such a call; empty: of that call none is known.
/// `url`: all of it.
std::vector<std::string> rules_of_call(std::string_view service, http::Method method,
                                       std::string_view url);

class TriedCalls {
public:
    /// For http::Options::on_try. It must outlive the calls.
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

}  // namespace reaper::cli
