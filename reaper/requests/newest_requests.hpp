// Which request of a server is the newest: an older one no longer counts.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>

#include "reaper/model/ids.hpp"
#include "reaper/model/request.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

/// Remembers the last `most` servers that were met; a forgotten server has no newer request.
class NewestRequests {
public:
    explicit NewestRequests(std::size_t most = 20'000) : max_(most) {}

    /// It is a request of its requesters.
    void note(const Request& request);
    /// A message says so, and it is being checked, until `drop_claim`.
    void claim(const Request& request);
    void drop_claim(const Request& request);

    /// The newer request that took the place of this one: for each of its requesters there is one.
    std::optional<RequestId> superseding(const Request& request) const;
    /// Would it be superseded if the claims prove true?
    bool may_be_superseded(const Request& request) const;

private:
    struct Known {
        RequestId request;
        TimePoint sent_at{};
    };
    std::optional<RequestId> newer(const Request& request, bool with_claims) const;

    std::size_t max_;
    std::map<ServerId, Known> known_;
    std::deque<ServerId> order_;  ///< as they were first met
    std::map<ServerId, std::map<RequestId, TimePoint>> claims_;
};

}  // namespace reaper
