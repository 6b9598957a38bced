#include "strategies/cheapest.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reaper/model/text.hpp"
#include "strategies/offers.hpp"
#include "strategies/shares.hpp"
#include "strategies/stepwise.hpp"

namespace reaper {
namespace {

/// Hosts that are searched before the knapsack is solved again.
constexpr std::size_t max_at_once = 8;
/// Knapsacks that are solved for one plan.
constexpr int max_rounds = 5'000;

class Cheapest {
public:
    Cheapest(const Problem& problem, const Objective& objective, std::int64_t max_steps,
             std::size_t max_searches)
        : problem_{problem},
          objective_{objective},
          searches_{problem, objective, max_steps, max_searches} {
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
    /// The offers that can matter, searched ones alone or all, as choices of the hosts.
    std::vector<ShareChoices> choices(std::size_t slots, bool searched_only) {
        std::map<std::size_t, ShareChoices> choices;
        const auto ties = open_ == 1 ? Offers::Ties::one_host : Offers::Ties::sums;
        for (std::size_t extra = 1; extra <= slots; ++extra) {
            if (streams_.size() < extra)
                streams_.emplace_back(searches_, static_cast<Amount>(extra), ties);
            const auto offers = streams_[extra - 1].first(slots - extra + 1);
            if (offers.empty()) break;  // no host can give as many, or more
            for (const Offer* offer : offers) {
                if (searched_only && !offer->searched) continue;
                auto& choice = choices[offer->host];
                choice.host = offer->host;
                if (choice.costs.size() < extra) choice.costs.resize(extra);
                choice.costs[extra - 1] =
                    searched_only ? cover_of({offer->host, extra}).cost : offer->cost;
            }
        }
        std::vector<ShareChoices> list;
        for (auto& [host, choice] : choices) list.push_back(std::move(choice));
        return list;
    }

    /// The best way to free that many slots; `chosen_`, `cost_` and `least_cost_` tell.
    void solve(std::size_t slots) {
        if (slots > max_exact_slots) return solve_stepwise(slots);
        std::size_t batch = 1;
        for (int round = 0;; ++round) {
            const Shares relaxed{choices(slots, false), slots};
            chosen_ = relaxed.best(slots);
            least_cost_ = relaxed.cost(slots).value_or(Cost{});
            for (std::size_t level = max_objective_levels; level < max_levels; ++level)
                least_cost_[level] = 0;
            const bool stopped = searches_.stopped() || round >= max_rounds;
            bool all_searched = true;
            for (const auto& share : chosen_) {
                if (searches_.found(share.host, slots_of(share)) != nullptr) continue;
                if (all_searched) batch *= 2;
                all_searched = false;
                search_some(share, slots, stopped ? 1 : std::min(batch, max_at_once));
            }
            if (all_searched || stopped) break;
        }
        cost_ = cost_of_chosen();
        if (cost_ == least_cost_) return;
        const Shares found{choices(slots, true), slots};
        if (found.cost(slots) && *found.cost(slots) < cost_) chosen_ = found.best(slots);
        cost_ = cost_of_chosen();
    }

    void solve_stepwise(std::size_t slots) {
        const Stepwise found = stepwise(searches_, slots);
        chosen_ = found.shares;
        cost_ = cost_of_chosen();
        least_cost_ = Cost{};  // of the other levels nothing is known
        least_cost_[0] = std::min(found.least, cost_[0]);
        if (streams_.empty()) streams_.emplace_back(searches_, 1, Offers::Ties::sums);
    }

    /// Searches the host of the share, and those that would come up next in its place.
    void search_some(const Share& share, std::size_t slots, std::size_t count) {
        auto& stream = streams_[share.extra - 1];
        stream.search(share.host);
        for (std::size_t i = 1; i < count; ++i) {
            const auto offers = stream.first(slots - share.extra + 1);
            const auto next = std::find_if(offers.begin(), offers.end(),
                                           [](const Offer* offer) { return !offer->searched; });
            if (next == offers.end()) return;
            stream.search((*next)->host);
        }
    }

    Cost cost_of_chosen() const {
        Cost sum;
        for (const auto& share : chosen_) sum += cover_of(share).cost;
        return sum;
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
        if (worst != nullptr) tell_passed(selection, *worst);
        tell_gap(selection);
        return selection;
    }

    bool only_waste() const {
        for (const auto& level : objective_.levels)
            for (const auto& term : level)
                if (term.measure != Measure::waste && term.measure != Measure::victims)
                    return false;
        return objective_.uses(Measure::waste);
    }

    std::string why_chosen(const Cover& cover) const {
        return (only_waste() ? "leaves " : "") + objective_.words(problem_.shape, cover.cost) +
               ", the least of " + counted(problem_.hosts.size(), "possible host");
    }

    /// The best hosts for one more slot that were not chosen.
    void tell_passed(Selection& selection, const Cover& worst) {
        for (const Offer* offer : streams_.front().first(passed_in_full + selection.hosts.size())) {
            if (selection.passed.size() == passed_in_full) return;
            if (!selection.hosts.contains(offer->host))
                selection.passed.emplace(offer->host, why_passed(*offer, worst));
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

    void tell_gap(Selection& selection) {
        std::string on;
        for (const auto& share : chosen_)
            if (!cover_of(share).proven)
                on += (on.empty() ? "" : ", ") + problem_.hosts[share.host].host->name;
        std::size_t level = 0;
        while (level < objective_.levels.size() && cost_[level] == least_cost_[level]) ++level;
        const bool same = level == objective_.levels.size();
        if (same && on.empty()) return;  // what was cut short has lost all the same
        selection.note = "the search" + (on.empty() ? "" : " on " + on) + " was cut short: ";
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
    std::deque<Offers> streams_;  // for 1, 2, ... further slots
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

}  // namespace reaper
