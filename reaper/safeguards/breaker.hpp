// The circuit breaker of the whole cloud: opens when culls of several projects keep going unused,
// or deletions keep failing, and tries again by itself. It only decides; stopping, and going on, is
// its owner's.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "reaper/model/ids.hpp"
#include "reaper/safeguards/circuit.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

/// What happened to the room of a cull.
enum class CullWorth {
    helped,    ///< its requester took it
    needless,  ///< says nothing of the next cull: they found room elsewhere, or another regular
               ///< request took it
    wasted,    ///< no server took the room
    lost,      ///< new revocable servers took it, which held room would have prevented
};

class Breaker {
public:
    struct Change {
        bool opened = false;  ///< else: closed
        std::string reason;   ///< what happened; when it opens: what to do
    };

    Breaker() = default;
    explicit Breaker(const BreakerSettings& settings) : settings_{settings} {}
    void reload(const BreakerSettings& settings) { settings_ = settings; }

    /// Each returns what it changes, if anything.
    std::optional<Change> note_freed_room(const RequestId& request, const ProjectId& project,
                                          CullWorth worth, int slots, TimePoint at);
    std::optional<Change> note_deletion(bool succeeded, const RequestId& request, TimePoint at);

    /// An operator has checked (`reaper resume`): counting begins again.
    void reset() { *this = Breaker{settings_}; }
    CircuitState state(TimePoint now) const { return circuit_.state(now); }
    /// Until when it is open; none if it is not, or never tries again by itself.
    std::optional<TimePoint> until() const { return circuit_.until(); }
    /// Why it opened the last time.
    const std::string& reason() const { return reason_; }
    /// It was open when the last process ended, which nothing else shows: open from now on.
    void open_again(TimePoint at);
    void shift(Duration by) { circuit_.shift(by); }
    /// Slots, and deletions, in a row so far.
    int wasted() const { return wasted_; }
    int failed() const { return failed_; }

private:
    Change open(std::string why, TimePoint at);

    BreakerSettings settings_;
    Circuit circuit_;
    int wasted_ = 0;
    int lost_ = 0;  ///< of those: to new revocable servers
    int failed_ = 0;
    bool by_deletions_ = false;     ///< why it opened
    std::set<ProjectId> projects_;  ///< whose culls those were
    std::string reason_;
};

}  // namespace reaper
