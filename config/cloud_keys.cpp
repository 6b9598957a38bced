#include "config/cloud_keys.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "reaper/model/nearest.hpp"

namespace reaper::config {
namespace {

constexpr std::array<std::string_view, 17> read_keys{
    "auth",          "auth_type",   "auth_plugin", "profile",
    "cloud",         "region_name", "regions",     "interface",
    "endpoint_type", "verify",      "insecure",    "cacert",
    "cert",          "key",         "passcode",    "identity_api_version",
    "auth_methods"};

/// In `auth`, or beside it.
constexpr std::array<std::string_view, 26> auth_keys{"auth_url",
                                                     "username",
                                                     "user_name",
                                                     "user_id",
                                                     "password",
                                                     "user_domain_name",
                                                     "user_domain_id",
                                                     "project_name",
                                                     "project_id",
                                                     "tenant_name",
                                                     "tenant_id",
                                                     "project_domain_name",
                                                     "project_domain_id",
                                                     "domain_id",
                                                     "domain_name",
                                                     "default_domain",
                                                     "default_domain_id",
                                                     "default_domain_name",
                                                     "application_credential_id",
                                                     "application_credential_name",
                                                     "application_credential_secret",
                                                     "system_scope",
                                                     "trust_id",
                                                     "token",
                                                     "auth_token",
                                                     "passcode"};

constexpr std::array<std::string_view, 24> idle_keys{"api_timeout",
                                                     "timeout",
                                                     "timing",
                                                     "floating_ip_source",
                                                     "requires_floating_ip",
                                                     "networks",
                                                     "external_network",
                                                     "internal_network",
                                                     "secgroup_source",
                                                     "image_api_use_tasks",
                                                     "image_format",
                                                     "disable_vendor_agent",
                                                     "vendor_hook",
                                                     "message",
                                                     "status",
                                                     "metrics",
                                                     "connect_retries",
                                                     "connect_retry_delay",
                                                     "status_code_retries",
                                                     "status_code_retry_delay",
                                                     "retriable_status_codes",
                                                     "default_microversion",
                                                     "verbose_level",
                                                     "debug"};

constexpr std::array<std::string_view, 2> unused_keys{"force_ipv4", "prefer_ipv6"};

/// Of each service: `compute_endpoint_override`.
constexpr std::array<std::string_view, 7> service_keys{
    "_interface",    "_endpoint_type",     "_region_name", "_service_type",
    "_service_name", "_endpoint_override", "_endpoint"};
constexpr std::array<std::string_view, 10> idle_service_keys{
    "_api_version",     "_default_microversion", "_min_version",         "_max_version",
    "_connect_retries", "_connect_retry_delay",  "_status_code_retries", "_status_code_retry_delay",
    "_timeout",         "_disabled_reason"};

template <class Names>
bool has(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Endings>
bool ends_with_one_of(const Endings& endings, std::string_view name) {
    return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
        return name.size() > ending.size() && name.ends_with(ending);
    });
}

}  // namespace

CloudKeyUse use_of_cloud_key(std::string_view name) {
    constexpr std::string_view of_auth = "auth.";
    if (name.starts_with(of_auth))
        return has(auth_keys, name.substr(of_auth.size())) ? CloudKeyUse::read
                                                           : CloudKeyUse::unknown;
    if (has(read_keys, name) || has(auth_keys, name) || ends_with_one_of(service_keys, name))
        return CloudKeyUse::read;
    if (has(idle_keys, name) || ends_with_one_of(idle_service_keys, name) ||
        name.starts_with("has_"))
        return CloudKeyUse::idle;
    return has(unused_keys, name) ? CloudKeyUse::unused : CloudKeyUse::unknown;
}

std::string meant_cloud_key(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    std::vector<std::string> known(auth_keys.begin(), auth_keys.end());
    if (last == name) known.insert(known.end(), read_keys.begin(), read_keys.end());
    const auto near = nearest(last, known);
    return near ? *near : "a key that OpenStack's own tools know";
}

}  // namespace reaper::config
