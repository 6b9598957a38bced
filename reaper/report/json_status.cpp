#include "reaper/report/json_status.hpp"

#include <string>

#include "reaper/json/fields.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/json.hpp"

namespace reaper::report {
namespace {

/// The word itself outlives the document.
std::string_view safeguard_from(const JsonPlace& in) {
    for (const std::string_view known :
         {safeguard::project_breaker, safeguard::shape_cooldown, safeguard::short_lived})
        if (in.text() == known) return known;
    in.fail("no safeguard that leaves a project or host alone");
}

constexpr auto left_alone_fields = fields_of<Safeguards::LeftAlone>([](auto& io, auto& left) {
    io.required(
        "safeguard", left.safeguard,
        JsonCoder<std::string_view>{
            [](const std::string_view& word) { return nlohmann::json(word); }, safeguard_from});
    io.required("project", left.project);
    io.optional("project_name", left.project_name);
    io.required("shape", left.what);
    io.required("state", left.state, JsonWords{circuit_state_from});
    io.required("wasted", left.wasted);
    io.required("until", left.until);
});

constexpr auto notice_fields = fields_of<Notice>([](auto& io, auto& notice) {
    io.required("server", notice.server);
    io.required("name", notice.name);
    io.required("host", notice.host);
    io.required("request", notice.request);
    io.required("until", notice.until);
});

}  // namespace

nlohmann::json json_of(const std::optional<PauseNote>& note) {
    if (!note) return nullptr;
    return {{"by", note->by},
            {"reason", note->reason},
            {"at", iso_time(note->at)},
            {"line", note->line()}};
}

nlohmann::json json_of(const std::vector<Safeguards::LeftAlone>& all) {
    return json_of_value(all, left_alone_fields);
}

nlohmann::json json_of(const std::vector<Notice>& all) {
    return json_of_value(all, notice_fields);
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
    return read_list_as(document, "left_alone", left_alone_fields);
}

Result<std::vector<Notice>> notices_from_json(const nlohmann::json& document) {
    return read_list_as(document, "notices", notice_fields);
}

}  // namespace reaper::report
