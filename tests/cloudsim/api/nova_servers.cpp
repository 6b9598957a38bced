// Nova's /servers: list, show, delete.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace nova_servers_api {
namespace {

using Json = nlohmann::json;

bool yes(const std::string& text) {
    return text == "1" || text == "true" || text == "True" || text == "yes" || text.empty();
}

/// The filters of a list. Those that only administrators may use are ignored for others, silently.
struct Filter {
    std::optional<NameId> project;
    bool nothing = false;  ///< no server can match
    const Host* host = nullptr;
    bool by_host = false;
    bool soft_deleted = false;
    std::set<std::string> statuses;  ///< one of them; empty: any
    std::string name, reservation, flavor, user, uuid;
    std::optional<bool> locked;
    std::vector<std::string> tags;
    std::optional<Time> changed_since;

    bool takes(const Call& call, const Server& server) const {
        if (project && server.project != *project) return false;
        if (by_host && server.host != host) return false;
        if (!name.empty() && server.name.find(name) == std::string::npos) return false;
        if (!statuses.empty() && !statuses.contains(server.status())) return false;
        if (!reservation.empty() && server.reservation != reservation) return false;
        if (!flavor.empty() && server.flavor->id != flavor) return false;
        if (!user.empty() && call.world.names.text(server.user) != user) return false;
        if (!uuid.empty() && server.id.text() != uuid) return false;
        if (locked && server.locked != *locked) return false;
        if (changed_since && server.updated.value_or(server.created) < *changed_since) return false;
        return std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) {
            return server.extra() && server.extra()->tags.contains(tag);
        });
    }
};

std::vector<std::string> comma_parts(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::string anchors_dropped(std::string pattern) {
    std::erase_if(pattern, [](char c) { return c == '^' || c == '$' || c == '\\'; });
    return pattern;
}

void set_project(const Call& call, Filter& filter) {
    const Request& request = call.request;
    const auto all = request.parameter("all_tenants");
    if (!all || !yes(*all)) {
        filter.project = call.world.names.find(call.by->project_id);
        filter.nothing = !filter.project;
        return;
    }
    call.need_admin("os_compute_api:servers:detail:get_all_tenants");
    auto wanted = request.parameter("project_id");
    if (!wanted) wanted = request.parameter("tenant_id");
    if (!wanted) return;
    filter.project = call.world.names.find(*wanted);
    filter.nothing = !filter.project;
}

Filter filter_of(const Call& call) {
    const Request& request = call.request;
    Filter filter;
    set_project(call, filter);
    filter.name = anchors_dropped(request.parameter("name").value_or(""));
    for (std::string status : request.parameters("status")) {
        std::transform(status.begin(), status.end(), status.begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
        if (!status.empty()) filter.statuses.insert(std::move(status));
    }
    filter.reservation = request.parameter("reservation_id").value_or("");
    filter.flavor = request.parameter("flavor").value_or("");
    filter.uuid = request.parameter("uuid").value_or("");
    if (const auto tags = request.parameter("tags")) filter.tags = comma_parts(*tags);
    if (const auto since = request.parameter("changes-since")) {
        filter.changed_since = parse_iso_z(*since);
        if (!filter.changed_since) throw ApiError(400, "Invalid filter field: changes-since.");
    }
    if (!call.by->is_admin) return filter;
    filter.user = request.parameter("user_id").value_or("");
    if (const auto locked = request.parameter("locked")) filter.locked = yes(*locked);
    if (const auto deleted = request.parameter("deleted")) filter.soft_deleted = yes(*deleted);
    auto host = request.parameter("host");
    if (!host) host = request.parameter("node");
    if (host) {
        filter.by_host = true;
        filter.host = call.world.nova.find_host(*host);
        filter.nothing = filter.nothing || !filter.host;
    }
    return filter;
}

const Server* marker_of(const Call& call) {
    const auto text = call.request.parameter("marker");
    if (!text) return nullptr;
    const auto id = Uuid::parse(*text);
    const Server* marker = id ? call.world.nova.find_server(*id) : nullptr;
    if (id && !marker) marker = call.world.nova.find_deleted(*id);
    if (!marker) throw ApiError(400, "marker [" + *text + "] not found");
    return marker;
}

struct Page {
    std::vector<const Server*> servers;
    bool full = false;
};

template <class Servers>
void take_page(const Call& call, const Filter& filter, Servers first, Servers last,
               std::size_t most, Page& page) {
    for (; first != last && page.servers.size() < most; ++first)
        if (filter.takes(call, **first)) page.servers.push_back(*first);
    page.full = page.servers.size() == most;
}

Page page_of(const Call& call) {
    const Filter filter = filter_of(call);
    const Server* marker = marker_of(call);
    const std::size_t most = page_size(call);
    Page page;
    if (filter.nothing) return page;
    const Nova& nova = call.world.nova;
    if (filter.by_host && !filter.soft_deleted) {
        std::vector<Server*> here;
        for (Server* server : filter.host->servers)
            if (server->state != VmState::soft_deleted) here.push_back(server);
        std::sort(here.begin(), here.end(), ListOrder{});
        auto first =
            marker ? std::upper_bound(here.begin(), here.end(), marker, ListOrder{}) : here.begin();
        take_page(call, filter, first, here.end(), most, page);
        return page;
    }
    if (filter.soft_deleted) {
        std::vector<const Server*> gone(nova.soft_deleted().begin(), nova.soft_deleted().end());
        for (const auto& server : nova.deleted()) gone.push_back(server.get());
        std::sort(gone.begin(), gone.end(), ListOrder{});
        const auto first =
            marker ? std::upper_bound(gone.begin(), gone.end(), marker, ListOrder{}) : gone.begin();
        take_page(call, filter, first, gone.end(), most, page);
        return page;
    }
    const Nova::Listed& all = nova.listed();
    take_page(call, filter, marker ? all.upper_bound(const_cast<Server*>(marker)) : all.begin(),
              all.end(), most, page);
    return page;
}

Response list(Call& call, bool detail) {
    const Page page = page_of(call);
    JsonWriter json;
    json.text().reserve(page.servers.size() * (detail ? 2000 : 400) + 100);
    json.open_object().open_array("servers");
    for (const Server* server : page.servers) {
        if (detail) {
            write_server(json, call, *server, false);
            continue;
        }
        json.open_object().member("id", server->id.text()).member("name", server->name);
        write_links(json, call, "servers", server->id.text());
        json.close_object();
    }
    json.close_array();
    if (page.full) write_next_link(json, call, "servers_links", page.servers.back()->id.text());
    json.close_object();
    return json_response(200, json.take());
}

Response list_brief(Call& call) {
    return list(call, false);
}
Response list_detail(Call& call) {
    return list(call, true);
}

Response show(Call& call) {
    const Server& server = server_of(call);
    JsonWriter json;
    json.open_object().name("server");
    write_server(json, call, server, true);
    json.close_object();
    return json_response(200, json.take());
}

Response update(Call& call) {
    const Json document = call.body();
    Server& server = server_of(call);
    server.name = text_in(need_object(document, "server"), "name", server.name);
    return show(call);
}

Response remove(Call& call) {
    Server& server = server_of(call);
    const Micros reclaim =
        call.soft ? call.world.settings.soft_region_reclaim : call.world.settings.reclaim;
    const DeleteKind kind = reclaim.count() > 0 ? DeleteKind::soft : DeleteKind::normal;
    throw_refused(call.lifecycle.remove(server, kind, reclaim, call.by));
    return accepted(204);
}

constexpr Route routes[] = {
    {"GET", "servers", list_brief},      {"GET", "servers/detail", list_detail},
    {"POST", "servers", create_servers}, {"GET", "servers/*", show},
    {"PUT", "servers/*", update},        {"DELETE", "servers/*", remove},
};

}  // namespace
}  // namespace nova_servers_api

Server& server_of(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    Server* server = id ? call.world.nova.find_server(*id) : nullptr;
    if (!server ||
        (!call.by->is_admin && call.world.names.text(server->project) != call.by->project_id))
        throw ApiError(404, "Instance " + call.args[0] + " could not be found.");
    return *server;
}

std::span<const Route> nova_servers() {
    return nova_servers_api::routes;
}

}  // namespace reaper::cloudsim
