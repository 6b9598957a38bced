// Which hosts can take a request, and which of their servers may go; with the reason where not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>

#include "reaper/model/cloud.hpp"
#include "reaper/model/plan.hpp"
#include "reaper/model/request.hpp"
#include "reaper/planner/constraint_checker.hpp"
#include "reaper/planner/victim_filter.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/rooms/room.hpp"
#include "reaper/safeguards/protection.hpp"
#include "strategies/strategy.hpp"

namespace reaper {

struct FilterInput {
    const Request& request;
    const Shape& shape;
    const Ledger& ledger;
    const std::map<ServerId, std::string>& skipped;
    const Protection* protection = nullptr;       ///< none: no server is protected
    const VictimFilter* victim_filter = nullptr;  ///< none: no other server is kept
    /// Hosts that are left out, each with the reason; may be null.
    const std::map<HostId, std::string>* in_cooldown = nullptr;
    const ConstraintChecker* checker = nullptr;  ///< none: all will do
    /// A host that is declared to have room of the other kind alone is left out.
    ResType room = ResType::regular;
    /// Every revocable server may go: what would come free then, whatever keeps them now.
    bool all_may_go = false;
    /// Count only slots that fit whichever of its combinations of providers a host gives them all.
    bool one_combination = false;
    /// Where slots have to be searched for, no more than these are.
    Amount wanted = max_amount;
    /// Set where a search for slots came to its limit, and there may be more; may be null.
    bool* cut = nullptr;
};

/// Why not, of a host with these traits of its root provider.
std::optional<std::string> why_other_room(const std::set<Trait>& root_traits, ResType room);

/// Why a revocable server of this host can't be a victim now; none if it may. Says nothing of those
/// that come free already.
std::optional<std::string> why_kept(const Server& server, const Host& host,
                                    const FilterInput& input);

/// The host with its room and candidates, or why it can't give a single slot. `host` must outlive
/// the result.
std::variant<HostOption, Rejection> filter_host(const Host& host, const FilterInput& input);

}  // namespace reaper
