#include "reaper/model/time_text.hpp"
#include "reaper/report/explanation.hpp"
#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

nlohmann::json moment_or_null(const std::optional<TimePoint>& time) {
    return time ? nlohmann::json(iso_time(*time)) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json to_json(const ExplainedServer& server) {
    const Victim& victim = server.victim;
    nlohmann::json object{{"server", victim.server.str()},
                          {"name", victim.name},
                          {"project", victim.project.str()},
                          {"host", victim.host},
                          {"flavor", victim.flavor},
                          {"resources", to_json(victim.resources)},
                          {"created", iso_time(victim.created)},
                          {"fate", std::string{to_string(server.fate)}},
                          {"fate_reason", server.fate_reason},
                          {"reason", victim.reason},
                          {"round", server.round},
                          {"chosen_at", iso_time(server.chosen_at)},
                          {"sent_at", moment_or_null(server.sent_at)},
                          {"gone_at", moment_or_null(server.gone_at)}};
    if (!victim.project_name.empty()) object["project_name"] = victim.project_name;
    return object;
}

nlohmann::json to_json(const Moment& moment) {
    return {{"at", iso_time(moment.at)}, {"what", moment.what}};
}

nlohmann::json to_json(const Explanation& told) {
    const auto or_null = [](const auto& thing) {
        return thing ? to_json(*thing) : nlohmann::json(nullptr);
    };
    nlohmann::json object{{"version", json_version},
                          {"asked", told.asked},
                          {"request", to_json(told.request)},
                          {"received_at", iso_time(told.received_at)},
                          {"servers", array_of(told.servers)},
                          {"others", array_of(told.others)},
                          {"rounds", told.rounds},
                          {"decision", or_null(told.decision)},
                          {"outcome", or_null(told.outcome)},
                          {"freed_room", or_null(told.freed_room)},
                          {"times", array_of(told.times)},
                          {"unknown", nlohmann::json(told.unknown)},
                          {"also", array_of(told.also)}};
    if (!told.protections.empty()) object["protections"] = array_of(told.protections);
    return object;
}

}  // namespace reaper::report
