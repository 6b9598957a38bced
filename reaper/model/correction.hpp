// A correction: servers that have to go from one host, each singly, for the sake of that host or
// for a duty (reaper/duties). The room that they leave is promised to no request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reaper/model/ids.hpp"
#include "reaper/model/resources.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// The part that found out that they must be evicted.
enum class CorrectionSource {
    qos,        ///< a QoS controller: the host is loaded too much
    estimator,  ///< more oversubscribed room is held than there is
    watermark,  ///< more of the cloud is used than its high mark
    life_span,  ///< their life spans are over
};

struct CorrectedServer {
    ServerId server;
    std::string reason;  ///< for people: `load 7.9 above 6 for 5 minutes on host compute-1`

    friend bool operator==(const CorrectedServer&, const CorrectedServer&) = default;
};

struct Correction {
    HostId host;
    std::string host_name;  ///< for people
    /// In the order in which they go where limits do not leave all.
    std::vector<CorrectedServer> servers;

    friend bool operator==(const Correction&, const Correction&) = default;
};

/// What a correction has yet to free on its host; none: all that its servers hold there.
using CorrectionNeed = std::optional<Resources>;

// The ids of requests that carry out corrections name the source.

/// `qos-1800000000000-1`, `life-span-1800000000000-2`: `number` is another one each time.
RequestId correction_request_id(CorrectionSource source, TimePoint now, unsigned number);
bool is_from(CorrectionSource source, const RequestId& id);

}  // namespace reaper
