#include "reaper/triggers/notice_claims.hpp"

#include "reaper/model/text.hpp"

namespace reaper {

void NoticeClaims::add(const FailureNotice& notice) {
    if (notice.event != FailureEvent::migrate_server) return;
    flavors_[{notice.request_id, notice.server}].insert(notice.flavor_id);
}

void NoticeClaims::drop(const FailureNotice& notice) {
    const auto at = flavors_.find({notice.request_id, notice.server});
    if (notice.event != FailureEvent::migrate_server || at == flavors_.end()) return;
    const auto flavor = at->second.find(notice.flavor_id);
    if (flavor != at->second.end()) at->second.erase(flavor);
    if (at->second.empty()) flavors_.erase(at);
}

std::optional<std::string> NoticeClaims::contradiction(const FailureNotice& notice) const {
    const auto at = flavors_.find({notice.request_id, notice.server});
    if (at == flavors_.end()) return std::nullopt;
    for (const auto& other : at->second)
        if (other != notice.flavor_id)
            return "its messages name different flavors, '" + printable(notice.flavor_id, 64) +
                   "' and '" + printable(other, 64) + "': none of them is believed";
    return std::nullopt;
}

}  // namespace reaper
