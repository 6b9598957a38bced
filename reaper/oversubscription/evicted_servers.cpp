#include "reaper/oversubscription/evicted_servers.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace reaper {
namespace {

/// As the last plan that chose them saw them.
std::map<ServerId, EvictedServer> chosen_servers(const RequestRecord& record,
                                                 const ResourceClass& room_class) {
    static const ResourceClass vcpu{"VCPU"};
    static const ResourceClass pcpu{"PCPU"};
    std::map<ServerId, EvictedServer> chosen;
    for (const PlanEntry& entry : record.plans) {
        const auto* const plan = std::get_if<Plan>(&entry.decision);
        if (plan == nullptr) continue;
        for (const HostPlan& on : plan->hosts)
            for (const Victim& victim : on.victims) {
                const Resources& held = victim.resources;
                const Amount vcpus = held.get(vcpu) + held.get(pcpu) + held.get(room_class);
                chosen.insert_or_assign(victim.server, EvictedServer{on.host, vcpus, {}});
            }
    }
    return chosen;
}

}  // namespace

std::vector<EvictedServer> evicted_servers(const RequestRecord& record,
                                           const ResourceClass& room_class) {
    std::map<ServerId, TimePoint> went;
    for (const StepEntry& step : record.steps) switch (step.step) {
            case Step::skipped:
            case Step::failed: went.erase(step.server); break;
            case Step::delete_sent:
            case Step::force_delete_sent: went.try_emplace(step.server, step.at); break;
            case Step::gone:
            case Step::vanished: went.insert_or_assign(step.server, step.at); break;
            case Step::delete_accepted:
            case Step::unseen: break;
        }
    auto chosen = chosen_servers(record, room_class);
    std::vector<EvictedServer> evicted;
    for (const auto& [server, at] : went)
        if (const auto found = chosen.find(server); found != chosen.end()) {
            found->second.at = at;
            evicted.push_back(found->second);
        }
    return evicted;
}

QosState after_evictions(QosState state, std::vector<EvictedServer> evicted) {
    const auto corrected_at = state.corrected_at;
    const int in_a_row = state.in_a_row;
    state.corrected_at.reset();
    state.shed = {};
    std::sort(evicted.begin(), evicted.end(),
              [](const EvictedServer& a, const EvictedServer& b) { return a.at < b.at; });
    for (const EvictedServer& each : evicted) state = after_correction(state, each.vcpus, each.at);
    const bool is_new =
        state.corrected_at && (!corrected_at || *state.corrected_at > *corrected_at);
    if (!is_new) state.in_a_row = in_a_row;
    return state;
}

}  // namespace reaper
