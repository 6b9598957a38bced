#include "reaper/planner/minimal.hpp"

#include <algorithm>
#include <set>

#include "reaper/model/resources.hpp"

namespace reaper {
namespace {

Amount slots_given(const Problem& problem, std::size_t host,
                   const std::vector<std::size_t>& victims) {
    const auto& option = problem.hosts[host];
    return std::min(option.max_slots,
                    option.room.slots(problem.shape, room_without(option, victims), problem.slots));
}

/// Drops what can be dropped on one host, the last first; `all` is the sum over hosts, kept up to
/// date.
void drop_on_host(const Problem& problem, std::size_t host, OnHost& chosen, Amount target,
                  Amount& all) {
    for (std::size_t i = chosen.victims.size(); i-- > 0;) {
        auto without = chosen.victims;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
        const Amount slots = slots_given(problem, host, without);
        if (all - chosen.slots + slots < target) continue;
        all += slots - chosen.slots;
        chosen.slots = slots;
        chosen.victims = std::move(without);
    }
}

/// More than wanted come free only where the last victim of a host gives several at once: that
/// host's count bears it. (Any victim left frees more than the surplus, or it would be dropped.)
void count_at_most(Chosen& chosen, Amount surplus) {
    for (auto at = chosen.rbegin(); at != chosen.rend() && surplus > 0; ++at) {
        auto& on_host = at->second;
        if (on_host.victims.empty()) continue;
        const Amount less = std::min(surplus, on_host.slots);
        on_host.slots -= less;
        surplus -= less;
    }
}

Amount drop_once(const Problem& problem, Chosen& chosen, Amount wanted) {
    Amount all = 0;
    for (auto& [host, on_host] : chosen) {
        on_host.slots = slots_given(problem, host, on_host.victims);
        all = saturating_add(all, on_host.slots);
    }
    const Amount target = std::min(all, wanted);
    for (auto at = chosen.rbegin(); at != chosen.rend(); ++at)
        drop_on_host(problem, at->first, at->second, target, all);
    count_at_most(chosen, all - target);
    return target;
}

/// Adds victims, before the others, where they hold room on other hosts of the choice too: those
/// whose resize is not confirmed. False if there are none.
bool add_elsewhere(const Problem& problem, Chosen& chosen) {
    std::set<ServerId> victims;
    for (const auto& [host, on_host] : chosen)
        for (const std::size_t victim : on_host.victims)
            victims.insert(problem.hosts[host].candidates[victim].server->id);
    bool added = false;
    for (auto& [host, on_host] : chosen) {
        auto& here = on_host.victims;
        const auto& candidates = problem.hosts[host].candidates;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!victims.contains(candidates[i].server->id) ||
                std::find(here.begin(), here.end(), i) != here.end())
                continue;
            here.insert(here.begin(), i);
            added = true;
        }
    }
    return added;
}

}  // namespace

Amount drop_needless(const Problem& problem, Chosen& chosen, Amount wanted) {
    for (auto& [host, on_host] : chosen) std::sort(on_host.victims.begin(), on_host.victims.end());
    const Amount freed = drop_once(problem, chosen, wanted);
    return add_elsewhere(problem, chosen) ? drop_once(problem, chosen, wanted) : freed;
}

}  // namespace reaper
