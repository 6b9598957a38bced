#include "reaper/safeguards/notices.hpp"

#include <algorithm>

namespace reaper {

const Notice* Notices::find(const ServerId& server) const {
    const auto at = all_.find(server);
    return at == all_.end() ? nullptr : &at->second;
}

std::vector<Notice> Notices::of(const RequestId& request) const {
    std::vector<Notice> found;
    for (const auto& [server, notice] : all_)
        if (notice.request == request) found.push_back(notice);
    return found;
}

std::vector<Notice> Notices::told() const {
    std::vector<Notice> found;
    for (const auto& [server, notice] : all_)
        if (notice.told) found.push_back(notice);
    return found;
}

std::optional<TimePoint> Notices::last_of(const RequestId& request) const {
    std::optional<TimePoint> last;
    for (const auto& [server, notice] : all_)
        if (notice.request == request) last = std::max(last.value_or(notice.until), notice.until);
    return last;
}

void Notices::read_back(const RequestRecord& record) {
    for (const auto& step : record.steps) {
        const bool told = step.step == Step::notified;
        const auto known = all_.find(step.server);
        if (step.step == Step::delete_accepted || step.step == Step::gone ||
            step.step == Step::vanished) {
            end(step.server);
        } else if (step.step == Step::withdrawn && known != all_.end()) {
            known->second.told = false;  // whether its owner heard of that is not known
            known->second.tried_since = TimePoint::max();
        } else if (step.step == Step::stop_sent && known != all_.end()) {
            known->second.stopped = true;
        }
        if (!told && step.step != Step::notice_sent) continue;
        const auto until = parse_time(step.detail);
        if (!until) continue;
        Notice notice{step.server, record.request.id,    *until, told, false, {}, {}, {},
                      {},          record.request.source};
        notice.tried_since =
            std::min(known != all_.end() ? known->second.tried_since : step.at, step.at);
        for (const auto& entry : record.plans) {
            const auto* const plan = std::get_if<Plan>(&entry.decision);
            if (plan == nullptr) continue;
            for (const Victim& victim : plan->victims())
                if (victim.server == step.server) {
                    notice.name = victim.name;
                    notice.host = victim.host;
                }
        }
        set(std::move(notice));
    }
}

}  // namespace reaper
