// From the JSON of an explanation back to it. Exceptions end in this file.
#include "reaper/report/explanation.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

ExplainedServer explained_in(const JsonPlace& in) {
    ExplainedServer server;
    Victim& victim = server.victim;
    victim.server = ServerId{in["server"].text()};
    victim.name = in["name"].text();
    victim.project = ProjectId{in["project"].text()};
    victim.project_name = in.text_or_empty("project_name");
    victim.host = in["host"].text();
    victim.flavor = in["flavor"].text();
    victim.resources = in["resources"].resources(std::numeric_limits<Amount>::min());
    victim.created = in["created"].time();
    victim.reason = in["reason"].text();
    server.fate = meaning(in["fate"], fate_from);
    server.fate_reason = in["fate_reason"].text();
    server.round = in["round"].count();
    server.chosen_at = in["chosen_at"].time();
    server.sent_at = in["sent_at"].time_or_null();
    server.gone_at = in["gone_at"].time_or_null();
    return server;
}

ChosenServer chosen_in(const JsonPlace& in) {
    return {RequestId{in["request"].text()}, in["received_at"].time(),
            ServerId{in["server"].text()},   in["name"].text(),
            ProjectId{in["project"].text()}, in["host"].text(),
            in.text_or_empty("project_name")};
}

ServerProtection protection_in(const JsonPlace& in) {
    ServerProtection protection;
    protection.server = ServerId{in["server"].text()};
    protection.name = in["name"].text();
    protection.since = in["since"].time();
    protection.until = in["until"].time_or_null();
    protection.by = in["by"].text();
    protection.reason = in["reason"].text();
    return protection;
}

Explanation explanation_in(const JsonPlace& in) {
    Explanation told;
    told.asked = in["asked"].text();
    told.request = request_in(in["request"]);
    told.received_at = in["received_at"].time();
    told.servers = list(in["servers"], explained_in);
    told.others = list(in["others"], explained_in);
    told.rounds = in["rounds"].count();
    told.decision = unless_null(in, "decision", plan_entry_in);
    told.outcome = unless_null(in, "outcome", outcome_in);
    told.freed_room = unless_null(in, "freed_room", freed_room_in);
    told.times = list(in["times"], [](const JsonPlace& each) {
        return Moment{each["at"].time(), each["what"].text()};
    });
    told.unknown = list(in["unknown"], [](const JsonPlace& each) { return each.text(); });
    told.also = list(in["also"], chosen_in);
    if (const auto protections = in.maybe("protections"))
        told.protections = list(*protections, protection_in);
    return told;
}

}  // namespace

Result<Explanation> explanation_from_json(const nlohmann::json& document) {
    return read_json(document, "story of a server", explanation_in);
}

}  // namespace reaper::report
