// From the lines of a recording back to values. Exceptions end in this file.
#include <new>
#include <utility>

#include "reaper/json/json_place.hpp"
#include "reaper/model/text.hpp"
#include "reaper/recording/lines.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/snapshot_parts.hpp"

namespace reaper::recording {
namespace {

using nlohmann::json;

/// What `report` reads has errors as values.
template <class Value>
Value unwrapped(Result<Value> result, const JsonPlace& in) {
    if (!result) in.fail(result.error().what);
    return std::move(*result);
}

Request request_of(const JsonPlace& in) {
    return unwrapped(report::request_from_json(in.value()), in);
}

template <class IdType>
std::vector<IdType> ids_of(const std::optional<JsonPlace>& in) {
    std::vector<IdType> all;
    if (in) in->each([&](const JsonPlace& id) { all.emplace_back(id.id()); });
    return all;
}

PastVictim past_victim_of(const JsonPlace& in) {
    PastVictim victim;
    victim.at = in["at"].time();
    victim.request = RequestId{in["request"].text()};
    victim.server = ServerId{in["server"].id()};
    victim.name = in["name"].text();
    victim.project = ProjectId{in["project"].text()};
    victim.host = in["host"].text();
    victim.workload = in.text_or_empty("workload");
    victim.requester = ProjectId{in.text_or_empty("for_project")};
    return victim;
}

Line begin_of(const JsonPlace& in) {
    if (in["format"].text() != "reaper-recording") in.fail("is not of a recording of the reaper");
    if (in["version"].integer() != recording_version)
        in["version"].fail("this reaper reads " + std::to_string(recording_version));
    Begin begin;
    begin.at = in["at"].time();
    begin.run = in["run"].text();
    begin.segment = in["segment"].count();
    begin.follows = in["follows"].boolean();
    begin.anonymous = in["anonymous"].boolean();
    begin.dry_run = in["dry_run"].boolean();
    begin.version = in["reaper"].text();
    return begin;
}

Line policy_of(const JsonPlace& in) {
    PolicyLine line;
    line.configuration = in["configuration"].text();
    line.project_ids = in["project_ids"].text_map();
    in["revocable_classes"].each(
        [&](const JsonPlace& each) { line.revocable_classes.emplace(each.id()); });
    if (const auto servers = in.maybe("protected_servers"))
        line.protected_servers = servers->text_set();
    return line;
}

Line host_of_line(const JsonPlace& in) {
    const JsonPlace whole = in["host"];
    HostLine line{unwrapped(report::host_from_json(whole.value()), whole)};
    if (const auto known = in.maybe("placement_aggregates"))
        line.host.placement_aggregates = known->text_set();
    line.host.estimated = in.boolean_or("estimated", false);
    return line;
}

Line seen_of(const JsonPlace& in) {
    Seen seen;
    seen.at = in["at"].time();
    seen.request = request_of(in["request"]);
    if (const auto traits = in.maybe("res_type_traits")) {
        traits->each(
            [&](const JsonPlace& trait) { seen.request.res_type_traits.emplace(trait.id()); });
    }
    seen.whole = in["whole"].boolean();
    seen.reserved = in.boolean_or("reserved", false);
    const JsonPlace ledger = in["ledger"];
    seen.ledger = unwrapped(report::ledger_from_json(ledger.value()), ledger);
    seen.given_up = ids_of<ServerId>(in.maybe("given_up"));
    if (const auto skipped = in.maybe("skipped"))
        skipped->each_member([&](const std::string& server, const JsonPlace& why) {
            seen.skipped.emplace(ServerId{server}, why.text());
        });
    if (const auto history = in.maybe("history"))
        history->each([&](const JsonPlace& each) { seen.history.push_back(past_victim_of(each)); });
    for (HostId& host : ids_of<HostId>(in.maybe("cooling"))) seen.cooling.insert(std::move(host));
    if (const auto held = in.maybe("held")) {
        seen.held = held->text_or_empty("safeguard");
        seen.held_because = held->text_or_empty("reason");
    }
    if (const auto why = in.maybe("no_move")) seen.no_move = why->text();
    seen.several_cells = in.boolean_or("several_cells", false);
    return std::make_shared<const Seen>(std::move(seen));
}

template <class Kind>
Kind kind_of(const JsonPlace& in, std::optional<Kind> (*read)(std::string_view)) {
    const auto kind = read(in.text());
    if (!kind) in.fail("unknown word '" + printable(in.text(), 50) + "'");
    return *kind;
}

Line plan_of(const JsonPlace& in) {
    PlanLine line;
    line.request = RequestId{in["request"].id()};
    line.plan.round = in["round"].count();
    line.plan.at = in["at"].time();
    const JsonPlace decision = in["decision"];
    line.plan.decision = unwrapped(report::decision_from_json(decision.value()), decision);
    return line;
}

Line step_of(const JsonPlace& in) {
    const JsonPlace step = in["step"];
    StepLine line;
    line.request = RequestId{in["request"].id()};
    line.step.server = ServerId{step["server"].id()};
    line.step.step = kind_of(step["step"], step_from);
    line.step.detail = step["detail"].text();
    line.step.at = step["at"].time();
    return line;
}

Line outcome_of(const JsonPlace& in) {
    const JsonPlace outcome = in["outcome"];
    OutcomeLine line;
    line.request = RequestId{in["request"].id()};
    line.outcome.kind = kind_of(outcome["kind"], outcome_kind_from);
    line.outcome.reason = outcome["reason"].text();
    line.outcome.at = outcome["at"].time();
    line.outcome.safeguard = outcome.text_or_empty("safeguard");
    return line;
}

Line freed_of(const JsonPlace& in) {
    const JsonPlace result = in["freed_room"];
    FreedLine line;
    line.request = RequestId{in["request"].id()};
    line.result.kind = kind_of(result["kind"], freed_room_result_kind_from);
    line.result.reason = result["reason"].text();
    line.result.untaken = ids_of<HostId>(result.maybe("untaken"));
    line.result.at = result["at"].time();
    return line;
}

Line read(std::string_view text) {
    const json document = json::parse(text, nullptr, false);
    if (!document.is_object()) throw WrongJson{"is no JSON object"};
    const JsonPlace in(document);
    const std::string& kind = in["line"].text();
    if (kind == "begin") return begin_of(in);
    if (kind == "policy") return policy_of(in);
    if (kind == "tags") {
        const JsonPlace facts = in["facts"];
        return TagsLine{unwrapped(report::tag_data_from_json(facts.value()), facts)};
    }
    if (kind == "host") return host_of_line(in);
    if (kind == "gone") return GoneLine{HostId{in["host"].id()}};
    if (kind == "whole") return WholeLine{};
    if (kind == "seen") return seen_of(in);
    if (kind == "request") return RequestLine{request_of(in["request"]), in["at"].time()};
    if (kind == "plan") return plan_of(in);
    if (kind == "step") return step_of(in);
    if (kind == "outcome") return outcome_of(in);
    if (kind == "freed") return freed_of(in);
    return OtherLine{};
}

}  // namespace

Result<Line> line_from(std::string_view text) {
    try {
        return read(text);
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, wrong.what};
    } catch (const std::bad_alloc&) {
        return Error{Errc::bad_input, "takes more memory to read than there is"};
    } catch (const json::exception&) {
        return Error{Errc::bad_input, "a number is out of range"};
    }
}

}  // namespace reaper::recording
