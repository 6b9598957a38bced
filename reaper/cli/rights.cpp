#include "reaper/cli/rights.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace reaper::cli {
namespace {

/// What stands between the first two quotes of the line; none: there are none.
std::optional<std::string> quoted_in(std::string_view line) {
    const std::size_t begin = line.find('"');
    if (begin == std::string_view::npos) return std::nullopt;
    const std::size_t end = line.find('"', begin + 1);
    if (end == std::string_view::npos) return std::nullopt;
    return std::string{line.substr(begin + 1, end - begin - 1)};
}

bool is_of_a_rule(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' ||
           c == '_' || c == '-';
}

/// As a word of its own: another rule may begin so.
bool names(const std::string& text, const std::string& rule) {
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

bool is_missing(const std::string& rule, const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
        const bool refused =
            finding.verdict == Verdict::fail || finding.detail.find("403") != std::string::npos;
        return finding.verdict != Verdict::ok && refused && names(finding.detail, rule);
    });
}

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

std::vector<Right> read_rights(std::string_view table) {
    std::vector<Right> rights;
    std::string service;
    std::string feature;
    while (!table.empty()) {
        const std::size_t end = std::min(table.find('\n'), table.size());
        const std::string_view line = table.substr(0, end);
        table.remove_prefix(std::min(end + 1, table.size()));
        const auto word = quoted_in(line);
        if (!word) continue;
        if (line.ends_with('{'))
            service = *word;
        else if (line.ends_with('['))
            feature = *word;
        else
            rights.push_back({service, feature, *word});
    }
    return rights;
}

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

void check_rights(const std::set<std::string>& features, const std::vector<Right>& rights,
                  const std::vector<Finding>& findings, const Report& report) {
    const bool asked = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.what == "keystone" && finding.verdict == Verdict::fail;
    });
    for (const std::string& feature : features) {
        std::map<std::string, std::vector<std::string>> needed, missing;
        for (const Right& right : rights) {
            if (right.feature != feature) continue;
            needed[right.service].push_back(right.rule);
            if (is_missing(right.rule, findings)) missing[right.service].push_back(right.rule);
        }
        if (needed.empty()) continue;
        if (missing.empty())
            report({asked ? Verdict::ok : Verdict::warn, "rights for " + feature,
                    (asked ? "needed: " : "not asked; needed: ") + listed(needed)});
        else
            report({Verdict::fail, "rights for " + feature,
                    "missing: " + listed(missing) +
                        " (deploy/least-rights makes a role that has them); needed: " +
                        listed(needed)});
    }
}

}  // namespace reaper::cli
