#include "reaper/model/notice.hpp"

#include <algorithm>
#include <sstream>

#include "reaper/model/server_state.hpp"

namespace reaper {

std::optional<std::pair<std::string, Duration>> notice_period_of(const std::string& text) {
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return std::nullopt;
    const auto period = parse_duration(text.substr(equals + 1));
    if (!period) return std::nullopt;
    return std::pair{text.substr(0, equals), *period};
}

std::vector<std::string> rule_names_of(const Server& server) {
    std::vector<std::string> names{server.flavor_name.str(), server.project.str()};
    std::istringstream taggers{server.revocable_by.str()};
    for (std::string tagger; std::getline(taggers, tagger, ',');) {
        tagger.erase(0, tagger.find_first_not_of(' '));
        names.push_back(std::move(tagger));
    }
    return names;
}

NoticeRules::NoticeRules(const NoticeSettings& settings) : settings_{settings} {
    for (const auto& text : settings.periods)
        if (auto period = notice_period_of(text)) periods_.insert(std::move(*period));
}

bool NoticeRules::none() const {
    return settings_.period <= Duration::zero() && periods_.empty() &&
           settings_.owner_key.empty() && left_.empty();
}

Duration NoticeRules::of(const Server& server) const {
    if (none()) return Duration::zero();
    // One that was stopped under a notice still has it: any reaper may have given it.
    if (!loses_work(server) && !server.metadata.contains(evict_at_key)) return Duration::zero();
    if (!settings_.owner_key.empty()) {
        const auto asked = server.metadata.find(settings_.owner_key);
        const auto period =
            asked == server.metadata.end() ? std::nullopt : parse_duration(asked->second);
        if (period) return std::clamp(*period, Duration::zero(), settings_.longest);
    }
    std::optional<Duration> longest;
    for (const std::string& name : rule_names_of(server)) {
        const auto at = periods_.find(name);
        if (at != periods_.end()) longest = std::max(longest.value_or(at->second), at->second);
    }
    return longest.value_or(settings_.period);
}

Duration NoticeRules::left_of(const Server& server) const {
    const auto at = left_.find(server.id);
    return at == left_.end() ? of(server) : at->second;
}

std::string NoticeRules::fingerprint() const {
    std::string text = "notice " + exact_duration(settings_.period) + "," + settings_.owner_key +
                       "," + exact_duration(settings_.longest);
    for (const auto& [name, period] : periods_) text += "," + name + "=" + exact_duration(period);
    for (const auto& [server, left] : left_)
        text += "," + server.str() + "=" + std::to_string(left.count());
    return text;
}

}  // namespace reaper
