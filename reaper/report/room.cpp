#include "reaper/report/room.hpp"

#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/render_parts.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

bool fits_now(const RoomAnswer& answer) {
    return answer.verdict == RoomVerdict::fits_now;
}

/// Hosts with room as it is.
std::string there_text(const RoomAnswer& answer, const RenderOptions& options) {
    using Align = TextTable::Align;
    TextTable table{{{"HOST"}, {"FITS NOW", Align::right}, {"ON ITS WAY", Align::right}}};
    for (const auto& host : answer.there)
        table.row({host.host_name, std::to_string(host.at_once),
                   std::to_string(host.ready - host.at_once)});
    return table.empty() ? "" : table.text(0, width_of(options), Paint{options.color}) + "\n";
}

std::string answer_line(const RoomAnswer& answer, int slots, const RenderOptions& options) {
    const Paint paint{options.color};
    const std::string head = fits_now(answer) ? paint.green("Room") : paint.yellow("Room");
    return head + ": " + safe(summary(answer, slots)) + "\n";
}

HostSlots slots_in(const JsonPlace& in) {
    HostSlots host;
    host.host = HostId{in["id"].text()};
    host.host_name = in["name"].text();
    host.at_once = in["slots"].count();
    host.ready = host.at_once + in["on_its_way"].count();
    return host;
}

RoomReport room_in(const JsonPlace& in) {
    RoomReport read;
    JsonWords{room_verdict_from}.read(in["answer"], read.answer.verdict);
    read.answer.fits_now = in["fits_now"].count();
    read.answer.possible = in["possible"].count();
    read.answer.there = in["hosts"].list(slots_in);
    if (const auto decision = in.maybe("decision")) read.answer.decision = decision_in(*decision);
    read.request = request_in(in["request"]);
    read.remarks = in["remarks"].texts();
    read.taken_at = in["taken_at"].time();
    return read;
}

}  // namespace

json room_json(const RoomAnswer& answer, const Request& request) {
    json hosts = json::array();
    for (const auto& host : answer.there)
        hosts.push_back({{"id", host.host.str()},
                         {"name", host.host_name},
                         {"slots", host.at_once},
                         {"on_its_way", host.ready - host.at_once}});
    return {{"answer", std::string{to_string(answer.verdict)}},
            {"slots", request.slots},
            {"fits_now", answer.fits_now},
            {"possible", answer.possible},
            {"hosts", std::move(hosts)},
            {"victims", answer.victims().size()},
            {"decision", fits_now(answer) ? json(nullptr) : to_json(answer.decision)},
            {"summary", summary(answer, request.slots)},
            {"request", to_json(request)}};
}

Result<RoomReport> room_from_json(const json& document) {
    return read_json(document, "room", room_in);
}

std::string render_room(const RoomAnswer& answer, const Request& request,
                        const RenderOptions& options) {
    std::string text = fits_now(answer) ? request_lines(request, options) + "\n"
                                        : render_decision(answer.decision, request, options) + "\n";
    text += there_text(answer, options);
    if (answer.possible > answer.fits_now)
        text += "If all revocable servers went that may go: room for " +
                std::to_string(answer.possible) + "\n";
    return text + answer_line(answer, request.slots, options);
}

}  // namespace reaper::report
