// Lower bounds of what slots on a host cost, from its sketch alone: tens of nanoseconds.
//
// A class that lacks something must gain at least that, rounded up to a multiple of the gains'
// divisor (in units of the divisor, never in raw units); that takes at least so many victims as the
// lack holds largest gains; and it loses at least the work that the cheapest server loses for each
// unit of gain (WorkCurve). Classes that lack nothing waste at least what they have too much. Where
// one victim might do, the host's kinds of candidates say which one would, and what it wastes:
// else it takes two. Where victims count first, the kinds also say how many it takes at least for
// all classes together (kind_gains.hpp). O(classes * levels), and O(kinds) where kinds are asked.
#pragma once

#include <vector>

#include "strategies/objective.hpp"
#include "strategies/sketch.hpp"

namespace reaper {

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
        Amount by_work = 0;                                 // weight of lost work
    };

    void ask_for(Amount slots);
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
