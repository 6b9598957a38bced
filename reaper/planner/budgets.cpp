#include "reaper/planner/budgets.hpp"

#include <algorithm>
#include <stdexcept>

#include "reaper/model/text.hpp"
#include "strategies/goal_strategy.hpp"

namespace reaper {

// ---- budgets ----

const Budget* Budgets::of_project(const ProjectId& project) const {
    if (!each_project) return nullptr;
    const auto at = projects.find(project);
    return at == projects.end() ? &*each_project : &at->second;
}

const Budget* Budgets::of_aggregate(const std::string& aggregate) const {
    if (!each_aggregate) return nullptr;
    const auto at = aggregates.find(aggregate);
    return at == aggregates.end() ? &*each_aggregate : &at->second;
}

std::string Budgets::text(const BudgetGroup& group, const Budget& budget) const {
    switch (group.kind) {
        case BudgetGroup::Kind::project: {
            const ProjectId project{group.name};
            const std::string name =
                project_names == nullptr ? "" : name_of_project(*project_names, project);
            return "project " + project_text(project, name) + ": " + budget.used;
        }
        case BudgetGroup::Kind::aggregate:
            return "aggregate " + printable(group.name, 64) + ": " + budget.used;
        case BudgetGroup::Kind::all: break;
    }
    return budget.used;
}

// ---- spending ----

void BudgetCounter::add(const Server& server, const Host& host) {
    for (std::size_t i = 0; i < budgets_->all.size(); ++i)
        ++used_[{BudgetGroup::Kind::all, std::to_string(i)}];
    if (budgets_->each_project) ++used_[{BudgetGroup::Kind::project, server.project.str()}];
    if (budgets_->each_aggregate)
        budgets_->any_aggregate(host, [&](const std::string& aggregate) {
            ++used_[{BudgetGroup::Kind::aggregate, aggregate}];
            return false;
        });
}

Amount BudgetCounter::of(const BudgetGroup& group) const {
    const auto at = used_.find(group);
    return at == used_.end() ? 0 : at->second;
}

const Budget& BudgetCounter::budget(const BudgetGroup& group) const {
    switch (group.kind) {
        case BudgetGroup::Kind::project: return *budgets_->of_project(ProjectId{group.name});
        case BudgetGroup::Kind::aggregate: return *budgets_->of_aggregate(group.name);
        case BudgetGroup::Kind::all: break;
    }
    return budgets_->all.at(static_cast<std::size_t>(std::stoul(group.name)));
}

std::vector<BudgetGroup> BudgetCounter::exceeded() const {
    std::vector<std::pair<Amount, BudgetGroup>> over;
    for (const auto& [group, spent] : used_)
        if (const Amount left = budget(group).left; spent > left)
            over.emplace_back(left - spent, group);
    std::sort(over.begin(), over.end());
    std::vector<BudgetGroup> groups;
    for (auto& [excess, group] : over) groups.push_back(std::move(group));
    return groups;
}

// ---- victim filter ----

BudgetFilter::BudgetFilter(const Budgets& budgets, const VictimFilter* other, const RowNames& names)
    : budgets_{budgets}, other_{other}, names_{names} {
    for (const auto& [project, budget] : budgets.projects)
        if (budgets.each_project && budget.left <= 0)
            close_project(project,
                          {budgets.text({BudgetGroup::Kind::project, project.str()}, budget), {}});
    for (const auto& [aggregate, budget] : budgets.aggregates)
        if (budgets.each_aggregate && budget.left <= 0)
            aggregates_[aggregate] = {
                budgets.text({BudgetGroup::Kind::aggregate, aggregate}, budget), {}};
}

void BudgetFilter::close_project(const ProjectId& project, Closed closed) {
    const auto& numbered = names_.projects();
    rows_projects_.resize(numbered.size(), false);
    for (std::size_t i = 0; i < numbered.size(); ++i)
        if (numbered[i] == project) rows_projects_[i] = true;
    projects_.insert_or_assign(project, std::move(closed));
}

void BudgetFilter::fill(const BudgetGroup& group, std::set<ServerId> chosen) {
    if (group.kind == BudgetGroup::Kind::all) return;
    const bool project = group.kind == BudgetGroup::Kind::project;
    const Budget* const budget =
        project ? budgets_.of_project(ProjectId{group.name}) : budgets_.of_aggregate(group.name);
    Closed closed{budgets_.text(group, *budget) +
                      (chosen.empty() ? "" : ", and others are chosen for what is left"),
                  std::move(chosen)};
    if (project)
        close_project(ProjectId{group.name}, std::move(closed));
    else
        aggregates_.insert_or_assign(group.name, std::move(closed));
}

const BudgetFilter::Closed* BudgetFilter::closed_for(const Server& server, const Host& host) const {
    if (const auto at = projects_.find(server.project);
        at != projects_.end() && !at->second.chosen.contains(server.id))
        return &at->second;
    if (aggregates_.empty()) return nullptr;
    const Closed* closed = nullptr;
    budgets_.any_aggregate(host, [&](const std::string& aggregate) {
        const auto at = aggregates_.find(aggregate);
        if (at != aggregates_.end() && !at->second.chosen.contains(server.id)) closed = &at->second;
        return closed != nullptr;
    });
    return closed;
}

std::optional<std::string> BudgetFilter::why_kept(const Server& server, const Host& host) const {
    if (other_ != nullptr)
        if (auto why = other_->why_kept(server, host)) return why;
    if (const auto* closed = closed_for(server, host)) return closed->why;
    return std::nullopt;
}

bool BudgetFilter::keeps(const Server& server, const Host& host) const {
    return (other_ != nullptr && other_->keeps(server, host)) ||
           closed_for(server, host) != nullptr;
}

bool BudgetFilter::may_keep(const HostRow& row) const {
    if (other_ != nullptr && other_->may_keep(row)) return true;
    if (!projects_.empty() && std::any_of(row.projects.begin(), row.projects.end(), [&](auto p) {
            return p < rows_projects_.size() && rows_projects_[p];
        }))
        return true;
    if (aggregates_.empty()) return false;
    return budgets_.any_aggregate(
        *row.host, [&](const std::string& name) { return aggregates_.contains(name); });
}

namespace {

constexpr int max_halvings = 5;
constexpr int max_price_rounds = 10;
constexpr Amount first_price = 16;
constexpr std::int64_t standard_steps = 200'000;

/// Every index a real one, none twice, or the strategy is broken.
void check(const Problem& problem, const Selection& selection) {
    for (const auto& [host, on_host] : selection.hosts) {
        auto victims = on_host.victims;
        std::sort(victims.begin(), victims.end());
        if (host >= problem.hosts.size() ||
            std::adjacent_find(victims.begin(), victims.end()) != victims.end() ||
            (!victims.empty() && victims.back() >= problem.hosts[host].candidates.size()))
            throw std::logic_error("a strategy selected servers that were not offered");
    }
}

/// The selected hosts, and those with room.
Chosen chosen_of(const Problem& problem, const Selection& selection) {
    Chosen chosen;
    for (const auto& [host, on_host] : selection.hosts) chosen[host].victims = on_host.victims;
    for (std::size_t host = 0; host < problem.hosts.size(); ++host)
        if (problem.hosts.ready(host) > 0) chosen[host];
    return chosen;
}

/// The problem with fewer slots; what is known of costs stays out where these are others.
Problem with_slots(const Problem& problem, Amount slots, bool own_costs) {
    Problem fewer = problem;
    fewer.slots = std::clamp(slots, problem.slots_least, problem.slots);
    if (own_costs) fewer.tables = nullptr;
    return fewer;
}

using Prices = std::map<BudgetGroup, Amount>;

VictimPrices prices_for(const Problem& problem, const Budgets& budgets, const Prices& prices) {
    VictimPrices all;
    bool by_host = false;
    for (const auto& [group, price] : prices) {
        if (group.kind == BudgetGroup::Kind::all)
            all.each = saturating_add(all.each, price);
        else if (group.kind == BudgetGroup::Kind::project)
            all.projects[ProjectId{group.name}] += price;
        else
            by_host = true;
    }
    if (!by_host) return all;
    for (std::size_t i = 0; i < problem.hosts.size(); ++i) {
        const Host& host = *problem.hosts[i].host;
        budgets.any_aggregate(host, [&](const std::string& aggregate) {
            const auto at = prices.find({BudgetGroup::Kind::aggregate, aggregate});
            if (at != prices.end()) all.hosts[host.service_host] += at->second;
            return false;
        });
    }
    return all;
}

/// The prices first, then what the strategy wants.
GoalStrategy priced(const Strategy& strategy, VictimPrices prices) {
    const auto* const own = dynamic_cast<const GoalStrategy*>(&strategy);
    Goal goal;
    if (own != nullptr)
        goal = own->goal();
    else
        goal.levels = {{{Measure::lost_work, 1, {}}, {Measure::victims, 60, {}}}};
    goal.levels.insert(goal.levels.begin(), {{Measure::price, 1, {}}});
    goal.prices = std::move(prices);
    return GoalStrategy{std::move(goal), own != nullptr ? own->max_steps() : standard_steps,
                        own != nullptr ? own->budget() : CostBudget{}};
}

/// What the budgets leave, for a caller that has found a choice too dear.
class BudgetedSearch {
public:
    BudgetedSearch(const Problem& problem, const Strategy& strategy, const Budgets& budgets)
        : problem_{problem}, strategy_{strategy}, budgets_{budgets} {}

    BudgetedSelection run(Choice first) {
        BudgetedSelection found;
        const auto over = spent(first).exceeded();
        if (over.empty()) {
            found.choice = std::move(first);
            return found;
        }
        const std::string why = tell(first, over.front());
        if (nothing_left()) {
            found.excess = Excess{std::move(first), over, true};
            return found;
        }
        if (auto fewer = fewer_alternatives()) {
            found.note = why + ": " + std::to_string(fewer->freed) + " of " +
                         std::to_string(problem_.slots) + " slots are freed";
            found.choice = std::move(fewer);
            return found;
        }
        auto by_price = cheapest_in_budgets(over, std::move(first));
        if (auto* excess = std::get_if<Excess>(&by_price)) {
            found.excess = std::move(*excess);
            return found;
        }
        found.note = why + ": chosen to stay within it";
        found.choice = std::get<Choice>(std::move(by_price));
        return found;
    }

private:
    BudgetCounter spent(const Choice& choice) const {
        return usage_of(problem_, choice.chosen, budgets_);
    }
    bool fits(const Choice& choice) const {
        return choice.freed >= problem_.slots_least && spent(choice).exceeded().empty();
    }
    /// Slots are missing, so at least one victim is needed.
    bool nothing_left() const {
        return std::any_of(budgets_.all.begin(), budgets_.all.end(),
                           [](const Budget& budget) { return budget.left <= 0; });
    }

    std::string tell(const Choice& choice, const BudgetGroup& group) const {
        const BudgetCounter usage = spent(choice);
        return "the strategy's choice of " + std::to_string(usage.of(group)) +
               " victims is more than the limit leaves (" + usage.text(group) + ")";
    }

    /// The most slots that the strategy's choice gives within the budgets, as far as halving
    /// finds them; none if even the requested ones take too many.
    std::optional<Choice> fewer_alternatives() const {
        Amount least = problem_.slots_least;
        Amount most = problem_.slots;
        if (most <= least) return std::nullopt;
        Choice best = choose(with_slots(problem_, least, false), strategy_);
        if (!fits(best)) return std::nullopt;
        for (int i = 0; i < max_halvings && most - least > 1; ++i) {
            const Amount middle = least + (most - least) / 2;
            Choice more = choose(with_slots(problem_, middle, false), strategy_);
            if (fits(more)) {
                best = std::move(more);
                least = middle;
            } else {
                most = middle;
            }
        }
        return best;
    }

    /// Whether no choice within the budgets can be as cheap as this one, the cheapest.
    bool too_dear(const Choice& cheapest, const Prices& prices) const {
        if (!cheapest.selection.proven) return false;
        const BudgetCounter usage = spent(cheapest);
        Amount cost = 0;
        Amount left = 0;
        for (const auto& [group, price] : prices) {
            cost += price * usage.of(group);
            left += price * std::max<Amount>(usage.budget(group).left, 0);
        }
        return cost > left;
    }

    std::variant<Choice, Excess> cheapest_in_budgets(std::vector<BudgetGroup> over,
                                                     Choice first) const {
        const Problem problem = with_slots(problem_, problem_.slots_least, true);
        Prices prices;
        Excess nearest{std::move(first), over, false};
        for (int round = 0; round < max_price_rounds; ++round) {
            for (const auto& group : over) {
                Amount& price = prices[group];
                price = price == 0 ? first_price : price * 2;
            }
            Choice choice =
                choose(problem, priced(strategy_, prices_for(problem, budgets_, prices)));
            if (choice.freed < problem_.slots_least) return nearest;  // the plan's own budget
            over = spent(choice).exceeded();
            if (over.empty()) return choice;
            nearest = Excess{std::move(choice), over, false};
            if (too_dear(nearest.choice, prices)) {
                nearest.proven = true;
                return nearest;
            }
        }
        return nearest;
    }

    const Problem& problem_;
    const Strategy& strategy_;
    const Budgets& budgets_;
};

}  // namespace

Choice choose(const Problem& problem, const Strategy& strategy) {
    Choice choice;
    choice.selection = strategy.select(problem);
    check(problem, choice.selection);
    choice.chosen = chosen_of(problem, choice.selection);
    choice.freed = drop_needless(problem, choice.chosen, problem.slots);
    return choice;
}

BudgetCounter usage_of(const Problem& problem, const Chosen& chosen, const Budgets& budgets) {
    // One that holds room on two hosts goes once, where it is.
    std::map<ServerId, std::pair<const Server*, const Host*>> victims;
    for (const auto& [host, on_host] : chosen)
        for (const std::size_t victim : on_host.victims) {
            const HostOption& option = problem.hosts[host];
            const Server& server = *option.candidates[victim].server;
            const std::pair at{&server, option.host};
            if (!victims.emplace(server.id, at).second && server.held_by.empty())
                victims[server.id] = at;
        }
    BudgetCounter usage{budgets};
    for (const auto& [id, at] : victims) usage.add(*at.first, *at.second);
    return usage;
}

BudgetedSelection choose_in_budgets(const Problem& problem, const Strategy& strategy,
                                    const Budgets& budgets, Choice first) {
    return BudgetedSearch{problem, strategy, budgets}.run(std::move(first));
}

}  // namespace reaper
