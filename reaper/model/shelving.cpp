#include "reaper/model/shelving.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "reaper/model/notice.hpp"

namespace reaper {

bool is_being_shelved(const Server& server) {
    return server.task_state.str().starts_with("shelving") ||
           (server.task_state.empty() && server.status == "SHELVED_OFFLOADED");
}

ShelveRules::ShelveRules(const ShelveSettings& settings)
    : servers_{settings.servers.begin(), settings.servers.end()}, owner_key_{settings.owner_key} {}

bool ShelveRules::apply_to(const Server& server) const {
    if (none()) return false;
    if (!owner_key_.empty()) {
        const auto asked = server.metadata.find(owner_key_);
        if (asked != server.metadata.end() && asked->second == "shelve") return true;
        if (asked != server.metadata.end() && asked->second == "delete") return false;
    }
    const auto names = rule_names_of(server);
    return servers_.contains("all") || std::ranges::any_of(names, [&](const std::string& name) {
               return servers_.contains(name);
           });
}

Departure ShelveRules::departure_of(const Server& server) const {
    constexpr std::array<std::string_view, 4> shelvable{"ACTIVE", "SHUTOFF", "PAUSED", "SUSPENDED"};
    if (!apply_to(server) || !server.task_state.empty()) return Departure::deleted;
    if (server.status == "SHELVED") return Departure::offloaded;
    const bool may = std::ranges::find(shelvable, server.status.str()) != shelvable.end();
    return may ? Departure::shelved : Departure::deleted;
}

std::optional<std::string> ShelveRules::why_leaving(const Server& server) const {
    if (!is_being_shelved(server) || !apply_to(server)) return std::nullopt;
    return server.task_state.empty() ? "it is shelved; its room is on the way"
                                     : "it is being shelved";
}

}  // namespace reaper
