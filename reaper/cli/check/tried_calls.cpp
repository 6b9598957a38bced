#include "reaper/cli/check/tried_calls.hpp"

#include <array>

namespace reaper::cli {
namespace {

constexpr int answered_forbidden = 403;

/// How a path ends, `*` for any one part, and the rules for it.
struct CallRules {
    std::string_view service;
    std::string_view path;
    std::array<std::string_view, 2> rules;
};

/// What `reaper check` reads; the first that fits counts.
constexpr CallRules rules_of_calls[] = {
    {"nova",
     "servers/detail",
     {"os_compute_api:servers:detail", "os_compute_api:servers:detail:get_all_tenants"}},
    {"nova", "servers/*/os-instance-actions", {"os_compute_api:os-instance-actions:list"}},
    {"nova", "servers/*/os-instance-actions/*", {"os_compute_api:os-instance-actions:show"}},
    {"nova", "servers/*", {"os_compute_api:servers:show"}},
    {"nova", "os-hypervisors/detail", {"os_compute_api:os-hypervisors:list-detail"}},
    {"nova", "os-hypervisors", {"os_compute_api:os-hypervisors:list"}},
    {"nova", "os-services", {"os_compute_api:os-services:list"}},
    {"nova", "os-aggregates", {"os_compute_api:os-aggregates:index"}},
    {"nova", "os-migrations", {"os_compute_api:os-migrations:index"}},
    {"nova", "os-server-groups/*", {"os_compute_api:os-server-groups:show"}},
    {"nova", "flavors/*/os-extra_specs", {"os_compute_api:os-flavor-extra-specs:index"}},
    {"placement", "allocation_candidates", {"placement:allocation_candidates:list"}},
    {"placement", "resource_classes", {"placement:resource_classes:list"}},
    {"placement",
     "resource_providers/*/inventories",
     {"placement:resource_providers:inventories:list"}},
    {"placement",
     "resource_providers/*/allocations",
     {"placement:resource_providers:allocations:list"}},
    {"placement", "resource_providers/*/traits", {"placement:resource_providers:traits:list"}},
    {"placement",
     "resource_providers/*/aggregates",
     {"placement:resource_providers:aggregates:list"}},
    {"placement", "resource_providers", {"placement:resource_providers:list"}},
    {"placement", "allocations/*", {"placement:allocations:list"}},
    {"placement", "usages", {"placement:usages"}},
    {"keystone", "projects/*", {"identity:get_project"}},
    {"keystone", "projects", {"identity:list_projects"}},
    {"keystone", "domains/*", {"identity:get_domain"}},
    {"glance", "images/*", {"get_image"}},
};

/// The part behind the last `/`, which is taken off; the query is off already.
std::string_view take_last_part(std::string_view& path) {
    const std::size_t at = path.rfind('/');
    const std::string_view last = at == std::string_view::npos ? path : path.substr(at + 1);
    path = at == std::string_view::npos ? std::string_view{} : path.substr(0, at);
    return last;
}

bool path_ends_as(std::string_view path, std::string_view pattern) {
    while (!pattern.empty()) {
        const std::string_view wanted = take_last_part(pattern);
        const std::string_view part = take_last_part(path);
        if (part.empty() || (wanted != "*" && wanted != part)) return false;
    }
    return true;
}

}  // namespace

std::vector<std::string> rules_of_call(std::string_view service, http::Method method,
                                       std::string_view url) {
    std::vector<std::string> rules;
    if (method != http::Method::get) return rules;
    const std::string_view path = url.substr(0, url.find('?'));
    for (const CallRules& call : rules_of_calls) {
        if (call.service != service || !path_ends_as(path, call.path)) continue;
        for (const std::string_view rule : call.rules)
            if (!rule.empty()) rules.emplace_back(rule);
        break;
    }
    return rules;
}

void TriedCalls::add(const http::CallSeen& seen) {
    const bool answered = seen.status >= 200 && seen.status < 300;
    if (!answered && seen.status != answered_forbidden) return;
    std::set<ServiceRule> rules;
    for (auto& rule : rules_of_call(seen.service, seen.method, seen.url))
        rules.emplace(seen.service, std::move(rule));
    if (rules.empty()) return;
    if (answered)
        allowed_.insert(rules.begin(), rules.end());
    else
        refused_.insert(std::move(rules));
}

}  // namespace reaper::cli
