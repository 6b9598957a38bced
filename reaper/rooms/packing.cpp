#include "reaper/rooms/packing.hpp"

#include <algorithm>
#include <numeric>

namespace reaper {
namespace {

std::vector<Need> needs_of(const Resources& resources) {
    std::vector<Need> needs;
    for (const auto& [resource_class, amount] : resources)
        if (amount > 0) needs.push_back(Need{resource_class, amount});
    return needs;
}

std::vector<Take> takes_of(const Resources& resources, const std::vector<Need>& needs) {
    std::vector<Take> takes;
    for (std::size_t need = 0; need < needs.size(); ++need)
        if (const Amount amount = resources.get(needs[need].resource_class); amount > 0)
            takes.push_back(Take{need, amount});
    return takes;
}

/// One class alone, from any provider: the same as a class in no group, where nothing else of the
/// slot can come between.
bool means_nothing(const RequestGroup& group, const Request& request) {
    if (group.resources.size() != 1 || !group.required_traits.empty() ||
        !group.forbidden_traits.empty() || !group.aggregates.empty() || !group.in_tree.empty())
        return false;
    const bool others_matter =
        !request.required_traits.empty() || !request.forbidden_traits.empty() ||
        (request.group_policy == GroupPolicy::isolate && request.groups.size() > 1);
    const auto& [resource_class, amount] = *group.resources.begin();
    return !others_matter && request.resources.get(resource_class) == amount;
}

}  // namespace

Amount Shape::least_part(std::size_t need) const {
    Amount least = needs_[need].amount;
    if (parts_ != nullptr)
        for (const auto& part : parts_->parts)
            for (const auto& take : part.takes)
                if (take.need == need) least = std::min(least, take.amount);
    return least;
}

Shape shape_of(const Resources& resources) {
    return Shape{needs_of(resources)};
}

Shape shape_of(const Request& request) {
    std::vector<Need> needs = needs_of(request.resources);
    auto parts = std::make_shared<SlotParts>();
    parts->isolate = request.group_policy == GroupPolicy::isolate;
    parts->together = request.required_traits;
    Resources ungrouped = request.resources;
    for (const auto& group : request.groups) {
        if (means_nothing(group, request)) continue;
        ungrouped -= group.resources;
        SlotPart part;
        part.suffix = group.suffix;
        part.takes = takes_of(group.resources, needs);
        part.required = group.required_traits;
        part.forbidden = group.forbidden_traits;
        part.aggregates = group.aggregates;
        part.in_tree = group.in_tree;
        parts->parts.push_back(std::move(part));
    }
    const bool traits = !request.required_traits.empty() || !request.forbidden_traits.empty();
    if (parts->parts.empty() && !traits) return Shape{std::move(needs)};
    for (const auto& take : takes_of(ungrouped, needs)) {
        SlotPart part;
        part.takes = {take};
        part.forbidden = request.forbidden_traits;
        parts->parts.push_back(std::move(part));
    }
    return Shape{std::move(needs), std::move(parts)};
}

std::string to_string(const SlotPart& part, const Shape& shape) {
    std::string text;
    for (const auto& take : part.takes)
        text += (text.empty() ? "" : " ") + shape[take.need].resource_class.str() + "=" +
                std::to_string(take.amount);
    return part.grouped() ? text + " (group " + part.suffix + ")" : text;
}

namespace {

constexpr int max_steps = 20'000;

bool shares_pool(const Packing::Part& a, const Packing::Part& b) {
    for (const auto& place : a.places)
        for (const auto& draw : place.draws)
            for (const auto& other : b.places)
                for (const auto& theirs : other.draws)
                    if (theirs.pool == draw.pool) return true;
    return false;
}

bool shares_provider(const Packing::Part& a, const Packing::Part& b) {
    return std::any_of(a.places.begin(), a.places.end(), [&](const Packing::Place& place) {
        return std::any_of(b.places.begin(), b.places.end(), [&](const Packing::Place& other) {
            return other.provider == place.provider;
        });
    });
}

bool brings_any(const Packing::Part& part, std::uint64_t wanted) {
    return std::any_of(part.places.begin(), part.places.end(),
                       [&](const Packing::Place& place) { return (place.brings & wanted) != 0; });
}

bool brings_always(const Packing::Part& part, std::uint64_t wanted) {
    return std::all_of(part.places.begin(), part.places.end(), [&](const Packing::Place& place) {
        return (place.brings & wanted) == wanted;
    });
}

/// How many of a part the place has room for.
Amount copies(const Packing::Place& place, const ByPool& room) {
    Amount most = max_amount;
    for (const auto& draw : place.draws)
        most = std::min(most, std::max<Amount>(room[draw.pool], 0) / draw.amount);
    return most;
}

}  // namespace

Packing::Packing(std::vector<Part> parts, std::vector<Amount> most, std::uint64_t together)
    : parts_{std::move(parts)}, most_{std::move(most)}, together_{together} {
    settle_traits();
    split();
}

/// What only one part can bring, it has to; what some part brings anyway needs no search.
void Packing::settle_traits() {
    for (bool again = true; again;) {
        again = false;
        for (std::uint64_t bit = 1; bit != 0; bit <<= 1) {
            if ((together_ & bit) == 0) continue;
            Part* only = nullptr;
            std::size_t able = 0;
            for (auto& part : parts_)
                if (brings_any(part, bit)) {
                    ++able;
                    only = &part;
                }
            if (able == 0) hopeless_ = true;
            if (able == 1 && std::erase_if(only->places, [&](const Place& place) {
                                 return (place.brings & bit) == 0;
                             }) > 0)
                again = narrowed_ = true;
            const bool anyway = std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
                return !part.places.empty() && brings_always(part, bit);
            });
            if (anyway) together_ &= ~bit;
        }
    }
    for (auto& part : parts_)
        for (auto& place : part.places) place.brings &= together_;
}

void Packing::split() {
    std::vector<std::size_t> root(parts_.size());
    std::iota(root.begin(), root.end(), std::size_t{0});
    const auto root_of = [&](std::size_t part) {
        while (root[part] != part) part = root[part];
        return part;
    };
    for (std::size_t a = 0; a < parts_.size(); ++a)
        for (std::size_t b = a + 1; b < parts_.size(); ++b) {
            const bool bound =
                shares_pool(parts_[a], parts_[b]) ||
                (parts_[a].apart && parts_[b].apart && shares_provider(parts_[a], parts_[b])) ||
                (brings_any(parts_[a], together_) && brings_any(parts_[b], together_));
            if (bound) root[root_of(b)] = root_of(a);
        }
    for (std::size_t first = 0; first < parts_.size(); ++first) {
        if (root_of(first) != first) continue;
        Component component;
        std::set<std::size_t> pools;
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            if (root_of(part) != first) continue;
            component.parts.push_back(part);
            for (const auto& place : parts_[part].places) {
                component.together |= place.brings;
                for (const auto& draw : place.draws) pools.insert(draw.pool);
            }
        }
        component.pools.assign(pools.begin(), pools.end());
        std::vector<std::size_t> left = component.parts;
        while (!left.empty()) {
            std::vector<std::size_t> alike;
            const auto& model = parts_[left.front()];
            std::erase_if(left, [&](std::size_t part) {
                const bool same =
                    parts_[part].places == model.places && parts_[part].apart == model.apart;
                if (same) alike.push_back(part);
                return same;
            });
            component.likes.push_back(likes_of(alike));
        }
        // Those with the fewest places first: they fail soonest.
        std::stable_sort(component.likes.begin(), component.likes.end(),
                         [&](const Likes& a, const Likes& b) {
                             return parts_[a.parts.front()].places.size() <
                                    parts_[b.parts.front()].places.size();
                         });
        component.parts.clear();
        for (const auto& likes : component.likes)
            component.parts.insert(component.parts.end(), likes.parts.begin(), likes.parts.end());
        components_.push_back(std::move(component));
    }
    std::stable_partition(components_.begin(), components_.end(),
                          [](const Component& each) { return !each.searched(); });
}

Packing::Likes Packing::likes_of(const std::vector<std::size_t>& parts) const {
    Likes likes;
    likes.parts = parts;
    const Part& model = parts_[parts.front()];
    for (const auto& place : model.places) {
        Amount most = static_cast<Amount>(parts.size());
        for (const auto& draw : place.draws) most = std::min(most, most_[draw.pool] / draw.amount);
        likes.most.push_back(model.apart ? std::min<Amount>(most, 1) : most);
    }
    return likes;
}

bool Packing::loose() const {
    return !hopeless_ && !narrowed_ &&
           std::all_of(components_.begin(), components_.end(), [&](const auto& each) {
               if (each.parts.size() != 1 || each.searched()) return false;
               const auto& places = parts_[each.parts.front()].places;
               return std::all_of(places.begin(), places.end(),
                                  [](const Place& place) { return place.draws.size() == 1; });
           });
}

void Packing::lose(const std::vector<Amount>& lost, const std::vector<std::size_t>& need_of_pool) {
    for (auto& component : components_) {
        std::set<std::size_t> needs;
        for (const std::size_t pool : component.pools) needs.insert(need_of_pool[pool]);
        component.lost = 0;
        for (const std::size_t need : needs)
            component.lost = saturating_add(component.lost, lost[need]);
    }
}

// ---- parts that are alike ----

bool Packing::fits(const Likes& likes, const ByPool& room, Amount slots) const {
    const auto& places = parts_[likes.parts.front()].places;
    const Amount wanted = saturating_multiply(static_cast<Amount>(likes.parts.size()), slots);
    Amount sum = 0;
    for (std::size_t i = 0; i < places.size() && sum < wanted; ++i)
        sum = saturating_add(
            sum, std::min(copies(places[i], room), saturating_multiply(likes.most[i], slots)));
    return sum >= wanted;
}

Amount Packing::slots(const Likes& likes, const ByPool& room) const {
    Amount sum = 0;
    const auto& places = parts_[likes.parts.front()].places;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (likes.most[i] > 0) sum = saturating_add(sum, copies(places[i], room));
    Amount least = 0;  // fit
    Amount most = sum / static_cast<Amount>(likes.parts.size());
    while (least < most) {
        const Amount middle = least + (most - least + 1) / 2;
        if (fits(likes, room, middle))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

// ---- parts that differ ----

/// One question about one component.
class Packing::Search {
public:
    Search(const Packing& packing, const Component& component, const ByPool& room,
           PackingWork& work)
        : packing_{packing},
          component_{component},
          work_{work},
          room_{room},
          taken_(room.size(), 0),
          chosen_(component.parts.size(), 0) {}

    bool fits(Amount slots) {
        failed_.insert(state());
        left_ = slots;
        const bool found = place(0, 0);
        work_.steps += steps_;
        work_.cut = work_.cut || (!found && steps_ > max_steps);
        return found;
    }

private:
    std::vector<Amount> state() const {
        std::vector<Amount> amounts;
        amounts.reserve(component_.pools.size());
        for (const std::size_t pool : component_.pools) amounts.push_back(room_[pool]);
        return amounts;
    }
    const Part& part(std::size_t index) const { return packing_.parts_[component_.parts[index]]; }

    bool apart_from_others(std::size_t index, std::size_t provider) const {
        if (!part(index).apart) return true;
        for (std::size_t other = 0; other < index; ++other)
            if (part(other).apart && part(other).places[chosen_[other]].provider == provider)
                return false;
        return true;
    }
    bool has_room(const Place& place) const {
        return std::all_of(place.draws.begin(), place.draws.end(), [&](const Draw& draw) {
            return room_[draw.pool] >= draw.amount &&
                   packing_.most_[draw.pool] - taken_[draw.pool] >= draw.amount;
        });
    }
    void take(const Place& place, Amount sign) {
        for (const auto& draw : place.draws) {
            room_[draw.pool] -= sign * draw.amount;
            taken_[draw.pool] += sign * draw.amount;
        }
    }

    /// The parts from `index` on, of this slot, and all slots after it.
    bool place(std::size_t index, std::uint64_t brought) {
        if (steps_ > max_steps || ++steps_ > max_steps) return false;
        if (index == component_.parts.size()) return next_slot(brought);
        const auto& places = part(index).places;
        std::size_t first = 0;
        // Of equal parts the order is of no matter.
        if (index > 0 && part(index - 1).places == places &&
            part(index - 1).apart == part(index).apart)
            first = chosen_[index - 1];
        for (std::size_t at = first; at < places.size(); ++at) {
            const Place& there = places[at];
            if (!has_room(there) || !apart_from_others(index, there.provider)) continue;
            chosen_[index] = at;
            take(there, 1);
            const bool found = place(index + 1, brought | there.brings);
            take(there, -1);
            if (found) return true;
        }
        return false;
    }

    bool next_slot(std::uint64_t brought) {
        if ((brought & component_.together) != component_.together) return false;
        if (left_ == 1) return true;
        for (const auto& likes : component_.likes)
            if (!packing_.fits(likes, room_, left_ - 1)) return false;
        if (!failed_.insert(state()).second) return false;
        const std::vector<Amount> taken = std::exchange(taken_, ByPool(taken_.size(), 0));
        const std::vector<std::size_t> chosen = chosen_;
        --left_;
        const bool found = place(0, 0);
        ++left_;
        chosen_ = chosen;
        taken_ = taken;
        return found;
    }

    const Packing& packing_;
    const Component& component_;
    PackingWork& work_;
    ByPool room_;
    ByPool taken_;                          // of each pool, by this slot
    std::vector<std::size_t> chosen_;       // place of each part of this slot
    std::set<std::vector<Amount>> failed_;  // rooms in which what is left does not fit, or is tried
    Amount left_ = 0;                       // slots, this one included
    int steps_ = 0;
};

bool Packing::fits(const Component& component, const ByPool& room, Amount slots,
                   PackingWork& work) const {
    if (slots <= 0) return true;
    for (const auto& likes : component.likes)
        if (!fits(likes, room, slots)) return false;
    if (!component.searched()) return true;
    if (slots <= most_searched) return Search{*this, component, room, work}.fits(slots);
    work.cut = true;
    return false;
}

Amount Packing::slots(const Component& component, const ByPool& room, Amount most,
                      PackingWork& work) const {
    if (!component.searched()) return slots(component.likes.front(), room);
    Amount found = 0;
    while (found < most && fits(component, room, found + 1, work)) ++found;
    return found;
}

// ---- all together ----

bool Packing::fits(const ByPool& room, Amount slots, PackingWork* work) const {
    if (slots <= 0) return true;
    PackingWork own;
    return !hopeless_ &&
           std::all_of(components_.begin(), components_.end(), [&](const Component& component) {
               return fits(component, room, saturating_add(slots, component.lost),
                           work != nullptr ? *work : own);
           });
}

Amount Packing::slots(const ByPool& room, Amount most, PackingWork* work) const {
    if (hopeless_ || components_.empty()) return 0;
    PackingWork own;
    Amount scarcest = max_amount;
    for (const auto& component : components_) {
        const Amount wanted = saturating_add(std::min(most, scarcest), component.lost);
        const Amount found = slots(component, room, wanted, work != nullptr ? *work : own);
        scarcest = std::min(scarcest, saturating_subtract(found, component.lost));
    }
    return std::max<Amount>(scarcest, 0);
}

std::vector<std::string> Packing::misfits(const ByPool& room, Amount slots,
                                          PackingWork* work) const {
    PackingWork own;
    std::vector<std::string> names;
    for (const auto& component : components_)
        if (hopeless_ || !fits(component, room, saturating_add(slots, component.lost),
                               work != nullptr ? *work : own))
            for (const std::size_t part : component.parts) names.push_back(parts_[part].name);
    return names;
}

}  // namespace reaper
