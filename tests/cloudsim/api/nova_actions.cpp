// What is done to one server: actions, metadata, tags, the record of actions.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/nova_parts.hpp"

namespace reaper::cloudsim {

namespace nova_actions_api {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const Flavor> flavor_in(const Call& call, const Json& said) {
    const std::string id = need_text(said, "flavorRef");
    auto flavor = call.world.nova.find_flavor(id);
    if (!flavor) throw ApiError(400, "Flavor " + id + " could not be found.");
    return flavor;
}

Outcome act(Call& call, Server& server, const std::string& action, const Json& said) {
    Lifecycle& lifecycle = call.lifecycle;
    if (action == "forceDelete")
        return lifecycle.remove(server, DeleteKind::forced, Micros(0), call.by);
    if (action == "restore") return lifecycle.restore(server, call.by);
    if (action == "lock") {
        lifecycle.lock(server, said.is_object() ? text_in(said, "locked_reason", "") : "", call.by);
        return {};
    }
    if (action == "unlock") return lifecycle.unlock(server, call.by);
    if (action == "resize") {
        auto flavor = flavor_in(call, said);
        if (flavor->id == server.flavor->id)
            throw ApiError(400, "When resizing, instances must change flavor!");
        return lifecycle.resize(server, std::move(flavor), call.by);
    }
    if (action == "migrate") return lifecycle.resize(server, server.flavor, call.by);
    if (action == "os-migrateLive" || action == "evacuate") {
        call.need_admin(action == "evacuate" ? "os_compute_api:os-evacuate"
                                             : "os_compute_api:os-migrate-server:migrate_live");
        return action == "evacuate" ? lifecycle.evacuate(server, call.by)
                                    : lifecycle.live_migrate(server, call.by);
    }
    if (action == "shelve") return lifecycle.shelve(server, call.by);
    if (action == "unshelve") return lifecycle.unshelve(server, call.by);
    if (action == "confirmResize") return lifecycle.confirm_resize(server, call.by);
    if (action == "revertResize") return lifecycle.revert_resize(server, call.by);
    if (action == "os-stop") return lifecycle.stop(server, call.by);
    if (action == "os-start") return lifecycle.start(server, call.by);
    if (action == "os-resetState") {
        call.need_admin("os_compute_api:os-admin-actions:reset_state");
        lifecycle.reset_state(server, text_in(said, "state", "error") == "active", call.by);
        return {};
    }
    throw ApiError(400, "There is no such action: " + action);
}

void write_message(JsonWriter& json, const Action& action) {
    if (action.failed)
        json.value("Error");
    else
        json.value(nullptr);
}

void write_event(JsonWriter& json, const Call& call, const Server& server, const Action& action,
                 const ActionEvent& event) {
    json.open_object().member("event", event.name).member("start_time", iso_micro(event.start));
    json.name("finish_time");
    if (event.finish)
        json.value(iso_micro(*event.finish));
    else
        json.value(nullptr);
    const bool failed = event.finish && action.failed;
    json.text_or_null("result", !event.finish ? "" : failed ? "Error" : "Success");
    if (call.by->is_admin)
        json.text_or_null("traceback", failed ? "  File \"/usr/lib/python3/dist-packages/nova/"
                                                "conductor/manager.py\", line 940\n"
                                              : "");
    if (call.since(62)) {
        if (call.by->is_admin) json.member("host", "controller");
        json.member("hostId", host_id(call.world.names.text(server.project), "controller"));
    }
    if (call.since(84)) json.text_or_null("details", failed ? action.details : "");
    json.close_object();
}

/// Nova tells them of deleted servers too (2.21).
Response actions(Call& call) {
    const auto id = Uuid::parse(call.args[0]);
    const Server* const gone = id ? call.world.nova.find_deleted(*id) : nullptr;
    if (gone != nullptr && !call.by->is_admin) throw ApiError(404, "Instance could not be found.");
    const Server& server = gone != nullptr ? *gone : server_of(call);
    JsonWriter json;
    json.open_object().open_array("instanceActions");
    for (auto at = server.actions.rbegin(); at != server.actions.rend(); ++at) {
        json.open_object().member("instance_uuid", server.id.text()).member("action", at->name);
        json.member("request_id", "req-" + at->request.text());
        json.member("user_id", call.world.names.text(at->user));
        json.member("project_id", call.world.names.text(at->project));
        json.member("start_time", iso_micro(at->start)).name("message");
        write_message(json, *at);
        if (call.since(58)) json.member("updated_at", iso_micro(at->start));
        json.close_object();
    }
    json.close_array().close_object();
    return json_response(200, json.take());
}

Response action(Call& call) {
    const Server& server = server_of(call);
    for (const Action& each : server.actions) {
        if ("req-" + each.request.text() != call.args[1]) continue;
        JsonWriter json;
        json.open_object().open_object("instanceAction").member("action", each.name);
        json.member("instance_uuid", server.id.text()).member("request_id", call.args[1]);
        json.member("user_id", call.world.names.text(each.user));
        json.member("project_id", call.world.names.text(each.project));
        json.member("start_time", iso_micro(each.start)).name("message");
        write_message(json, each);
        Time updated = each.start;
        for (const ActionEvent& event : each.events)
            updated = std::max(updated, event.finish.value_or(event.start));
        if (call.since(58)) json.member("updated_at", iso_micro(updated));
        json.open_array("events");
        for (const ActionEvent& event : each.events) write_event(json, call, server, each, event);
        if (call.since(62) && !each.host.empty()) {
            json.open_object().member("event", "compute_" + each.name + "_instance");
            json.member("start_time", iso_micro(each.start)).member("host", each.host);
            json.close_object();
        }
        json.close_array().close_object().close_object();
        return json_response(200, json.take());
    }
    throw ApiError(404, "Action " + call.args[1] + " not found");
}

Response show_metadata(Call& call) {
    const Server& server = server_of(call);
    JsonWriter json;
    json.open_object();
    if (server.extra())
        write_map(json, "metadata", server.extra()->metadata);
    else
        json.open_object("metadata").close_object();
    json.close_object();
    return json_response(200, json.take());
}

void tell_update(Call& call, const Server& server) {
    const ServerEvent event{"update", server, call.by, "nova-api:ctl", server.state, server.task};
    call.world.tell([&](Listener& listener) { listener.on_server(event); });
}

Response change_metadata(Call& call, bool replace) {
    const Json document = call.body();
    Server& server = server_of(call);
    if (replace) server.more().metadata.clear();
    for (const auto& [key, value] : need_object(document, "metadata").items())
        server.more().metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
    tell_update(call, server);
    return show_metadata(call);
}

Response add_metadata(Call& call) {
    return change_metadata(call, false);
}
Response set_metadata(Call& call) {
    return change_metadata(call, true);
}

Response delete_metadata(Call& call) {
    Server& server = server_of(call);
    if (server.more().metadata.erase(call.args[1]) == 0)
        throw ApiError(404, "Metadata item was not found");
    tell_update(call, server);
    return accepted(204);
}

Response show_tags(Call& call) {
    JsonWriter json;
    json.open_object();
    write_texts(json, "tags", server_of(call).more().tags);
    json.close_object();
    return json_response(200, json.take());
}

Response set_tags(Call& call) {
    const Json document = call.body();
    Server& server = server_of(call);
    server.more().tags.clear();
    const auto tags = document.find("tags");
    if (tags == document.end() || !tags->is_array())
        throw ApiError(400, "Invalid input for field/attribute tags.");
    for (const Json& tag : *tags)
        server.more().tags.insert(tag.is_string() ? tag.get<std::string>() : tag.dump());
    tell_update(call, server);
    return show_tags(call);
}

Response add_tag(Call& call) {
    Server& server = server_of(call);
    const bool is_new = server.more().tags.insert(call.args[1]).second;
    tell_update(call, server);
    return accepted(is_new ? 201 : 204);
}

Response delete_tag(Call& call) {
    Server& server = server_of(call);
    if (server.more().tags.erase(call.args[1]) == 0)
        throw ApiError(404, "Server " + call.args[0] + " has no tag '" + call.args[1] + "'");
    tell_update(call, server);
    return accepted(204);
}

constexpr Route routes[] = {
    {"POST", "servers/*/action", server_action},
    {"GET", "servers/*/os-instance-actions", actions},
    {"GET", "servers/*/os-instance-actions/*", action},
    {"GET", "servers/*/metadata", show_metadata},
    {"POST", "servers/*/metadata", add_metadata},
    {"PUT", "servers/*/metadata", set_metadata},
    {"DELETE", "servers/*/metadata/*", delete_metadata},
    {"GET", "servers/*/tags", show_tags},
    {"PUT", "servers/*/tags", set_tags},
    {"PUT", "servers/*/tags/*", add_tag},
    {"DELETE", "servers/*/tags/*", delete_tag},
};

}  // namespace
}  // namespace nova_actions_api

Response server_action(Call& call) {
    const nlohmann::json document = call.body();
    if (document.size() != 1) throw ApiError(400, "Malformed request body: one action is needed");
    Server& server = server_of(call);
    const std::string name = document.begin().key();
    throw_refused(nova_actions_api::act(call, server, name, document.begin().value()));
    const bool confirmed = name == "confirmResize";
    return accepted(confirmed ? 204 : 202);
}

std::span<const Route> nova_server_parts() {
    return nova_actions_api::routes;
}

}  // namespace reaper::cloudsim
