// Servers that operators protect: `reaper protect`.
//
// Each is in the journal before it holds, holds over restarts, and ends at its time or when an
// operator says so. They are a part of the policy in force (reaper/decision/policy.hpp): a plan
// that was made before one came is not carried out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "reaper/model/records.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/runtime/clock.hpp"

namespace reaper {

class ServerProtections {
public:
    /// `on_change`: other servers are protected than before. References must outlive it.
    ServerProtections(Clock& clock, Journal& journal, std::function<void()> on_change)
        : clock_(clock), journal_(journal), on_change_(std::move(on_change)) {}

    /// What the journal knows. An error if it can't be read.
    ResultTask<void> restore();
    /// In force when it returns, in place of what was in force for the server. An error: it is not.
    ResultTask<void> protect(ServerProtection protection);
    /// Ends it; what was in force. None if it is not protected. `by`: the user who ends it.
    ResultTask<std::optional<ServerProtection>> unprotect(ServerId server, std::string by);
    /// Ends those whose time is over. To be called every `step`.
    ResultTask<void> check();
    static constexpr Duration step{1000};

    const std::map<ServerId, ServerProtection>& all() const { return all_; }
    /// For the policy: reasons by server.
    std::map<std::string, std::string> reasons() const;

private:
    Task<void> note(std::string kind, std::string what);
    ResultTask<void> end(ServerProtection protection, std::string kind, std::string why);

    Clock& clock_;
    Journal& journal_;
    std::function<void()> on_change_;
    std::map<ServerId, ServerProtection> all_;
};

/// Those of a journal whose time is not over.
ResultTask<std::map<ServerId, ServerProtection>> read_protections(JournalReader& journal,
                                                                  TimePoint now);

/// For a policy: reasons by server.
std::map<std::string, std::string> reasons_of(const std::map<ServerId, ServerProtection>& all);

}  // namespace reaper
