#include "reaper/oversubscription/evicted_servers.hpp"

#include <algorithm>
#include <map>

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
                chosen.insert_or_assign(victim.server,
                                        EvictedServer{on.host, vcpus, {}, victim.server});
            }
    }
    return chosen;
}

}  // namespace

std::vector<EvictedServer> evicted_servers(const RequestRecord& record,
                                           const ResourceClass& room_class) {
    struct Went {
        TimePoint at{};
        bool gone = false;
    };
    std::map<ServerId, Went> went;
    for (const StepEntry& step : record.steps) switch (step.step) {
            case Step::skipped:
            case Step::left_shelved:
            case Step::failed: went.erase(step.server); break;
            case Step::delete_sent:
            case Step::shelve_sent:
            case Step::force_delete_sent: went.try_emplace(step.server, Went{step.at}); break;
            case Step::gone:
            case Step::vanished: went.insert_or_assign(step.server, Went{step.at, true}); break;
            case Step::notice_sent:
            case Step::notified:
            case Step::stop_sent:
            case Step::withdrawn:
            case Step::delete_accepted:
            case Step::unseen: break;
        }
    auto chosen = chosen_servers(record, room_class);
    std::vector<EvictedServer> evicted;
    for (const auto& [server, how] : went)
        if (const auto found = chosen.find(server); found != chosen.end()) {
            found->second.at = how.at;
            found->second.gone = how.gone;
            evicted.push_back(found->second);
        }
    return evicted;
}

std::vector<EvictedServer> by_this_clock(std::vector<EvictedServer> read,
                                         const std::vector<EvictedServer>& known, TimePoint now) {
    for (EvictedServer& each : read) {
        const auto same = std::ranges::find_if(known, [&](const EvictedServer& one) {
            return one.server == each.server && one.gone == each.gone;
        });
        each.at = same == known.end() ? std::min(each.at, now) : same->at;
    }
    return read;
}

QosState after_evictions(QosState state, std::vector<EvictedServer> evicted) {
    const auto corrected_at = state.corrected_at;
    const int in_a_row = state.in_a_row;
    state.corrected_at.reset();
    state.shed = {};
    std::ranges::sort(evicted, {}, &EvictedServer::at);
    for (const EvictedServer& each : evicted) state = after_correction(state, each.vcpus, each.at);
    const bool is_new =
        state.corrected_at && (!corrected_at || *state.corrected_at > *corrected_at);
    if (!is_new) state.in_a_row = in_a_row;
    return state;
}

}  // namespace reaper
