// A circuit for each of many (projects, or shapes of their requests), which opens when culls for it
// keep going unused. Bounded by what culls there were; what has been quiet for long is forgotten.
// Pure, one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reaper/safeguards/circuit.hpp"

namespace reaper {

class CullCircuits {
public:
    struct Change {
        bool opened = false;  ///< else: closed
        int wasted = 0;       ///< slots in a row
        std::optional<TimePoint> until{};
    };
    struct Open {
        std::string key;
        CircuitState state{};
        int wasted = 0;
        std::optional<TimePoint> until;
    };

    /// `wasted` slots in a row open one; 0: none is ever opened.
    void reload(int wasted, const RetrySettings& settings);

    /// A cull for `key` helped, or the room of so many slots of it went unused. What it changed, if
    /// anything.
    std::optional<Change> helped(const std::string& key);
    std::optional<Change> wasted(const std::string& key, int slots, TimePoint at);
    /// The same, however many it were before.
    std::optional<Change> wasted_at_once(const std::string& key, int slots, TimePoint at);

    CircuitState state(const std::string& key, TimePoint now) const;
    std::optional<TimePoint> until(const std::string& key) const;
    /// Slots in a row that went unused.
    int wasted_in_a_row(const std::string& key) const;
    /// Those that are not closed.
    std::vector<Open> open(TimePoint now) const;

    void prune(TimePoint now);
    void shift(Duration by);
    void clear() { known_.clear(); }

private:
    struct Known {
        int wasted = 0;
        TimePoint at{};  ///< when the last went unused
        Circuit circuit;
    };
    std::optional<Change> waste(const std::string& key, int slots, TimePoint at, int enough);

    int enough_ = 0;
    RetrySettings settings_;
    std::map<std::string, Known> known_;
};

}  // namespace reaper
