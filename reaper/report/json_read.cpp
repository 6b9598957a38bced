// From JSON back to values: what the journal keeps. Strict: another shape is an error with its
// place, never a guess. Exceptions end in this file.
#include <limits>

#include "reaper/model/text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_groups.hpp"
#include "reaper/report/json_placement.hpp"
#include "reaper/report/json_values.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr Amount any_amount = std::numeric_limits<Amount>::min();

void check_json_version(const JsonPlace& in) {
    const Amount version = in["version"].integer();
    if (version != json_version)
        in.fail("version " + std::to_string(version) + ", not " + std::to_string(json_version));
}

Victim victim(const JsonPlace& in) {
    Victim result;
    result.server = ServerId{in["server"].text()};
    result.name = in["name"].text();
    result.project = ProjectId{in["project"].text()};
    result.host = in["host"].text();
    result.resources = in["resources"].resources(any_amount);
    result.created = in["created"].time();
    result.reason = in["reason"].text();
    result.workload = in.text_or_empty("workload");
    result.flavor = in.text_or_empty("flavor");
    result.project_name = in.text_or_empty("project_name");
    result.held_by = ServerId{in.text_or_empty("held_by")};
    return result;
}

SparedServer spared_server(const JsonPlace& in) {
    SparedServer result;
    result.server = ServerId{in["server"].text()};
    result.name = in["name"].text();
    result.project = ProjectId{in["project"].text()};
    result.resources = in["resources"].resources(any_amount);
    result.created = in["created"].time();
    result.reason = in["reason"].text();
    result.might_have_gone = in["might_have_gone"].boolean();
    result.project_name = in.text_or_empty("project_name");
    return result;
}

PendingRelease pending_release(const JsonPlace& in) {
    PendingRelease result{ServerId{in["server"].text()}, in["name"].text(), in["reason"].text()};
    result.unfinished = in.boolean_or("unfinished", false);
    result.project = ProjectId{in.text_or_empty("project")};
    result.host = in.text_or_empty("host");
    return result;
}

HostPlan host_plan(const JsonPlace& in) {
    HostPlan result;
    result.host = HostId{in["host"].text()};
    result.host_name = in["host_name"].text();
    result.slots = in["slots"].count();
    result.slots_ready = in["slots_ready"].count();
    result.victims = list(in["victims"], victim);
    result.pending_releases = list(in["pending_releases"], pending_release);
    result.free_before = in["free_before"].resources(any_amount);
    result.free_after = in["free_after"].resources(any_amount);
    result.reason = in["reason"].text();
    if (const auto slot = in.maybe("slot")) result.slot = slot->resources();
    if (const auto all = in.maybe("spared_in_all")) {
        result.spared = list(in["spared"], spared_server);
        result.spared_in_all = all->count();
    }
    return result;
}

Rejection rejection(const JsonPlace& in) {
    Rejection result;
    result.host = HostId{in["host"].text()};
    result.host_name = in["host_name"].text();
    result.code = meaning(in["code"], rejection_code_from);
    result.reason = in["reason"].text();
    return result;
}

RejectionCount rejection_count(const JsonPlace& in) {
    return {meaning(in["code"], rejection_code_from), in["hosts"].count(), in["sample"].text()};
}

Plan plan(const JsonPlace& in) {
    Plan result;
    result.request = RequestId{in["request"].text()};
    result.strategy = in["strategy"].text();
    result.slots_requested = in["slots_requested"].count();
    result.slots_wanted = in["slots_wanted"].count();
    result.slots_freed = in["slots_freed"].count();
    result.hosts = list(in["hosts"], host_plan);
    result.rejected = list(in["rejected"], rejection);
    result.rejected_counts = list(in["rejected_counts"], rejection_count);
    result.note = in["note"].text();
    return result;
}

NotEnough not_enough(const JsonPlace& in) {
    NotEnough result;
    result.slots_requested = in["slots_requested"].count();
    result.slots_possible = in["slots_possible"].count();
    result.reason = in["reason"].text();
    result.rejected = list(in["rejected"], rejection);
    result.rejected_counts = list(in["rejected_counts"], rejection_count);
    result.safeguard = in.text_or_empty("safeguard");
    return result;
}

NothingToDo nothing_to_do(const JsonPlace& in) {
    NothingToDo result{in["reason"].text(), list(in["hosts"], host_plan)};
    result.room = meaning(in["room"], res_type_from);
    return result;
}

Decision decision(const JsonPlace& in) {
    check_json_version(in);
    const JsonPlace kind = in["decision"];
    if (kind.text() == "plan") return plan(in);
    if (kind.text() == "nothing-to-do") return nothing_to_do(in);
    if (kind.text() == "not-enough") return not_enough(in);
    if (kind.text() == "refused") return Refused{in["reason"].text()};
    kind.fail("unknown word '" + printable(kind.text(), 50) + "'");
}

Correction correction(const JsonPlace& in) {
    Correction result;
    result.host = HostId{in["host"].text()};
    result.host_name = in["host_name"].text();
    in["servers"].each([&](const JsonPlace& each) {
        result.servers.push_back({ServerId{each["server"].text()}, each["reason"].text()});
    });
    return result;
}

Approval approval(const JsonPlace& in) {
    Approval result;
    result.by = in["by"].text();
    result.planned_at = in["planned_at"].time();
    in["victims"].each([&](const JsonPlace& each) { result.victims.emplace(each.id()); });
    return result;
}

Request request(const JsonPlace& in) {
    check_json_version(in);
    Request result;
    result.id = RequestId{in["id"].text()};
    result.operation = meaning(in["operation"], operation_from);
    result.project = ProjectId{in["project"].text()};
    result.project_name = in.text_or_empty("project_name");
    result.resources = in["resources"].resources(any_amount);
    result.slots = in["slots"].count();
    in["requesters"].each(
        [&](const JsonPlace& each) { result.requesters.emplace_back(each.text()); });
    if (const auto names = in.maybe("requester_names"))
        for (auto& [id, name] : names->text_map())
            result.requester_names.emplace(ServerId{id}, std::move(name));
    if (const JsonPlace zone = in["availability_zone"]; !zone.is_null())
        result.availability_zone = zone.text();
    result.required_traits = traits_from(in["required_traits"]);
    result.forbidden_traits = traits_from(in["forbidden_traits"]);
    result.excluded_hosts = in["excluded_hosts"].text_map();
    result.sent_at = in["sent_at"].time();
    result.flavor_extra_specs = in["flavor_extra_specs"].text_map();
    result.phases = meaning(in["res_type"], phases_from);
    result.phases_because = in["res_type_because"].text();
    result.flavor = in.text_or_empty("flavor");
    result.image = in.text_or_empty("image");
    result.source = meaning(in["source"], request_source_from);
    if (const auto deadline = in.maybe("deadline")) result.deadline = deadline->time();
    result.from_host = in.text_or_empty("from_host");
    result.runs_revocable = in.has("runs_revocable");
    if (const auto groups = in.maybe("groups")) result.groups = groups_from(*groups);
    if (const auto policy = in.maybe("group_policy"))
        result.group_policy = meaning(*policy, group_policy_from);
    if (const auto placement = in.maybe("placement")) result.placement = placement_from(*placement);
    if (const auto traits = in.maybe("root_required_traits"))
        result.root_required_traits = traits_from(*traits);
    if (const auto fallback = in.maybe("fallback")) result.fallback = shape_from(*fallback);
    if (const auto approved = in.maybe("approved")) result.approved = approval(*approved);
    if (const auto corrected = in.maybe("correction")) result.correction = correction(*corrected);
    return result;
}

}  // namespace

std::optional<RejectionCode> rejection_code_from(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(RejectionCode::ranked_lower); ++i)
        if (const auto code = static_cast<RejectionCode>(i); to_string(code) == text) return code;
    return std::nullopt;
}

Request request_in(const JsonPlace& in) {
    return request(in);
}

Decision decision_in(const JsonPlace& in) {
    return decision(in);
}

Result<Request> request_from_json(const json& document) {
    return read_json(document, "request", &request_in);
}

Result<Decision> decision_from_json(const json& document) {
    return read_json(document, "decision", &decision_in);
}

}  // namespace reaper::report
