#include "reaper/recording/week.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reaper/model/project_names.hpp"
#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/text.hpp"
#include "reaper/safeguards/safeguards.hpp"

namespace reaper::recording {
namespace {

/// Those that went within the window before a request.
struct Before {
    int all = 0;
    int of_project = 0;
};

Before before(const std::vector<PlannedHarm>& passed, const PlannedHarm& next, Duration window) {
    Before sum;
    for (const PlannedHarm& each : passed) {
        if (each.at <= next.at - window) continue;
        sum.all += each.victims;
        if (each.request->project == next.request->project) sum.of_project += each.victims;
    }
    return sum;
}

int share(const LimitSettings& limits, int percent, int revocable) {
    return std::max(static_cast<int>(static_cast<long>(revocable) * percent / 100),
                    limits.share_least);
}

/// The safeguard that stops it; empty: none does.
std::string_view why_stopped(const LimitSettings& limits, const PlannedHarm& next,
                             const Before& sum, int revocable) {
    const Request& request = *next.request;
    const int all = revocable + sum.all;
    const bool waits = is_awaited(request.source);
    const bool too_many =
        limits.victims_per_request > 0 && next.victims > limits.victims_per_request;
    const bool too_large = waits && limits.share_per_request > 0 &&
                           next.victims > share(limits, limits.share_per_request, all);
    if (!request.approved && (too_many || too_large)) return safeguard::limit_request;
    const bool of_a_user = waits && !request.approved && request.source != RequestSource::operator_;
    if (of_a_user && limits.share_per_requester > 0 &&
        sum.of_project + next.victims > share(limits, limits.share_per_requester, all))
        return safeguard::limit_requester;
    if (limits.victims_per_window > 0 && sum.all + next.victims > limits.victims_per_window)
        return safeguard::limit_window;
    return {};
}

}  // namespace

StoppedByLimits stopped_by(const LimitSettings& limits, const std::vector<PlannedHarm>& planned,
                           int revocable) {
    StoppedByLimits stopped;
    stopped.revocable = revocable;
    std::vector<PlannedHarm> passed;
    for (const PlannedHarm& next : planned) {
        if (next.victims == 0) continue;
        stopped.largest = std::max(stopped.largest, next.victims);
        const auto why = why_stopped(limits, next, before(passed, next, limits.window), revocable);
        if (why.empty()) {
            passed.push_back(next);
            continue;
        }
        ++stopped.requests[std::string{why}];
        stopped.victims += next.victims;
    }
    return stopped;
}

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
                          "cloud for them; a recording has more: record.directory)");
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
    std::ranges::stable_sort(input.requests, {}, &WeekRequest::at);
    WeekReport week;
    for (const WeekRequest& request : input.requests) count(request, week);
    week.stopped = stopped_in(input.requests, input.limits);
    week.input = std::move(input);
    find_doubts_of_source(week, week.against);
    find_doubts(week, week.against);
    return week;
}

// The report of a week as text and JSON.

namespace {

using nlohmann::json;

std::string tenths(double value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.1f", value);
    return text;
}

double to_hundredths(double value) {
    return std::round(100 * value) / 100;
}

/// `3 build, 1 resize`.
std::string words(const std::map<std::string, int>& counts) {
    std::string text;
    for (const auto& [word, count] : counts)
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + report::safe(word);
    return text;
}

int held_back(const WeekReport& week) {
    int all = 0;
    for (const auto& [word, count] : week.held_back) all += count;
    return all;
}

std::string lines_text(const WeekReport& week, const report::RenderOptions& options) {
    using Align = report::TextTable::Align;
    report::TextTable table({{"", Align::right}, {"requests"}});
    const auto row = [&](int count, const std::string& what) {
        if (count > 0) table.row({std::to_string(count), what});
    };
    const int others = week.asked + week.own;
    if (week.refused_by_nova > 0 || others == 0)
        table.row({std::to_string(week.refused_by_nova),
                   "refused by Nova" +
                       (week.operations.empty() ? "" : " (" + words(week.operations) + ")")});
    row(week.asked, "asked for by an operator");
    row(week.own, "of a reservation that takes back what it lent");
    if (others > 0) table.row({std::to_string(week.input.requests.size()), "in all:"});
    row(week.helped, std::string{week.input.happened() ? "" : "would have been "} +
                         "helped by deleting servers");
    row(week.there, "had their room by then, without a deletion");
    row(held_back(week), "held back by safeguards: " + words(week.held_back));
    row(week.no_room, "not helped: all revocable servers together are not enough");
    row(week.refused, "not helped: the requester is revocable itself, or no room can help");
    row(week.unknown, "not known: the cloud was not read for them");
    return table.text(0, static_cast<std::size_t>(options.width), report::Paint{options.color});
}

/// Most victims first.
std::vector<std::pair<ProjectId, WeekProject>> by_victims(const WeekReport& week) {
    std::vector<std::pair<ProjectId, WeekProject>> all(week.projects.begin(), week.projects.end());
    std::ranges::stable_sort(
        all, [](const auto& a, const auto& b) { return a.second.victims > b.second.victims; });
    return all;
}

/// The daemon that recorded them planned each request by the cloud as it was.
std::string why_others(const WeekReport& week, const report::RenderOptions& options) {
    if (!week.input.recorded || !week.input.dry_run) return "";
    return report::wrapped(
        "Here no server goes twice, and who went counts against the limits; the plans of a dry "
        "run, as 'reaper history victims' shows them, may name some twice.",
        0, static_cast<std::size_t>(options.width));
}

std::string projects_text(const WeekReport& week, const report::RenderOptions& options) {
    const bool happened = week.input.happened();
    if (week.victims == 0)
        return happened ? "No server was chosen.\n" : "No server would have been deleted.\n";
    using Align = report::TextTable::Align;
    report::TextTable table(
        {{"project"}, {"victims", Align::right}, {"lost server-hours", Align::right}});
    for (const auto& [project, sum] : by_victims(week))
        table.row(
            {project_text(project, sum.name), std::to_string(sum.victims), tenths(sum.lost_hours)});
    return counted(week.victims, "server") +
           (happened ? " chosen, after " : " would have been deleted, after ") +
           tenths(week.lost_hours) + " server-hours (" + tenths(week.lost_vcpu_hours) +
           " vCPU-hours) in all:\n" +
           table.text(2, static_cast<std::size_t>(options.width), report::Paint{options.color}) +
           why_others(week, options);
}

/// What of that the limits would have stopped.
std::string stopped_text(const WeekReport& week, const report::RenderOptions& options) {
    if (week.victims == 0) return "";
    const StoppedByLimits& stopped = week.stopped;
    std::string text = stopped.requests.empty()
                           ? "The limits in force would have stopped none of these (the largest: " +
                                 counted(stopped.largest, "victim") + ")."
                           : "The limits in force would have stopped: " + words(stopped.requests) +
                                 ", with " + counted(stopped.victims, "victim") +
                                 " (the largest: " + std::to_string(stopped.largest) + ").";
    text += " Shares are of the " + counted(stopped.revocable, "revocable server") +
            " on the hosts of these plans.";
    return report::wrapped(text, 0, static_cast<std::size_t>(options.width));
}

}  // namespace

std::string render_week(const WeekReport& week, const report::RenderOptions& options) {
    const WeekInput& input = week.input;
    const auto width = static_cast<std::size_t>(options.width);
    std::string text =
        (input.happened() ? "What happened, " : "What switching on would have meant, ") +
        iso_time(input.since) + " to " + iso_time(input.until) + "\nby " +
        report::safe(input.source) + (input.dry_run ? ", dry run" : "") + "\n\n";
    text += lines_text(week, options) + "\n" + projects_text(week, options) +
            stopped_text(week, options);
    if (!input.dry_run && !week.outcomes.empty())
        text += "\nAs it happened: " + words(week.outcomes) + "; " +
                counted(week.deleted, "server") + " deleted.\n";
    const std::string subject =
        input.happened() ? "calls for a change" : "stands against switching on";
    text +=
        week.against.empty() ? "\nNo known fact " + subject + ".\n" : "\nWhat " + subject + ":\n";
    for (const std::string& doubt : week.against)
        text += report::wrapped("- " + report::safe(doubt), 2, width);
    for (const std::string& remark : input.remarks)
        text += "Remark: " + report::safe(remark) + ".\n";
    return text;
}

json to_json(const WeekReport& week) {
    const WeekInput& input = week.input;
    json projects = json::array();
    for (const auto& [project, sum] : by_victims(week)) {
        projects.push_back({{"project", project.str()},
                            {"victims", sum.victims},
                            {"lost_hours", to_hundredths(sum.lost_hours)}});
        if (!sum.name.empty()) projects.back()["project_name"] = sum.name;
    }
    return {{"version", report::json_version},
            {"source", input.source},
            {"since", iso_time(input.since)},
            {"until", iso_time(input.until)},
            {"dry_run", input.dry_run},
            {"requests", input.requests.size()},
            {"refused_by_nova", week.refused_by_nova},
            {"asked_by_operators", week.asked},
            {"of_reservations", week.own},
            {"operations", week.operations},
            {"would_help", {{"already_there", week.there}, {"by_deleting", week.helped}}},
            {"would_not_help",
             {{"no_room", week.no_room},
              {"held_back", week.held_back},
              {"refused", week.refused},
              {"unknown", week.unknown}}},
            {"victims", week.victims},
            {"lost_hours", to_hundredths(week.lost_hours)},
            {"lost_vcpu_hours", to_hundredths(week.lost_vcpu_hours)},
            {"young", week.young},
            {"stopped_by_limits",
             {{"requests", week.stopped.requests},
              {"victims", week.stopped.victims},
              {"largest_request", week.stopped.largest},
              {"revocable", week.stopped.revocable}}},
            {"projects", std::move(projects)},
            {"happened", {{"outcomes", week.outcomes}, {"deleted", week.deleted}}},
            {"against", week.against},
            {"remarks", input.remarks}};
}

}  // namespace reaper::recording
