#include "reaper/planner/minimal.hpp"

#include <algorithm>

#include "reaper/model/resources.hpp"

namespace reaper {
namespace {

Amount slots_given(const Problem& problem, std::size_t host,
                   const std::vector<std::size_t>& victims) {
    const auto& option = problem.hosts[host];
    return std::min(option.max_slots,
                    option.room.slots(problem.shape, room_without(option, victims), problem.slots));
}

/// Drops what can be dropped on one host; `all` is the sum over hosts, kept up to date.
void drop_on_host(const Problem& problem, std::size_t host, OnHost& chosen, Amount target,
                  Amount& all) {
    std::sort(chosen.victims.begin(), chosen.victims.end());
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

}  // namespace

Amount drop_needless(const Problem& problem, Chosen& chosen, Amount wanted) {
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

}  // namespace reaper
