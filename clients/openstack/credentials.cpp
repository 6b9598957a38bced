#include "clients/openstack/credentials.hpp"

#include <nlohmann/json.hpp>

#include "reaper/model/text.hpp"
#include "reaper/ports/url.hpp"

namespace reaper::openstack {

namespace {

using nlohmann::json;

/// OpenStack's own tools take the domain of that id when none is named.
constexpr const char* standard_domain = "default";

json domain(const std::string& id, const std::string& name) {
    if (!id.empty()) return {{"id", id}};
    if (!name.empty()) return {{"name", name}};
    return {{"id", standard_domain}};
}

json user(const config::Credentials& with) {
    if (!with.user_id.empty()) return {{"id", with.user_id}};
    return {{"name", with.username},
            {"domain", domain(with.user_domain_id, with.user_domain_name)}};
}

json application_credential(const config::Credentials& with) {
    json part{{"secret", with.application_credential_secret.reveal()}};
    if (!with.application_credential_id.empty()) {
        part["id"] = with.application_credential_id;
    } else {
        part["name"] = with.application_credential_name;
        part["user"] = user(with);
    }
    return part;
}

json project(const config::Credentials& with) {
    if (!with.project_id.empty()) return {{"id", with.project_id}};
    return {{"name", with.project_name},
            {"domain", domain(with.project_domain_id, with.project_domain_name)}};
}

Error missing(const std::string& what) {
    return {Errc::bad_input, "cloud.auth: " + what};
}

std::string described_user(const config::Credentials& with) {
    if (!with.user_id.empty()) return "user with id " + one_line(with.user_id, 100);
    const std::string of = !with.user_domain_name.empty() ? with.user_domain_name
                           : !with.user_domain_id.empty() ? with.user_domain_id
                                                          : std::string(standard_domain);
    return "user " + one_line(with.username, 100) + " (domain " + one_line(of, 100) + ')';
}

}  // namespace

Result<void> check_credentials(const config::Credentials& with) {
    if (with.auth_url.empty()) return missing("auth_url is not set");
    const bool has_user = !with.user_id.empty() || !with.username.empty();
    if (with.uses_application_credential()) {
        if (with.application_credential_secret.empty())
            return missing("application_credential_secret is not set");
        if (with.application_credential_id.empty() && !has_user)
            return missing("application_credential_name needs its username or user_id too");
        return {};
    }
    if (!has_user) return missing("username or user_id is not set");
    if (with.password.empty()) return missing("password is not set");
    if (with.project_id.empty() && with.project_name.empty())
        return missing("project_name or project_id is not set");
    return {};
}

Result<std::string> keystone_root(const std::string& auth_url) {
    const auto url = http::parse_url(auth_url);
    if (!url) return Error{Errc::bad_input, "cloud.auth.auth_url: " + url.error().what};
    std::string path = url->path;
    while (!path.empty() && path.back() == '/') path.pop_back();
    if (path.ends_with("/v2.0"))
        return Error{Errc::bad_input,
                     "cloud.auth.auth_url: version 2.0 of Keystone's API is gone; end it with /v3"};
    if (!path.ends_with("/v3")) path += "/v3";
    return http::to_string(url->endpoint) + path;
}

std::string auth_body(const config::Credentials& with) {
    json auth;
    if (with.uses_application_credential()) {
        auth["identity"] = {{"methods", json::array({"application_credential"})},
                            {"application_credential", application_credential(with)}};
    } else {
        json who = user(with);
        who["password"] = with.password.reveal();
        auth["identity"] = {{"methods", json::array({"password"})},
                            {"password", {{"user", std::move(who)}}}};
        auth["scope"] = {{"project", project(with)}};
    }
    const json body{{"auth", std::move(auth)}};
    // A secret may hold any bytes; what is not UTF-8 must not throw.
    return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string describe(const config::Credentials& with) {
    if (!with.uses_application_credential()) return described_user(with);
    if (!with.application_credential_id.empty())
        return "application credential " + one_line(with.application_credential_id, 100);
    return "application credential " + one_line(with.application_credential_name, 100) + " of " +
           described_user(with);
}

}  // namespace reaper::openstack
