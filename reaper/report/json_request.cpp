// The JSON of a request, there and back. Strict: another shape is an error with its place, never a
// guess.
#include "reaper/json/fields.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_values.hpp"
#include "reaper/report/name_walk.hpp"

namespace reaper::report {
namespace {

constexpr auto shape_fields = fields_of<SlotShape>([](auto& io, auto& shape) {
    io.required("resources", shape.resources, strict_json);
    io.required("required_traits", shape.required_traits, strict_json);
    io.required("forbidden_traits", shape.forbidden_traits, strict_json);
});

constexpr auto group_fields = fields_of<RequestGroup>([](auto& io, auto& group) {
    io.required("suffix", group.suffix, no_name_as(strict_json));
    io.required("resources", group.resources, strict_json);
    io.required("required_traits", group.required_traits, strict_json);
    io.required("forbidden_traits", group.forbidden_traits, strict_json);
    io.optional("aggregates", group.aggregates, named<NameKind::aggregate>);
    io.optional("in_tree", group.in_tree, named<NameKind::provider>);
});

constexpr auto server_group_fields = fields_of<ServerGroup>([](auto& io, auto& group) {
    io.required("id", group.id, named<NameKind::aggregate>);
    io.required("name", group.name, named<NameKind::aggregate>);
    io.required("policy", group.policy, no_name);
    io.required("max_on_a_host", group.max_on_a_host);
    io.required("members", group.members, named<NameKind::consumer, StrictJson>);
});

/// Null for none.
struct ServerGroupJson {
    static nlohmann::json write(const ServerGroup& group) {
        return group == ServerGroup{} ? nlohmann::json(nullptr) : server_group_fields.write(group);
    }
    static void read(const JsonPlace& in, ServerGroup& group) {
        if (!in.is_null()) server_group_fields.read(in, group);
    }
    static void each(auto& io, ServerGroup& group) { server_group_fields.each(io, group); }
};

constexpr auto placement_fields = fields_of<PlacementConstraints>([](auto& io, auto& placement) {
    io.required("group", placement.group, ServerGroupJson{});
    io.required("only_hosts", placement.only_hosts, named<NameKind::machine>);
    io.required("why_only", placement.why_only, cleared);
    io.optional("only_offered", placement.only_offered);
    io.required("aggregates", placement.aggregates, named<NameKind::aggregate>);
    io.required("with", placement.with, named<NameKind::consumer, StrictJson>);
    io.required("apart_from", placement.apart_from, named<NameKind::consumer, StrictJson>);
});

constexpr auto approval_fields = fields_of<Approval>([](auto& io, auto& approval) {
    io.required("by", approval.by, left_out_json);
    io.required("planned_at", approval.planned_at);
    io.required("victims", approval.victims, named<NameKind::consumer, StrictJson>);
});

constexpr auto corrected_fields = fields_of<CorrectedServer>([](auto& io, auto& corrected) {
    io.required("server", corrected.server, named<NameKind::consumer>);
    io.required("reason", corrected.reason, left_out_json);
});

constexpr auto correction_fields = fields_of<Correction>([](auto& io, auto& correction) {
    io.required("host", correction.host, named<NameKind::provider>);
    io.required("host_name", correction.host_name, named<NameKind::machine>);
    io.required("servers", correction.servers, corrected_fields);
});

/// It is written where it is true, and what is written counts as that.
constexpr JsonCoder<bool> true_if_there{[](const bool& value) { return nlohmann::json(value); },
                                        [](const JsonPlace&) { return true; }};

constexpr auto request_fields = fields_of<Request>([](auto& io, auto& request) {
    io.constant("version", json_version);
    io.required("id", request.id, named<NameKind::request>);
    io.required("operation", request.operation, JsonWords{operation_from});
    io.required("project", request.project, named<NameKind::project>);
    io.optional("project_name", request.project_name, cleared);
    io.required("resources", request.resources);
    io.required("slots", request.slots);
    io.required("requesters", request.requesters, named<NameKind::consumer>);
    io.optional("requester_names", request.requester_names, cleared);
    io.required("availability_zone", request.availability_zone, named<NameKind::zone>);
    io.required("required_traits", request.required_traits, strict_json);
    io.required("forbidden_traits", request.forbidden_traits, strict_json);
    io.required("excluded_hosts", request.excluded_hosts, keyed<NameKind::machine>(left_out_json));
    io.required("sent_at", request.sent_at);
    io.required("flavor_extra_specs", request.flavor_extra_specs, SpecsJson{});
    io.required("res_type", request.phases, JsonWords{phases_from});
    io.required("res_type_because", request.phases_because, LeftOutJson{{}, false});
    io.optional("flavor", request.flavor, named<NameKind::flavor>);
    io.optional("image", request.image, named<NameKind::image>);
    io.required("source", request.source, JsonWords{request_source_from});
    io.optional("deadline", request.deadline);
    io.optional("from_host", request.from_host, named<NameKind::machine>);
    io.optional("runs_revocable", request.runs_revocable, true_if_there);
    io.optional("groups", request.groups, group_fields);
    io.given(!request.groups.empty() && request.group_policy, "group_policy", request.group_policy,
             JsonWords{group_policy_from});
    io.optional("placement", request.placement, placement_fields);
    io.optional("root_required_traits", request.root_required_traits, strict_json);
    io.optional("fallback", request.fallback, shape_fields);
    io.optional("approved", request.approved, approval_fields);
    io.optional("correction", request.correction, correction_fields);
});

}  // namespace

void check_json_version(const JsonPlace& in) {
    const Amount version = in["version"].integer();
    if (version != json_version)
        in.fail("version " + std::to_string(version) + ", not " + std::to_string(json_version));
}

nlohmann::json to_json(const Request& request) {
    return request_fields.write(request);
}

Request request_in(const JsonPlace& in) {
    check_json_version(in);
    return request_fields.get(in);
}

void NameChanger::change(Request& request) const {
    NameWalk walk(*this);
    request_fields.each(walk, request);
    // These are in no document.
    request.placement.first_hosts = all_of(NameKind::machine, request.placement.first_hosts);
    request.role = Role{};
    request.lent_by.clear();
    request.victims_among = all_of(NameKind::consumer, request.victims_among);
}

Result<Request> request_from_json(const nlohmann::json& document) {
    return read_json(document, "request", &request_in);
}

}  // namespace reaper::report
