#include "reaper/gateway/request_ids.hpp"

#include <algorithm>
#include <string>

namespace reaper {

RequestId RequestIds::of(const RequestId& call, const std::vector<ServerId>& servers,
                         Duration now) {
    if (servers.empty()) return call;
    std::erase_if(known_, [&](const auto& each) {
        return now - each.second.back().at > remembered_for && each.first != call;
    });
    std::vector<Known>& of_call = known_[call];
    const auto its = std::find_if(of_call.begin(), of_call.end(), [&](const Known& each) {
        return std::any_of(servers.begin(), servers.end(),
                           [&](const ServerId& id) { return each.servers.contains(id); });
    });
    if (its != of_call.end()) {
        its->servers.insert(servers.begin(), servers.end());
        its->at = now;
        return its->id;
    }
    RequestId id = call;
    if (!of_call.empty()) id = RequestId{call.str() + "~" + std::to_string(of_call.size() + 1)};
    of_call.push_back({id, {servers.begin(), servers.end()}, now});
    return id;
}

RequestId RequestIds::of_server(const RequestId& call, const ServerId& server) const {
    const auto of_call = known_.find(call);
    if (of_call == known_.end()) return call;
    for (const Known& each : of_call->second)
        if (each.servers.contains(server)) return each.id;
    return call;
}

}  // namespace reaper
