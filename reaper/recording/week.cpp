#include "reaper/recording/week.hpp"

#include <algorithm>
#include <utility>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time_text.hpp"

namespace reaper::recording {
namespace {

constexpr Duration young_age = std::chrono::hours{1};

double hours_between(TimePoint from, TimePoint to) {
    return std::max(0.0, std::chrono::duration<double, std::ratio<3600>>(to - from).count());
}

/// With what its victims lose.
Choice choice_of(Decision decision, TimePoint at) {
    static const ResourceClass vcpu{"VCPU"};
    Choice choice{std::move(decision)};
    if (const auto* const plan = std::get_if<Plan>(&choice.decision))
        for (const Victim& victim : plan->victims()) {
            const double age = hours_between(victim.created, at);
            choice.lost_hours += age;
            choice.lost_vcpu_hours += age * static_cast<double>(victim.resources.get(vcpu));
        }
    return choice;
}

void count_victims(const WeekRequest& request, WeekReport& week) {
    const auto* const plan = std::get_if<Plan>(&request.choice->decision);
    if (plan == nullptr) return;
    for (const Victim& victim : plan->victims()) {
        WeekProject& project = week.projects[victim.project];
        const double age = hours_between(victim.created, request.at);
        ++week.victims;
        ++project.victims;
        if (project.name.empty()) project.name = victim.project_name;
        project.lost_hours += age;
        if (request.at - victim.created < young_age) ++week.young;
    }
    week.lost_hours += request.choice->lost_hours;
    week.lost_vcpu_hours += request.choice->lost_vcpu_hours;
}

/// What is known of it already without a look at the cloud.
bool refused_at_once(const WeekRequest& request) {
    return request.outcome && request.outcome->kind == OutcomeKind::refused &&
           request.outcome->safeguard.empty();
}

/// Another request, or another reaper, reports it.
bool reported_elsewhere(const WeekRequest& request) {
    return !request.choice && request.outcome &&
           (request.outcome->kind == OutcomeKind::superseded ||
            request.outcome->kind == OutcomeKind::handed_over);
}

void count(const WeekRequest& request, WeekReport& week) {
    if (!is_awaited(request.request.source)) {
        ++week.own;
    } else if (request.request.source == RequestSource::operator_) {
        ++week.asked;
    } else {
        ++week.refused_by_nova;
        ++week.operations[std::string{to_string(request.request.operation)}];
    }
    week.deleted += request.deleted;
    if (request.outcome) ++week.outcomes[std::string{to_string(request.outcome->kind)}];
    if (!request.choice) {
        ++(refused_at_once(request) ? week.refused : week.unknown);
        return;
    }
    const Choice& choice = *request.choice;
    if (choice.frees())
        ++week.helped;
    else if (choice.helps())
        ++week.there;
    else if (!choice.safeguard().empty())
        ++week.held_back[std::string{choice.safeguard()}];
    else if (std::holds_alternative<Refused>(choice.decision))
        ++week.refused;
    else
        ++week.no_room;
    count_victims(request, week);
}

bool any_limit(const config::Policy& policy) {
    const LimitSettings& limits = policy.safeguards.limits;
    return limits.victims_per_request > 0 || limits.victims_per_window > 0 ||
           limits.victims_per_project > 0 || limits.victims_per_aggregate > 0 ||
           limits.share_per_request > 0 || limits.share_per_requester > 0;
}

/// What would have gone, and how many revocable servers the hosts of the plans had at most.
StoppedByLimits stopped_in(const std::vector<WeekRequest>& requests, const LimitSettings& limits) {
    std::vector<PlannedHarm> planned;
    std::map<HostId, int> revocable;
    for (const WeekRequest& each : requests) {
        const auto* const plan = each.choice ? std::get_if<Plan>(&each.choice->decision) : nullptr;
        if (plan == nullptr) continue;
        planned.push_back({&each.request, each.at, static_cast<int>(plan->victims().size())});
        for (const HostPlan& host : plan->hosts) {
            int& most = revocable[host.host];
            most = std::max(most,
                            static_cast<int>(host.victims.size()) + host.spared_in_all.value_or(0));
        }
    }
    int sum = 0;
    for (const auto& [host, servers] : revocable) sum += servers;
    return stopped_by(limits, planned, sum);
}

/// The first failure that an outcome reports.
std::string first_failure(const WeekReport& week) {
    for (const WeekRequest& request : week.input.requests)
        if (request.outcome && request.outcome->kind == OutcomeKind::failed)
            return printable(request.outcome->reason, 200);
    return {};
}

void find_doubts_of_source(const WeekReport& week, std::vector<std::string>& against) {
    const WeekInput& input = week.input;
    if (input.requests.empty())
        against.push_back("no request came in this time: there is nothing to judge by");
    constexpr Duration day = std::chrono::days{1};
    if (input.begins && *input.begins - input.since > day)
        against.push_back("what is known begins at " + iso_time(*input.begins) +
                          ", later than asked for");
    if (input.reproduced < input.checked)
        against.push_back("of " + std::to_string(input.checked) +
                          " recorded plans the recorded configuration makes only " +
                          std::to_string(input.reproduced) + " again");
    if (input.unsure > 0)
        against.push_back(counted(input.unsure, "request") +
                          " could only be decided by what was known of the cloud at that time, or "
                          "without what reservations keep");
    if (week.unknown > 0)
        against.push_back("of " + counted(week.unknown, "request") +
                          " it is not known what would have been done (no reaper looked at the "
                          "cloud for them; a recording tells more: record.directory)");
}

void find_doubts(const WeekReport& week, std::vector<std::string>& against) {
    const int all = static_cast<int>(week.input.requests.size());
    if (all > 0 && 2 * week.no_room > all)
        against.push_back(std::string{"most requests "} +
                          (week.input.happened() ? "were not" : "would not be") + " helped: for " +
                          std::to_string(week.no_room) + " of " + std::to_string(all) +
                          " all revocable servers together are not enough");
    for (const auto& [project, sum] : week.projects)
        if (week.victims >= 5 && week.projects.size() > 1 && 2 * sum.victims > week.victims)
            against.push_back("project " + project_text(project, sum.name) + " bears " +
                              std::to_string(sum.victims) + " of " +
                              counted(week.victims, "victim") +
                              " (limits.victims_per_project would bound that)");
    if (week.victims > 0 && week.input.policy && !any_limit(*week.input.policy))
        against.push_back(
            "no limit is set: limits.victims_per_window bounds what a bad hour costs");
    const bool any_age =
        week.input.policy && week.input.policy->safeguards.protect.min_run_time == Duration::zero();
    if (week.young > 0 && any_age)
        against.push_back(counted(week.young, "victim") +
                          (week.input.happened() ? " ran" : " would have run") +
                          " less than an hour, and protect.min_run_time is not set");
    const auto failed = week.outcomes.find(std::string{to_string(OutcomeKind::failed)});
    if (failed != week.outcomes.end())
        against.push_back(counted(failed->second, "request") +
                          " failed, the first: " + first_failure(week));
    for (const auto& [word, times] : week.held_back)
        if (word.find("breaker") != std::string::npos)
            against.push_back("a circuit breaker was open for " + counted(times, "request"));
}

}  // namespace

WeekInput week_of(const Replay& replay) {
    WeekInput input;
    input.recorded = true;
    input.begins = replay.begins;
    input.dry_run = replay.dry_run;
    input.checked = replay.checked;
    input.reproduced = replay.reproduced;
    input.undecided = replay.undecided;
    input.remarks = replay.remarks;
    for (const ReplayedRequest& each : replay.requests) {
        WeekRequest request{each.request, each.at, each.recorded, each.outcome,
                            static_cast<int>(each.deleted.size())};
        if (each.recorded && !each.surely) ++input.unsure;
        input.requests.push_back(std::move(request));
    }
    return input;
}

WeekInput week_of(const std::vector<RequestRecord>& records) {
    WeekInput input;
    for (const RequestRecord& record : records) {
        if (record.request.correction) continue;
        if (record.outcome && record.outcome->kind == OutcomeKind::dry_run) input.dry_run = true;
        WeekRequest request{record.request, record.received_at, std::nullopt, record.outcome,
                            static_cast<int>(victims_of(record).size())};
        if (!record.plans.empty()) {
            const PlanEntry& last = record.plans.back();
            request.choice = choice_of(last.decision, last.at);
        }
        input.requests.push_back(std::move(request));
    }
    return input;
}

WeekReport report_week(WeekInput input) {
    std::erase_if(input.requests, [&](const WeekRequest& request) {
        return request.at < input.since || request.at >= input.until || reported_elsewhere(request);
    });
    std::stable_sort(input.requests.begin(), input.requests.end(),
                     [](const WeekRequest& a, const WeekRequest& b) { return a.at < b.at; });
    WeekReport week;
    for (const WeekRequest& request : input.requests) count(request, week);
    week.stopped = stopped_in(input.requests, input.limits);
    week.input = std::move(input);
    find_doubts_of_source(week, week.against);
    find_doubts(week, week.against);
    return week;
}

}  // namespace reaper::recording
