#include "reaper/triggers/notice_claims.hpp"

#include "reaper/model/text.hpp"

namespace reaper {

void NoticeClaims::add(const RequestId& request, const FailureNotice& notice) {
    if (notice.event != FailureEvent::migrate_server) return;
    Claim& claim = claims_[request];
    if (claim.messages++ == 0)
        claim.flavor_id = notice.flavor_id;
    else if (claim.flavor_id != notice.flavor_id)
        claim.other_flavor_id = notice.flavor_id;
}

void NoticeClaims::drop(const RequestId& request) {
    const auto at = claims_.find(request);
    if (at != claims_.end() && --at->second.messages <= 0) claims_.erase(at);
}

std::optional<std::string> NoticeClaims::contradiction(const RequestId& request) const {
    const auto at = claims_.find(request);
    if (at == claims_.end() || at->second.other_flavor_id.empty()) return std::nullopt;
    return "its messages name different flavors, '" + printable(at->second.flavor_id, 64) +
           "' and '" + printable(at->second.other_flavor_id, 64) + "': none of them is believed";
}

}  // namespace reaper
