#include "reaper/report/json.hpp"

#include <algorithm>

#include "reaper/json/fields.hpp"
#include "reaper/model/notice.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/host_label.hpp"
#include "reaper/report/name_changer.hpp"

namespace reaper::report {
namespace {

using nlohmann::json;

}  // namespace

json text_or_null(const std::optional<std::string>& text) {
    return text ? json(*text) : json(nullptr);
}

Room room_of(const Host& host) {
    Room room;
    for (const auto& provider : host.providers) {
        for (const auto& [resource_class, inventory] : provider.inventories)
            room.capacity.add(resource_class, provider.capacity(resource_class, inventory));
        room.used += provider.used;
    }
    return room;
}

json to_json(const Resources& resources) {
    return PlainJson::write(resources);
}

json to_json(const Server& server) {
    json object{{"id", server.id.str()},
                {"name", server.name},
                {"project", server.project.str()},
                {"status", server.status},
                {"task_state", server.task_state},
                {"locked", server.locked},
                {"created", iso_time(server.created)},
                {"flavor", server.flavor_name},
                {"resources", to_json(server.resources())},
                {"revocable", server.revocable()},
                {"revocable_because", text_or_null(server.revocable_because)},
                {"revocable_by", server.revocable() ? json(server.revocable_by) : json(nullptr)}};
    if (!server.protected_because.empty()) object["protected"] = server.protected_because;
    if (const auto end = server.metadata.find(evict_at_key); end != server.metadata.end())
        object["evict_at"] = end->second;
    return object;
}

json to_json(const Server& server, const ProjectNames& names) {
    json object = to_json(server);
    const std::string name = name_of_project(names, server.project);
    if (!name.empty()) object["project_name"] = name;
    return object;
}

namespace {

json wrapped_host(const Host& host, ResType type, const ResourceClasses& revocable_classes) {
    const auto room = wrap(host, type, revocable_classes);
    if (!room) return nullptr;
    return {{"total", to_json(room->total)}, {"free", to_json(room->free)}};
}

json oversubscribed_json(const OversubscribedRooms& rooms, bool of_all) {
    json object = json::object();
    for (const auto& [name, room] : rooms) {
        json one = {{"published", room.published}, {"used", room.used}, {"free", room.free}};
        one["wanted"] = room.wanted ? json(*room.wanted) : json(nullptr);
        if (of_all) one["hosts"] = room.hosts;
        object[name.str()] = std::move(one);
    }
    return object;
}

json servers_of(const Host& host, const ProjectNames& names) {
    json servers = json::array();
    for (const Server& server : host.servers) servers.push_back(to_json(server, names));
    return servers;
}

json host_view(const Host& host, const ResourceClasses& revocable_classes,
               const EstimatedRoom& estimated, const ProjectNames& names) {
    const Room room = room_of(host);
    return {{"id", host.id.str()},
            {"name", host.name},
            {"service_host", host.service_host},
            {"enabled", host.enabled},
            {"up", host.up},
            {"why_unavailable", host.why_unavailable},
            {"availability_zone", host.availability_zone},
            {"aggregates", host.aggregates},
            {"res_type", std::string{to_string(label_of(host, revocable_classes))}},
            {"capacity", to_json(room.capacity)},
            {"used", to_json(room.used)},
            {"free", to_json(room.capacity - room.used)},
            {"regular_room", wrapped_host(host, ResType::regular, revocable_classes)},
            {"revocable_room", wrapped_host(host, ResType::revocable, revocable_classes)},
            {"oversubscribed",
             oversubscribed_json(oversubscribed_room(host, revocable_classes, estimated), false)},
            {"servers", servers_of(host, names)}};
}

}  // namespace

json to_json(const OversubscribedRooms& rooms) {
    return oversubscribed_json(rooms, true);
}

json to_json(const Snapshot& snapshot, const EstimatedRoom& estimated) {
    json hosts = json::array();
    for (const auto& host : snapshot.hosts)
        hosts.push_back(
            host_view(host, snapshot.revocable_classes, estimated, snapshot.project_names));
    json labels = json::object();
    for (const auto& [label, count] : count_labels(snapshot))
        labels[std::string{to_string(label)}] = count;
    return {{"version", json_version},
            {"taken_at", iso_time(snapshot.taken_at)},
            {"hosts", std::move(hosts)},
            {"res_types", std::move(labels)},
            {"oversubscribed", to_json(oversubscribed_room(snapshot, estimated))},
            {"remarks", json(snapshot.remarks)}};
}

namespace {

void append_unit(std::string& text, char32_t unit) {
    constexpr std::string_view hex = "0123456789abcdef";
    text += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) text += hex[(unit >> shift) & 0x0fU];
}

/// JSON escapes what is below U+0020 alone; here, whatever a terminal obeys or does not show.
/// Outside of texts, a document has no such character.
std::string all_visible(std::string document) {
    const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x7f; };
    if (std::ranges::all_of(document, plain)) return document;
    std::string visible;
    for (std::string_view rest = document; !rest.empty();) {
        const auto [value, size] = first_character(rest);
        if (value < 0x7f || !is_invisible(value)) {
            visible += rest.substr(0, size);
        } else if (value < 0x10000) {
            append_unit(visible, value);
        } else {
            append_unit(visible, 0xd800 + ((value - 0x10000) >> 10U));
            append_unit(visible, 0xdc00 + ((value - 0x10000) & 0x3ffU));
        }
        rest.remove_prefix(size);
    }
    return visible;
}

}  // namespace

std::string dump(const json& document, int indent) {
    return all_visible(document.dump(indent, ' ', false, json::error_handler_t::replace));
}

// The JSON of a decision, there and back.

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
    io.optional("launched", victim.launched);
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
    io.optional("for_search", not_enough.for_search);
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

// What the journal reports, to JSON and back: records, messages, victims, events, totals.

namespace {

using nlohmann::json;

constexpr JsonCoder<Request> request_coder{to_json, request_in};
constexpr JsonCoder<Decision> decision_coder{to_json, decision_in};

/// Null for none.
constexpr JsonCoder<std::string> word_or_null{
    [](const std::string& word) { return word.empty() ? json(nullptr) : json(word); },
    [](const JsonPlace& in) { return in.text(); }};

/// How often there was each kind, by its name.
template <class Kind>
class WordCounts {
public:
    constexpr explicit WordCounts(std::optional<Kind> (*from)(std::string_view)) : from_(from) {}

    static json write(const std::map<Kind, std::int64_t>& counts) {
        return json_of_value(counts, PlainJson{});
    }
    void read(const JsonPlace& in, std::map<Kind, std::int64_t>& counts) const {
        in.each_member([&](const std::string& name, const JsonPlace& count) {
            const std::optional<Kind> kind = from_(name);
            if (!kind) count.fail_unknown_word(name);
            counts[*kind] = count.amount();
        });
    }

private:
    std::optional<Kind> (*from_)(std::string_view);
};

constexpr auto outcome_fields = fields_of<Outcome>([](auto& io, auto& outcome) {
    io.required("kind", outcome.kind, JsonWords{outcome_kind_from});
    io.required("reason", outcome.reason);
    io.required("at", outcome.at);
    io.lenient("safeguard", outcome.safeguard, word_or_null);
});

constexpr auto freed_room_fields = fields_of<FreedRoomResult>([](auto& io, auto& freed_room) {
    io.required("kind", freed_room.kind, JsonWords{freed_room_result_kind_from});
    io.required("reason", freed_room.reason);
    io.required("untaken", freed_room.untaken);
    io.required("at", freed_room.at);
});

constexpr auto step_fields = fields_of<StepEntry>([](auto& io, auto& step) {
    io.required("server", step.server);
    io.required("step", step.step, JsonWords{step_from});
    io.required("detail", step.detail);
    io.required("at", step.at);
});

constexpr auto plan_entry_fields = fields_of<PlanEntry>([](auto& io, auto& plan) {
    io.required("round", plan.round);
    io.required("at", plan.at);
    io.required("decision", plan.decision, decision_coder);
});

constexpr auto record_fields = fields_of<RequestRecord>([](auto& io, auto& record) {
    io.constant("version", json_version);
    io.required("request", record.request, request_coder);
    io.required("received_at", record.received_at);
    io.required("plans", record.plans, plan_entry_fields);
    io.required("steps", record.steps, step_fields);
    io.lenient("outcome", record.outcome, outcome_fields);
    io.lenient("freed_room", record.freed_room, freed_room_fields);
});

constexpr auto summary_fields = fields_of<RequestSummary>([](auto& io, auto& line) {
    io.required("request", line.request, request_coder);
    io.required("received_at", line.received_at);
    io.required("victims", line.victims);
    io.required("planned_victims", line.planned);
    io.lenient("outcome", line.outcome, outcome_fields);
    io.lenient("freed_room", line.freed_room, freed_room_fields);
});

constexpr auto message_fields = fields_of<MessageEntry>([](auto& io, auto& message) {
    io.required("message_id", message.message_id);
    io.required("event_type", message.event_type);
    io.required("request", message.request);
    io.required("verdict", message.verdict);
    io.required("reason", message.reason);
    io.required("at", message.at);
});

constexpr auto victim_entry_fields = fields_of<VictimEntry>([](auto& io, auto& victim) {
    io.required("at", victim.at);
    io.required("request", victim.request);
    io.required("server", victim.server);
    io.required("name", victim.name);
    io.required("project", victim.project);
    io.required("host", victim.host);
    io.optional("project_name", victim.project_name);
});

constexpr auto event_fields = fields_of<JournalEvent>([](auto& io, auto& event) {
    io.required("kind", event.kind);
    io.required("reason", event.reason);
    io.required("at", event.at);
});

constexpr auto hold_fields = fields_of<InventoryHold>([](auto& io, auto& hold) {
    io.required("provider", hold.provider);
    io.required("class", hold.resource_class);
    io.required("host", hold.host_name);
    io.required("reserved_before", hold.before);
    io.required("reserved", hold.set);
    io.required("request", hold.request);
    io.required("since", hold.since);
});

constexpr auto totals_fields = fields_of<JournalTotals>([](auto& io, auto& totals) {
    io.constant("version", json_version);
    io.required("outcomes", totals.outcomes, WordCounts{outcome_kind_from});
    io.required("under_way", totals.under_way, strict_json);
    io.required("victims", totals.victims, strict_json);
    io.required("freed_room", totals.freed_rooms, WordCounts{freed_room_result_kind_from});
    io.required("safeguards", totals.safeguards, strict_json);
    io.required("messages", totals.messages, strict_json);
    io.required("events", totals.events, strict_json);
});

}  // namespace

json list_of(const char* name, json array) {
    return {{"version", json_version}, {name, std::move(array)}};
}

json to_json(const Outcome& outcome) {
    return outcome_fields.write(outcome);
}

json to_json(const FreedRoomResult& freed_room) {
    return freed_room_fields.write(freed_room);
}

json to_json(const StepEntry& step) {
    return step_fields.write(step);
}

json to_json(const PlanEntry& plan) {
    return plan_entry_fields.write(plan);
}

json to_json(const RequestRecord& record) {
    return record_fields.write(record);
}

json to_json(const RequestSummary& line) {
    return summary_fields.write(line);
}

json to_json(const MessageEntry& message) {
    return message_fields.write(message);
}

json to_json(const VictimEntry& victim) {
    return victim_entry_fields.write(victim);
}

json to_json(const JournalEvent& event) {
    return event_fields.write(event);
}

json to_json(const InventoryHold& hold) {
    return hold_fields.write(hold);
}

json to_json(const JournalTotals& totals) {
    return totals_fields.write(totals);
}

PlanEntry plan_entry_in(const JsonPlace& in) {
    return plan_entry_fields.get(in);
}

Outcome outcome_in(const JsonPlace& in) {
    return outcome_fields.get(in);
}

FreedRoomResult freed_room_in(const JsonPlace& in) {
    return freed_room_fields.get(in);
}

Result<RequestRecord> record_from_json(const json& document) {
    return read_as(document, "record", record_fields);
}

Result<std::vector<RequestSummary>> requests_from_json(const json& document) {
    return read_list_as(document, "list of requests", summary_fields);
}

Result<std::vector<VictimEntry>> victims_from_json(const json& document) {
    return read_list_as(document, "list of victims", victim_entry_fields);
}

Result<std::vector<MessageEntry>> messages_from_json(const json& document) {
    return read_list_as(document, "list of messages", message_fields);
}

Result<std::vector<JournalEvent>> events_from_json(const json& document) {
    return read_list_as(document, "list of events", event_fields);
}

Result<JournalTotals> totals_from_json(const json& document) {
    return read_as(document, "journal's totals", totals_fields);
}

Result<InventoryHold> hold_from_json(const json& document) {
    return read_as(document, "hold", hold_fields);
}

// The JSON of a request, there and back. Strict: another shape is an error with its place, never a
// guess.

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
    io.optional("without_slow_hosts", placement.without_slow_hosts);
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
    request.migrations = all_of(NameKind::consumer, request.migrations);
    request.victims_among = all_of(NameKind::consumer, request.victims_among);
}

Result<Request> request_from_json(const nlohmann::json& document) {
    return read_json(document, "request", &request_in);
}

}  // namespace reaper::report
