// The circuit breaker of the whole cloud: opens when culls of several projects keep going unused,
// or deletions keep failing, and tries again by itself. Owners can make deletions of their servers
// hang: those of one project alone open it only if no other has revocable servers. It only decides;
// stopping, and going on, is its owner's.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"
#include "reaper/safeguards/settings.hpp"

namespace reaper {

// A circuit that opens when something goes wrong and tries again by itself: open, it lets nothing
// through; after a while it is half open, and lets one try through, whose end closes it or opens it
// again, for twice as long. Pure; the caller passes all times.

enum class CircuitState { closed, open, half_open };
std::string_view to_string(CircuitState state);
std::optional<CircuitState> circuit_state_from(std::string_view text);

class Circuit {
public:
    /// Something went wrong. The first pause is `retry_after`, each one in a row twice the one
    /// before, up to `max_retry_after`; a `retry_after` of 0 never ends by itself.
    void open(TimePoint at, const RetrySettings& settings);
    /// It works.
    void close() { *this = Circuit{}; }

    CircuitState state(TimePoint now) const;
    /// Until when it is open; none if it is closed, or never half open by itself.
    std::optional<TimePoint> until() const;
    /// How often in a row it opened.
    int times() const { return times_; }
    void shift(Duration by);

private:
    int times_ = 0;
    bool by_itself_ = true;  ///< half open after `until_`
    TimePoint until_{};
};

// A circuit for each of many (projects, or shapes of their requests), which opens when culls for it
// keep going unused. Bounded by what culls there were; what has been quiet for long is forgotten.
// Pure, one thread.

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
    /// `hung`: whose server Nova was to delete and did not; none of a deletion that it refused.
    std::optional<Change> note_deletion(bool succeeded, const RequestId& request,
                                        const std::optional<ProjectId>& hung, TimePoint at);
    /// So many projects have revocable servers.
    void see_projects(int with_servers) { with_servers_ = with_servers; }

    /// An operator has checked (`reaper resume`): counting begins again.
    void reset();
    CircuitState state(TimePoint now) const { return circuit_.state(now); }
    /// Until when it is open; none if it is not, or never tries again by itself.
    std::optional<TimePoint> until() const { return circuit_.until(); }
    /// Why it opened the last time.
    const std::string& reason() const { return reason_; }
    /// It opened before the last process ended, and what was counted does not show it.
    void open_again(TimePoint at, std::string why);
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
    int refused_ = 0;                  ///< of those: Nova's answer was an error
    std::set<ProjectId> hung_;         ///< whose servers the others of those are
    std::optional<int> with_servers_;  ///< projects; none: not known
    bool by_deletions_ = false;        ///< why it opened
    std::set<ProjectId> projects_;     ///< whose culls those were
    std::string reason_;
};

}  // namespace reaper
