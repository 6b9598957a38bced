// The JSON of what the journal tells: stories, messages, victims, marks, totals.
#include "reaper/report/json.hpp"
#include "reaper/report/time_text.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

json or_null(const auto& thing) {
    return thing ? to_json(*thing) : json(nullptr);
}

json counts_of(const auto& counts) {
    json object = json::object();
    for (const auto& entry : counts) {
        const auto& what = entry.first;
        if constexpr (requires { to_string(what); })
            object[std::string{to_string(what)}] = entry.second;
        else
            object[what] = entry.second;
    }
    return object;
}

}  // namespace

json to_json(const Outcome& outcome) {
    return {{"kind", std::string{to_string(outcome.kind)}},
            {"reason", outcome.reason},
            {"at", iso_time(outcome.at)},
            {"brake", outcome.brake.empty() ? json(nullptr) : json(outcome.brake)}};
}

json to_json(const Aftermath& aftermath) {
    json untaken = json::array();
    for (const auto& host : aftermath.untaken) untaken.push_back(host.str());
    return {{"kind", std::string{to_string(aftermath.kind)}},
            {"reason", aftermath.reason},
            {"untaken", std::move(untaken)},
            {"at", iso_time(aftermath.at)}};
}

json to_json(const StepEntry& step) {
    return {{"server", step.server.str()},
            {"step", std::string{to_string(step.step)}},
            {"detail", step.detail},
            {"at", iso_time(step.at)}};
}

json to_json(const PlanEntry& plan) {
    return {{"round", plan.round}, {"at", iso_time(plan.at)}, {"decision", to_json(plan.decision)}};
}

json to_json(const Story& story) {
    return {{"version", json_version},
            {"request", to_json(story.request)},
            {"received_at", iso_time(story.received_at)},
            {"plans", array_of(story.plans)},
            {"steps", array_of(story.steps)},
            {"outcome", or_null(story.outcome)},
            {"aftermath", or_null(story.aftermath)}};
}

json to_json(const StoryLine& line) {
    return {{"request", to_json(line.request)},
            {"received_at", iso_time(line.received_at)},
            {"victims", line.victims},
            {"outcome", or_null(line.outcome)},
            {"aftermath", or_null(line.aftermath)}};
}

json to_json(const std::vector<StoryLine>& lines) {
    return {{"version", json_version}, {"stories", array_of(lines)}};
}

json to_json(const MessageEntry& message) {
    return {{"message_id", message.message_id}, {"event_type", message.event_type},
            {"request", message.request.str()}, {"verdict", message.verdict},
            {"reason", message.reason},         {"at", iso_time(message.at)}};
}

json to_json(const std::vector<MessageEntry>& messages) {
    return {{"version", json_version}, {"messages", array_of(messages)}};
}

json to_json(const VictimEntry& victim) {
    return {{"at", iso_time(victim.at)},       {"request", victim.request.str()},
            {"server", victim.server.str()},   {"name", victim.name},
            {"project", victim.project.str()}, {"host", victim.host}};
}

json to_json(const std::vector<VictimEntry>& victims) {
    return {{"version", json_version}, {"victims", array_of(victims)}};
}

json to_json(const Mark& mark) {
    return {{"kind", mark.kind}, {"reason", mark.reason}, {"at", iso_time(mark.at)}};
}

json to_json(const std::vector<Mark>& marks) {
    return {{"version", json_version}, {"marks", array_of(marks)}};
}

json to_json(const RoomHold& hold) {
    return {{"provider", hold.provider.str()},
            {"class", hold.resource_class.str()},
            {"host", hold.host_name},
            {"reserved_before", hold.before},
            {"reserved", hold.set},
            {"request", hold.request.str()},
            {"since", iso_time(hold.since)}};
}

json to_json(const JournalTotals& totals) {
    return {{"version", json_version},
            {"outcomes", counts_of(totals.outcomes)},
            {"under_way", totals.under_way},
            {"victims", totals.victims},
            {"aftermaths", counts_of(totals.aftermaths)},
            {"brakes", counts_of(totals.brakes)},
            {"messages", counts_of(totals.messages)},
            {"marks", counts_of(totals.marks)}};
}

}  // namespace reaper::report
