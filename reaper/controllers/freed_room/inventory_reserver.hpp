// Keeps new revocable servers off room that is promised to a request.
//
// Where revocable servers hold a class of their own in Placement (Tagger::held_class), none can
// start on a host whose inventory of that class is reserved to the last unit; servers that run
// there stay. So before a cull deletes a server on a host, `reserved` of its inventories of the
// class is raised to their total. It is set back when the ledger promises no room on the host: it
// is taken, expired or released, whatever the reason. Several requests on one host share a hold.
// Where another reaper has raised it already, or it can't be read, it is read again as long as room
// is promised there, and raised once that is possible.
//
// A hold is journalled before it is set, so that the next process gives back what this one could
// not. It protects the room but is no condition for a cull: if it can't be set, the log says so. A
// value that another client set meanwhile stays, but for all of a total that was changed. One
// thread; the ports, the ledger and `stopping` must outlive it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reaper/ports/cloud_ports.hpp"
#include "reaper/ports/journal.hpp"
#include "reaper/rooms/ledger.hpp"
#include "reaper/runtime/backoff.hpp"

namespace reaper {

class InventoryReserver {
public:
    struct Dependencies {
        CloudPorts cloud;
        Journal& journal;
        const Ledger& ledger;
        const bool& stopping;
    };
    /// An inventory that a hold may be set on.
    struct Place {
        HostId host;
        std::string host_name;
        ProviderId provider;
        ResourceClass resource_class;
    };

    explicit InventoryReserver(Dependencies dependencies) : dependencies_(dependencies) {}

    /// Loads the holds of a previous process: `check` gives back those without a promise.
    ResultTask<void> restore();
    /// Returns when each of them is set, or can't be now. The ledger promises room on their hosts.
    Task<void> take(RequestId request, std::vector<Place> places);
    /// Gives back what is due, takes what can be taken by now, and tries again what failed. To be
    /// called every `step`.
    ResultTask<void> check();
    /// Between two calls of `check`.
    static constexpr Duration step{1000};
    /// Before the process ends: all of them, for a few seconds; what is left stays journalled.
    Task<void> give_all_back();

    std::size_t size() const noexcept { return kept_.size(); }

private:
    using Key = std::pair<ProviderId, ResourceClass>;
    static constexpr Duration first_pause{1'000};
    static constexpr Duration longest_pause{60'000};
    struct Kept {
        InventoryHold hold;
        bool busy = false;    ///< another coroutine is at it
        bool sure = false;    ///< Placement said that it is set
        Duration retry_at{};  ///< steady
        GrowingPause pause{first_pause, longest_pause};
    };

    struct Awaited {
        RequestId request;
        Place place;
    };

    Task<void> take_one(RequestId request, Place place);
    Task<void> take_if_open(Key key);
    void await_open(const InventoryHold& hold);
    Task<bool> begin(RequestId request, Place place, Kept& kept);
    Task<void> set(Key key);
    Task<void> give_back(Key key, Duration deadline);
    Task<void> give_back_all_of(std::vector<Key> keys, Duration deadline);
    Task<void> end(Key key, InventoryHoldEndKind kind, std::string reason);
    static bool follows(Kept& kept, const Inventory& found);
    void try_later(Kept& kept, const std::string& what);
    bool promised(const HostId& host) const;
    std::vector<Key> idle() const;

    Dependencies dependencies_;
    std::map<Key, Kept> kept_;
    std::map<Key, Awaited> awaited_;  ///< not held yet: no unit is open, or it can't be read
};

}  // namespace reaper
