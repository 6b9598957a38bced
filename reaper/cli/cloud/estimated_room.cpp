#include "reaper/cli/cloud/estimated_room.hpp"

#include <cstdint>

namespace reaper::cli {

EstimatedRoom estimated_room_in(const nlohmann::json& said) {
    EstimatedRoom room;
    if (!said.is_object()) return room;
    const auto name = said.find("class");
    const auto hosts = said.find("hosts");
    if (name == said.end() || !name->is_string() || hosts == said.end()) return room;
    room.of = ResourceClass{name->get<std::string>()};
    for (const auto& each : *hosts) {
        if (!each.is_object()) continue;
        const auto host = each.find("host");
        const auto wanted = each.find("wanted");
        if (host != each.end() && host->is_string() && wanted != each.end() &&
            wanted->is_number_integer())
            room.wanted.emplace(HostId{host->get<std::string>()}, wanted->get<std::int64_t>());
    }
    return room;
}

EstimatedRoom estimated_room(const Snapshot& snapshot, DaemonApi& api) {
    if (!any_oversubscribed(snapshot.revocable_classes)) return {};
    const auto said = api.get_if_there("/v1/oversubscription");
    if (!said) return {};
    return estimated_room_in(*said);
}

EstimatedRoom local_estimated_room(const Snapshot& snapshot, const std::string& socket,
                                   const Terminal& terminal) {
    if (socket.empty() || !any_oversubscribed(snapshot.revocable_classes)) return {};
    DaemonApi api{socket_channel(socket), terminal};
    return estimated_room(snapshot, api);
}

}  // namespace reaper::cli
