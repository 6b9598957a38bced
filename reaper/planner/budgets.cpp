#include "reaper/planner/budgets.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/amount.hpp"
#include "reaper/model/text.hpp"

namespace reaper {

// ---- allowances ----

const Allowance* Allowances::of_project(const ProjectId& project) const {
    if (!each_project) return nullptr;
    const auto at = projects.find(project);
    return at == projects.end() ? &*each_project : &at->second;
}

const Allowance* Allowances::of_aggregate(const std::string& aggregate) const {
    if (!each_aggregate) return nullptr;
    const auto at = aggregates.find(aggregate);
    return at == aggregates.end() ? &*each_aggregate : &at->second;
}

std::string words_of(const AllowanceGroup& group, const Allowance& allowance) {
    switch (group.kind) {
        case AllowanceGroup::Kind::project:
            return "project " + printable(group.name, 64) + ": " + allowance.used;
        case AllowanceGroup::Kind::aggregate:
            return "aggregate " + printable(group.name, 64) + ": " + allowance.used;
        case AllowanceGroup::Kind::all: break;
    }
    return allowance.used;
}

// ---- spending ----

void Spending::add(const Server& server, const Host& host) {
    for (std::size_t i = 0; i < allowances_->all.size(); ++i)
        ++spent_[{AllowanceGroup::Kind::all, std::to_string(i)}];
    if (allowances_->each_project) ++spent_[{AllowanceGroup::Kind::project, server.project.str()}];
    if (allowances_->each_aggregate)
        allowances_->any_aggregate(host, [&](const std::string& aggregate) {
            ++spent_[{AllowanceGroup::Kind::aggregate, aggregate}];
            return false;
        });
}

Amount Spending::of(const AllowanceGroup& group) const {
    const auto at = spent_.find(group);
    return at == spent_.end() ? 0 : at->second;
}

const Allowance& Spending::allowance(const AllowanceGroup& group) const {
    switch (group.kind) {
        case AllowanceGroup::Kind::project: return *allowances_->of_project(ProjectId{group.name});
        case AllowanceGroup::Kind::aggregate: return *allowances_->of_aggregate(group.name);
        case AllowanceGroup::Kind::all: break;
    }
    return allowances_->all.at(static_cast<std::size_t>(std::stoul(group.name)));
}

std::vector<AllowanceGroup> Spending::exceeded() const {
    std::vector<std::pair<Amount, AllowanceGroup>> over;
    for (const auto& [group, spent] : spent_)
        if (const Amount left = allowance(group).left; spent > left)
            over.emplace_back(left - spent, group);
    std::sort(over.begin(), over.end());
    std::vector<AllowanceGroup> groups;
    for (auto& [excess, group] : over) groups.push_back(std::move(group));
    return groups;
}

// ---- restraint ----

AllowanceRestraint::AllowanceRestraint(const Allowances& allowances, const Restraint* other,
                                       const RowNames& names)
    : allowances_{allowances}, other_{other}, names_{names} {
    for (const auto& [project, allowance] : allowances.projects)
        if (allowances.each_project && allowance.left <= 0)
            close_project(
                project, {words_of({AllowanceGroup::Kind::project, project.str()}, allowance), {}});
    for (const auto& [aggregate, allowance] : allowances.aggregates)
        if (allowances.each_aggregate && allowance.left <= 0)
            aggregates_[aggregate] = {
                words_of({AllowanceGroup::Kind::aggregate, aggregate}, allowance), {}};
}

void AllowanceRestraint::close_project(const ProjectId& project, Closed closed) {
    const auto& numbered = names_.projects();
    rows_projects_.resize(numbered.size(), false);
    for (std::size_t i = 0; i < numbered.size(); ++i)
        if (numbered[i] == project) rows_projects_[i] = true;
    projects_.insert_or_assign(project, std::move(closed));
}

void AllowanceRestraint::fill(const AllowanceGroup& group, std::set<ServerId> chosen) {
    if (group.kind == AllowanceGroup::Kind::all) return;
    const bool project = group.kind == AllowanceGroup::Kind::project;
    const Allowance* const allowance = project ? allowances_.of_project(ProjectId{group.name})
                                               : allowances_.of_aggregate(group.name);
    Closed closed{words_of(group, *allowance) +
                      (chosen.empty() ? "" : ", and others are chosen for what is left"),
                  std::move(chosen)};
    if (project)
        close_project(ProjectId{group.name}, std::move(closed));
    else
        aggregates_.insert_or_assign(group.name, std::move(closed));
}

const AllowanceRestraint::Closed* AllowanceRestraint::closed_for(const Server& server,
                                                                 const Host& host) const {
    if (const auto at = projects_.find(server.project);
        at != projects_.end() && !at->second.chosen.contains(server.id))
        return &at->second;
    if (aggregates_.empty()) return nullptr;
    const Closed* closed = nullptr;
    allowances_.any_aggregate(host, [&](const std::string& aggregate) {
        const auto at = aggregates_.find(aggregate);
        if (at != aggregates_.end() && !at->second.chosen.contains(server.id)) closed = &at->second;
        return closed != nullptr;
    });
    return closed;
}

std::optional<std::string> AllowanceRestraint::why_kept(const Server& server,
                                                        const Host& host) const {
    if (other_ != nullptr)
        if (auto why = other_->why_kept(server, host)) return why;
    if (const auto* closed = closed_for(server, host)) return closed->why;
    return std::nullopt;
}

bool AllowanceRestraint::keeps(const Server& server, const Host& host) const {
    return (other_ != nullptr && other_->keeps(server, host)) ||
           closed_for(server, host) != nullptr;
}

bool AllowanceRestraint::may_keep(const HostRow& row) const {
    if (other_ != nullptr && other_->may_keep(row)) return true;
    if (!projects_.empty() && std::any_of(row.projects.begin(), row.projects.end(), [&](auto p) {
            return p < rows_projects_.size() && rows_projects_[p];
        }))
        return true;
    if (aggregates_.empty()) return false;
    return allowances_.any_aggregate(
        *row.host, [&](const std::string& name) { return aggregates_.contains(name); });
}

}  // namespace reaper
