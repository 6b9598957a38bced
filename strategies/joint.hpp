// Joint: the slots that cost least over several hosts, which are searched only where the best might
// be.
//
// The knapsack (shares.hpp) is solved with lower bounds instead of costs. The hosts in its solution
// are searched, and it is solved again with their costs, until all hosts in the solution have been
// searched. That solution is the best, as no other way costs less even by its bounds. The hosts are
// collected at a price: a pass over all of them takes those that cost no more by their bounds. The
// first price is the one at which the hosts would give as many slots at their cheapest, as far as
// is known without a search. When the knapsack's price rises above it, there is a pass for twice as
// many. When the gap of the best way found reaches further, the hosts that cost least for each
// number of slots are added, as many as decide (Offers). A pass is O(hosts * slots on one of them).
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "strategies/offers.hpp"
#include "strategies/shares.hpp"

namespace reaper {

class Joint {
public:
    /// `searches` must outlive this.
    explicit Joint(Searches& searches);

    /// The best way to free so many slots beyond those that are ready, all of its hosts searched;
    /// no more than are possible, and never more than the time before.
    void solve(std::size_t slots);
    const std::vector<Share>& shares() const { return shares_; }
    const Cost& cost() const { return cost_; }
    /// No way costs less.
    const Cost& least() const { return least_; }

private:
    class Cut;

    void collect_cheapest(std::size_t slots, std::size_t supply);
    bool covers_number(Amount number, const Scaled& gap) const;
    bool complete(std::size_t slots, const Scaled& gap);
    void make_up();
    bool covers(std::size_t slots, const Scaled& gap) const;
    std::size_t search(const std::vector<Share>& shares);
    void put(std::size_t host, std::size_t extra, Cost cost, bool searched);
    void take(const std::vector<Share>& shares);
    void settle(std::size_t slots);
    Amount most_extra(std::size_t host, std::size_t slots) const;
    Cost cost_of(const std::vector<Share>& shares) const;

    Searches& searches_;
    const HostList& hosts_;
    HostSketch sketch_;
    Shares known_;
    Price cut_;                             ///< all is collected that costs no more
    bool all_ = false;                      ///< everything is collected
    std::size_t supply_ = 0;                ///< slots that what is collected gives at least
    Amount most_on_one_ = 0;                ///< slots
    std::map<std::size_t, Offers> offers_;  ///< by number of slots, where more than that may count
    std::vector<Share> shares_;
    Cost cost_;
    Cost least_;
};

}  // namespace reaper
