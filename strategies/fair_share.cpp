#include "strategies/fair_share.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace reaper {
namespace {

struct Fleet {
    struct One {
        Amount work = 0;
        const Server* server = nullptr;
        Resources holds;
        std::uint32_t row = 0;
    };
    std::vector<One> servers;
    Resources held;
};

Amount weight_of(const ProjectId& project, const FairTurns::Weights& weights) {
    const auto weight = weights.find(project.str());
    return weight == weights.end() ? 1 : weight->second;
}

/// No class of Placement has a space: such a one is no room of the cloud (planner/places.hpp).
bool made_up(const ResourceClass& resource_class) {
    return resource_class.str().find(' ') != std::string::npos;
}

/// Counted as if the least weight were 1: so large weights lose no share to rounding.
Amount share_of(const Resources& held, const Resources& capacity, Amount weight, Amount least) {
    double largest = 0;
    for (const auto& [resource_class, amount] : held) {
        if (made_up(resource_class)) continue;
        const Amount all = std::max(capacity.get(resource_class), amount);
        if (all > 0)
            largest = std::max(largest, static_cast<double>(amount) / static_cast<double>(all));
    }
    return static_cast<Amount>(largest * static_cast<double>(share_units) *
                               static_cast<double>(least) / static_cast<double>(weight));
}

struct Fleets {
    Resources capacity;  ///< of the cloud
    std::map<ProjectId, Fleet> of;
};

Amount least_weight(const std::map<ProjectId, Fleet>& fleets, const FairTurns::Weights& weights) {
    Amount least = std::numeric_limits<Amount>::max();
    for (const auto& [project, fleet] : fleets)
        least = std::min(least, weight_of(project, weights));
    return least;
}

Fleets fleets_of(const WholeCloud& cloud, const FairTurns::Work& work) {
    Fleets fleets;
    Resources& capacity = fleets.capacity;
    cloud.each_host([&](const Host& host, std::uint32_t row) {
        for (const Provider& provider : host.providers)
            for (const auto& [resource_class, inventory] : provider.inventories)
                capacity.set(resource_class,
                             saturating_add(capacity.get(resource_class),
                                            provider.capacity(resource_class, inventory)));
        for (const Server& server : host.servers) {
            if (!server.revocable() || cloud.leaves(server.id)) continue;
            Fleet& fleet = fleets.of[server.project];
            fleet.servers.push_back({work(server), &server, server.resources(), row});
            fleet.held += fleet.servers.back().holds;
        }
    });
    return fleets;
}

}  // namespace

FairTurns::FairTurns(const WholeCloud& cloud, const Weights& weights, const Work& work) {
    auto [capacity, fleets] = fleets_of(cloud, work);
    std::vector<std::pair<std::uint32_t, const Server*>> elsewhere;
    cloud.each_host([&](const Host& host, std::uint32_t row) {
        if (row >= least_.size()) least_.resize(row + 1, 0);
        for (const Server& server : host.left_behind) elsewhere.emplace_back(row, &server);
    });
    const Amount least = least_weight(fleets, weights);
    for (auto& [project, fleet] : fleets) {
        std::ranges::sort(fleet.servers, [](const auto& a, const auto& b) {
            return std::tie(a.work, b.server->created, a.server->id) <
                   std::tie(b.work, a.server->created, b.server->id);
        });
        const Amount weight = weight_of(project, weights);
        for (const auto& one : fleet.servers) {
            const Amount share = share_of(fleet.held, capacity, weight, least);
            largest_ = std::max(largest_, share);
            turns_.emplace(one.server->id.str(), share);
            least_[one.row] = std::max(least_[one.row], share);
            fleet.held -= one.holds;
        }
    }
    for (const auto& [row, server] : elsewhere)
        if (const auto turn = turns_.find(server->id.str()); turn != turns_.end())
            least_[row] = std::max(least_[row], turn->second);
    for (Amount& each : least_) each = largest_ - each;
}

Amount FairTurns::of(const ServerId& server) const {
    const auto turn = turns_.find(server.str());
    return turn == turns_.end() ? largest_ : largest_ - turn->second;
}

std::map<ProjectId, Amount> fair_shares(const WholeCloud& cloud,
                                        const FairTurns::Weights& weights) {
    const auto [capacity, fleets] = fleets_of(cloud, [](const Server&) { return Amount{0}; });
    const Amount least = least_weight(fleets, weights);
    std::map<ProjectId, Amount> shares;
    for (const auto& [project, fleet] : fleets)
        shares[project] = share_of(fleet.held, capacity, weight_of(project, weights), least);
    return shares;
}

}  // namespace reaper
