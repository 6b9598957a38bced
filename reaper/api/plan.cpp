#include "reaper/api/plan.hpp"

#include <utility>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/status.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/decision/room_oracle.hpp"
#include "reaper/json/json_place.hpp"
#include "reaper/json/json_text.hpp"
#include "reaper/model/named_records.hpp"
#include "reaper/model/resources_text.hpp"
#include "reaper/model/text.hpp"
#include "reaper/model/time.hpp"
#include "reaper/planner/culling.hpp"
#include "reaper/report/culling.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/json_status.hpp"
#include "reaper/requests/approved_plan.hpp"
#include "reaper/triggers/described_requests.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::api {
namespace {

constexpr std::size_t longest_name = 255;

Approval approval_in(const JsonPlace& in) {
    Approval approval;
    in.each_member([](const std::string& name, const JsonPlace& member) {
        if (name != "by" && name != "planned_at" && name != "victims")
            member.fail("there is no such field; there are: by, planned_at, victims");
    });
    approval.by = in["by"].text(longest_name);
    approval.planned_at = in["planned_at"].time();
    in["victims"].each([&](const JsonPlace& each) { approval.victims.emplace(each.id()); });
    return approval;
}

}  // namespace

Result<ApprovedBody> take_approval(const std::string& body) {
    nlohmann::json said = parse_bounded(body);
    if (!said.is_object() || !said.contains("approved")) return ApprovedBody{body, std::nullopt};
    if (const auto once = parse_body(body); !once) return once.error();
    try {
        const JsonPlace whole{said};
        const JsonPlace approved = whole["approved"];
        Approval approval = approval_in(approved);
        said.erase("approved");
        return ApprovedBody{said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                            std::move(approval)};
    } catch (const WrongJson& wrong) {
        return Error{Errc::bad_input, "the body: " + wrong.what};
    }
}

namespace {

using nlohmann::json;

std::string joined(const std::vector<std::string>& errors) {
    std::string all;
    for (const auto& error : errors) all += (all.empty() ? "" : "; ") + error;
    return all;
}

/// Why a plan that was approved would not be carried out; null if it would.
json stale_of(const Backend& backend, const DaemonView& view, const Request& wanted,
              const Decision& decision) {
    const Duration max_age = backend.daemon.status().approved_max_age;
    const auto name_of = [&view](const ServerId& server) {
        for (const Host* const host : view.cache.hosts())
            for (const Server& each : host->servers)
                if (each.id == server) return each.name;
        return std::string{};
    };
    return report::text_or_null(
        why_stale(*wanted.approved, decision, false, backend.clock->now(), max_age, name_of));
}

}  // namespace

json plan_remarks(const Backend& backend, const DaemonView& view) {
    json remarks = json::array();
    const DaemonStatus state = backend.daemon.status();
    if (state.no_help) remarks.push_back("nothing would be done now: " + *state.no_help);
    if (state.reservations_unknown)
        remarks.push_back("room that reservations would release is not counted: " +
                          *state.reservations_unknown);
    for (const std::string& remark : view.cache.remarks()) remarks.push_back(remark);
    return remarks;
}

Result<DescribedRequest> described_in(const std::string& body) {
    auto whole = take_approval(body);
    if (!whole) return whole.error();
    auto read = read_requests("the body", "[" + whole->body + "]");
    if (const auto* const errors = std::get_if<std::vector<std::string>>(&read))
        return Error{Errc::bad_input, joined(*errors)};
    auto& described = std::get<std::vector<DescribedRequest>>(read);
    if (described.size() != 1) return Error{Errc::bad_input, "the body: expected one request"};
    described.front().approved = std::move(whole->approved);
    return std::move(described.front());
}

Task<BuiltRequest> of_named_flavor(const Backend& backend, Request request, std::string written) {
    if (backend.compute == nullptr) co_return refuse(503, "this daemon knows no flavors");
    const auto view = backend.daemon.view();
    if (!view) co_return cloud_not_read();
    // What a flavor demands may be nowhere; what is demanded beside it is a mistake then.
    if (auto why = why_unknown(request, view->cache.index())) co_return refuse(404, *why);
    SchedulerRules rules = view->policy.scheduler;
    auto made = co_await with_flavor(*backend.compute, std::move(request), std::move(written),
                                     std::move(rules));
    if (!made) co_return refuse(503, "Nova can't be asked: " + made.error().what);
    if (const auto* const unknown = std::get_if<UnknownFlavor>(&*made))
        co_return refuse(404, "flavor: " + unknown->why);
    if (const auto* const refused = std::get_if<Refused>(&*made))
        co_return refuse(400, refused->reason);
    co_return std::get<Request>(std::move(*made));
}

static Result<DescribedRequest> plannable_in(const ApiRequest& request) {
    auto described = described_in(request.body);
    if (!described || described->slots <= most_servers_planned || request.access == Access::act)
        return described;
    return Error{Errc::bad_input, "slots: at most " + std::to_string(most_servers_planned) +
                                      " (more for who may act)"};
}

Task<HttpResponse> post_plan(const Backend& backend, ApiRequest request) {
    const Query query{request, {}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    if (backend.identity == nullptr || backend.clock == nullptr)
        co_return refuse(503, "this daemon makes no plans");
    const auto described = plannable_in(request);
    if (!described) co_return refuse(400, described.error().what);
    if (!backend.daemon.view()) co_return cloud_not_read();
    std::string written = described->project;
    auto project = co_await backend.identity->find_project(std::move(written));
    if (!project) co_return refuse(503, "Keystone can't be asked: " + project.error().what);
    if (!project->found)
        co_return refuse(project->several ? 400 : 404, "project: " + project->why_not);
    const TimePoint now = backend.clock->now();
    RequestId id{described->id.empty() ? "plan-" + std::to_string(now.time_since_epoch().count())
                                       : described->id};
    BuiltRequest built = request_of(*described, std::move(id), project->found->id, now);
    if (!described->flavor.empty())
        built = co_await of_named_flavor(backend, std::get<Request>(std::move(built)),
                                         described->flavor);
    if (auto* const refusal = std::get_if<HttpResponse>(&built)) co_return std::move(*refusal);
    Request wanted = std::get<Request>(std::move(built));
    const auto before = backend.daemon.view();
    if (!before) co_return cloud_not_read();
    add_names(before->cache.project_names(), wanted);
    if (auto why = why_unknown(wanted, before->cache.index())) co_return refuse(404, *why);
    Request asked = wanted;
    const auto decision = co_await backend.daemon.would_decide(std::move(asked));
    const auto view = backend.daemon.view();
    if (!decision || !view) co_return cloud_not_read();
    json body{{"request", report::to_json(wanted)},
              {"decision", report::to_json(*decision)},
              {"remarks", plan_remarks(backend, *view)},
              {"pause", report::json_of(note_in_force(backend))},
              {"no_help", report::text_or_null(backend.daemon.status().no_help)},
              {"taken_at", iso_time(view->cache.ages().oldest_read_at)}};
    if (wanted.approved && !wanted.approved->victims.empty())
        body["stale"] = stale_of(backend, *view, wanted, *decision);
    co_return answered(std::move(body));
}

namespace {

/// Hosts that are looked at before others run again: less than a millisecond.
constexpr std::size_t at_a_time = 25;

const char* const usage =
    "expected one of ?flavor=NAME and ?resources=CLASS:AMOUNT,... (example: "
    "resources=VCPU:1,MEMORY_MB:2048,DISK_GB:20)";

/// What one server takes; nothing if a flavor says it.
Result<Resources> resources_of(const Query& query) {
    const auto wrong = [](const std::string& why) { return Error{Errc::bad_input, why}; };
    if (query.wrong()) return wrong(*query.wrong() + "; " + usage);
    if (query.text("resources").empty() == query.text("flavor").empty()) return wrong(usage);
    if (query.text("resources").empty()) return Resources{};
    auto resources = parse_resources(query.text("resources"));
    if (!resources) return wrong("resources: " + resources.error().what);
    return resources;
}

}  // namespace

Task<HttpResponse> culling_candidates(const Backend& backend, ApiRequest request) {
    const Query query{request, {"flavor", "resources", "zone"}};
    auto resources = resources_of(query);
    if (!resources) co_return refuse(400, resources.error().what);
    Request wanted;
    wanted.resources = std::move(*resources);
    BuiltRequest built = wanted;
    std::string flavor = query.text("flavor");
    if (!flavor.empty())
        built = co_await of_named_flavor(backend, std::move(wanted), std::move(flavor));
    if (auto* const refusal = std::get_if<HttpResponse>(&built)) co_return std::move(*refusal);
    std::optional<CullingQuestion> question;
    std::vector<HostId> ids;
    TimePoint taken_at;
    if (const auto view = backend.daemon.view()) {
        question.emplace(std::get<Request>(std::move(built)), view->policy.scheduler,
                         view->cache.index(), view->ledger);
        if (auto why = why_unknown(question->request(), view->cache.index()))
            co_return refuse(404, *why);
        const std::string& zone = query.text("zone");
        auto no_zone = zone.empty() ? std::nullopt : why_unknown_zone(zone, view->cache.index());
        if (no_zone) co_return refuse(404, *no_zone);
        for (const Host* host : view->cache.hosts())
            if (zone.empty() || host->availability_zone == zone) ids.push_back(host->id);
        taken_at = view->cache.ages().oldest_read_at;
    } else {
        co_return cloud_not_read();
    }
    report::CullingJson json;
    const HostVisit add = [&](const Host& host, const DaemonView& view) {
        const auto found = question->candidate(host, view.ledger, view.policy.protection);
        if (found) json.add(*found);
    };
    const bool read = co_await visit_hosts(backend, ids, at_a_time, add);
    if (!read) co_return cloud_not_read();
    HttpResponse found;
    found.body = json.finish(question->request().resources, taken_at) + "\n";
    co_return found;
}

}  // namespace reaper::api
