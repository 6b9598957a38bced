// Which request of a server is the newest: an older one has no say any more.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Remembers the last `most` servers that were met; what is forgotten is nobody's newer request.
class NewestRequests {
public:
    explicit NewestRequests(std::size_t most = 20'000) : max_(most) {}

    void note(const ServerId& server, const RequestId& request, TimePoint sent_at);
    /// The newer request that took the place of this one: for each of its requesters there is one.
    std::optional<RequestId> superseding(const Request& request) const;

private:
    struct Known {
        RequestId request;
        TimePoint sent_at{};
    };
    std::size_t max_;
    std::map<ServerId, Known> known_;
    std::deque<ServerId> order_;  ///< as they were first met
};

}  // namespace reaper
