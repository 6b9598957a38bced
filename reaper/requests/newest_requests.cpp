#include "reaper/requests/newest_requests.hpp"

namespace reaper {

void NewestRequests::note(const Request& request) {
    for (const auto& server : request.requesters) {
        const auto [at, added] = known_.try_emplace(server, Known{request.id, request.sent_at});
        if (!added) {
            if (request.sent_at > at->second.sent_at) at->second = {request.id, request.sent_at};
            continue;
        }
        order_.push_back(server);
        if (order_.size() <= max_) continue;
        known_.erase(order_.front());
        order_.pop_front();
    }
}

void NewestRequests::claim(const Request& request) {
    for (const auto& server : request.requesters) claims_[server][request.id] = request.sent_at;
}

void NewestRequests::drop_claim(const Request& request) {
    for (const auto& server : request.requesters) {
        const auto at = claims_.find(server);
        if (at == claims_.end()) continue;
        at->second.erase(request.id);
        if (at->second.empty()) claims_.erase(at);
    }
}

std::optional<RequestId> NewestRequests::newer(const Request& request, bool with_claims) const {
    std::optional<RequestId> found;
    for (const auto& requester : request.requesters) {
        std::optional<RequestId> of_this;
        const auto known = known_.find(requester);
        if (known != known_.end() && known->second.request != request.id &&
            known->second.sent_at > request.sent_at)
            of_this = known->second.request;
        const auto claims = with_claims && !of_this ? claims_.find(requester) : claims_.end();
        if (claims != claims_.end())
            for (const auto& [id, sent_at] : claims->second)
                if (id != request.id && sent_at > request.sent_at) of_this = id;
        if (!of_this) return std::nullopt;
        found = std::move(of_this);
    }
    return found;
}

std::optional<RequestId> NewestRequests::superseding(const Request& request) const {
    return newer(request, false);
}

bool NewestRequests::may_be_superseded(const Request& request) const {
    return newer(request, true).has_value();
}

}  // namespace reaper
