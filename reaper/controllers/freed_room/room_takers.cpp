#include "reaper/controllers/freed_room/room_takers.hpp"

#include <algorithm>
#include <chrono>

#include "reaper/model/likeness.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper {

bool came_since(const Server& server, TimePoint since) {
    const auto from = std::chrono::floor<std::chrono::seconds>(since);
    return server.created >= from || (server.launched.has_value() && *server.launched >= from);
}

bool note_takers(const Host& host, const Request& request, const Ledger& ledger, TimePoint decided,
                 const std::set<ServerId>* neighbours, RoomTakers& takers) {
    const Shape shape = shape_of(request);
    const HostRoom room = room_on(host, shape, ledger, request.id);
    ByPool left = room.room_now();
    if (room.slots(shape, left) > 0) return false;
    std::vector<const Server*> came;
    for (const auto& server : host.servers) {
        const bool is_new =
            neighbours != nullptr ? !neighbours->contains(server.id) : came_since(server, decided);
        if (is_new && !like_a_retry(server, request)) came.push_back(&server);
    }
    // Without the revocable ones first: that is what holding room would have done.
    for (const bool revocable : {true, false}) {
        std::vector<ServerId> those;
        for (const Server* server : came) {
            if (server->revocable() != revocable) continue;
            those.push_back(server->id);
            const ByPool gains = gains_of(room, shape, server->allocations);
            for (std::size_t i = 0; i < left.size(); ++i) left[i] += gains[i];
        }
        if (those.empty() || room.slots(shape, left) <= 0) continue;
        auto& found = revocable ? takers.revocable : takers.regular;
        found.insert(found.end(), those.begin(), those.end());
        return true;
    }
    return false;
}

}  // namespace reaper
