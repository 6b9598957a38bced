#include "reaper/safeguards/victim_history.hpp"

#include <set>
#include <utility>

namespace reaper {

void VictimHistory::note(PastVictim victim) {
    if (by_server_.contains(victim.server)) return;
    if (by_time_.size() >= max_kept) erase(by_time_.begin());
    const ServerId server = victim.server;
    ++by_request_[victim.request];
    const TimePoint at = victim.at;
    by_server_.emplace(server, by_time_.emplace(at, std::move(victim)));
}

void VictimHistory::erase(ByTime::iterator at) {
    const auto request = by_request_.find(at->second.request);
    if (request != by_request_.end() && --request->second <= 0) by_request_.erase(request);
    by_server_.erase(at->second.server);
    by_time_.erase(at);
}

void VictimHistory::forget(const ServerId& server) {
    const auto at = by_server_.find(server);
    if (at != by_server_.end()) erase(at->second);
}

void VictimHistory::prune(TimePoint now, Duration kept) {
    while (!by_time_.empty() && by_time_.begin()->first < now - kept) erase(by_time_.begin());
    while (!by_time_.empty() && std::prev(by_time_.end())->first > now) {
        auto node = by_time_.extract(std::prev(by_time_.end()));
        node.key() = now;
        node.mapped().at = now;
        const ServerId server = node.mapped().server;
        by_server_[server] = by_time_.insert(std::move(node));
    }
}

void VictimHistory::shift(Duration by) {
    ByTime moved;
    while (!by_time_.empty()) {
        auto node = by_time_.extract(by_time_.begin());
        node.key() += by;
        node.mapped().at += by;
        const ServerId server = node.mapped().server;
        by_server_[server] = moved.insert(std::move(node));
    }
    by_time_ = std::move(moved);
}

void VictimHistory::each_since(TimePoint since,
                               const std::function<void(const PastVictim&)>& visit) const {
    for (auto at = by_time_.upper_bound(since); at != by_time_.end(); ++at) visit(at->second);
}

long VictimHistory::of_request(const RequestId& request) const {
    const auto at = by_request_.find(request);
    return at == by_request_.end() ? 0 : at->second;
}

std::map<Workload, int> VictimHistory::evictions_since(TimePoint since, int least) const {
    std::map<Workload, std::set<RequestId>> requests;
    each_since(since, [&](const PastVictim& victim) {
        requests[workload_of(victim.project, victim.name, victim.workload)].insert(victim.request);
    });
    std::map<Workload, int> often;
    for (const auto& [workload, by] : requests)
        if (static_cast<int>(by.size()) >= least)
            often.emplace(workload, static_cast<int>(by.size()));
    return often;
}

}  // namespace reaper
