// Culls of which it is not known yet whether they helped: their slots by project, and their shapes.
// Pure data.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

// Slots of freed room that each project took lately. Pure data.

class ProvenSlots {
public:
    /// That is lately.
    static constexpr Duration lately = std::chrono::hours{24};

    void add(const ProjectId& project, int slots, TimePoint at) {
        taken_[project].emplace_back(at, slots);
    }
    /// Its room went unused: earlier results no longer count.
    void forget(const ProjectId& project) { taken_.erase(project); }
    void clear() { taken_.clear(); }

    int of(const ProjectId& project, TimePoint now) const {
        const auto at = taken_.find(project);
        if (at == taken_.end()) return 0;
        int sum = 0;
        for (const auto& [when, slots] : at->second)
            if (now - when < lately) sum = std::min(sum + slots, most);
        return sum;
    }

    void prune(TimePoint now) {
        for (auto& [project, taken] : taken_)
            while (!taken.empty() && (now - taken.front().first >= lately || taken.size() > kept))
                taken.pop_front();
        std::erase_if(taken_, [](const auto& each) { return each.second.empty(); });
    }
    void shift(Duration by) {
        for (auto& [project, taken] : taken_)
            for (auto& each : taken) each.first += by;
    }

private:
    static constexpr int most = 1'000'000;
    static constexpr std::size_t kept = 1'000;  // culls of a project
    std::map<ProjectId, std::deque<std::pair<TimePoint, int>>> taken_;
};

class UnprovenCulls {
public:
    struct Cull {
        ProjectId project;
        std::string shape;
        std::optional<std::string> moves_from;  ///< the service host, of a server that moves
        int slots = 1;
    };

    /// Takes the place of what was known of the request.
    void add(const RequestId& request, Cull cull) {
        erase(request);
        of_project_[cull.project] += cull.slots;
        ++of_shape_[cull.shape];
        if (cull.moves_from) moves_.emplace(request, *cull.moves_from);
        all_.emplace(request, std::move(cull));
    }
    /// Nothing happens if there is none of it.
    void erase(const RequestId& request) {
        const auto cull = all_.extract(request);
        if (!cull) return;
        count_less(of_project_, cull.mapped().project, cull.mapped().slots);
        count_less(of_shape_, cull.mapped().shape, 1);
        moves_.erase(request);
    }

    bool contains(const RequestId& request) const { return all_.contains(request); }
    bool empty() const noexcept { return all_.empty(); }
    /// Slots.
    int of_project(const ProjectId& project) const { return count(of_project_, project); }
    bool any_of_shape(const std::string& shape) const { return of_shape_.contains(shape); }
    /// Moves: the service host that each leaves.
    const std::map<RequestId, std::string>& moves() const noexcept { return moves_; }

private:
    template <class Key>
    using Counts = std::unordered_map<Key, int>;

    template <class Key>
    static int count(const Counts<Key>& counts, const Key& key) {
        const auto at = counts.find(key);
        return at == counts.end() ? 0 : at->second;
    }
    template <class Key>
    static void count_less(Counts<Key>& counts, const Key& key, int by) {
        const auto at = counts.find(key);
        if ((at->second -= by) <= 0) counts.erase(at);
    }

    std::unordered_map<RequestId, Cull> all_;
    Counts<ProjectId> of_project_;
    Counts<std::string> of_shape_;
    std::map<RequestId, std::string> moves_;
};

}  // namespace reaper
