#include "reaper/planner/budgets.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"

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

}  // namespace reaper
