// Keystone: versions, tokens, and the table of its routes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cloudsim/api/keystone_parts.hpp"
#include "tests/cloudsim/api/services.hpp"

namespace reaper::cloudsim {

namespace keystone_api {
namespace {

using Json = nlohmann::json;

constexpr const char* refused = "The request you have made requires authentication.";

void write_version(JsonWriter& json, const Call& call) {
    json.open_object().member("id", "v3.14").member("status", "stable");
    json.member("updated", "2020-04-07T00:00:00Z");
    json.open_array("links").open_object().member("rel", "self");
    json.member("href", call.base + "/v3/").close_object().close_array();
    json.open_array("media-types").open_object().member("base", "application/json");
    json.member("type", "application/vnd.openstack.identity-v3+json").close_object().close_array();
    json.close_object();
}

Response versions(Call& call) {
    JsonWriter out;
    out.open_object().open_object("versions").open_array("values");
    write_version(out, call);
    out.close_array().close_object().close_object();
    return json_response(300, out.take());
}

Response version(Call& call) {
    JsonWriter out;
    out.open_object().name("version");
    write_version(out, call);
    out.close_object();
    return json_response(200, out.take());
}

struct Login {
    const User* user = nullptr;
    const Project* project = nullptr;
    std::string method;
    const ApplicationCredential* credential = nullptr;
};

const User* find_user(const Identity& identity, const Json& said) {
    if (said.contains("id")) return identity.user(said["id"].get<std::string>());
    return identity.user_named(said.value("name", ""));
}

const User* by_password(const Identity& identity, const Json& part) {
    const Json& said = part.at("password").at("user");
    const User* user = find_user(identity, said);
    return user && user->password == said.value("password", "") ? user : nullptr;
}

const ApplicationCredential* by_credential(const Identity& identity, const Json& said) {
    for (const auto& each : identity.credentials) {
        if (said.contains("id") ? each->id != said.value("id", std::string())
                                : each->name != said.value("name", ""))
            continue;
        if (said.contains("user")) {
            const User* user = find_user(identity, said["user"]);
            if (!user || user->id != each->user) continue;
        }
        return each->secret == said.value("secret", "") ? each.get() : nullptr;
    }
    return nullptr;
}

/// The project that the login asks for, or its user's own.
const Project* scope_of(const Identity& identity, const Json& auth, const Login& login) {
    if (login.credential) return identity.project(login.credential->project);
    if (!auth.contains("scope") || !auth["scope"].is_object() || !auth["scope"].contains("project"))
        return identity.project(login.user->default_project);
    const Json& wanted = auth["scope"]["project"];
    if (wanted.contains("id")) return identity.project(wanted["id"].get<std::string>());
    return identity.project_named(wanted.value("name", ""));
}

Login log_in(Call& call, const Json& auth) {
    const Identity& identity = call.world.identity;
    const Json& said = auth.at("identity");
    Login login;
    login.method = said.at("methods").at(0).get<std::string>();
    if (login.method == "password") {
        login.user = by_password(identity, said);
    } else if (login.method == "token") {
        const Token* token =
            identity.check(said.at("token").value("id", ""), call.world.clock.now());
        login.user = token ? token->user : nullptr;
    } else if (login.method == "application_credential") {
        login.credential = by_credential(identity, said.at("application_credential"));
        if (login.credential) login.user = identity.user(login.credential->user);
    }
    if (!login.user) throw ApiError(401, refused);
    login.project = scope_of(identity, auth, login);
    if (!login.project || identity.roles_of(*login.user, *login.project).empty())
        throw ApiError(401, refused);
    return login;
}

struct Endpoint {
    const char* type;
    const char* name;
    const char* path;
    const char* soft_path;  ///< in SoftRegion
};

constexpr Endpoint endpoints[] = {
    {"image", "glance", "/image", "/image"},
    {"identity", "keystone", "/identity/v3", "/identity/v3"},
    {"network", "neutron", "/network", "/network"},
    {"placement", "placement", "/placement", "/placement"},
    {"compute", "nova", "/compute/v2.1", "/soft/compute/v2.1"},
};

/// Ids that stay the same from token to token.
std::string stable_id(const std::string& of) {
    SeededRng rng(std::hash<std::string>{}(of));
    return rng.uuid().hex();
}

void write_catalog(JsonWriter& json, const std::string& root) {
    json.open_array("catalog");
    for (const Endpoint& service : endpoints) {
        json.open_object().open_array("endpoints");
        for (const char* region : {"RegionOne", "SoftRegion"})
            for (const char* interface : {"admin", "internal", "public"}) {
                const bool soft = std::string_view(region) == "SoftRegion";
                json.open_object();
                json.member("id", stable_id(std::string(service.type) + interface + region));
                json.member("interface", interface).member("region_id", region);
                json.member("url", root + (soft ? service.soft_path : service.path));
                json.member("region", region).close_object();
            }
        json.close_array().member("id", stable_id(service.type));
        json.member("type", service.type).member("name", service.name).close_object();
    }
    json.close_array();
}

void write_domain(JsonWriter& json) {
    json.open_object("domain").member("id", "default").member("name", "Default").close_object();
}

std::string token_body(const Call& call, const Token& token, bool catalog) {
    JsonWriter json;
    json.open_object().open_object("token");
    json.open_array("methods").value(token.method).close_array();
    json.open_object("user");
    write_domain(json);
    json.member("id", token.user->id).member("name", token.user->name);
    json.member("password_expires_at", nullptr).close_object();
    json.open_array("audit_ids").value(token.audit).close_array();
    json.member("expires_at", iso_micro(token.expires) + "Z");
    json.member("issued_at", iso_micro(token.issued) + "Z");
    json.open_object("project");
    write_domain(json);
    json.member("id", token.project->id).member("name", token.project->name).close_object();
    json.member("is_domain", false);
    json.open_array("roles");
    for (const std::string& role : token.roles)
        json.open_object()
            .member("id", call.world.identity.roles.at(role))
            .member("name", role)
            .close_object();
    json.close_array();
    if (catalog) write_catalog(json, call.root);
    json.close_object().close_object();
    return json.take();
}

Response create_token(Call& call) {
    const Json document = call.body();
    try {
        const Json& auth = document.at("auth");
        const Login login = log_in(call, auth);
        const Token& token = call.world.identity.issue(*login.user, *login.project, login.method,
                                                       call.world.clock.now());
        Response response = json_response(201, token_body(call, token, true));
        response.headers.emplace_back("X-Subject-Token", token.text);
        return response;
    } catch (const Json::exception& wrong) {
        throw ApiError(400, std::string("Invalid input for field 'identity': ") + wrong.what());
    }
}

const Token& subject(Call& call) {
    const std::string text(call.request.header("x-subject-token"));
    const Token* token = call.world.identity.check(text, call.world.clock.now());
    if (!token) throw ApiError(404, "Could not find token: " + text.substr(0, 8) + "...");
    return *token;
}

Response show_token(Call& call) {
    const Token& token = subject(call);
    Response response =
        json_response(200, token_body(call, token, !call.request.parameter("nocatalog")));
    response.headers.emplace_back("X-Subject-Token", token.text);
    return response;
}

Response delete_token(Call& call) {
    call.world.identity.revoke(subject(call).text);
    Response response;
    response.status = 204;
    response.content_type.clear();
    return response;
}

constexpr Route open_routes[] = {
    {"GET", "", versions},
    {"GET", "v3", version},
    {"POST", "v3/auth/tokens", create_token},
};

constexpr Route token_routes[] = {
    {"GET", "v3/auth/tokens", show_token},
    {"HEAD", "v3/auth/tokens", show_token},
    {"DELETE", "v3/auth/tokens", delete_token},
};

const char* title(int status) {
    switch (status) {
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 409: return "Conflict";
        default: return "Internal Server Error";
    }
}

Response failure(int status, const std::string& message) {
    JsonWriter json;
    json.open_object().open_object("error").member("code", status).member("message", message);
    json.member("title", title(status)).close_object().close_object();
    return json_response(status, json.take());
}

Response answer(Call& call, std::span<const std::string> path) {
    const std::string& method = call.request.method;
    try {
        return find_route(open_routes, method, path, call.args)(call);
    } catch (const ApiError& error) {
        const bool open = path.empty() || (path.size() == 1 && path[0] == "v3");
        const bool login = method == "POST" && path.size() == 3 && path[1] == "auth";
        if (open || login || (error.status != 404 && error.status != 405)) throw;
    }
    if (!call.token) throw ApiError(401, refused);
    if (path.size() == 3 && path[1] == "auth")
        return find_route(token_routes, method, path, call.args)(call);
    const bool projects =
        path.size() > 1 && path[1] == "projects" && !(path.size() > 3 && path[3] == "users");
    return find_route(projects ? keystone_projects() : keystone_users(), method, path,
                      call.args)(call);
}

}  // namespace
}  // namespace keystone_api

Response keystone(Call& call, std::span<const std::string> path) {
    Response response;
    try {
        response = keystone_api::answer(call, path);
    } catch (const ApiError& error) {
        const std::string message =
            error.status == 403
                ? std::string("You are not authorized to perform the requested action: ") +
                      error.what() + "."
                : error.what();
        response = keystone_api::failure(error.status, message);
    }
    response.headers.emplace_back("Vary", "X-Auth-Token");
    response.headers.emplace_back("x-openstack-request-id", "req-" + call.request_id.text());
    return response;
}

Response unauthorized(const Call& call) {
    Response response = keystone_api::failure(401, keystone_api::refused);
    response.headers.emplace_back("WWW-Authenticate",
                                  "Keystone uri=\"" + call.root + "/identity\"");
    return response;
}

}  // namespace reaper::cloudsim
