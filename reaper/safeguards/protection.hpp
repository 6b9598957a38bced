// Protection: servers that are never victims, by what they themselves carry. One rule for the
// planner and for the fresh read before a deletion.
//
// A project that is to be protected and is not known (it was not looked up yet, or there is none of
// that name) protects everybody: nobody can say who it is that must not go.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

class Protection {
public:
    /// Protects nobody.
    Protection() = default;
    explicit Protection(const ProtectSettings& settings);

    /// By tag, metadata or project: whatever the time is. The quick answer to what `why` tells.
    bool protects(const Server& server) const;
    /// The tag, key or project that protects it; none if nothing does.
    std::optional<std::string> why(const Server& server) const;
    bool empty() const {
        return tags_.empty() && metadata_.empty() && projects_.empty() && unknown_.empty();
    }

    friend bool operator==(const Protection&, const Protection&) = default;

private:
    const std::string* tag_of(const Server& server) const;
    const std::string* key_of(const Server& server) const;

    std::vector<std::string> tags_;
    std::vector<std::string> metadata_;
    std::map<ProjectId, std::string> projects_;  ///< as they were written
    std::string unknown_;  ///< the first project of which it is not known which one it is
};

/// When the server began to run: its launch, else its creation.
TimePoint start_of(const Server& server);

/// Why the server runs too short to be a victim at `now`; none if it does not.
std::optional<std::string> why_too_young(const Server& server, Duration min_run_time,
                                         TimePoint now);

}  // namespace reaper
