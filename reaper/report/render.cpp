#include "reaper/report/render.hpp"

#include <algorithm>
#include <map>

#include "reaper/model/text.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

class DecisionText {
public:
    DecisionText(const Request& request, const RenderOptions& options)
        : request_(request), options_(options), paint_(options.color), width_(width_of(options)) {}

    std::string operator()(const Plan& plan) const {
        std::string text = hosts(plan.hosts) + rejected(plan.rejected, plan.rejected_counts);
        if (!plan.note.empty()) text += wrapped("Note: " + plan.note, 0, width_) + "\n";
        return text +
               verdict(plan.victims().empty() ? paint_.green("Plan") : paint_.red("Plan"), plan);
    }
    std::string operator()(const NothingToDo& nothing) const {
        return hosts(nothing.hosts) + verdict(paint_.green("Verdict"), nothing);
    }
    std::string operator()(const Refused& refused) const {
        return verdict(paint_.yellow("Verdict"), refused);
    }
    std::string operator()(const NotEnough& not_enough) const {
        std::string text = rejected(not_enough.rejected, not_enough.rejected_counts);
        if (not_enough.slots_requested > 0)
            text += "Possible: " + std::to_string(not_enough.slots_possible) + " of " +
                    counted(count(not_enough.slots_requested), "slot") + "\n\n";
        return text + verdict(paint_.yellow("Verdict"), not_enough);
    }

private:
    static std::size_t count(int n) { return static_cast<std::size_t>(std::max(n, 0)); }

    std::string verdict(const std::string& word, const Decision& decision) const {
        return word + ": " + safe(summary(decision)) + "\n";
    }

    std::string rejected(const std::vector<Rejection>& rejections,
                         const std::vector<RejectionCount>& counts) const {
        const std::string text = rejected_lines(rejections, counts, options_);
        return text.empty() ? text : text + "\n";
    }

    std::string hosts(const std::vector<HostPlan>& plans) const {
        std::string text;
        for (const auto& host : plans) text += this->host(host) + "\n";
        return text;
    }

    std::string host(const HostPlan& host) const {
        if (request_.correction) return corrected(host);
        std::string head = counted(count(host.slots), "slot");
        if (host.slots_ready > 0 && host.slots_ready == host.slots)
            head += ", ready";
        else if (host.slots_ready > 0)
            head += " (" + std::to_string(host.slots_ready) + " ready)";
        head += host.victims.empty() ? ", no servers deleted"
                                     : ", " + counted(host.victims.size(), "victim");
        std::string text = paint_.bold("Host " + safe(host.host_name)) + ": " + head + "\n";
        text += wrapped(host.reason, 2, width_);
        text += wrapped(on_its_way(host.pending_releases), 2, width_);
        const Resources& slot = host.slot.empty() ? request_.resources : host.slot;
        text += room_table(slot, host.free_before, host.free_after).text(2, width_, paint_);
        if (!host.victims.empty())
            text += victim_table(host.victims, options_).text(2, width_, paint_);
        return text;
    }

    std::string corrected(const HostPlan& host) const {
        return paint_.bold("Host " + safe(host.host_name)) + ": " +
               counted(host.victims.size(), "victim") + "\n" +
               victim_table(host.victims, options_).text(2, width_, paint_);
    }

    static std::string on_its_way(const std::vector<PendingRelease>& pending_releases) {
        std::string text;
        for (const auto& each : pending_releases)
            text += (text.empty() ? "room on its way: " : ", ") +
                    (each.name.empty() ? "" : each.name + " ") + each.server.str() + " (" +
                    each.reason + ")";
        return text;
    }

    const Request& request_;
    const RenderOptions& options_;
    Paint paint_;
    std::size_t width_;
};

}  // namespace

std::string render_decision(const Decision& decision, const Request& request,
                            const RenderOptions& options) {
    return request_lines(request, options) + "\n" +
           std::visit(DecisionText{request, options}, decision);
}

// Holds and totals.

namespace {

std::string word(const std::string& text) {
    return text;
}

template <class Kind>
std::string word(Kind kind) {
    return std::string{to_string(kind)};
}

/// `freed 3, refused 1`; a dash for nothing.
std::string counts_line(const auto& counts) {
    std::string line;
    for (const auto& [what, count] : counts)
        line += (line.empty() ? "" : ", ") + word(what) + " " + std::to_string(count);
    return line.empty() ? "-" : line;
}

}  // namespace

std::string render_holds(const std::vector<InventoryHold>& holds, const RenderOptions& options) {
    if (holds.empty()) return "No holds.\n";
    TextTable table{{{"SINCE"}, {"HOST"}, {"CLASS"}, {"RESERVED"}, {"BEFORE"}, {"FOR REQUEST"}}};
    for (const auto& hold : holds)
        table.row({iso_time(hold.since), hold.host_name, hold.resource_class.str(),
                   std::to_string(hold.set), std::to_string(hold.before), hold.request.str()});
    return table.text(0, width_of(options), Paint{options.color});
}

std::string render_totals(const JournalTotals& totals, const RenderOptions& options) {
    const std::pair<const char*, std::string> lines[] = {
        {"under way now  ", std::to_string(totals.under_way)},
        {"outcomes       ", counts_line(totals.outcomes)},
        {"victims        ", std::to_string(totals.victims)},
        {"freed room     ", counts_line(totals.freed_rooms)},
        {"refused by     ", counts_line(totals.safeguards)},
        {"messages       ", counts_line(totals.messages)},
        {"events         ", counts_line(totals.events)}};
    constexpr std::size_t margin = 17;
    std::string text;
    for (const auto& [head, line] : lines)
        text += std::string{"  "} + head + wrapped(line, margin, width_of(options)).substr(margin);
    return text;
}

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
    std::ranges::stable_sort(events, {}, &Event::at);
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
