#include "reaper/requests/newest_requests.hpp"

namespace reaper {

void NewestRequests::note(const ServerId& server, const RequestId& request, TimePoint sent_at) {
    const auto [at, added] = known_.try_emplace(server, Known{request, sent_at});
    if (!added) {
        if (sent_at > at->second.sent_at) at->second = Known{request, sent_at};
        return;
    }
    order_.push_back(server);
    if (order_.size() <= max_) return;
    known_.erase(order_.front());
    order_.pop_front();
}

std::optional<RequestId> NewestRequests::superseding(const Request& request) const {
    std::optional<RequestId> newer;
    for (const auto& requester : request.requesters) {
        const auto at = known_.find(requester);
        if (at == known_.end() || at->second.request == request.id ||
            at->second.sent_at <= request.sent_at)
            return std::nullopt;
        newer = at->second.request;
    }
    return newer;
}

}  // namespace reaper
