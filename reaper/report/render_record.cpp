#include <algorithm>
#include <map>

#include "reaper/model/time_text.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

struct Event {
    TimePoint at;
    std::string text;
    std::vector<std::string> details;
};

/// Names of the victims, for steps that know only ids.
std::map<ServerId, std::string> names_in(const RequestRecord& record) {
    std::map<ServerId, std::string> names;
    for (const auto& entry : record.plans)
        if (const auto* const plan = std::get_if<Plan>(&entry.decision))
            for (const auto& victim : plan->victims()) names.emplace(victim.server, victim.name);
    return names;
}

Event event_of(const PlanEntry& entry) {
    Event event{
        entry.at, "plan " + std::to_string(entry.round) + ": " + summary(entry.decision), {}};
    if (const auto* const plan = std::get_if<Plan>(&entry.decision))
        for (const auto& host : plan->hosts)
            for (const auto& victim : host.victims)
                event.details.push_back(host.host_name + ": " + victim.name + " (" +
                                        victim.server.str() + ", " + to_string(victim.resources) +
                                        "): " + victim.reason);
    return event;
}

Event event_of(const StepEntry& step, const std::map<ServerId, std::string>& names) {
    const auto name = names.find(step.server);
    std::string text = std::string{to_string(step.step)} + " " +
                       (name == names.end() ? "" : name->second + " ") + step.server.str();
    if (!step.detail.empty()) text += ": " + step.detail;
    return {step.at, text, {}};
}

std::string outcome_text(const Outcome& outcome) {
    return std::string{to_string(outcome.kind)} +
           (outcome.safeguard.empty() ? "" : " (" + outcome.safeguard + ")") +
           (outcome.reason.empty() ? "" : ": " + outcome.reason);
}

std::string freed_room_text(const FreedRoomResult& freed_room) {
    return std::string{to_string(freed_room.kind)} +
           (freed_room.reason.empty() ? "" : ": " + freed_room.reason);
}

/// Hosts by the names that the plans give them.
std::string untaken_text(const RequestRecord& record) {
    std::map<HostId, std::string> names;
    for (const auto& entry : record.plans)
        if (const auto* const plan = std::get_if<Plan>(&entry.decision))
            for (const auto& host : plan->hosts) names[host.host] = host.host_name;
    std::string text;
    for (const auto& host : record.freed_room->untaken) {
        const auto name = names.find(host);
        text += (text.empty() ? "; not taken on " : ", ") +
                (name == names.end() ? host.str() : name->second);
    }
    return text;
}

std::string painted(FreedRoomResultKind kind, const std::string& text, const Paint& paint) {
    return kind == FreedRoomResultKind::wasted ? paint.red(text) : paint.green(text);
}

std::string painted(OutcomeKind kind, const std::string& text, const Paint& paint) {
    switch (kind) {
        case OutcomeKind::freed:
        case OutcomeKind::already_there: return paint.green(text);
        case OutcomeKind::incomplete:
        case OutcomeKind::failed: return paint.red(text);
        case OutcomeKind::not_enough:
        case OutcomeKind::refused:
        case OutcomeKind::superseded:
        case OutcomeKind::handed_over:
        case OutcomeKind::revocable_room:
        case OutcomeKind::revocable_only:
        case OutcomeKind::dry_run: return paint.yellow(text);
    }
    return text;
}

std::vector<Event> events_of(const RequestRecord& record) {
    std::vector<Event> events;
    const auto names = names_in(record);
    events.push_back({record.request.sent_at, "NoValidHost received", {}});
    events.push_back({record.received_at, "received", {}});
    for (const auto& plan : record.plans) events.push_back(event_of(plan));
    for (const auto& step : record.steps) events.push_back(event_of(step, names));
    if (record.request.operation == Operation::manual || record.request.sent_at == TimePoint{})
        events.erase(events.begin());
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at < b.at; });
    return events;
}

}  // namespace

std::string render_record(const RequestRecord& record, const RenderOptions& options) {
    const Paint paint{options.color};
    const std::size_t width = width_of(options);
    constexpr std::size_t margin = 26;  // of the texts, after the time
    std::string text = request_lines(record.request, options) + "\n";
    for (const auto& event : events_of(record)) {
        std::string lines = wrapped(event.text, margin, width);
        if (lines.empty()) continue;
        // iso_time is 24 columns: it replaces the margin of the first line.
        text += paint.dim(iso_time(event.at)) + lines.substr(margin - 2);
        for (const auto& detail : event.details) text += wrapped(detail, margin + 2, width);
    }
    if (!record.outcome) return text + "\n" + paint.yellow("Outcome") + ": none yet\n";
    const Outcome& outcome = *record.outcome;
    text += "\n" + painted(outcome.kind, "Outcome", paint) + ": " + safe(outcome_text(outcome)) +
            " (" + iso_time(outcome.at) + ", after " +
            format_duration(outcome.at - record.received_at) + ")\n";
    if (!record.freed_room) return text;
    const FreedRoomResult& freed_room = *record.freed_room;
    text += painted(freed_room.kind, "Freed room", paint) + ": " +
            safe(freed_room_text(freed_room) + untaken_text(record)) + " (" +
            iso_time(freed_room.at) + ")\n";
    return text;
}

}  // namespace reaper::report
