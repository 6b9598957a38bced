// Hosts where deletions hang: Nova accepted them, and the servers stay. Other requests skip such a
// host until a deletion ends there, like one in cooldown: it is used only if nothing else frees the
// slots.
//
// A deletion hangs after four times the median of recent deletions, but not before 10 s. The limit
// is at most 30 s, or twice the median where that is more. With little data it is 30 s. Where
// deletions hang on three hosts and none has ended anywhere meanwhile, the cause is not a host.
// Then no host is skipped, as deletions on others would hang as well.
//
// Pure, one thread; the caller passes all times.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "reaper/model/cloud.hpp"
#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

class HangingDeletions {
public:
    using HostLookup = std::function<const Host*(const HostId&)>;

    void sent(const HostId& host, const ServerId& server, TimePoint at);
    /// The server is gone.
    void ended(const ServerId& server, TimePoint at);
    /// It was refused, or never happened.
    void dropped(const ServerId& server) { under_way_.erase(server); }
    /// As the cloud is seen by now: the deletion of a server that is on its host no more ended. A
    /// host that is not looked up (null) says nothing.
    void see(const HostLookup& host_of, TimePoint now);

    /// Each with its reason.
    std::map<HostId, std::string> reasons(TimePoint now) const;
    /// A deletion hangs after this time.
    Duration limit() const;

    /// Drops what is too old to say anything.
    void prune(TimePoint now);
    /// The wall clock was set forward by this duration (or back): all times move with it.
    void shift(Duration by);

private:
    static constexpr std::size_t most_known = 32;
    static constexpr std::size_t fewest_known = 3;
    struct Sent {
        HostId host;
        TimePoint at;
    };

    void end(const HostId& host, TimePoint at);

    std::map<ServerId, Sent> under_way_;
    std::map<HostId, TimePoint> ended_on_;  ///< when a deletion ended there last
    std::optional<TimePoint> ended_last_;   ///< the same, anywhere
    std::deque<Duration> took_;             ///< the latest
};

}  // namespace reaper
