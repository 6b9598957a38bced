// The JSON of a decision, there and back.
#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/name_walk.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

constexpr auto victim_fields = fields_of<Victim>([](auto& io, auto& victim) {
    io.required("server", victim.server, named<NameKind::consumer>);
    io.required("name", victim.name, named<NameKind::server>);
    io.required("project", victim.project, named<NameKind::project>);
    io.required("host", victim.host, named<NameKind::machine>);
    io.required("resources", victim.resources);
    io.required("created", victim.created);
    io.required("reason", victim.reason, left_out_json);
    io.optional("workload", victim.workload, named<NameKind::value>);
    io.optional("flavor", victim.flavor, named<NameKind::flavor>);
    io.optional("project_name", victim.project_name, cleared);
    io.optional("held_by", victim.held_by, named<NameKind::consumer>);
});

constexpr auto spared_fields = fields_of<SparedServer>([](auto& io, auto& spared) {
    io.required("server", spared.server, named<NameKind::consumer>);
    io.required("name", spared.name, named<NameKind::server>);
    io.required("project", spared.project, named<NameKind::project>);
    io.required("resources", spared.resources);
    io.required("created", spared.created);
    io.required("reason", spared.reason, left_out_json);
    io.required("might_have_gone", spared.might_have_gone);
    io.optional("project_name", spared.project_name, cleared);
});

constexpr auto release_fields = fields_of<PendingRelease>([](auto& io, auto& release) {
    io.required("server", release.server, named<NameKind::consumer>);
    io.required("name", release.name, named<NameKind::server>);
    io.required("reason", release.reason, left_out_json);
    io.optional("unfinished", release.unfinished);
    io.given(release.unfinished, "project", release.project, named<NameKind::project>);
    io.given(release.unfinished, "host", release.host, named<NameKind::machine>);
});

constexpr auto host_plan_fields = fields_of<HostPlan>([](auto& io, auto& host) {
    io.required("host", host.host, named<NameKind::provider>);
    io.required("host_name", host.host_name, named<NameKind::machine>);
    io.required("slots", host.slots);
    io.required("slots_ready", host.slots_ready);
    io.required("victims", host.victims, victim_fields);
    io.required("pending_releases", host.pending_releases, release_fields);
    io.required("free_before", host.free_before);
    io.required("free_after", host.free_after);
    io.required("reason", host.reason, left_out_json);
    io.optional("slot", host.slot, strict_json);
    io.given(host.spared_in_all.has_value(), "spared", host.spared, spared_fields);
    io.optional("spared_in_all", host.spared_in_all);
});

constexpr auto rejection_fields = fields_of<Rejection>([](auto& io, auto& rejection) {
    io.required("host", rejection.host);
    io.required("host_name", rejection.host_name);
    io.required("code", rejection.code, JsonWords{rejection_code_from});
    io.required("reason", rejection.reason);
});

constexpr auto rejection_count_fields = fields_of<RejectionCount>([](auto& io, auto& count) {
    io.required("code", count.code, JsonWords{rejection_code_from});
    io.required("hosts", count.hosts);
    io.required("sample", count.sample, cleared);
});

constexpr auto plan_fields = fields_of<Plan>([](auto& io, auto& plan) {
    io.constant("version", json_version);
    io.constant("decision", "plan");
    io.required("request", plan.request, named<NameKind::request>);
    io.required("strategy", plan.strategy, no_name);
    io.required("slots_requested", plan.slots_requested);
    io.required("slots_wanted", plan.slots_wanted);
    io.required("slots_freed", plan.slots_freed);
    io.required("hosts", plan.hosts, host_plan_fields);
    io.required("rejected", plan.rejected, cleared_as(rejection_fields));
    io.required("rejected_counts", plan.rejected_counts, rejection_count_fields);
    io.required("note", plan.note, cleared);
});

constexpr auto nothing_fields = fields_of<NothingToDo>([](auto& io, auto& nothing) {
    io.constant("version", json_version);
    io.constant("decision", "nothing-to-do");
    io.required("reason", nothing.reason, left_out_json);
    io.required("hosts", nothing.hosts, host_plan_fields);
    io.required("room", nothing.room, JsonWords{res_type_from});
});

constexpr auto not_enough_fields = fields_of<NotEnough>([](auto& io, auto& not_enough) {
    io.constant("version", json_version);
    io.constant("decision", "not-enough");
    io.required("slots_requested", not_enough.slots_requested);
    io.required("slots_possible", not_enough.slots_possible);
    io.required("reason", not_enough.reason, left_out_json);
    io.required("rejected", not_enough.rejected, cleared_as(rejection_fields));
    io.required("rejected_counts", not_enough.rejected_counts, rejection_count_fields);
    io.lenient("safeguard", not_enough.safeguard, no_name);
});

constexpr auto refused_fields = fields_of<Refused>([](auto& io, auto& refused) {
    io.constant("version", json_version);
    io.constant("decision", "refused");
    io.required("reason", refused.reason, left_out_json);
});

struct DecisionJson {
    json operator()(const Plan& plan) const { return plan_fields.write(plan); }
    json operator()(const NothingToDo& nothing) const { return nothing_fields.write(nothing); }
    json operator()(const NotEnough& not_enough) const {
        return not_enough_fields.write(not_enough);
    }
    json operator()(const Refused& refused) const { return refused_fields.write(refused); }
};

}  // namespace

json to_json(const Decision& decision) {
    return std::visit(DecisionJson{}, decision);
}

Decision decision_in(const JsonPlace& in) {
    check_json_version(in);
    const JsonPlace kind = in["decision"];
    if (kind.text() == "plan") return plan_fields.get(in);
    if (kind.text() == "nothing-to-do") return nothing_fields.get(in);
    if (kind.text() == "not-enough") return not_enough_fields.get(in);
    if (kind.text() == "refused") return refused_fields.get(in);
    kind.fail_unknown_word(kind.text());
}

std::optional<RejectionCode> rejection_code_from(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(RejectionCode::ranked_lower); ++i)
        if (const auto code = static_cast<RejectionCode>(i); to_string(code) == text) return code;
    return std::nullopt;
}

void NameChanger::change(Decision& decision) const {
    NameWalk walk(*this);
    if (auto* const plan = std::get_if<Plan>(&decision))
        plan_fields.each(walk, *plan);
    else if (auto* const nothing = std::get_if<NothingToDo>(&decision))
        nothing_fields.each(walk, *nothing);
    else if (auto* const not_enough = std::get_if<NotEnough>(&decision))
        not_enough_fields.each(walk, *not_enough);
    else
        refused_fields.each(walk, std::get<Refused>(decision));
}

Result<Decision> decision_from_json(const json& document) {
    return read_json(document, "decision", &decision_in);
}

}  // namespace reaper::report
