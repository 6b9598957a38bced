#include "reaper/safeguards/victim_history.hpp"

#include <algorithm>
#include <utility>

namespace reaper {

double harm_of(const PastVictim& victim) {
    constexpr double hour = std::chrono::duration<double>(std::chrono::hours{1}).count();
    if (victim.created == TimePoint{}) return 1;
    const double ran = std::chrono::duration<double>(victim.at - victim.created).count();
    return 1 + std::clamp(ran / hour, 0.0, 1.0);
}

void VictimHistory::note(PastVictim victim) {
    const auto [begin, end] = by_server_.equal_range(victim.server);
    const auto went_before = [](const PastVictim& one, const PastVictim& other) {
        return other.launched && one.at < *other.launched;
    };
    const bool known = std::any_of(begin, end, [&](const auto& each) {
        const PastVictim& other = each.second->second;
        return other.request == victim.request ||
               (!went_before(victim, other) && !went_before(other, victim));
    });
    if (known) return;
    if (by_time_.size() >= max_kept) erase(by_time_.begin());
    const ServerId server = victim.server;
    OfRequest& of_request = by_request_[victim.request];
    ++of_request.victims;
    of_request.harm += harm_of(victim);
    const TimePoint at = victim.at;
    count(victim, 1);
    by_server_.emplace(server, by_time_.emplace(at, std::move(victim)));
}

bool VictimHistory::contains(const ServerId& server,
                             const std::optional<TimePoint>& launched) const {
    const auto [begin, end] = by_server_.equal_range(server);
    return std::any_of(begin, end, [&](const auto& each) {
        return !launched || *launched <= each.second->second.at;
    });
}

std::optional<ProjectId> VictimHistory::project_of(const ServerId& server) const {
    const auto at = by_server_.find(server);
    if (at == by_server_.end()) return std::nullopt;
    return at->second->second.project;
}

VictimHistory::ByServer::iterator VictimHistory::entry_of(ByTime::iterator at) {
    const auto [begin, end] = by_server_.equal_range(at->second.server);
    return std::find_if(begin, end, [&](const auto& each) { return each.second == at; });
}

void VictimHistory::erase(ByTime::iterator at) {
    count(at->second, -1);
    const auto request = by_request_.find(at->second.request);
    if (request != by_request_.end()) {
        request->second.harm -= harm_of(at->second);
        if (--request->second.victims <= 0) by_request_.erase(request);
    }
    by_server_.erase(entry_of(at));
    by_time_.erase(at);
}

void VictimHistory::forget(const ServerId& server, const RequestId& request) {
    const auto [begin, end] = by_server_.equal_range(server);
    const auto its = std::find_if(
        begin, end, [&](const auto& each) { return each.second->second.request == request; });
    if (its != end) erase(its->second);
}

void VictimHistory::prune(TimePoint now, Duration kept) {
    while (!by_time_.empty() && by_time_.begin()->first < now - kept) erase(by_time_.begin());
    while (!by_time_.empty() && std::prev(by_time_.end())->first > now) {
        const auto last = std::prev(by_time_.end());
        ByTime::iterator& known = entry_of(last)->second;
        auto node = by_time_.extract(last);
        node.key() = now;
        if (node.mapped().created != TimePoint{}) node.mapped().created += now - node.mapped().at;
        if (node.mapped().launched) *node.mapped().launched += now - node.mapped().at;
        node.mapped().at = now;
        known = by_time_.insert(std::move(node));
        counted_.reset();
    }
}

void VictimHistory::shift(Duration by) {
    ByTime moved;
    by_server_.clear();
    while (!by_time_.empty()) {
        auto node = by_time_.extract(by_time_.begin());
        node.key() += by;
        node.mapped().at += by;
        if (node.mapped().created != TimePoint{}) node.mapped().created += by;
        if (node.mapped().launched) *node.mapped().launched += by;
        const ServerId server = node.mapped().server;
        by_server_.emplace(server, moved.insert(std::move(node)));
    }
    by_time_ = std::move(moved);
    counted_.reset();
}

void VictimHistory::each_since(TimePoint since,
                               const std::function<void(const PastVictim&)>& visit) const {
    for (auto at = by_time_.upper_bound(since); at != by_time_.end(); ++at) visit(at->second);
}

long VictimHistory::of_request(const RequestId& request) const {
    const auto at = by_request_.find(request);
    return at == by_request_.end() ? 0 : at->second.victims;
}

double VictimHistory::harm_of_request(const RequestId& request) const {
    const auto at = by_request_.find(request);
    return at == by_request_.end() ? 0 : at->second.harm;
}

/// In step with a victim that comes or goes.
void VictimHistory::count(const PastVictim& victim, long more) const {
    if (!counted_ || victim.at <= counted_->since) return;
    const Workload workload = workload_of(victim.project, victim.name, victim.workload);
    auto& requests = counted_->requests[workload];
    if ((requests[victim.request] += more) <= 0) requests.erase(victim.request);
    const auto by = static_cast<int>(requests.size());
    if (by >= counted_->least && by > 0)
        counted_->often[workload] = by;
    else
        counted_->often.erase(workload);
    if (by == 0) counted_->requests.erase(workload);
}

std::map<Workload, int> VictimHistory::evictions_since(TimePoint since, int least) const {
    if (!counted_ || counted_->since > since || counted_->least != least) {
        counted_ = Counted{since, least, {}, {}};
        each_since(since, [&](const PastVictim& victim) { count(victim, 1); });
        return counted_->often;
    }
    for (auto at = by_time_.upper_bound(counted_->since);
         at != by_time_.end() && at->first <= since; ++at)
        count(at->second, -1);
    counted_->since = since;
    return counted_->often;
}

}  // namespace reaper
