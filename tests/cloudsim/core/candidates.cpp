#include "tests/cloudsim/core/candidates.hpp"

#include <algorithm>

namespace reaper::cloudsim {

namespace {

/// Of one tree; a request with many ways is cut, as Placement's own answers are by `limit`.
constexpr std::size_t most_per_tree = 64;

bool in_aggregates(const Provider& provider, const RequestGroup& group) {
    auto member = [&](const Uuid& aggregate) {
        return provider.in_aggregate(aggregate) || provider.root->in_aggregate(aggregate);
    };
    for (const auto& any : group.member_of)
        if (std::none_of(any.begin(), any.end(), member)) return false;
    return std::none_of(group.not_member_of.begin(), group.not_member_of.end(), member);
}

bool forbids(const Provider& provider, const RequestGroup& group) {
    return std::any_of(group.forbidden.begin(), group.forbidden.end(),
                       [&](NameId trait) { return provider.has_trait(trait); });
}

bool has_required(const std::vector<Provider*>& providers, const RequestGroup& group) {
    return std::all_of(group.required.begin(), group.required.end(), [&](const auto& any) {
        return std::any_of(any.begin(), any.end(), [&](NameId trait) {
            return std::any_of(providers.begin(), providers.end(),
                               [&](const Provider* each) { return each->has_trait(trait); });
        });
    });
}

void collect(Provider* provider, std::vector<Provider*>& tree) {
    tree.push_back(provider);
    for (Provider* child : provider->children) collect(child, tree);
}

/// What one group takes in one of its ways.
struct Way {
    std::vector<Held> held;
    std::vector<Provider*> providers;  ///< without repetition
};

void add_provider(Way& way, Provider* provider) {
    if (std::find(way.providers.begin(), way.providers.end(), provider) == way.providers.end())
        way.providers.push_back(provider);
}

std::vector<Way> ways_on_one(const std::vector<Provider*>& tree, const RequestGroup& group) {
    std::vector<Way> ways;
    for (Provider* provider : tree) {
        if (!in_aggregates(*provider, group) || forbids(*provider, group)) continue;
        if (!has_required({provider}, group)) continue;
        Way way;
        add_provider(way, provider);
        for (const auto& [resource_class, amount] : group.resources) {
            const Room* room = provider->room(resource_class);
            if (!room || !room->fits(amount)) break;
            way.held.push_back({provider, resource_class, amount});
        }
        if (way.held.size() == group.resources.size()) ways.push_back(std::move(way));
        if (ways.size() == most_per_tree) break;
    }
    return ways;
}

std::vector<Way> ways_spread(const std::vector<Provider*>& tree, const RequestGroup& group) {
    std::vector<Way> ways(1);
    for (const auto& [resource_class, amount] : group.resources) {
        std::vector<Way> longer;
        for (Provider* provider : tree) {
            const Room* room = provider->room(resource_class);
            if (!room || !room->fits(amount)) continue;
            if (!in_aggregates(*provider, group) || forbids(*provider, group)) continue;
            for (const Way& way : ways) {
                if (longer.size() == most_per_tree) break;
                longer.push_back(way);
                longer.back().held.push_back({provider, resource_class, amount});
                add_provider(longer.back(), provider);
            }
        }
        ways = std::move(longer);
        if (ways.empty()) return ways;
    }
    std::erase_if(ways, [&](const Way& way) { return !has_required(way.providers, group); });
    return ways;
}

/// Room for all groups together: two of them may want the same class of one provider.
bool fits_together(const std::vector<Held>& held) {
    for (const Held& one : held) {
        std::int64_t sum = 0;
        for (const Held& other : held)
            if (other.provider == one.provider && other.resource_class == one.resource_class)
                sum += other.amount;
        if (sum != one.amount && !one.provider->room(one.resource_class)->fits(sum)) return false;
    }
    return true;
}

/// Sums what is of one class of one provider, and puts together what is of one provider.
std::vector<Held> merged(const std::vector<Held>& held) {
    std::vector<Held> out;
    for (const Held& one : held) {
        auto same = std::find_if(out.begin(), out.end(), [&](const Held& other) {
            return other.provider == one.provider && other.resource_class == one.resource_class;
        });
        if (same != out.end()) {
            same->amount += one.amount;
            continue;
        }
        auto after = std::find_if(out.rbegin(), out.rend(), [&](const Held& other) {
            return other.provider == one.provider;
        });
        out.insert(after == out.rend() ? out.end() : after.base(), one);
    }
    return out;
}

bool overlaps(const Candidate& candidate, const Way& way) {
    for (const auto& [suffix, providers] : candidate.mappings)
        if (!suffix.empty() && providers.front() == way.providers.front()) return true;
    return false;
}

bool contains(const std::vector<Provider*>& tree, const Uuid& id) {
    return std::any_of(tree.begin(), tree.end(),
                       [&](const Provider* each) { return each->uuid == id; });
}

std::vector<Candidate> of_tree(const std::vector<Provider*>& tree, const CandidateQuery& query) {
    std::vector<Candidate> found(1);
    for (const auto& [suffix, group] : query.groups) {
        if (group.in_tree && !contains(tree, *group.in_tree)) return {};
        if (group.resources.empty()) continue;
        const auto ways = suffix.empty() ? ways_spread(tree, group) : ways_on_one(tree, group);
        std::vector<Candidate> longer;
        for (const Candidate& candidate : found)
            for (const Way& way : ways) {
                if (query.isolate && !suffix.empty() && overlaps(candidate, way)) continue;
                if (longer.size() == most_per_tree) break;
                Candidate next = candidate;
                next.held.insert(next.held.end(), way.held.begin(), way.held.end());
                next.mappings[suffix] = way.providers;
                if (fits_together(next.held)) longer.push_back(std::move(next));
            }
        found = std::move(longer);
        if (found.empty()) return found;
    }
    for (Candidate& candidate : found) candidate.held = merged(candidate.held);
    return found;
}

bool root_admitted(const Provider& root, const CandidateQuery& query) {
    auto has = [&](NameId trait) { return root.has_trait(trait); };
    return std::all_of(query.root_required.begin(), query.root_required.end(), has) &&
           std::none_of(query.root_forbidden.begin(), query.root_forbidden.end(), has);
}

}  // namespace

bool admits(const Provider& provider, const RequestGroup& group) {
    if (!in_aggregates(provider, group) || forbids(provider, group)) return false;
    return has_required({const_cast<Provider*>(&provider)}, group);
}

Candidates find_candidates(const Placement& placement, const CandidateQuery& query) {
    Candidates all;
    std::vector<Provider*> tree;
    auto look_at = [&](Provider* root) {
        if (!root_admitted(*root, query)) return;
        tree.clear();
        collect(root, tree);
        std::vector<Candidate> here = of_tree(tree, query);
        if (here.empty()) return;
        all.roots.push_back(root);
        for (Candidate& candidate : here) {
            if (query.limit && all.requests.size() == query.limit) return;
            all.requests.push_back(std::move(candidate));
        }
    };
    // A request for one tree is not worth a look at all.
    for (const auto& [suffix, group] : query.groups)
        if (group.in_tree) {
            if (Provider* within = placement.find(*group.in_tree)) look_at(within->root);
            return all;
        }
    for (Provider* provider : placement.providers()) {
        if (provider->parent) continue;
        if (query.limit && all.requests.size() == query.limit) break;
        look_at(provider);
    }
    return all;
}

}  // namespace reaper::cloudsim
