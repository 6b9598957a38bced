// How much oversubscribed room was held on a host lately. A rate is a mean of the past: it has the
// use of holders that are gone in it. So the most that was held since the rate began is what may
// have been theirs; else the use of who went would count as that of others, and more would go for
// it. Pure; times are told.
#pragma once

#include <deque>
#include <string_view>

#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class HeldLately {
public:
    /// So much is held now. Times grow.
    void note(TimePoint now, Amount held);
    /// The most within `span` before now. While less than that is known of: more than anybody
    /// holds.
    Amount most(TimePoint now, Duration span);

private:
    struct Held {
        TimePoint from{};
        TimePoint to{};
        Amount amount = 0;
    };
    std::deque<Held> held_;  // the oldest first
};

/// How far back a query looks at most: the sum of its ranges (`[2m]`, `[1h:1m]`).
Duration reach_of(std::string_view expression);

}  // namespace reaper
