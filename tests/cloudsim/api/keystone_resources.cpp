// Keystone's projects with their tags, users, roles, application credentials.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/keystone_parts.hpp"

namespace reaper::cloudsim {

namespace {

using Json = nlohmann::json;

Response empty(int status = 204) {
    Response response;
    response.status = status;
    response.content_type.clear();
    return response;
}

[[noreturn]] void missing(const char* what, const std::string& id) {
    throw ApiError(404, std::string("Could not find ") + what + ": " + id + ".");
}

Project& project_of(Call& call, const std::string& id) {
    Project* project = call.world.identity.project(id);
    if (!project) missing("project", id);
    return *project;
}

User& user_of(Call& call, const std::string& id) {
    User* user = call.world.identity.user(id);
    if (!user) missing("user", id);
    return *user;
}

void write_self(JsonWriter& json, const Call& call, const std::string& path) {
    json.open_object("links").member("self", call.base + "/v3" + path).close_object();
}

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

void close_list(JsonWriter& json, const Call& call, const std::string& path) {
    const std::string query = call.request.query_text();
    json.close_array().open_object("links").member("next", nullptr);
    json.member("self", call.base + "/v3" + path + (query.empty() ? "" : "?" + query));
    json.member("previous", nullptr).close_object().close_object();
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

void write_user(JsonWriter& json, const Call& call, const User& user) {
    json.open_object().member("id", user.id).member("name", user.name);
    json.member("domain_id", "default").member("enabled", true);
    json.member("default_project_id", user.default_project);
    json.member("password_expires_at", nullptr).open_object("options").close_object();
    write_self(json, call, "/users/" + user.id);
    json.close_object();
}

Response one_user(const Call& call, const User& user, int status) {
    JsonWriter json;
    json.open_object().name("user");
    write_user(json, call, user);
    json.close_object();
    return json_response(status, json.take());
}

Response list_users(Call& call) {
    call.need_admin("identity:list_users");
    const auto name = call.request.parameter("name");
    JsonWriter json;
    json.open_object().open_array("users");
    for (const auto& user : call.world.identity.users)
        if (!name || *name == user->name) write_user(json, call, *user);
    close_list(json, call, "/users");
    return json_response(200, json.take());
}

Response show_user(Call& call) {
    if (call.by->user_id != call.args[0]) call.need_admin("identity:get_user");
    return one_user(call, user_of(call, call.args[0]), 200);
}

Response create_user(Call& call) {
    call.need_admin("identity:create_user");
    const Json document = call.body();
    const Json& said = need_object(document, "user");
    const std::string name = need_text(said, "name");
    if (call.world.identity.user_named(name))
        throw ApiError(409,
                       "Conflict occurred attempting to store user - Duplicate entry found "
                       "with name " +
                           name + " at domain ID default.");
    User& user = call.world.identity.add_user(name, text_in(said, "password", ""));
    user.default_project = text_in(said, "default_project_id", "");
    return one_user(call, user, 201);
}

Response delete_user(Call& call) {
    call.need_admin("identity:delete_user");
    call.world.identity.remove_user(user_of(call, call.args[0]).id);
    return empty();
}

Response list_roles(Call& call) {
    const auto name = call.request.parameter("name");
    JsonWriter json;
    json.open_object().open_array("roles");
    for (const auto& [role, id] : call.world.identity.roles) {
        if (name && *name != role) continue;
        json.open_object().member("id", id).member("name", role).member("domain_id", nullptr);
        json.member("description", nullptr).open_object("options").close_object();
        write_self(json, call, "/roles/" + id);
        json.close_object();
    }
    close_list(json, call, "/roles");
    return json_response(200, json.take());
}

std::string role_of(Call& call, const std::string& id) {
    for (const auto& [name, known] : call.world.identity.roles)
        if (known == id) return name;
    missing("role", id);
}

Response grant(Call& call) {
    call.need_admin("identity:create_grant");
    const std::string role = role_of(call, call.args[2]);
    user_of(call, call.args[1]).grants.insert({project_of(call, call.args[0]).id, role});
    return empty();
}

Response revoke_grant(Call& call) {
    call.need_admin("identity:revoke_grant");
    const std::string role = role_of(call, call.args[2]);
    user_of(call, call.args[1]).grants.erase({project_of(call, call.args[0]).id, role});
    return empty();
}

Response create_credential(Call& call) {
    const Json document = call.body();
    const Json& said = need_object(document, "application_credential");
    if (call.by->user_id != call.args[0])
        throw ApiError(403, "identity:create_application_credential");
    Identity& identity = call.world.identity;
    auto made = std::make_unique<ApplicationCredential>();
    made->id = identity.new_id();
    made->name = need_text(said, "name");
    made->secret = text_in(said, "secret", call.world.dice.letters(60));
    made->user = call.by->user_id;
    made->project = call.by->project_id;
    made->description = text_in(said, "description", "");
    JsonWriter json;
    json.open_object().open_object("application_credential").member("id", made->id);
    json.member("name", made->name).member("description", made->description);
    json.member("project_id", made->project).member("expires_at", nullptr);
    json.member("unrestricted", false).member("secret", made->secret);
    json.open_array("roles");
    for (const std::string& role : call.by->roles)
        json.open_object()
            .member("id", identity.roles.at(role))
            .member("name", role)
            .close_object();
    json.close_array().close_object().close_object();
    identity.credentials.push_back(std::move(made));
    return json_response(201, json.take());
}

void write_default_domain(JsonWriter& json, const Call& call) {
    json.open_object().member("id", "default").member("name", "Default");
    json.member("description", "The default domain").member("enabled", true);
    json.open_array("tags").close_array().open_object("options").close_object();
    write_self(json, call, "/domains/default");
    json.close_object();
}

Response list_domains(Call& call) {
    const auto name = call.request.parameter("name");
    JsonWriter json;
    json.open_object().open_array("domains");
    if (!name || *name == "Default") write_default_domain(json, call);
    close_list(json, call, "/domains");
    return json_response(200, json.take());
}

Response show_domain(Call& call) {
    if (call.args[0] != "default") missing("domain", call.args[0]);
    JsonWriter json;
    json.open_object().name("domain");
    write_default_domain(json, call);
    json.close_object();
    return json_response(200, json.take());
}

constexpr Route routes[] = {
    {"GET", "v3/projects", list_projects},
    {"POST", "v3/projects", create_project},
    {"GET", "v3/projects/*", show_project},
    {"PATCH", "v3/projects/*", update_project},
    {"DELETE", "v3/projects/*", delete_project},
    {"GET", "v3/projects/*/tags", list_tags},
    {"PUT", "v3/projects/*/tags", set_tags},
    {"PUT", "v3/projects/*/tags/*", add_tag},
    {"GET", "v3/projects/*/tags/*", check_tag},
    {"HEAD", "v3/projects/*/tags/*", check_tag},
    {"DELETE", "v3/projects/*/tags/*", delete_tag},
    {"PUT", "v3/projects/*/users/*/roles/*", grant},
    {"DELETE", "v3/projects/*/users/*/roles/*", revoke_grant},
    {"GET", "v3/users", list_users},
    {"POST", "v3/users", create_user},
    {"GET", "v3/users/*", show_user},
    {"DELETE", "v3/users/*", delete_user},
    {"POST", "v3/users/*/application_credentials", create_credential},
    {"GET", "v3/roles", list_roles},
    {"GET", "v3/domains", list_domains},
    {"GET", "v3/domains/*", show_domain},
};

}  // namespace

std::span<const Route> keystone_resources() {
    return routes;
}

}  // namespace reaper::cloudsim
