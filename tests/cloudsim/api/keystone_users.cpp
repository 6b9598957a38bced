// Keystone's users, roles, grants, application credentials and its one domain.
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/keystone_parts.hpp"

namespace reaper::cloudsim {

namespace keystone_users_api {
namespace {

using Json = nlohmann::json;

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
    made->secret = text_in(said, "secret", call.world.rng.letters(60));
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
}  // namespace keystone_users_api

std::span<const Route> keystone_users() {
    return keystone_users_api::routes;
}

}  // namespace reaper::cloudsim
