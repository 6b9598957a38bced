// Offers: hosts ordered by the cost of a number of further slots, as far as it is known: the exact
// cost of searched hosts, a lower bound of the others.
//
// Lazy best-first: a pass over all hosts keeps the few with the least bounds in a bounded heap;
// most hosts drop out at the first level. The next pass comes only when these have been used up. A
// pass is O(hosts), what follows O(log kept).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "strategies/bounds.hpp"
#include "strategies/cover.hpp"

namespace reaper {

/// The searches of one decision: each host's at most once for each number of slots, within a limit
/// of steps for all together.
class Searches {
public:
    /// `max_steps`: visited nodes of one search at most; all together have 20 times as many.
    /// `max_fresh`: searches of hosts that the tables don't know, or can't, at most.
    Searches(const Problem& problem, const Objective& objective, std::int64_t max_steps,
             std::size_t max_fresh = no_limit);
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

    const Cover& best(std::size_t host, Amount slots);
    /// None if it was not searched.
    const Cover* found(std::size_t host, Amount slots) const;
    /// What no set can undercut, as far as it is known without a search; fills in the sketch too.
    /// False as soon as it is above `worst` (if there is one).
    bool bound(std::size_t host, Amount slots, HostSketch& sketch, const Cost* worst, Cost& bound);

    /// No further search, but where nothing was found yet.
    bool stopped() const { return steps_left_ <= 0 || fresh_ + forgotten_ >= max_fresh_; }
    /// Searches of hosts that the tables did not know, and do now.
    std::size_t fresh() const { return fresh_; }
    /// Searches that ended before they had proven the best.
    int cut() const { return cut_; }
    const Problem& problem() const { return problem_; }
    const Objective& objective() const { return objective_; }
    SketchBounds& bounds() { return bounds_; }

private:
    CoverSearch& search_on(std::size_t host);
    void remember(std::size_t host, Amount slots, const Cover& cover);

    const Problem& problem_;
    const Objective& objective_;
    const std::int64_t max_steps_;
    std::int64_t steps_left_;
    const std::size_t max_fresh_;
    std::size_t fresh_ = 0;
    std::size_t forgotten_ = 0;  // searches that no table keeps
    SketchBounds bounds_;
    BoundTables::Table* table_ = nullptr;
    std::int64_t as_of_ = 0;   // of the table's entries
    std::size_t lasting_ = 0;  // levels of an earlier time that still hold
    HostSketch sketch_;
    std::unordered_map<std::size_t, CoverSearch> searches_;
    std::map<std::pair<std::size_t, Amount>, Cover> found_;
    int cut_ = 0;
};

/// A host's way to give some slots beyond those that are ready: what it costs, or its bound.
struct Offer {
    Cost cost;
    std::vector<Amount> checker;  // among equal costs: of the victims in the tie rule's order
    std::size_t host = 0;
    bool searched = false;

    friend bool operator<(const Offer& a, const Offer& b) {
        if (a.cost != b.cost) return a.cost < b.cost;
        if (a.checker != b.checker) return a.checker < b.checker;
        return a.host < b.host;
    }
};

class Offers {
public:
    /// Hosts that can give `extra` slots beyond the ready ones. `searches` must outlive this.
    /// `by_victims`: among equal costs the tie rule's order decides, else only that of hosts.
    /// `in_all`: the ready ones are among these.
    Offers(Searches& searches, Amount extra, bool by_victims = true, bool in_all = false);

    /// The first `count` offers: no other host costs less. Fewer, if there are no more.
    std::vector<const Offer*> first(std::size_t count);
    /// All that were looked at.
    std::vector<const Offer*> known() const;
    /// Searches the host of one of them, and puts it where it then belongs.
    void search(std::size_t host);
    /// It is known otherwise that one of them has at least this cost: puts it there.
    void raise(std::size_t host, const Cost& cost);

private:
    void put(std::size_t host, Offer offer);
    Amount slots_on(std::size_t host) const;
    /// The next hosts by bound, at least `count` of them.
    void refill(std::size_t count);

    Searches& searches_;
    Amount extra_;
    bool by_victims_;
    bool in_all_;
    HostSketch sketch_;
    std::set<Offer> offers_;
    std::vector<bool> known_;  // hosts that are among the offers
    std::unordered_map<std::size_t, std::set<Offer>::iterator> by_host_;
    std::optional<Offer> horizon_;  // no other host comes before it
    bool all_known_ = false;
    std::size_t refills_ = 0;
};

}  // namespace reaper
