// Culls of which it is not known yet whether they helped: their slots by project, and their shapes.
// Pure data.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "reaper/model/ids.hpp"

namespace reaper {

class UnprovenCulls {
public:
    struct Cull {
        ProjectId project;
        std::string shape;
        std::optional<std::string> moves_from;  ///< the service host, of a server that moves
        int slots = 1;
    };

    /// Takes the place of what was known of the request.
    void add(const RequestId& request, Cull cull);
    /// Nothing happens if there is none of it.
    void erase(const RequestId& request);

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
