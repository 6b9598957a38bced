// A strategy only ranks. The planner hands it a *problem*: hosts that pass every filter, their
// room, and the servers that may go, and it hands back a *selection*: which servers, on which
// hosts. That at least the requested slots come free, that no victim is needless, what is regular,
// locked or promised: all that belongs to the planner, which checks whatever a strategy returns.
//
// Strategies that minimise something are an *order* (strategies/order.hpp) over one solver:
// `cover` finds the best victims on one host, `cheapest` spreads slots over hosts. Pure data in and
// out, no state between calls, deterministic: the same problem gives the same selection.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/planner/room.hpp"

namespace reaper {

/// A server that may be deleted, as one host's problem sees it.
struct Candidate {
    const Server* server = nullptr;  ///< never null; lives as long as the snapshot
    ByPool gains;                    ///< what comes free in each pool of the host; not all zero
};

/// One host that can give at least one slot.
struct HostOption {
    const Host* host = nullptr;         ///< never null; lives as long as the snapshot
    HostRoom room;                      ///< before any deletion
    std::vector<Candidate> candidates;  ///< by server id
    Amount slots_ready = 0;             ///< without a deletion
    Amount slots_possible = 0;          ///< without all its candidates
};

/// Which slots to free, out of what.
struct Problem {
    Shape shape;  ///< of one slot
    /// Slots in all, those that are ready included; more than are ready, no more than possible.
    Amount slots = 0;
    std::vector<HostOption> hosts;  ///< by name, then id
    std::uint64_t seed = 0;         ///< for strategies that throw dice
};

/// What a strategy picked.
struct Selection {
    struct OnHost {
        std::vector<std::size_t> victims;  ///< indices into the host's candidates, all different
        std::string reason;                ///< why this host
    };
    std::map<std::size_t, OnHost> hosts;        ///< by index into the problem's hosts
    std::map<std::size_t, std::string> passed;  ///< hosts that lost, and to what
    std::string note;  ///< what people should know: a search cut short, a failed draw; or empty
};

class Strategy {
public:
    virtual ~Strategy() = default;
    /// Fewer slots than asked may come out of it (a draw that failed): the note says why.
    virtual Selection select(const Problem& problem) const = 0;
};

/// The pools' room when `victims` (indices into its candidates) are gone.
ByPool room_without(const HostOption& option, const std::vector<std::size_t>& victims);

}  // namespace reaper
