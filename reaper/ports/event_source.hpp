// Port: the stream of Nova's INFO notifications, as changes of the cloud.
//
// At most once: nothing is acknowledged, and what is sent while we are not connected is never seen.
// A listener must cope with missed, late, repeated and reordered events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reaper/model/cloud_event.hpp"
#include "reaper/runtime/task.hpp"

namespace reaper {

/// A change of the connection. Each time that `flowing` becomes true, a gap lies before it.
struct EventFeedState {
    bool flowing = false;
    std::string detail;  ///< which broker, or why not and when the next try is; no secrets
};

/// Messages since the start, for logs and metrics.
struct EventCounts {
    std::uint64_t received = 0;
    std::uint64_t ignored = 0;    ///< of no interest
    std::uint64_t malformed = 0;  ///< of interest, but not understood
};

class EventSource {
public:
    /// Both are called on the executor that the source was made with. Events come in batches, in
    /// the order in which they arrived.
    struct Handlers {
        std::function<void(std::vector<CloudEvent>)> events;
        std::function<void(EventFeedState)> state;
    };

    virtual ~EventSource() = default;
    /// Connects, and keeps connected, until `stop`. Returns at once.
    virtual void start(Handlers handlers) = 0;
    virtual EventCounts counts() const = 0;
    /// No handler runs afterwards.
    virtual Task<void> stop() = 0;
};

}  // namespace reaper
