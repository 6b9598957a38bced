#include "reaper/oversubscription/correction.hpp"

#include <algorithm>
#include <compare>
#include <limits>
#include <set>
#include <utility>

#include "reaper/model/resources.hpp"

namespace reaper {
namespace {

using Candidates = std::vector<CorrectionCandidate>;

/// What decides between two sets that hold enough, the first difference first.
struct SetCost {
    double harm = 0;
    Amount servers = 0;
    Amount vcpus = 0;

    friend auto operator<=>(const SetCost&, const SetCost&) = default;
};

constexpr SetCost impossible{std::numeric_limits<double>::infinity(), 0, 0};

/// Candidates in the order of their ids, of which some must hold `need` vCPUs; all hold as much.
/// From the last to the first: the least cost of holding each amount with those from there on.
Candidates least_harm(const Candidates& candidates, Amount need) {
    const auto amounts = static_cast<std::size_t>(need) + 1;
    std::vector<SetCost> least(amounts, impossible);
    least[0] = {};
    std::vector<std::vector<bool>> takes(candidates.size(), std::vector<bool>(amounts));
    for (std::size_t i = candidates.size(); i-- > 0;) {
        const auto& each = candidates[i];
        // From the most down: what is looked up is still without this candidate.
        for (std::size_t amount = amounts; amount-- > 1;) {
            const auto held = static_cast<std::size_t>(each.vcpus);
            SetCost with = least[amount > held ? amount - held : 0];
            with.harm += each.harm;
            with.servers += 1;
            with.vcpus = saturating_add(with.vcpus, each.vcpus);
            if (with > least[amount]) continue;
            least[amount] = with;
            takes[i][amount] = true;
        }
    }
    Candidates chosen;
    auto left = static_cast<std::size_t>(need);
    for (std::size_t i = 0; i < candidates.size() && left > 0; ++i) {
        if (!takes[i][left]) continue;
        chosen.push_back(candidates[i]);
        const auto held = static_cast<std::size_t>(candidates[i].vcpus);
        left = left > held ? left - held : 0;
    }
    return chosen;
}

Amount vcpus_in(const Candidates& candidates) {
    Amount sum = 0;
    for (const auto& each : candidates) sum = saturating_add(sum, each.vcpus);
    return sum;
}

/// By id; those that hold nothing are of no use.
Candidates in_order(Candidates candidates) {
    std::erase_if(candidates, [](const auto& each) { return each.vcpus <= 0; });
    std::ranges::sort(candidates, [](const auto& a, const auto& b) { return a.id < b.id; });
    for (auto& each : candidates) {
        if (!(each.harm > 0)) each.harm = 0;
        each.harm = std::min(each.harm, std::numeric_limits<double>::max() / 1e6);
    }
    return candidates;
}

std::vector<ServerId> ids_of(const Candidates& candidates) {
    std::vector<ServerId> ids;
    for (const auto& each : candidates) ids.push_back(each.id);
    std::ranges::sort(ids);
    return ids;
}

}  // namespace

std::vector<ServerId> choose_corrected(Candidates candidates, const HostCorrection& correction) {
    if (correction.all) return ids_of(candidates);
    Candidates chosen;
    Candidates rest = in_order(std::move(candidates));
    const auto others = std::stable_partition(rest.begin(), rest.end(),
                                              [](const auto& each) { return each.oversubscribed; });
    Candidates later{others, rest.end()};
    rest.erase(others, rest.end());
    Amount need = correction.shed_vcpus;
    for (const auto& group : {rest, later}) {
        if (need <= 0) break;
        const Amount held = vcpus_in(group);
        const auto going = held > need ? least_harm(group, need) : group;
        chosen.insert(chosen.end(), going.begin(), going.end());
        need -= std::min(held, need);
    }
    return ids_of(chosen);
}

Amount vcpus_of(const std::vector<ServerId>& servers, const Candidates& candidates) {
    const std::set<ServerId> wanted{servers.begin(), servers.end()};
    Amount sum = 0;
    for (const auto& each : candidates)
        if (wanted.contains(each.id)) sum = saturating_add(sum, each.vcpus);
    return sum;
}

std::optional<HostCorrection> excess_correction(const HostId& host, Amount excess,
                                                const std::string& why) {
    if (excess <= 0) return std::nullopt;
    return HostCorrection{host, false, excess, why};
}

}  // namespace reaper
