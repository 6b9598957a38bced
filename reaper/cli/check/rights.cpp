#include "reaper/cli/check/rights.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace reaper::cli {
namespace {

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

/// In words of a service, or in ours.
bool named_as_missing(std::string_view rule, const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        const bool refused =
            finding.verdict == Verdict::fail || finding.detail.find("403") != std::string::npos;
        const bool told = finding.verdict == Verdict::warn || finding.verdict == Verdict::fail;
        return told && refused && names(finding.detail, rule);
    });
}

/// Rules that refuse no call, but change its answer: what is found there shows that we have them.
struct ShownBy {
    const char* service;
    const char* rule;
    const char* finding;
};
constexpr ShownBy shown_by[] = {
    {"nova", "os_compute_api:os-extended-server-attributes", "servers of all projects"},
    {"nova", "context_is_admin", "servers of other projects"},
};

bool is_shown(const ServiceRule& rule, const std::vector<Finding>& findings) {
    return std::any_of(std::begin(shown_by), std::end(shown_by), [&](const ShownBy& shown) {
        return shown.service == rule.first && shown.rule == rule.second &&
               std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
                   return finding.what == shown.finding && finding.verdict == Verdict::ok;
               });
    });
}

enum class RightState { missing, untried, allowed };

class RightStates {
public:
    explicit RightStates(const Evidence& evidence) : evidence_{evidence} {
        for (const auto& rules : evidence.calls.refused()) {
            // Where the service said which one it was, the others of the call are not blamed.
            const bool told = std::any_of(rules.begin(), rules.end(), [&](const ServiceRule& rule) {
                return named_as_missing(rule.second, evidence.findings);
            });
            if (!told) refused_.insert(rules.begin(), rules.end());
        }
    }

    RightState of(const Right& right) const {
        const ServiceRule rule{std::string{right.service}, std::string{right.rule}};
        if (refused_.contains(rule) || named_as_missing(right.rule, evidence_.findings))
            return RightState::missing;
        const bool allowed =
            evidence_.calls.allowed().contains(rule) || is_shown(rule, evidence_.findings);
        return allowed ? RightState::allowed : RightState::untried;
    }

private:
    const Evidence& evidence_;
    std::set<ServiceRule> refused_;
};

/// `nova: a, b; placement: c`
std::string listed(const std::map<std::string, std::vector<std::string>>& by_service) {
    std::string text;
    for (const auto& [service, rules] : by_service) {
        text += (text.empty() ? "" : "; ") + service + ": ";
        for (std::size_t i = 0; i < rules.size(); ++i) text += (i == 0 ? "" : ", ") + rules[i];
    }
    return text;
}

}  // namespace

std::set<std::string> features_of(const config::Settings& settings, bool holds_room) {
    std::set<std::string> features{"look", "delete"};
    if (settings.labels.servers != "none") features.insert("labels");
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
