#include "strategies/goal_strategy.hpp"

#include <algorithm>
#include <string>

#include "reaper/model/text.hpp"
#include "strategies/joint.hpp"
#include "strategies/offers.hpp"

namespace reaper {
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
