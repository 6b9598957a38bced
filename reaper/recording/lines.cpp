#include "reaper/recording/lines.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "reaper/json/fields.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::recording {
namespace {

using report::NameChanger;
using report::NameKind;

/// Of what is in force, the newest victims that are recorded.
constexpr std::size_t max_history = 20'000;

}  // namespace

Seen seen_by(const DecisionSight& sight, bool whole) {
    Seen seen;
    seen.request = sight.request;
    seen.at = sight.now;
    seen.whole = whole;
    seen.ledger = Ledger(sight.ledger.evictions(), sight.ledger.promises());
    seen.given_up = sight.ledger.all_given_up();
    seen.skipped = sight.skipped;
    seen.reserved = !sight.request.role.empty() || sight.request.borrows ||
                    !sight.ledger.reserved().empty() || !sight.request.victims_among.empty();
    const Safeguards& safeguards = sight.safeguards;
    safeguards.history().each_since(
        TimePoint{}, [&](const PastVictim& victim) { seen.history.push_back(victim); });
    if (seen.history.size() > max_history)
        seen.history.erase(seen.history.begin(),
                           seen.history.end() - static_cast<std::ptrdiff_t>(max_history));
    for (const auto& [host, why] : safeguards.passed_over(sight.now)) seen.cooling.insert(host);
    if (auto held = safeguards.why_not_now(sight.request, sight.now)) {
        seen.held = held->safeguard;
        seen.held_because = std::move(held->reason);
    }
    seen.no_move = safeguards.why_no_move(sight.request);
    seen.several_cells = safeguards.several_cells();
    return seen;
}

config::Policy anonymous_policy(const config::Policy& policy, const NameChanger& changer) {
    config::Policy changed = policy;
    std::erase_if(changed.taggers, [](const config::Plugin& tagger) {
        return tagger.name != "project" && tagger.name != "resource";
    });
    for (config::Plugin& tagger : changed.taggers) {
        const auto tag = tagger.parameters.find("tag");
        if (tag == tagger.parameters.end()) continue;
        const auto* const name = std::get_if<std::string>(&tag->second);
        if (name != nullptr && *name != "preemptible")
            tag->second = changer.of(NameKind::project_tag, *name);
    }
    changed.scheduler.cells.clear();
    std::vector<std::string> watched;
    for (const std::string& shard : policy.scheduler.watched_aggregates) {
        std::string names;
        for (std::size_t at = 0; at <= shard.size();) {
            const std::size_t end = std::min(shard.find('|', at), shard.size());
            names += (names.empty() ? "" : "|") +
                     changer.of(NameKind::aggregate, shard.substr(at, end - at));
            at = end + 1;
        }
        watched.push_back(names);
    }
    changed.scheduler.watched_aggregates = watched;
    ProtectSettings& protect = changed.safeguards.protect;
    protect.tags = changer.all_of(NameKind::tag, protect.tags);
    protect.metadata = changer.all_of(NameKind::key, protect.metadata);
    protect.projects = changer.all_of(NameKind::project, protect.projects);
    protect.project_ids.clear();
    protect.flavors = changer.all_of(NameKind::flavor, protect.flavors);
    protect.aggregates = changer.all_of(NameKind::aggregate, protect.aggregates);
    auto& workload = changed.safeguards.thrash.workload_key;
    workload = changer.of(NameKind::key, workload);
    changed.strategy.parameters.erase("priorities");  // they name projects
    changed.notice.periods.clear();
    changed.notice.owner_key = changer.of(NameKind::key, changed.notice.owner_key);
    changed.shelve.servers.clear();
    changed.shelve.owner_key = changer.of(NameKind::key, changed.shelve.owner_key);
    return changed;
}

// The lines of a recording in JSON, there and back. No exception leaves them.

namespace {

using nlohmann::json;
using report::changed_as;
using report::cleared;
using report::keyed;
using report::left_out_json;
using report::NameChanger;
using report::named;
using report::NameKind;
using report::no_name;

/// What `report` reads has errors as values.
template <auto read>
auto unwrapped(const JsonPlace& in) {
    return report::part_in(in, in.value(), read);
}

constexpr auto request_coder =
    changed_as(JsonCoder<Request>{report::to_json, unwrapped<report::request_from_json>});
constexpr auto decision_coder =
    changed_as(JsonCoder<Decision>{report::to_json, unwrapped<report::decision_from_json>});
constexpr auto host_coder =
    changed_as(JsonCoder<Host>{report::host_json, unwrapped<report::host_from_json>});
constexpr auto ledger_coder =
    changed_as(JsonCoder<Ledger>{report::ledger_json, unwrapped<report::ledger_from_json>});
constexpr auto tag_data_coder =
    changed_as(JsonCoder<TagData>{report::tag_data_json, unwrapped<report::tag_data_from_json>});

/// Anonymous without its reason, which may say anything.
struct OutcomeJson {
    static json write(const Outcome& outcome) { return report::to_json(outcome); }
    static void read(const JsonPlace& in, Outcome& outcome) { outcome = report::outcome_in(in); }
    static void rename(const NameChanger& /*changer*/, Outcome& outcome) { outcome.reason.clear(); }
};

constexpr auto begin_fields = fields_of<Begin>([](auto& io, auto& begin) {
    io.constant("line", "begin");
    io.constant("format", "reaper-recording");
    io.constant("version", recording_version);
    io.required("at", begin.at);
    io.required("run", begin.run);
    io.required("segment", begin.segment);
    io.required("follows", begin.follows);
    io.required("anonymous", begin.anonymous);
    io.required("dry_run", begin.dry_run);
    io.required("reaper", begin.version);
});

constexpr auto policy_fields = fields_of<PolicyLine>([](auto& io, auto& line) {
    io.constant("line", "policy");
    io.required("configuration", line.configuration);
    io.required("project_ids", line.project_ids);
    io.required("revocable_classes", line.revocable_classes, strict_json);
    io.optional("protected_servers", line.protected_servers);
});

constexpr auto tags_fields = fields_of<TagsLine>([](auto& io, auto& line) {
    io.constant("line", "tags");
    io.required("facts", line.tag_data, tag_data_coder);
});

constexpr auto host_fields = fields_of<HostLine>([](auto& io, auto& line) {
    io.constant("line", "host");
    io.required("host", line.host, host_coder);
    io.optional("placement_aggregates", line.host.placement_aggregates, no_name);  // by the host
    io.optional("estimated", line.host.estimated);
});

constexpr auto gone_fields = fields_of<GoneLine>([](auto& io, auto& line) {
    io.constant("line", "gone");
    io.required("host", line.host, named<NameKind::provider, StrictJson>);
});

constexpr auto past_victim_fields = fields_of<PastVictim>([](auto& io, auto& victim) {
    io.required("at", victim.at);
    io.required("request", victim.request, named<NameKind::request>);
    io.required("server", victim.server, named<NameKind::consumer, StrictJson>);
    io.required("name", victim.name, named<NameKind::server>);
    io.required("project", victim.project, named<NameKind::project>);
    io.required("host", victim.host, named<NameKind::machine>);
    io.optional("workload", victim.workload, named<NameKind::value>);
    io.optional("for_project", victim.requester, named<NameKind::project>);
    io.optional("launched", victim.launched);
});

/// What held it back.
constexpr auto held_fields = fields_of<Seen>([](auto& io, auto& seen) {
    io.lenient("safeguard", seen.held, no_name);
    io.lenient("reason", seen.held_because, cleared);
});

constexpr auto seen_fields = fields_of<Seen>([](auto& io, auto& seen) {
    io.constant("line", "seen");
    io.required("at", seen.at);
    io.required("request", seen.request, request_coder);
    io.optional("res_type_traits", seen.request.res_type_traits, strict_json);
    io.required("whole", seen.whole);
    io.optional("reserved", seen.reserved);
    io.required("ledger", seen.ledger, ledger_coder);
    io.optional("given_up", seen.given_up, named<NameKind::consumer, StrictJson>);
    io.optional("skipped", seen.skipped, keyed<NameKind::consumer>(left_out_json));
    io.optional("history", seen.history, past_victim_fields);
    io.optional("cooling", seen.cooling, named<NameKind::provider, StrictJson>);
    io.given(!seen.held.empty(), "held", seen, held_fields);
    io.optional("no_move", seen.no_move, left_out_json);
    io.optional("several_cells", seen.several_cells);
});

constexpr auto request_fields = fields_of<RequestLine>([](auto& io, auto& line) {
    io.constant("line", "request");
    io.required("request", line.request, request_coder);
    io.required("at", line.at);
});

constexpr auto plan_fields = fields_of<PlanLine>([](auto& io, auto& line) {
    io.constant("line", "plan");
    io.required("request", line.request, named<NameKind::request, StrictJson>);
    io.required("round", line.plan.round);
    io.required("at", line.plan.at);
    io.required("decision", line.plan.decision, decision_coder);
});

constexpr auto step_fields = fields_of<StepEntry>([](auto& io, auto& step) {
    io.required("server", step.server, named<NameKind::consumer, StrictJson>);
    io.required("step", step.step, JsonWords{step_from});
    io.required("detail", step.detail, cleared);
    io.required("at", step.at);
});

constexpr auto step_line_fields = fields_of<StepLine>([](auto& io, auto& line) {
    io.constant("line", "step");
    io.required("step", line.step, step_fields);
    io.required("request", line.request, named<NameKind::request, StrictJson>);
});

constexpr auto outcome_fields = fields_of<OutcomeLine>([](auto& io, auto& line) {
    io.constant("line", "outcome");
    io.required("outcome", line.outcome, OutcomeJson{});
    io.required("request", line.request, named<NameKind::request, StrictJson>);
});

constexpr auto freed_room_fields = fields_of<FreedRoomResult>([](auto& io, auto& result) {
    io.required("kind", result.kind, JsonWords{freed_room_result_kind_from});
    io.required("reason", result.reason, cleared);
    io.lenient("untaken", result.untaken, named<NameKind::provider, StrictJson>);
    io.required("at", result.at);
});

constexpr auto freed_fields = fields_of<FreedLine>([](auto& io, auto& line) {
    io.constant("line", "freed");
    io.required("freed_room", line.result, freed_room_fields);
    io.required("request", line.request, named<NameKind::request, StrictJson>);
});

/// Each kind by its list; what a recording says of itself and of its policy has no names left.
struct LineWriter {
    const NameChanger* changer;

    json operator()(const OtherLine&) const { return json::object(); }
    json operator()(const Begin& line) const { return begin_fields.write(line); }
    json operator()(const PolicyLine& line) const { return policy_fields.write(line); }
    json operator()(const WholeLine&) const { return {{"line", "whole"}}; }
    json operator()(TagsLine& line) const { return by(tags_fields, line); }
    json operator()(HostLine& line) const { return by(host_fields, line); }
    json operator()(GoneLine& line) const { return by(gone_fields, line); }
    json operator()(const std::shared_ptr<const Seen>& seen) const {
        Seen line = *seen;
        return by(seen_fields, line);
    }
    json operator()(RequestLine& line) const { return by(request_fields, line); }
    json operator()(PlanLine& line) const { return by(plan_fields, line); }
    json operator()(StepLine& line) const { return by(step_line_fields, line); }
    json operator()(OutcomeLine& line) const { return by(outcome_fields, line); }
    json operator()(FreedLine& line) const { return by(freed_fields, line); }

    json by(const auto& fields, auto& line) const {
        if (changer != nullptr) {
            report::NameWalk io(*changer);
            fields.each(io, line);
        }
        return fields.write(line);
    }
};

Line begin_of(const JsonPlace& in) {
    if (in["format"].text() != "reaper-recording")
        in.fail("does not belong to a recording of the reaper");
    if (in["version"].integer() != recording_version)
        in["version"].fail("this reaper reads " + std::to_string(recording_version));
    return begin_fields.get(in);
}

Line read(std::string_view text) {
    const json document = parse_bounded(text);
    if (!document.is_object()) throw WrongJson{"is no JSON object"};
    const JsonPlace in(document);
    const std::string& kind = in["line"].text();
    if (kind == "begin") return begin_of(in);
    if (kind == "policy") return policy_fields.get(in);
    if (kind == "tags") return tags_fields.get(in);
    if (kind == "host") return host_fields.get(in);
    if (kind == "gone") return gone_fields.get(in);
    if (kind == "whole") return WholeLine{};
    if (kind == "seen") return std::make_shared<const Seen>(seen_fields.get(in));
    if (kind == "request") return request_fields.get(in);
    if (kind == "plan") return plan_fields.get(in);
    if (kind == "step") return step_line_fields.get(in);
    if (kind == "outcome") return outcome_fields.get(in);
    if (kind == "freed") return freed_fields.get(in);
    return OtherLine{};
}

}  // namespace

json line_json(Line line, const NameChanger* changer) {
    return std::visit(LineWriter{changer}, line);
}

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
