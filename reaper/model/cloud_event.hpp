// What Nova's INFO notifications show about changes of the cloud, in our words (wire parsing is in
// clients/). They keep the cloud cache fresh; nothing is ever deleted on their word alone.
#pragma once

#include <string>
#include <variant>

#include "reaper/model/records.hpp"
#include "reaper/model/schedule.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// A server was created, changed or moved: `record` is how the event describes it (as Nova's API
/// would; tags are not given and stay empty).
struct ServerSeen {
    ServerRecord record;
    std::string node;  ///< hypervisor hostname; empty while it has none
    TimePoint at{};    ///< when Nova sent it
    /// The service host that reports it, as the one that a move leaves; empty: not known.
    std::string reporter{};
    friend bool operator==(const ServerSeen&, const ServerSeen&) = default;
};

/// A server's deletion is complete: it no longer holds room.
struct ServerGone {
    ServerId id;
    std::string host;  ///< service host that it was on; empty if none
    TimePoint at{};
    friend bool operator==(const ServerGone&, const ServerGone&) = default;
};

/// A compute service was made, changed or removed.
struct ServiceSeen {
    ComputeServiceRecord record;  ///< `up` false only when it is forced down
    bool removed = false;
    TimePoint at{};
    friend bool operator==(const ServiceSeen&, const ServiceSeen&) = default;
};

/// Some aggregate changed (hosts, metadata, itself): read them again.
struct AggregatesChanged {
    TimePoint at{};
    friend bool operator==(const AggregatesChanged&, const AggregatesChanged&) = default;
};

/// `Schedule`: the scheduler searches for hosts; it changes nothing of the cache.
using CloudEvent = std::variant<ServerSeen, ServerGone, ServiceSeen, AggregatesChanged, Schedule>;

}  // namespace reaper
