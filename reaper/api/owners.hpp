// What owners' questions may cost, whatever they ask.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper::api {

/// One for all owners. One thread.
class OwnersQuestions {
public:
    struct Evicted {
        std::int64_t last_24h = 0;
        std::int64_t last_7d = 0;
    };

    /// Whether this one of the project's is answered: ten at once are, and then five a second.
    /// `now`: of the steady clock.
    bool may_ask(const ProjectId& project, Duration now);
    /// Reads the journal, unless it did within the last minute; if it can't, its last count stays.
    /// An error too while it does so for another client, for the first time.
    ResultTask<void> count(JournalReader& journal, TimePoint now, Duration steady);
    /// Servers of that flavor, as of the last count.
    Evicted of_flavor(const std::string& flavor) const;

private:
    std::map<ProjectId, Duration> paid_until_;
    std::map<std::string, Evicted> by_flavor_;
    std::optional<Duration> counted_at_;
    std::weak_ptr<bool> counting_;
};

}  // namespace reaper::api
