// Nova's scheduler: Placement's candidates, filters, weights, claims. All servers of a request find
// a host, or none does.
#pragma once

#include <functional>
#include <limits>
#include <variant>
#include <vector>

#include "tests/cloudsim/core/candidates.hpp"
#include "tests/cloudsim/core/world.hpp"

namespace reaper::cloudsim {

struct NoValidHost {
    bool had_candidates = false;  ///< filters or claims failed, not Placement
};

/// One host for each server of the request, in order; their room is claimed.
using Selection = std::variant<std::vector<Host*>, NoValidHost>;

/// Tells `scheduler.select_destinations.start` and `.end`, the former only if Placement had
/// candidates, as Nova does. `selected` is called at once, or later if there is a door: then
/// servers may be gone by now, and `selected` has to release what was claimed for them.
void select_destinations(World& world, Placing placing, ContextPtr by,
                         std::function<void(const Placing&, const Selection&)> selected);

/// What was asked for when the server was booted counts whenever it moves.
void keep_wishes(const World& world, const Server& server, Placing& placing);

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

/// Whether servers of the request might land on the host, whatever room there is, whether it is up
/// and who else is there: by traits, aggregates, zone, cell, and the classes that it has at all.
bool is_place(World& world, const Placing& placing, const Host& host);
/// How many may by server group and hints, which changes when other servers come and go.
std::size_t may_join(const World& world, const Placing& placing, const Host& host);
/// Does its affinity group have a server already? If not, all of its servers find one host.
bool joins_others(const World& world, const Placing& placing);

/// The query that Nova would send to Placement.
CandidateQuery query_for(World& world, const Placing& placing);

}  // namespace reaper::cloudsim
