#include "strategies/goal_strategy.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "reaper/model/text.hpp"
#include "strategies/offers.hpp"
#include "strategies/shares.hpp"

namespace reaper {

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

namespace {

/// Knapsacks that are solved for one plan.
constexpr int max_rounds = 2'000;
/// Hosts beyond the price that are searched before the knapsack is solved again.
constexpr std::size_t max_batch = 32;
/// The same of those that may be part of a better way: a search costs more than a knapsack.
constexpr std::size_t max_likely = 4;

/// One way to share slots out is never as good as another: the sum of the hosts' places in the
/// order of names decides, then a sum of numbers as good as random, for each host and choice one.
void break_tie(std::size_t host, std::size_t extra, Cost& cost) {
    cost[max_objective_levels] = static_cast<Amount>(host) + 1;
    std::uint64_t mixed = (std::uint64_t{host} * 4096 + std::uint64_t{extra}) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    cost[max_objective_levels + 1] = static_cast<Amount>(mixed >> 20);
}

Cost without_ties(Cost cost) {
    std::fill(cost.level.begin() + max_objective_levels, cost.level.end(), Amount{0});
    return cost;
}

}  // namespace

class Joint {
public:
    /// `searches` must outlive this.
    explicit Joint(Searches& searches) : searches_{searches}, hosts_{searches.problem().hosts} {}

    /// The best way to free so many slots beyond those that are ready, all of its hosts searched;
    /// no more than are possible, and never more than the time before.
    void solve(std::size_t slots) {
        if (supply_ == 0) collect_cheapest(slots, supply_ = slots);
        known_.renew_steps();
        least_ = Cost{};
        std::size_t batch = 1;
        std::size_t likely = 1;
        for (int round = 0;; ++round) {
            const bool stopped = searches_.stopped() || known_.used_up() || round >= max_rounds;
            const bool priced = known_.find_price(slots);
            if (!priced && all_)
                throw std::logic_error("more slots are asked for than are possible");
            if (!priced || !covers(slots, Scaled{})) {
                collect_cheapest(slots, supply_ *= 2);
                continue;
            }
            if (!stopped && search(known_.at_price()) > 0) {
                search(known_.next(batch));
                batch = std::min(2 * batch, max_batch);
                continue;
            }
            if (!known_.find_best()) {
                make_up();
                continue;
            }
            if (!covers(slots, known_.gap()) && !complete(slots, known_.gap())) continue;
            // Each round's bound holds, also where a later one was cut short.
            least_ = std::max(least_, without_ties(known_.least()));
            if (!stopped && search(known_.best()) > 0) {
                search(known_.likeliest(likely));
                likely = std::min(2 * likely, max_likely);
                continue;
            }
            return settle(slots);
        }
    }

    const std::vector<Share>& shares() const { return shares_; }
    const Cost& cost() const { return cost_; }
    /// No way costs less.
    const Cost& least() const { return least_; }

private:
    /// What so many slots cost at the cut, for all numbers of them.
    class Cut {
    public:
        void set(const Price& price, const Scaled& slack) {
            price_ = price;
            slack_ = slack;
            set_ = true;
            ++version_;
        }
        /// Null if there is none.
        const Cost* of(Amount slots) {
            if (!set_) return nullptr;
            const auto at = static_cast<std::size_t>(slots);
            if (at >= costs_.size()) costs_.resize(at + 1);
            auto& [cost, version] = costs_[at];
            if (version != version_) {
                cost = whole_cost(price_, slots, slack_);
                version = version_;
            }
            return &cost;
        }

    private:
        Price price_;
        Scaled slack_;
        bool set_ = false;
        std::size_t version_ = 0;
        std::vector<std::pair<Cost, std::size_t>> costs_;
    };

    /// What costs no more than the hosts that are cheapest by their cheapest number of slots, as
    /// many of them as give so many together.
    void collect_cheapest(std::size_t slots, std::size_t supply) {
        struct Cheap {
            Price price;
            std::size_t host = 0;
            bool operator<(const Cheap& other) const {
                if (price < other.price) return true;
                return !(other.price < price) && host < other.host;
            }
        };
        std::vector<Cheap> heap;  // the dearest on top
        std::size_t given = 0;
        Cut cut;
        std::vector<std::pair<Share, Cost>> found;
        for (std::size_t host = 0; host < hosts_.size(); ++host) {
            const Amount most = most_extra(host, slots);
            most_on_one_ = std::max(most_on_one_, most);
            std::optional<Price> cheapest;
            for (Amount extra = 1; extra <= most; ++extra) {
                const auto number = static_cast<std::size_t>(extra);
                const Cost* const worst = cut.of(extra);
                Cost bound;
                if (const Cost* const known = known_.cost(host, number)) {
                    bound = *known;
                } else {
                    if (!searches_.bound(host, hosts_.ready(host) + extra, sketch_, worst, bound))
                        continue;
                    break_tie(host, number, bound);
                    if (worst != nullptr && *worst < bound) continue;
                    found.push_back({Share{host, number}, bound});
                }
                const Price price{bound, extra};
                if (!cheapest || price < *cheapest) cheapest = price;
            }
            if (!cheapest) continue;
            heap.push_back({*cheapest, host});
            std::push_heap(heap.begin(), heap.end());
            given += static_cast<std::size_t>(cheapest->slots);
            while (given >= supply + static_cast<std::size_t>(heap.front().price.slots)) {
                given -= static_cast<std::size_t>(heap.front().price.slots);
                std::pop_heap(heap.begin(), heap.end());
                heap.pop_back();
            }
            if (given >= supply) cut.set(heap.front().price, Scaled{});
        }
        all_ = given < supply;
        if (!all_) cut_ = heap.front().price;
        for (const auto& [share, bound] : found) {
            const Cost* const worst = all_ ? nullptr : cut.of(static_cast<Amount>(share.extra));
            if (worst == nullptr || !(*worst < bound))
                known_.put(share.host, share.extra, bound, false);
        }
    }

    /// Whether all is collected of one number of slots that may be part of a way within the gap.
    bool covers_number(Amount number, const Scaled& gap) const {
        const Price& price = known_.price();
        for (std::size_t i = 0; i < max_levels; ++i) {
            const Scaled::Wide need = Scaled::Wide{price.cost[i]} * number + gap[i];
            const Scaled::Wide have = Scaled::Wide{cut_.cost[i]} * number;
            const Scaled::Wide left = have * price.slots - need * cut_.slots;
            if (left != 0) return left > 0;
        }
        return true;
    }

    /// Whether all is collected that may be part of a way within the gap: for each number of slots
    /// the hosts that cost least, as many as decide. False if some were not.
    bool complete(std::size_t slots, const Scaled& gap) {
        bool complete = true;
        const auto most = std::min(most_on_one_, static_cast<Amount>(slots));
        for (Amount number = 1; number <= most; ++number) {
            if (covers_number(number, gap)) continue;
            const auto extra = static_cast<std::size_t>(number);
            const Cost dearest = whole_cost(known_.price(), number, gap);
            Offers& offers = offers_.try_emplace(extra, searches_, number, false).first->second;
            std::vector<std::pair<std::size_t, Cost>> raised, fresh;
            do {
                for (const auto& [host, cost] : raised) offers.raise(host, cost);
                raised.clear();
                fresh.clear();
                for (const Offer* const offer : offers.first(known_.that_decide(extra))) {
                    if (dearest < offer->cost) break;
                    const Cost* const known = known_.cost(offer->host, extra);
                    if (known == nullptr) {
                        fresh.emplace_back(offer->host, offer->cost);
                    } else if (const Cost cost = without_ties(*known); offer->cost < cost) {
                        raised.emplace_back(offer->host, cost);
                    }
                }
            } while (!raised.empty());
            for (const auto& [host, cost] : fresh) put(host, extra, cost, false);
            complete = complete && fresh.empty();
        }
        return complete;
    }

    /// Nothing that is collected makes up the number: a host that gives as many as are open at the
    /// price for least does, beyond what it gives at the price. The host that would give more than
    /// are open can.
    void make_up() {
        const Share open = known_.open();
        std::optional<Cost> least;
        std::size_t least_on = open.host;
        for (std::size_t host = 0; host < hosts_.size(); ++host) {
            if (known_.given_by(host) > 0 ||
                hosts_.possible(host) - hosts_.ready(host) < static_cast<Amount>(open.extra))
                continue;
            Cost bound;
            const Amount all = hosts_.ready(host) + static_cast<Amount>(open.extra);
            if (!searches_.bound(host, all, sketch_, least ? &*least : nullptr, bound)) continue;
            if (least && !(bound < *least)) continue;
            least = bound;
            least_on = host;
        }
        for (const std::size_t host : {least_on, open.host}) {
            const std::size_t extra = known_.given_by(host) + open.extra;
            if (known_.cost(host, extra) != nullptr) continue;
            Cost bound;
            searches_.bound(host, hosts_.ready(host) + static_cast<Amount>(extra), sketch_, nullptr,
                            bound);
            put(host, extra, bound, false);
        }
    }

    /// The same of all numbers. Both are straight lines over the number: their ends suffice.
    bool covers(std::size_t slots, const Scaled& gap) const {
        return all_ || (covers_number(1, gap) &&
                        covers_number(std::min(most_on_one_, static_cast<Amount>(slots)), gap));
    }

    /// Returns how many were not searched before.
    std::size_t search(const std::vector<Share>& shares) {
        std::size_t fresh = 0;
        for (const auto& share : shares) {
            if (known_.searched(share)) continue;
            ++fresh;
            const Cover& cover = searches_.best(
                share.host, hosts_.ready(share.host) + static_cast<Amount>(share.extra));
            // Where the search was cut, only a bound is sure.
            Cost cost = cover.cost;
            if (!cover.proven) {
                const Cost* const known = known_.cost(share.host, share.extra);
                cost = known == nullptr ? cover.bound : std::max(*known, cover.bound);
            }
            put(share.host, share.extra, cost, true);
        }
        return fresh;
    }

    void put(std::size_t host, std::size_t extra, Cost cost, bool searched) {
        break_tie(host, extra, cost);
        known_.put(host, extra, cost, searched);
    }

    void take(const std::vector<Share>& shares) {
        shares_ = shares;
        cost_ = cost_of(shares);
    }

    /// As the searches stand: where some were cut short, what they found decides, not what bounds
    /// say.
    void settle(std::size_t slots) {
        search(known_.best());
        take(known_.best());
        if (std::equal(cost_.level.begin(), cost_.level.begin() + max_objective_levels,
                       least_.level.begin()))
            return;
        Shares found;
        for (const auto& share : known_.searched()) {
            const Amount all = hosts_.ready(share.host) + static_cast<Amount>(share.extra);
            Cost cost = searches_.found(share.host, all)->cost;
            break_tie(share.host, share.extra, cost);
            found.put(share.host, share.extra, cost, true);
        }
        if (!found.find_price(slots) || !found.find_best()) return;
        if (cost_of(found.best()) < cost_) take(found.best());
    }

    Amount most_extra(std::size_t host, std::size_t slots) const {
        return std::min(hosts_.possible(host) - hosts_.ready(host), static_cast<Amount>(slots));
    }

    Cost cost_of(const std::vector<Share>& shares) const {
        Cost sum;
        for (const auto& share : shares)
            sum +=
                searches_
                    .found(share.host, hosts_.ready(share.host) + static_cast<Amount>(share.extra))
                    ->cost;
        return sum;
    }

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

namespace {

class Cheapest {
public:
    Cheapest(const Problem& problem, const Objective& objective, std::int64_t max_steps,
             std::size_t max_searches)
        : problem_{problem},
          objective_{objective},
          searches_{problem, objective, max_steps, max_searches},
          offers_{searches_, 1},
          joint_{searches_} {
        Amount ready = 0;
        for (std::size_t host = 0; host < problem.hosts.size(); ++host)
            ready = saturating_add(ready, problem.hosts.ready(host));
        open_ = static_cast<std::size_t>(std::max<Amount>(problem.slots - ready, 0));
        least_ = static_cast<std::size_t>(std::max<Amount>(problem.slots_least - ready, 0));
    }

    Selection run(const CostBudget& budget) {
        for (std::size_t slots = open_; slots > 0 && slots >= least_; --slots) {
            solve(slots);
            if (within(budget)) return tell();
        }
        return over(budget);
    }

    std::size_t fresh() const { return searches_.fresh(); }

private:
    /// The best way to free that many slots; the result is in `chosen_`, `cost_` and `least_cost_`.
    void solve(std::size_t slots) {
        if (open_ == 1) return solve_one();
        joint_.solve(slots);
        chosen_ = joint_.shares();
        cost_ = joint_.cost();
        least_cost_ = joint_.least();
    }

    /// The host that costs least; among equals, the one whose victims come first.
    void solve_one() {
        while (true) {
            const Offer first = *offers_.first(1).front();
            const bool stopped = searches_.stopped();
            chosen_ = {Share{first.host, 1}};
            least_cost_ = first.cost;
            if (first.searched) break;
            offers_.search(first.host);
            if (stopped) break;
        }
        cost_ = cover_of(chosen_.front()).cost;
        if (cost_ == least_cost_) return;
        // Cut short: the best of those that were searched.
        for (const Offer* offer : offers_.known())
            if (offer->searched && cover_of({offer->host, 1}).cost < cost_) {
                chosen_ = {Share{offer->host, 1}};
                cost_ = cover_of(chosen_.front()).cost;
            }
    }

    Amount slots_of(const Share& share) const {
        return problem_.hosts.ready(share.host) + static_cast<Amount>(share.extra);
    }
    const Cover& cover_of(const Share& share) const {
        return *searches_.found(share.host, slots_of(share));
    }

    bool within(const CostBudget& budget) const {
        Amount victims = 0;
        Amount work = 0;
        for (const auto& share : chosen_)
            for (const std::size_t victim : cover_of(share).victims) {
                ++victims;
                if (budget.lost_work == 0) continue;
                const auto& server = *problem_.hosts[share.host].candidates[victim].server;
                work = saturating_add(work, objective_.value(Measure::lost_work, server));
            }
        return (budget.victims == 0 || victims <= budget.victims) &&
               (budget.lost_work == 0 || work <= budget.lost_work);
    }

    Selection over(const CostBudget& budget) const {
        Selection none;
        none.note = "the budget of a plan (";
        if (budget.victims > 0) none.note += counted(budget.victims, "victim");
        if (budget.victims > 0 && budget.lost_work > 0) none.note += ", ";
        if (budget.lost_work > 0)
            none.note += std::to_string(budget.lost_work / 60) + " hours of lost work";
        none.note += ") does not allow the best one";
        if (cost_ != least_cost_) none.note += " that was found (the search was cut short)";
        return none;
    }

    Selection tell() {
        Selection selection;
        const Cover* worst = nullptr;
        for (const auto& share : chosen_) {
            const Cover& cover = cover_of(share);
            if (worst == nullptr || worst->cost < cover.cost) worst = &cover;
            selection.hosts.emplace(share.host,
                                    Selection::OnHost{cover.victims, why_chosen(cover)});
        }
        if (worst != nullptr) report_passed(selection, *worst);
        report_gap(selection);
        return selection;
    }

    bool only_waste() const {
        for (std::size_t i = 0; i < objective_.victims_level; ++i)
            for (const auto& term : objective_.levels[i])
                if (term.measure != Measure::waste) return false;
        return objective_.uses(Measure::waste);
    }

    std::string why_chosen(const Cover& cover) const {
        return (only_waste() ? "leaves " : "") + objective_.words(problem_.shape, cover.cost) +
               ", the least of " + counted(problem_.hosts.size(), "possible host");
    }

    /// The best hosts for one more slot that were not chosen.
    void report_passed(Selection& selection, const Cover& worst) {
        for (const Offer* offer : offers_.first(passed_in_full + selection.hosts.size())) {
            if (selection.passed.size() == passed_in_full) return;
            if (!selection.hosts.contains(offer->host))
                selection.passed.push_back({offer->host, why_passed(*offer, worst)});
        }
    }

    std::string why_passed(const Offer& offer, const Cover& worst) const {
        const bool waste = only_waste();
        const std::string theirs = objective_.words(problem_.shape, worst.cost);
        const bool nothing = theirs.rfind("nothing", 0) == 0 || chosen_.size() == 1;
        return (waste ? "would leave " : "here: ") +
               objective_.words(problem_.shape, offer.cost, !offer.searched) +
               (waste ? "; chosen hosts leave " : "; chosen hosts: ") +
               (nothing ? "" : "at most ") + theirs;
    }

    void report_gap(Selection& selection) {
        std::string on;
        for (const auto& share : chosen_)
            if (!cover_of(share).proven)
                on += (on.empty() ? "" : ", ") + problem_.hosts[share.host].host->name;
        std::size_t level = 0;
        while (level < objective_.levels.size() && cost_[level] == least_cost_[level]) ++level;
        const bool same = level == objective_.levels.size();
        selection.proven = same;
        if (objective_.merged)
            selection.note = "too many levels: the last ones count as one sum, or not at all";
        if (same && on.empty()) return;  // what was cut short has lost anyway
        selection.note += selection.note.empty() ? "" : "; ";
        selection.note += "the search" + (on.empty() ? "" : " on " + on) + " was cut short: ";
        selection.note += same ? "nothing costs less, but among equals another may come first"
                               : "at most " +
                                     objective_.level_words(
                                         problem_.shape, level,
                                         saturating_subtract(cost_[level], least_cost_[level])) +
                                     " above the least possible";
    }

    const Problem& problem_;
    const Objective& objective_;
    Searches searches_;
    std::size_t open_ = 0;
    std::size_t least_ = 0;
    Offers offers_;  // for one further slot
    Joint joint_;    // for more
    std::vector<Share> chosen_;
    Cost cost_;        // of the chosen
    Cost least_cost_;  // no way costs less
};

}  // namespace

Selection cheapest(const Problem& problem, const Objective& objective, std::int64_t max_steps,
                   const CostBudget& budget) {
    return Cheapest{problem, objective, max_steps, Searches::no_limit}.run(budget);
}

std::size_t warm_cheapest(const Problem& problem, const Objective& objective,
                          std::int64_t max_steps, std::size_t hosts) {
    if (problem.tables == nullptr) return 0;
    Cheapest search{problem, objective, max_steps, hosts};
    search.run({});
    return search.fresh();
}

namespace {

Cost cost_of(const Objective& objective, const Problem& problem, const HostOption& option,
             Amount slots, const std::vector<std::size_t>& victims) {
    Cost cost = objective.base(problem.shape, option.room, slots);
    ByPool room = option.room.room_now();
    for (const std::size_t victim : victims) {
        const Candidate& candidate = option.candidates.at(victim);
        cost += objective.of(option.room, candidate);
        cost -= objective.filled_up(option.room, room, candidate);
        for (std::size_t pool = 0; pool < room.size(); ++pool) room[pool] += candidate.gains[pool];
    }
    return cost;
}

std::string tie_words(Tie tie) {
    const std::string first = tie == Tie::newest   ? "the newest go first, then "
                              : tie == Tie::oldest ? "the oldest go first, then "
                                                   : "";
    return "as good otherwise; among equals " + first + "the ids decide";
}

}  // namespace

std::optional<std::map<ProjectId, Amount>> GoalStrategy::shares(const WholeCloud& cloud) const {
    if (!goal_.uses(Measure::fair_share)) return std::nullopt;
    return fair_shares(cloud, goal_.weights);
}

std::optional<Cost> GoalStrategy::cost_on(const Problem& problem, std::size_t host, Amount slots,
                                          const std::vector<std::size_t>& victims) const {
    return cost_of(objective_for(goal_, problem), problem, problem.hosts[host], slots, victims);
}

std::vector<std::pair<std::size_t, Cost>> GoalStrategy::cheapest_hosts(const Problem& problem,
                                                                       Amount slots,
                                                                       std::size_t count) const {
    const Objective objective = objective_for(goal_, problem);
    // What the tables know would decide the order of those behind the first.
    Problem unknown = problem;
    unknown.tables = nullptr;
    Searches searches{unknown, objective, max_steps_};
    Offers offers{searches, slots, true, true};
    while (!searches.stopped()) {
        const auto first = offers.first(1);
        if (first.empty() || first.front()->searched) break;
        offers.search(first.front()->host);
    }
    std::vector<std::pair<std::size_t, Cost>> hosts;
    for (const Offer* const offer : offers.first(count))
        hosts.emplace_back(offer->host, offer->cost);
    return hosts;
}

std::string GoalStrategy::why_not_instead(const Problem& problem, const Rivals& rivals) const {
    const Objective objective = objective_for(goal_, problem);
    const HostOption& option = problem.hosts[rivals.host];
    const Cost ours = cost_of(objective, problem, option, rivals.slots, rivals.victims);
    const Cost theirs = cost_of(objective, problem, option, rivals.slots, rivals.instead);
    for (std::size_t level = 0; level < objective.levels.size(); ++level) {
        if (theirs[level] == ours[level]) continue;
        // A search that was cut short, or a limit, has its own reasons.
        if (theirs[level] < ours[level]) return {};
        const Objective::Term& term = objective.levels[level].front();
        const Measure first = term.measure;
        if (first == Measure::price) return {};
        if (first == Measure::unasked) {
            const auto held = [&](const Cost& cost) {
                return goal_.waste_order[term.need].str() + "=" + std::to_string(cost[level]);
            };
            if (objective.levels[level].size() > 1) break;
            return "as good otherwise, but more unneeded resources go: " + held(theirs) +
                   " against " + held(ours);
        }
        if (level > objective.victims_level && (first == Measure::age || first == Measure::start))
            break;  // of ties
        const auto words = [&](const Cost& cost) {
            return objective.level_words(problem.shape, level, cost[level],
                                         cost[objective.victims_level]);
        };
        return words(theirs) + " against " + words(ours);
    }
    return tie_words(goal_.tie);
}

}  // namespace reaper
