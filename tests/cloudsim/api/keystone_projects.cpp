// Keystone's projects with their tags.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/keystone_parts.hpp"

namespace reaper::cloudsim {

namespace keystone_projects_api {
namespace {

using Json = nlohmann::json;

void write_project(JsonWriter& json, const Call& call, const Project& project) {
    json.open_object().member("id", project.id).member("name", project.name);
    json.member("domain_id", "default").member("description", project.description);
    json.member("enabled", project.enabled).member("parent_id", project.parent);
    json.member("is_domain", false);
    write_texts(json, "tags", project.tags);
    json.open_object("options").close_object();
    write_self(json, call, "/projects/" + project.id);
    json.close_object();
}

Response one_project(const Call& call, const Project& project, int status) {
    JsonWriter json;
    json.open_object().name("project");
    write_project(json, call, project);
    json.close_object();
    return json_response(status, json.take());
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool has_tag(const Project& project, const std::string& tag) {
    return std::find(project.tags.begin(), project.tags.end(), tag) != project.tags.end();
}

bool wanted(const Call& call, const Project& project) {
    const Request& request = call.request;
    if (const auto name = request.parameter("name"); name && *name != project.name) return false;
    if (const auto parent = request.parameter("parent_id"); parent && *parent != project.parent)
        return false;
    if (const auto domain = request.parameter("domain_id"); domain && *domain != "default")
        return false;
    if (const auto enabled = request.parameter("enabled");
        enabled && (*enabled == "true") != project.enabled)
        return false;
    if (const auto all = request.parameter("tags"))
        for (const std::string& tag : split(*all))
            if (!has_tag(project, tag)) return false;
    if (const auto any = request.parameter("tags-any")) {
        const auto tags = split(*any);
        if (std::none_of(tags.begin(), tags.end(),
                         [&](const std::string& tag) { return has_tag(project, tag); }))
            return false;
    }
    return true;
}

Response list_projects(Call& call) {
    call.need_admin("identity:list_projects");
    JsonWriter json;
    json.open_object().open_array("projects");
    for (const auto& project : call.world.identity.projects)
        if (wanted(call, *project)) write_project(json, call, *project);
    close_list(json, call, "/projects");
    return json_response(200, json.take());
}

Response show_project(Call& call) {
    if (!call.by->is_admin && call.by->project_id != call.args[0])
        call.need_admin("identity:get_project");
    return one_project(call, project_of(call, call.args[0]), 200);
}

void apply(Project& project, const Json& said) {
    project.name = text_in(said, "name", project.name);
    project.description = text_in(said, "description", project.description);
    project.parent = text_in(said, "parent_id", project.parent);
    if (said.contains("enabled")) project.enabled = said["enabled"].get<bool>();
    if (said.contains("tags")) project.tags = said["tags"].get<std::vector<std::string>>();
}

Response create_project(Call& call) {
    call.need_admin("identity:create_project");
    const Json document = call.body();
    const Json& said = need_object(document, "project");
    const std::string name = need_text(said, "name");
    if (call.world.identity.project_named(name))
        throw ApiError(409,
                       "Conflict occurred attempting to store project - it is not permitted "
                       "to have two projects with the same name in the same domain : " +
                           name + ".");
    Project& project = call.world.identity.add_project(name);
    apply(project, said);
    // Its maker may work in it at once, as the cloud's administrator can.
    user_of(call, call.by->user_id).grants.insert({project.id, "admin"});
    return one_project(call, project, 201);
}

Response update_project(Call& call) {
    call.need_admin("identity:update_project");
    const Json document = call.body();
    Project& project = project_of(call, call.args[0]);
    apply(project, need_object(document, "project"));
    return one_project(call, project, 200);
}

Response delete_project(Call& call) {
    call.need_admin("identity:delete_project");
    call.world.identity.remove_project(project_of(call, call.args[0]).id);
    return empty();
}

Response list_tags(Call& call) {
    JsonWriter json;
    json.open_object();
    write_texts(json, "tags", project_of(call, call.args[0]).tags);
    write_self(json, call, "/projects/" + call.args[0] + "/tags");
    json.close_object();
    return json_response(200, json.take());
}

Response set_tags(Call& call) {
    call.need_admin("identity:update_project_tags");
    const Json document = call.body();
    const auto tags = document.find("tags");
    if (tags == document.end() || !tags->is_array())
        throw ApiError(400, "'tags' is a required property");
    project_of(call, call.args[0]).tags = tags->get<std::vector<std::string>>();
    return list_tags(call);
}

Response add_tag(Call& call) {
    call.need_admin("identity:create_project_tag");
    Project& project = project_of(call, call.args[0]);
    if (!has_tag(project, call.args[1])) project.tags.push_back(call.args[1]);
    return empty(201);
}

Response check_tag(Call& call) {
    if (!has_tag(project_of(call, call.args[0]), call.args[1]))
        missing("project tag", call.args[1]);
    return empty();
}

Response delete_tag(Call& call) {
    call.need_admin("identity:delete_project_tag");
    if (std::erase(project_of(call, call.args[0]).tags, call.args[1]) == 0)
        missing("project tag", call.args[1]);
    return empty();
}

constexpr Route routes[] = {
    {"GET", "v3/projects", list_projects},          {"POST", "v3/projects", create_project},
    {"GET", "v3/projects/*", show_project},         {"PATCH", "v3/projects/*", update_project},
    {"DELETE", "v3/projects/*", delete_project},    {"GET", "v3/projects/*/tags", list_tags},
    {"PUT", "v3/projects/*/tags", set_tags},        {"PUT", "v3/projects/*/tags/*", add_tag},
    {"GET", "v3/projects/*/tags/*", check_tag},     {"HEAD", "v3/projects/*/tags/*", check_tag},
    {"DELETE", "v3/projects/*/tags/*", delete_tag},
};

}  // namespace
}  // namespace keystone_projects_api

std::span<const Route> keystone_projects() {
    return keystone_projects_api::routes;
}

}  // namespace reaper::cloudsim
