// What is looked for in the journal, with the things that it names found: a project by its name,
// and whether there is such a project, host or flavor at all. The journal counts as well as the
// cloud: it tells of what is gone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/model/request_record.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"

namespace reaper {

struct SettledQuery {
    JournalQuery query;  ///< its project by its id, its host by its service's name
    /// What neither the journal nor the cloud knows; one line.
    std::optional<std::string> unknown{};
    /// Several projects have that name; one line with their ids.
    std::optional<std::string> ambiguous{};
    /// What the journal does not know, and the cloud could not be asked about; a line each. It
    /// counts as known.
    std::vector<std::string> not_asked{};
};

/// Services to ask about what the journal does not know; null: there is none.
struct WhoKnows {
    Identity* identity = nullptr;
    Compute* compute = nullptr;
};

/// `known`: what the journal knows of the query. The cloud is asked only about the rest.
Task<SettledQuery> settle(JournalQuery query, KnownValues known, WhoKnows cloud);

/// What was settled lately, so that pages of one list, and clients that follow it, are not asked
/// about again and again, and go on when what they named is no more. One thread.
class RecentlySettled {
public:
    /// As it was asked, within a minute before.
    std::optional<JournalQuery> find(const JournalQuery& asked, Duration now);
    /// `now`: of the steady clock.
    void keep(const JournalQuery& asked, const JournalQuery& settled, Duration now);

private:
    struct Answer {
        std::string project;
        std::string host;
        Duration used_at{};
    };
    static std::string key_of(const JournalQuery& asked);
    std::map<std::string, Answer> answers_;
};

}  // namespace reaper
