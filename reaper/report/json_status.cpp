#include "reaper/report/json_status.hpp"

#include <string>

#include "reaper/model/time_text.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

/// The word itself outlives the document.
std::string_view safeguard_from(const JsonPlace& in) {
    for (const std::string_view known :
         {safeguard::project_breaker, safeguard::shape_cooldown, safeguard::short_lived})
        if (in.text() == known) return known;
    in.fail("no safeguard that leaves somebody alone");
}

}  // namespace

nlohmann::json json_of(const std::optional<PauseNote>& note) {
    if (!note) return nullptr;
    return {{"by", note->by},
            {"reason", note->reason},
            {"at", iso_time(note->at)},
            {"line", note->line()}};
}

nlohmann::json json_of(const std::vector<Safeguards::LeftAlone>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& each : all) {
        list.push_back({{"safeguard", each.safeguard},
                        {"project", each.project.str()},
                        {"shape", each.what},
                        {"state", std::string{to_string(each.state)}},
                        {"wasted", each.wasted},
                        {"until", each.until ? nlohmann::json(iso_time(*each.until)) : nullptr}});
        if (!each.project_name.empty()) list.back()["project_name"] = each.project_name;
    }
    return list;
}

Result<std::optional<PauseNote>> pause_from_json(const nlohmann::json& document) {
    return read_json(document, "pause", [](const JsonPlace& in) {
        if (in.is_null()) return std::optional<PauseNote>{};
        PauseNote note;
        note.by = in["by"].text();
        note.reason = in["reason"].text();
        note.at = in["at"].time();
        // What is not known about it stands in its line alone.
        if (const std::string& line = in["line"].text(); line != note.line()) {
            const std::string known = note.line() + (note.reason.empty() ? ": " : "; ");
            note.trouble = line.starts_with(known) ? line.substr(known.size()) : line;
        }
        return std::optional<PauseNote>{note};
    });
}

Result<std::vector<Safeguards::LeftAlone>> left_alone_from_json(const nlohmann::json& document) {
    return read_json(document, "left_alone", [](const JsonPlace& in) {
        std::vector<Safeguards::LeftAlone> all;
        in.each([&](const JsonPlace& each) {
            Safeguards::LeftAlone left;
            left.safeguard = safeguard_from(each["safeguard"]);
            left.project = ProjectId{each["project"].text()};
            left.project_name = each.text_or_empty("project_name");
            left.what = each["shape"].text();
            left.state = meaning(each["state"], circuit_state_from);
            left.wasted = each["wasted"].count();
            left.until = each["until"].time_or_null();
            all.push_back(std::move(left));
        });
        return all;
    });
}

}  // namespace reaper::report
