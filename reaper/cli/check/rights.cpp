#include "reaper/cli/check/rights.hpp"

#include <algorithm>
#include <array>
#include <map>

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
    {"nova",
     "os-migrations",
     {"os_compute_api:os-migrations:index", "os_compute_api:os-migrations:index:all_projects"}},
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

bool is_of_a_rule(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '-';
}

/// As a word of its own: another rule may begin so.
bool names(const std::string& text, std::string_view rule) {
    for (std::size_t at = text.find(rule); at != std::string::npos; at = text.find(rule, at + 1)) {
        const std::size_t end = at + rule.size();
        const bool begins = at == 0 || !is_of_a_rule(text[at - 1]);
        // A sentence may go on with a colon.
        const bool ends = end == text.size() || !is_of_a_rule(text[end]) ||
                          (text[end] == ':' && (end + 1 == text.size() || text[end + 1] == ' '));
        if (begins && ends) return true;
    }
    return false;
}

/// In the words of a service that refused a call.
bool named_as_missing(std::string_view rule, const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
        const bool refused =
            finding.verdict == Verdict::fail || finding.detail.find("403") != std::string::npos;
        const bool told = finding.verdict == Verdict::warn || finding.verdict == Verdict::fail;
        return told && refused && names(finding.detail, rule);
    });
}

/// Of a rule that refuses no call, but changes its answer.
bool is_shown(const ServiceRule& rule, Verdict verdict, const std::vector<Finding>& findings) {
    return std::ranges::any_of(findings, [&](const Finding& finding) {
        return finding.rule == rule && finding.verdict == verdict;
    });
}

enum class RightState { missing, untried, allowed };

class RightStates {
public:
    explicit RightStates(const Evidence& evidence) : evidence_{evidence} {
        for (const auto& rules : evidence.calls.refused()) {
            // Where the service said which one it was, the others of the call are not blamed.
            const bool told = std::ranges::any_of(rules, [&](const ServiceRule& rule) {
                return named_as_missing(rule.second, evidence.findings);
            });
            if (!told) refused_.insert(rules.begin(), rules.end());
        }
    }

    RightState of(const Right& right) const {
        const ServiceRule rule{std::string{right.service}, std::string{right.rule}};
        if (refused_.contains(rule) || is_shown(rule, Verdict::fail, evidence_.findings) ||
            named_as_missing(right.rule, evidence_.findings))
            return RightState::missing;
        const bool allowed = evidence_.calls.allowed().contains(rule) ||
                             is_shown(rule, Verdict::ok, evidence_.findings);
        return allowed ? RightState::allowed : RightState::untried;
    }

private:
    const Evidence& evidence_;
    std::set<ServiceRule> refused_;
};

/// `nova: a, b; placement: c`
std::string listed(const std::map<std::string, std::vector<std::string>>& by_service) {
    std::string text;
    for (const auto& [service, rules] : by_service)
        text += (text.empty() ? "" : "; ") + service + ": " + joined(rules);
    return text;
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

std::set<std::string> features_of(const config::Settings& settings, bool holds_room) {
    std::set<std::string> features{"look", "delete"};
    if (settings.labels.servers != "none") features.insert("labels");
    if (!NoticeRules{settings.policy.notice}.none()) features.insert("notice");
    if (!ShelveRules{settings.policy.shelve}.none()) features.insert("shelve");
    if (settings.trigger.unshelve_again) features.insert("unshelve-again");
    if (holds_room) features.insert("held-room");
    if (!settings.gateway.listen.empty()) features.insert("gateway");
    if (settings.reservations.enabled) features.insert("reservations");
    if (settings.oversubscription.enabled) features.insert("oversubscription");
    if (!settings.admin.listen.empty() && settings.admin.auth == "keystone")
        features.insert("admin");
    return features;
}

void check_rights(const std::set<std::string>& features, std::span<const Right> rights,
                  const Evidence& evidence, const Report& report) {
    const RightStates states{evidence};
    const bool admin = evidence.who && is_admin(*evidence.who);
    for (const std::string& feature : features) {
        std::map<RightState, std::map<std::string, std::vector<std::string>>> found;
        for (const Right& right : rights)
            if (right.feature == feature)
                found[states.of(right)][std::string{right.service}].emplace_back(right.rule);
        if (found.empty()) continue;
        const std::string what = "rights for " + feature;
        if (!evidence.who && !found.contains(RightState::missing)) {
            report(
                {Verdict::warn, what, "not asked; needed: " + listed(found[RightState::untried])});
            continue;
        }
        std::string detail;
        const auto add = [&](RightState state, const std::string& head, const std::string& tail) {
            if (!found.contains(state)) return;
            detail += (detail.empty() ? "" : ". ") + head + listed(found[state]) + tail;
        };
        add(RightState::missing, "missing: ", " (deploy/least-rights makes a role that has them)");
        add(RightState::untried,
            "not tried: ", admin ? " (role admin has them by the services' default policies)" : "");
        add(RightState::allowed, "tried, and there: ", "");
        const Verdict untried = admin ? Verdict::info : Verdict::warn;
        report({found.contains(RightState::missing)   ? Verdict::fail
                : found.contains(RightState::untried) ? untried
                                                      : Verdict::ok,
                what, detail});
    }
}

}  // namespace reaper::cli
