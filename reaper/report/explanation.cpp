#include "reaper/report/explanation.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "reaper/model/text.hpp"

namespace reaper::report {
namespace {

constexpr std::array<std::pair<Fate, std::string_view>, 7> fates{{
    {Fate::planned, "planned"},
    {Fate::going, "going"},
    {Fate::deleted, "deleted"},
    {Fate::skipped, "skipped"},
    {Fate::vanished, "vanished"},
    {Fate::still_there, "still-there"},
    {Fate::unknown, "unknown"},
}};

bool is_sending(Step step) {
    return step == Step::delete_sent || step == Step::delete_accepted ||
           step == Step::force_delete_sent;
}

Fate fate_by(Step last, bool ended) {
    if (is_sending(last)) return ended ? Fate::unknown : Fate::going;
    switch (last) {
        case Step::skipped: return Fate::skipped;
        case Step::gone: return Fate::deleted;
        case Step::vanished: return Fate::vanished;
        case Step::failed: return Fate::still_there;
        default: return Fate::unknown;
    }
}

void take_step(ExplainedServer& server, const StepEntry& step, bool ended) {
    server.fate = fate_by(step.step, ended);
    server.fate_reason = is_sending(step.step) || step.step == Step::gone ? "" : step.detail;
    if (step.step == Step::skipped) server.sent_at.reset();  // what was sent came to nothing
    if (is_sending(step.step) && !server.sent_at) server.sent_at = step.at;
    if (step.step == Step::gone || step.step == Step::vanished) server.gone_at = step.at;
}

/// All that the plans chose, in the order in which they did.
std::vector<ExplainedServer> chosen_servers(const RequestRecord& record) {
    std::vector<ExplainedServer> servers;
    const auto find = [&](const ServerId& id) {
        return std::find_if(servers.begin(), servers.end(),
                            [&](const auto& known) { return known.victim.server == id; });
    };
    for (const auto& entry : record.plans) {
        const auto* const plan = std::get_if<Plan>(&entry.decision);
        if (plan == nullptr) continue;
        for (auto& victim : plan->victims()) {
            auto at = find(victim.server);
            if (at == servers.end()) at = servers.insert(servers.end(), ExplainedServer{});
            at->victim = std::move(victim);
            at->round = entry.round;
            at->chosen_at = entry.at;
        }
    }
    for (const auto& step : record.steps)
        if (const auto at = find(step.server); at != servers.end())
            take_step(*at, step, record.outcome.has_value());
    return servers;
}

std::string name_of(const ExplainedServer& server) {
    return server.victim.name.empty() ? server.victim.server.str()
                                      : server.victim.name + " " + server.victim.server.str();
}

std::string with_reason(std::string text, const std::string& reason) {
    return reason.empty() ? text : text + ": " + reason;
}

/// Of the whole request, and of the steps of the servers that were asked about.
std::vector<TimelineEntry> times_of(const RequestRecord& record,
                                    const std::vector<ExplainedServer>& servers) {
    std::map<ServerId, std::string> names;
    for (const auto& server : servers) names[server.victim.server] = name_of(server);
    std::vector<TimelineEntry> times;
    const TimePoint sent = record.request.sent_at;
    if (sent != TimePoint{} && sent != record.received_at) times.push_back({sent, "asked for"});
    times.push_back({record.received_at, "received"});
    for (const auto& plan : record.plans)
        times.push_back(
            {plan.at, "plan " + std::to_string(plan.round) + ": " + summary(plan.decision)});
    for (const auto& step : record.steps) {
        const auto name = names.find(step.server);
        if (name == names.end()) continue;
        const bool already_reported = is_sending(step.step);  // the reason, by the plan
        times.push_back(
            {step.at, with_reason(std::string{to_string(step.step)} + " " + name->second,
                                  already_reported ? "" : step.detail)});
    }
    if (record.outcome)
        times.push_back(
            {record.outcome->at, "outcome: " + std::string{to_string(record.outcome->kind)}});
    if (record.freed_room)
        times.push_back({record.freed_room->at,
                         "freed room: " + std::string{to_string(record.freed_room->kind)}});
    std::stable_sort(times.begin(), times.end(),
                     [](const TimelineEntry& a, const TimelineEntry& b) { return a.at < b.at; });
    return times;
}

/// The plan that chose the first of the servers; without servers the last one.
std::optional<PlanEntry> decision_for(const RequestRecord& record,
                                      const std::vector<ExplainedServer>& servers) {
    if (record.plans.empty()) return std::nullopt;
    for (const auto& plan : record.plans)
        if (!servers.empty() && plan.round == servers.front().round &&
            plan.at == servers.front().chosen_at)
            return plan;
    return record.plans.back();
}

void neighbours_not_known(const HostPlan& host, bool correction,
                          std::vector<std::string>& unknown) {
    if (host.victims.empty()) return;
    if (correction) {
        unknown.push_back("which other revocable servers were on " + host.host_name +
                          ": a correction names the servers that have to go, and weighs no others");
    } else if (!host.spared_in_all) {
        unknown.push_back(
            "which other revocable servers were on " + host.host_name +
            ", and why they stayed: the reaper that made this plan did not record it");
    } else if (const int more = *host.spared_in_all - static_cast<int>(host.spared.size());
               more > 0) {
        unknown.push_back(counted(more, "more revocable server") + " that stayed on " +
                          host.host_name + ": a plan tells the first ones");
    }
}

std::size_t hosts_in(const std::vector<RejectionCount>& counts) {
    std::size_t hosts = 0;
    for (const auto& each : counts) hosts += static_cast<std::size_t>(std::max(each.hosts, 0));
    return hosts;
}

void hosts_not_known(const Decision& decision, std::vector<std::string>& unknown) {
    const auto tell = [&](const auto& answer) {
        const std::size_t all = hosts_in(answer.rejected_counts);
        if (all > answer.rejected.size())
            unknown.push_back("which " + counted(all - answer.rejected.size(), "more host") +
                              " were passed over: by reason they are counted");
    };
    if (const auto* const plan = std::get_if<Plan>(&decision)) tell(*plan);
    if (const auto* const not_enough = std::get_if<NotEnough>(&decision)) tell(*not_enough);
}

void room_not_known(const Explanation& told, std::vector<std::string>& unknown) {
    const auto sent = [](const ExplainedServer& server) { return server.sent_at.has_value(); };
    const bool any = std::any_of(told.servers.begin(), told.servers.end(), sent) ||
                     std::any_of(told.others.begin(), told.others.end(), sent);
    if (!told.outcome)
        unknown.push_back("how it ends: the request is under way");
    else if (any && !told.freed_room && !is_awaited(told.request.source))
        unknown.push_back("who took the room: no server waited for it, so it was not watched");
    else if (any && !told.freed_room)
        unknown.push_back("who took the room: it was not seen, or not yet");
}

/// Whose names are not known.
std::optional<std::string> nameless_of(const Request& request) {
    const bool project = request.project_name.empty();
    const bool servers =
        request.requester_names.size() < request.requesters.size() || request.requesters.empty();
    if (!project && !servers) return std::nullopt;
    return "names of " + std::string{project ? "projects" : ""} +
           (project && servers ? " and of " : "") + (servers ? "the servers that waited" : "") +
           ": it has their ids";
}

std::vector<std::string> unknown_of(const Explanation& told) {
    std::vector<std::string> unknown;
    if (told.decision) {
        for (const auto& host : host_plans(told.decision->decision))
            neighbours_not_known(host, told.request.correction.has_value(), unknown);
        hosts_not_known(told.decision->decision, unknown);
    }
    room_not_known(told, unknown);
    if (auto nameless = nameless_of(told.request)) unknown.push_back(std::move(*nameless));
    return unknown;
}

}  // namespace

std::string_view to_string(Fate fate) {
    for (const auto& [value, name] : fates)
        if (value == fate) return name;
    return "unknown";
}

std::optional<Fate> fate_from(std::string_view text) {
    for (const auto& [value, name] : fates)
        if (name == text) return value;
    return std::nullopt;
}

Explanation explain(const RequestRecord& record, const std::set<ServerId>& asked_about) {
    Explanation told;
    told.request = record.request;
    told.received_at = record.received_at;
    for (auto& server : chosen_servers(record)) {
        const bool asked = asked_about.empty() || asked_about.contains(server.victim.server);
        (asked ? told.servers : told.others).push_back(std::move(server));
    }
    told.rounds = static_cast<int>(record.plans.size());
    told.decision = decision_for(record, told.servers);
    told.outcome = record.outcome;
    told.freed_room = record.freed_room;
    told.times = times_of(record, told.servers);
    told.unknown = unknown_of(told);
    return told;
}

void add_names(const ProjectNames& names, Explanation& told) {
    const auto name = [&](auto& named) {
        if (named.project_name.empty()) named.project_name = name_of_project(names, named.project);
    };
    name(told.request);
    for (auto* const servers : {&told.servers, &told.others})
        for (ExplainedServer& server : *servers) name(server.victim);
    if (told.decision) reaper::add_names(names, told.decision->decision);
    for (ChosenServer& chosen : told.also) name(chosen);
}

}  // namespace reaper::report
