// Lower bounds of what slots on a host cost, from its sketch alone: tens of nanoseconds.
//
// A class that lacks something must gain at least that, rounded up to a multiple of the gains'
// divisor (in units of the divisor, never in raw units); that takes at least so many victims as the
// lack holds largest gains; and it loses at least the work that the cheapest server loses for each
// unit of gain (WorkCurve). Classes that lack nothing waste at least what they have too much. Where
// one victim might do, the host's kinds of candidates say which one would, and what it wastes:
// else it takes two. Where victims count first, the kinds also say how many it takes at least for
// all classes together (sketch.hpp). O(classes * levels), and O(kinds) where kinds are asked.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "strategies/cost.hpp"
#include "strategies/objective.hpp"
#include "strategies/sketch.hpp"

namespace reaper {

// What earlier searches found out: the exact cost of so many slots on a host, kept until the host
// changes. To the next decision of the same shape and goal it is a lower bound that can't be
// beaten, so that only the winners are searched again.
//
// A table belongs to one goal and shape. Where costs grow with time, an entry of an earlier time
// still holds up to its first level that does: no set of victims has lost less work since. The
// least recently used tables go when all together take more than `bytes_per_host`. One thread.

class BoundTables {
public:
    class Table {
    public:
        struct Known {
            Cost cost;
            std::uint32_t version = 0;  ///< of the host
            std::int64_t as_of = 0;     ///< for which it was found
        };
        /// None if it is not known, or the host has changed since. Lives until the next `set`.
        const Known* get(std::uint32_t row, Amount slots) const;
        /// False if there is no room for it.
        bool set(std::uint32_t row, Amount slots, const Cost& cost, std::int64_t as_of);

    private:
        friend class BoundTables;
        bool may_know(std::uint32_t row, std::size_t slots) const {
            return slots < bits.size() && row / 64 < bits[slots].size() &&
                   (bits[slots][row / 64] >> (row % 64) & 1) != 0;
        }

        BoundTables* owner = nullptr;
        std::string key;
        std::vector<std::vector<std::uint64_t>> bits;  // by slots, then row: is there an entry?
        std::unordered_map<std::uint64_t, Known> entries;
    };

    explicit BoundTables(std::size_t bytes_per_host = 3'000) : bytes_per_host_{bytes_per_host} {}
    BoundTables& operator=(BoundTables&&) = delete;

    /// Rows are small numbers, each of one host as long as it is there.
    void changed(std::uint32_t row);
    /// `key` identifies goal and shape. Lives until the next call.
    Table& table(const std::string& key);
    void clear() { tables_.clear(); }

private:
    bool has_room(const Table& user);

    std::size_t bytes_per_host_;
    std::vector<std::uint32_t> versions_;  // by row
    std::list<Table> tables_;              // most recently used first
};

class SketchBounds {
public:
    /// The arguments must outlive this.
    SketchBounds(const Shape& shape, const Objective& objective);

    /// What no set of victims for `slots` slots can undercut, in any level.
    Cost of(const HostSketch& sketch, Amount slots);
    /// The same into `bound`; false as soon as it is above `worst` (if there is one).
    bool of(const HostSketch& sketch, Amount slots, const Cost* worst, Cost& bound);
    /// The place of the first victim at best; nothing if the id decides.
    std::vector<Amount> checker(const HostSketch& sketch) const;

private:
    /// A level, put together: weights by need for waste, the rest by victim.
    struct Level {
        std::vector<std::pair<std::size_t, Amount>> waste;  // need and weight
        Amount by_victim = 0;                               // the least that each victim adds
        Amount by_turn = 0;                                 // weight of fair shares
        Amount by_work = 0;                                 // weight of lost work
    };

    void ask_for(Amount slots);
    Amount of_each_victim(const Level& level) const;
    Amount quick_work(const NeedSketch& row, Amount lack) const;
    Amount least_work(const HostSketch& sketch, std::size_t need) const;
    bool own(std::size_t need) const;
    Amount own_work(const HostSketch& sketch, bool quick) const;
    Amount least_victims(const HostSketch& sketch) const;
    Amount least_of_level(const Level& level, const HostSketch& sketch, Amount work,
                          Amount victims) const;
    bool above(const HostSketch& sketch, Amount work, const Cost& worst) const;
    bool add_up(const HostSketch& sketch, Amount work, const Cost* worst, Cost& bound,
                Amount victims = 0) const;
    bool look_at_kinds(const HostSketch& sketch, Amount work, const Cost* worst, Cost& bound) const;
    bool with_one(const HostSketch& sketch, Amount work, const Cost* worst, Cost& least) const;
    bool cost_of_one(const Amount* gains, Amount work, const Cost* worst, Cost& cost) const;

    const Shape& shape_;
    const Objective& objective_;
    std::vector<Level> levels_;
    Amount turn_ = 0;  // the least of fair shares on the host
    bool counts_work_ = false;
    bool counts_victims_ = false;
    bool work_is_cpu_ = false;
    std::vector<std::size_t> own_needs_;  // that lost work is measured in
    Amount now_minutes_ = 0;
    Amount slots_ = 0;
    std::vector<Amount> wanted_;   // of so many slots, by need
    std::vector<Amount> lack_;     // on the host that is looked at
    mutable Amount victims_ = -1;  // there at least; -1: not known yet
};

}  // namespace reaper
