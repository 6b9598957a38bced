// What is looked for in the journal, with the things that it names found: a project by its name,
// and whether there is such a project, host or flavor at all. The journal counts as well as the
// cloud: it tells of what is gone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/request_record.hpp"
#include "reaper/ports/compute.hpp"
#include "reaper/ports/identity.hpp"
#include "reaper/ports/journal.hpp"

namespace reaper {

struct SettledQuery {
    JournalQuery query;  ///< its project by its id
    /// What neither the journal nor the cloud knows; one line.
    std::optional<std::string> unknown{};
    /// Several projects have that name; one line with their ids.
    std::optional<std::string> ambiguous{};
    /// What the journal does not know, and the cloud could not be asked about; a line each. It
    /// counts as known.
    std::vector<std::string> not_asked{};
};

/// Who is asked about what the journal does not know; null: nobody.
struct WhoKnows {
    Identity* identity = nullptr;
    Compute* compute = nullptr;
};

/// An error: the journal can't be read. The cloud is asked only about what the journal does not
/// know.
ResultTask<SettledQuery> settle(JournalQuery query, Journal& journal, WhoKnows cloud);

}  // namespace reaper
