// The whole simulated cloud: all services' data, one clock, one source of chance.
#pragma once

#include <functional>
#include <vector>

#include "tests/cloudsim/core/identity.hpp"
#include "tests/cloudsim/core/listener.hpp"
#include "tests/cloudsim/core/nova.hpp"
#include "tests/cloudsim/core/placement.hpp"
#include "tests/cloudsim/core/placement_door.hpp"
#include "tests/cloudsim/core/settings.hpp"

namespace reaper::cloudsim {

struct World {
    World(Settings with, std::function<Time()> real);
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Settings settings;
    Clock clock;
    SeededRng rng;
    Names names;
    Placement placement;
    Nova nova;
    Identity identity;
    std::vector<Listener*> listeners;  ///< not owned
    PlacementDoor* door = nullptr;     ///< not owned; none: nova-scheduler asks Placement itself
    bool respawn = false;
    /// Deletions that are accepted and then never happen: how many of those to come.
    std::uint64_t deletions_to_lose = 0;

    template <class Tell>
    void tell(Tell tell_one) {
        for (Listener* listener : listeners) tell_one(*listener);
    }
    /// Not of a request: what the cloud does by itself, in the name of a server's owner.
    ContextPtr own_context(const Server& server);
    bool is_revocable(const Server& server) const;
    /// The rule alone, of the project's tag and of what is held.
    bool is_revocable(bool tagged, bool holds) const;
    bool is_tagged(NameId project) const;
    /// What a server holds of the revocable class is more than nothing.
    bool holds_revocable(const Uuid& consumer) const;
    bool asks_revocable(const Flavor& flavor) const;
};

}  // namespace reaper::cloudsim
