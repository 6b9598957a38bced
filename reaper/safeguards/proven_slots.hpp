// Slots of freed room that each project took lately. Pure data.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "reaper/model/ids.hpp"
#include "reaper/model/time.hpp"

namespace reaper {

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

}  // namespace reaper
