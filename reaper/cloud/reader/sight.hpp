// Do we see what the list of servers shows? To a user who is no administrator, Nova answers "not
// found" of others' servers, which looks like "deleted". One server of another project, read by
// itself, answers that.
#pragma once

#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/ports/compute.hpp"

namespace reaper {

/// A server that Nova's list has, and whose it is.
struct ListedServer {
    ServerId id;
    ProjectId project;
};

struct Sight {
    enum class Kind {
        clear,    ///< servers of others are seen both ways
        blocked,  ///< listed, and not shown
        untold,   ///< there is nothing to compare: too few projects have servers, or they are gone
    };
    Kind kind{};
    std::string detail;  ///< which server, or what is missing
};

/// Reads servers of several projects, of which at most one is ours, until one of each was seen.
/// `ours` (may be empty) is left out. An error if nothing could be read.
ResultTask<Sight> try_sight(Compute& compute, std::vector<ListedServer> listed, ProjectId ours);

}  // namespace reaper
