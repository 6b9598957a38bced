#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reaper/api/answers.hpp"
#include "reaper/api/handlers.hpp"
#include "reaper/api/plan.hpp"
#include "reaper/cloud/cache/cloud_cache.hpp"
#include "reaper/model/time.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::api {
namespace {

using nlohmann::json;

/// In one answer: they come with all their servers.
constexpr std::size_t most_whole_hosts = 50;
constexpr std::size_t most_remarks = 1000;
/// Hosts that are written before others run again.
constexpr std::size_t whole_hosts_at_a_time = 10;

/// Those of the page, and one more if there is one. The marker's host may be gone.
std::vector<HostId> page_of_hosts(const CloudCache& cache, const PageAsked& page) {
    const HostId marker{page.marker};
    std::vector<HostId> ids;
    for (const Host* const host : cache.hosts()) {
        if (ids.size() > page.limit) break;
        if (page.marker.empty() || marker < host->id) ids.push_back(host->id);
    }
    return ids;
}

/// What is not of one host; remarks come with the first page.
json frame_of(const DaemonView& view, bool first) {
    json classes = json::array();
    for (const ResourceClass& name : view.policy.revocable_classes) classes.push_back(name.str());
    json remarks = json::array();
    for (const std::string& remark : view.cache.remarks())
        if (first && remarks.size() < most_remarks) remarks.push_back(remark);
    return {{"taken_at", iso_time(view.cache.ages().oldest_read_at)},
            {"revocable_classes", std::move(classes)},
            {"remarks", std::move(remarks)},
            {"ledger", first ? report::ledger_json(view.ledger) : json(nullptr)}};
}

/// Without what users wrote on their servers, and operators on their aggregates: it may be secret,
/// and is for those who may read the cloud itself.
json for_any_reader(json host) {
    host.erase("member_of");
    for (json& server : host.at("servers")) {
        server["metadata"] = json::object();
        server["tags"] = json::array();
        server["flavor_extra_specs"] = json::object();
    }
    return host;
}

}  // namespace

Task<HttpResponse> get_snapshot(const Backend& backend, ApiRequest request) {
    const Query query{request, {"limit", "marker", "project"}};
    if (query.wrong()) co_return refuse(400, *query.wrong());
    const auto page = page_of(query, most_whole_hosts, most_whole_hosts);
    if (!page) co_return refuse(400, page.error().what);
    std::optional<std::string> project;
    if (std::string written = query.text("project"); !written.empty()) {
        auto found = co_await project_of(backend, std::move(written));
        if (auto* const refused = std::get_if<HttpResponse>(&found)) co_return std::move(*refused);
        project = std::get<ProjectId>(found).str();
    }
    json body;
    std::vector<HostId> ids;
    {
        const auto view = backend.daemon.view();
        if (!view) co_return cloud_not_read();
        ids = page_of_hosts(view->cache, *page);
        body = frame_of(*view, page->marker.empty());
    }
    const bool more = ids.size() > page->limit;
    if (more) ids.pop_back();
    json hosts = json::array();
    json names = json::object();
    const HostVisit add = [&](const Host& host, const DaemonView& view) {
        Host told = host;
        note_protection(view.policy.protection, told);
        hosts.push_back(for_any_reader(report::host_json(told)));
        report::add_project_names(names, host, view.cache.project_names());
    };
    const bool read = co_await visit_hosts(backend, ids, whole_hosts_at_a_time, add);
    if (!read) co_return cloud_not_read();
    body["hosts"] = std::move(hosts);
    body["project_names"] = std::move(names);
    if (project) body["project"] = std::move(*project);
    body["hosts_links"] = more ? next_link(request, ids.back().str()) : json::array();
    co_return answered(std::move(body));
}

}  // namespace reaper::api
