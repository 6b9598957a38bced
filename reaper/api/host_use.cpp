#include "reaper/api/host_use.hpp"

#include "reaper/report/json.hpp"
#include "reaper/rooms/room.hpp"

namespace reaper::api {

HostUseNow use_of(const Host& host, const Ledger& ledger, const Resources& reserved) {
    HostUseNow use;
    const report::Room room = report::room_of(host);
    use.capacity = room.capacity;
    use.free = room.capacity - room.used;
    use.other = room.used;
    for (const Server& server : host.servers) {
        const Resources held = held_on(server, host);
        use.other -= held;
        if (comes_free(server, ledger)) {
            use.evicting += held;
            ++use.evicting_servers;
        } else if (!server.revocable()) {
            use.regular += held;
            ++use.regular_servers;
        } else {
            (ledger.lender_of(server.id) != nullptr ? use.lent : use.revocable) += held;
            ++use.revocable_servers;
        }
    }
    // A server that Nova lists no more, and that is ours to wait for.
    for (const Provider& provider : host.providers)
        for (const auto& [consumer, held] : provider.other_consumers) {
            if (!ledger.evicting(consumer) || ledger.given_up(consumer)) continue;
            use.evicting += held;
            use.other -= held;
        }
    // Another reading than that of the host: no more than is there.
    use.reserved = common(above_none(use.other), reserved);
    use.other -= use.reserved;
    use.promised = ledger.promised_to_requests(host.id);
    return use;
}

}  // namespace reaper::api
