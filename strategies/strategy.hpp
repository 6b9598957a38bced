// A strategy only ranks. The planner hands it a *problem*: hosts that pass every filter, their
// room, and the servers that may go, and it hands back a *selection*: which servers, on which
// hosts. That at least the requested slots come free, that no victim is needless, what is regular,
// locked or promised: all that belongs to the planner, which checks whatever a strategy returns.
//
// Strategies that minimise something are an *objective* (strategies/objective.hpp) over one solver:
// `cover` finds the best victims on one host, `cheapest` spreads slots over hosts. Pure data in and
// out, no state between calls, deterministic: the same problem gives the same selection.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reaper/model/cloud.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/time.hpp"
#include "reaper/rooms/room.hpp"
#include "strategies/cost.hpp"
#include "strategies/sketch.hpp"

namespace reaper {

class BoundTables;
class WholeCloud;

/// A server that may be deleted, as one host's problem sees it.
struct Candidate {
    const Server* server = nullptr;  ///< never null; lives as long as the cloud's cache
    ByPool gains;                    ///< what comes free in each pool of the host; not all zero
};

/// One host that can give at least one slot.
struct HostOption {
    const Host* host = nullptr;         ///< never null; lives as long as the cloud's cache
    HostRoom room;                      ///< before any deletion
    std::vector<Candidate> candidates;  ///< by server id
    Amount slots_ready = 0;             ///< without a deletion
    Amount slots_possible = 0;          ///< without all its candidates
    /// However much room it has, more slots than this it may not get (a server group).
    Amount max_slots = std::numeric_limits<Amount>::max();
};

/// The hosts of a problem, by name, then id. A host's option is made when it is first asked for:
/// most hosts of a large cloud never are.
class HostList {
public:
    virtual ~HostList() = default;
    std::size_t size() const { return slots_.size(); }
    bool empty() const { return slots_.empty(); }
    /// Lives as long as the list.
    virtual const HostOption& operator[](std::size_t host) const = 0;
    /// Slots without a deletion, and without all candidates; each at most the slots wanted.
    Amount ready(std::size_t host) const { return slots_[host].ready; }
    Amount possible(std::size_t host) const { return slots_[host].possible; }
    /// Fills in the sketch; false if the host has none: then its option decides.
    virtual bool sketch(std::size_t host, HostSketch& sketch) const = 0;

protected:
    struct Slots {
        Amount ready = 0;
        Amount possible = 0;
    };
    std::vector<Slots> slots_;  // by host
};

/// Which slots to free, out of what.
struct Problem {
    Shape shape;  ///< of one slot
    /// Slots in all, those that are ready included; more than are ready, no more than possible.
    Amount slots = 0;
    Amount slots_least = 0;  ///< without these no servers may be deleted; the rest are alternatives
    const HostList& hosts;
    std::uint64_t seed = 0;  ///< for strategies that throw dice
    TimePoint now{};         ///< for those that count running time
    /// Revocable servers of each project in the cloud; may be null.
    const std::map<ProjectId, Amount>* fleets = nullptr;
    /// Bounds found in earlier decisions on the same cloud; may be null.
    BoundTables* tables = nullptr;
    /// How much notice servers are to have; null: none.
    const NoticeRules* notice = nullptr;
    /// For fair shares; may be null.
    const WholeCloud* cloud = nullptr;
};

/// What a strategy picked.
struct Selection {
    struct OnHost {
        std::vector<std::size_t> victims;  ///< indices into the host's candidates, all different
        std::string reason;                ///< why this host
    };
    struct Passed {
        std::size_t host = 0;  ///< index into the problem's hosts
        std::string reason;    ///< to what it lost
    };
    std::map<std::size_t, OnHost> hosts;  ///< by index into the problem's hosts
    std::vector<Passed> passed;           ///< the best hosts that lost, the nearest first
    std::string note;     ///< what people should know: a search cut short, a failed draw; or empty
    bool proven = false;  ///< no selection costs less
};

/// Hosts that lost are listed in full up to this number.
constexpr std::size_t passed_in_full = 20;

class Strategy {
public:
    virtual ~Strategy() = default;
    /// Fewer slots than asked may come out of it (a budget that forbids them): the note says why.
    virtual Selection select(const Problem& problem) const = 0;
    /// Fills the problem's tables in advance: searches at most `hosts` hosts, and returns how many
    /// it searched; 0 when nothing is left to do.
    virtual std::size_t warm(const Problem&, std::size_t hosts) const {
        static_cast<void>(hosts);
        return 0;
    }
    /// What victims on a host cost, for so many of its slots; the sum over hosts is a plan's. None
    /// if the strategy has no figures.
    virtual std::optional<Cost> cost_on(const Problem&, std::size_t host, Amount slots,
                                        const std::vector<std::size_t>& victims) const {
        static_cast<void>(host), static_cast<void>(slots), static_cast<void>(victims);
        return std::nullopt;
    }
    /// Hosts of the problem that can give so many slots alone, and none without a victim: by what
    /// they cost at least, the first the cheapest of all. None if the strategy has no figures.
    virtual std::vector<std::pair<std::size_t, Cost>> cheapest_hosts(const Problem&, Amount slots,
                                                                     std::size_t count) const {
        static_cast<void>(slots), static_cast<void>(count);
        return {};
    }
    /// What `victims` on a host go for, compared with `instead`, that would give as many slots.
    struct Rivals {
        std::size_t host = 0;                     ///< index into the problem's hosts
        Amount slots = 0;                         ///< of the host
        const std::vector<std::size_t>& victims;  ///< indices into its candidates
        const std::vector<std::size_t>& instead;
    };
    /// By project, what its revocable servers hold of the cloud, divided by its weight, in
    /// millionths; none: the strategy does not go by fair shares.
    virtual std::optional<std::map<ProjectId, Amount>> shares(const WholeCloud&) const {
        return std::nullopt;
    }
    /// For people: by what the others cost more, in the strategy's own figures; empty if it has
    /// none that say so.
    virtual std::string why_not_instead(const Problem&, const Rivals&) const { return {}; }
};

/// The pools' room when `victims` (indices into its candidates) are gone.
ByPool room_without(const HostOption& option, const std::vector<std::size_t>& victims);

}  // namespace reaper
