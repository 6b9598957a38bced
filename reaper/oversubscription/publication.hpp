// From estimates to the room that is published: the rule for one host. Room falls at once and rises
// slowly, a step in each interval, after the estimate has allowed it for a while. It does not rise
// on a host that goes up and down, nor by figures of a short time. Pure; the caller passes all
// times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/oversubscription/estimator.hpp"
#include "reaper/safeguards/breaker.hpp"

namespace reaper {

struct PublicationRules {
    Duration interval{15'000};     ///< between two rises
    Duration rise_after{120'000};  ///< the estimate must have allowed a rise for this long
    double rise_step = 0.25;       ///< of the host's cores: vCPUs in one rise, at least 1
    Amount hysteresis = 1;         ///< vCPUs: a smaller gain is no rise
    int flaps = 3;                 ///< so many within the window: the host is left alone; 0: never
    Duration flap_window{3'600'000};
    /// For how long it is left alone: twice as long each time in a row.
    RetrySettings quiet{Duration{1'800'000}, Duration{28'800'000}};
    Duration trust_after{3'600'000};  ///< of which there must be readings before room rises
    double least_coverage = 0.95;     ///< the part of it that must be covered
    Duration max_age{60'000};         ///< an older measurement does not count

    friend bool operator==(const PublicationRules&, const PublicationRules&) = default;
};

/// What is remembered of one host between two intervals.
struct PublishedState {
    struct Pending {
        Amount to = 0;  ///< the least that was allowed since
        TimePoint since{};
    };

    Amount total = 0;                     ///< published last; 0 of a closed one
    std::optional<Pending> pending{};     ///< a rise that waits, or goes on
    std::optional<TimePoint> rose_at{};   ///< the last rise
    std::optional<TimePoint> known_at{};  ///< the last good measurement; else the first look
    bool rose = false;                    ///< since the last fall: the next one is a flap
    std::vector<TimePoint> flaps{};       ///< within the window, the oldest first
    Circuit quiet{};                      ///< not closed: the host flapped

    /// Room that was found in Placement (published_room); all else is as of a new host.
    static PublishedState found(Amount total);
    /// The wall clock was set forward by this duration (or back): all times move with it.
    void shift(Duration by);
};

/// For a host that was left alone at these times, the oldest first: what a reaper knows that did
/// not run then. Flaps that were too few yet are forgotten.
Circuit left_alone_since(const std::vector<TimePoint>& times, const PublicationRules& rules);

/// What a host holds and has now.
struct RoomInUse {
    Amount used = 0;   ///< vCPUs of oversubscribed room that are held
    double cores = 0;  ///< for the step
    /// A QoS controller says so: nothing new may start, whatever is allowed, and no server is
    /// evicted for that. Where room had risen and falls for it, that is a flap.
    bool too_busy = false;
};

struct Published {
    Amount total = 0;  ///< to be published; 0: no inventory at all
    /// There is no room, but some is in use, and Placement has no total of 0: it is 1, and
    /// nothing may start on it, also when the holders are gone. So where a host is too busy, what
    /// is evicted is not taken by others.
    bool closed = false;
    Amount excess = 0;        ///< held beyond what may stay: these vCPUs are to be freed
    bool left_alone = false;  ///< it flapped, and does not rise
    std::string why;          ///< for people
    PublishedState state;     ///< for the next time
};

/// What is to be published now. Never above `estimate.fall_to` where that is known, but for the 1
/// of a closed one; where it is not known for longer than `max_age`, never above what is in use. A
/// flap is a fall after a rise: a host that has not risen does not flap.
Published next_published(const PublishedState& state, const Estimate& estimate,
                         const RoomInUse& in_use, TimePoint now, const PublicationRules& rules);

}  // namespace reaper
