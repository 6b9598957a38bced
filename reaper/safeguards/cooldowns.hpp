// Hosts and cells that rank lower for a while, because room freed there was not used. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

// Hosts in cooldown: room freed there was not taken, so something that can't be read from outside
// (an image property, NUMA, a filter of the operator's own) may forbid it. For a while they rank
// lower.

class HostCooldowns {
public:
    /// Room on the host, freed for `request`, was found untaken at `at`. The latest word counts.
    void note(const HostId& host, const RequestId& request, TimePoint at);
    /// Drops what is older than `lasting`, and sets what lies in the future to `now`.
    void prune(TimePoint now, Duration lasting);

    /// The wall clock was set forward by this duration (or back): all times move with it.
    void shift(Duration by);

    /// Each with its reason.
    std::map<HostId, std::string> reasons() const;
    bool empty() const { return cooldowns_.empty(); }

private:
    struct Cooldown {
        RequestId request;
        TimePoint at;
    };
    std::map<HostId, Cooldown> cooldowns_;
};

// Moves that stay in their server's cell, where the configuration has no cells: room that was
// freed for one and not taken may be in another cell, and so may be the next host's. Such moves are
// not culled for again for a while: from the same host, or, where Nova's lists show that there are
// several cells, from any.

class CellCooldowns {
public:
    /// The minimum, whatever `host_cooldown` is.
    static constexpr Duration least{1'800'000};

    /// Room that was freed for a move from this service host (empty: it is not known) was not
    /// taken.
    void note_wasted(const std::string& from_host, const RequestId& request, TimePoint at);
    /// It was taken: earlier results no longer count.
    void note_helped(const std::string& from_host) { wasted_.erase(from_host); }

    /// Why no server is deleted for a move from there now; none if some may be.
    std::optional<std::string> why(const std::string& from_host, bool several_cells) const;

    void prune(TimePoint now, Duration host_cooldown);
    /// The wall clock was set forward by this duration (or back).
    void shift(Duration by);

private:
    struct Wasted {
        RequestId request;
        TimePoint at;
    };
    std::map<std::string, Wasted> wasted_;  // by service host
};

}  // namespace reaper
