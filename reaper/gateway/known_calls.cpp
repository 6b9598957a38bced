#include "reaper/gateway/known_calls.hpp"

#include <algorithm>
#include <utility>

namespace reaper {

bool KnownCalls::Known::may_be(const ServerId& server) const {
    return std::any_of(one_of.begin(), one_of.end(),
                       [&](const Servers& each) { return each.contains(server); });
}

void KnownCalls::ended(const RequestId& call) {
    const auto at = waiting_.find(call);
    if (at != waiting_.end() && --at->second == 0) waiting_.erase(at);
}

void KnownCalls::known(const RequestId& call, std::vector<Servers> one_of) {
    known_.insert_or_assign(call, Known{std::move(one_of)});
}

std::vector<KnownCalls::Linked> KnownCalls::linked(const RequestId& besides) const {
    std::vector<Linked> all;
    for (const auto& [call, known] : known_) {
        if (call == besides) continue;
        Linked sum{{known.one_of.begin(), known.one_of.end()}, 1, waiting_.count(call)};
        const auto shares = [&](const Linked& other) {
            return std::any_of(sum.requests.begin(), sum.requests.end(),
                               [&](const Servers& each) { return other.requests.contains(each); });
        };
        for (auto at = all.begin(); at != all.end();) {
            if (!shares(*at)) {
                ++at;
                continue;
            }
            sum.requests.merge(at->requests);
            sum.calls += at->calls;
            sum.waiting += at->waiting;
            at = all.erase(at);
        }
        all.push_back(std::move(sum));
    }
    return all;
}

KnownCalls::Servers KnownCalls::of_others(const RequestId& call, const Servers& listed) const {
    Servers others;
    for (const Linked& each : linked(call)) {
        // What is listed no more was for a call that waits no more.
        const auto left =
            std::count_if(each.requests.begin(), each.requests.end(), [&](const Servers& servers) {
                return std::any_of(servers.begin(), servers.end(),
                                   [&](const ServerId& id) { return listed.contains(id); });
            });
        if (each.calls < each.requests.size() && each.waiting < static_cast<std::size_t>(left))
            continue;
        for (const Servers& servers : each.requests) others.insert(servers.begin(), servers.end());
    }
    return others;
}

bool KnownCalls::may_be(const RequestId& call, const ServerId& server) const {
    const auto at = known_.find(call);
    return at != known_.end() && at->second.may_be(server);
}

bool KnownCalls::taken_for(const RequestId& call, const ServerId& server) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& other) {
        return other.first != call && other.second.one_of.front().contains(server);
    });
}

std::set<RequestId> KnownCalls::all() const {
    std::set<RequestId> calls;
    for (const auto& each : known_) calls.insert(each.first);
    return calls;
}

void KnownCalls::forget(const std::set<RequestId>& calls, const Servers& listed) {
    std::erase_if(known_, [&](const auto& each) {
        return calls.contains(each.first) &&
               std::none_of(listed.begin(), listed.end(),
                            [&](const ServerId& server) { return each.second.may_be(server); });
    });
}

}  // namespace reaper
