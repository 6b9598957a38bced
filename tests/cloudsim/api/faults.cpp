#include "tests/cloudsim/api/faults.hpp"

#include <algorithm>

namespace reaper::cloudsim {

bool glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t mark = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

const FaultRule* Faults::add(FaultRule rule) {
    if (rules_.size() >= most_rules) return nullptr;
    rule.number = ++last_;
    rules_.push_back(std::move(rule));
    return &rules_.back();
}

bool Faults::remove(int number) {
    return std::erase_if(rules_, [&](const FaultRule& rule) { return rule.number == number; }) > 0;
}

std::optional<FaultRule> Faults::take(const Request& request, const std::string& user) {
    for (FaultRule& rule : rules_) {
        if (!rule.method.empty() && rule.method != request.method) continue;
        if (!rule.user.empty() && rule.user != user) continue;
        if (!glob(rule.pattern, request.target)) continue;
        if (rule.skip > 0) {
            --rule.skip;
            continue;
        }
        if (rule.count && *rule.count == 0) continue;
        if (rule.count) --*rule.count;
        ++rule.hits;
        return rule;
    }
    return std::nullopt;
}

}  // namespace reaper::cloudsim
