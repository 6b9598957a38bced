#include "strategies/shares.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

/// Put in order at a time.
constexpr std::size_t least_ordered = 256;

}  // namespace

void EdgeOrder::add(const Edge& edge) {
    if (horizon_ && edge < *horizon_)
        first_.insert(edge);
    else if (gone_.erase(edge) == 0)
        rest_.push_back(edge);
}

void EdgeOrder::remove(const Edge& edge) {
    if (first_.erase(edge) == 0) gone_.insert(edge);
}

void EdgeOrder::order_more() {
    if (!gone_.empty()) {
        std::erase_if(rest_, [this](const Edge& edge) { return gone_.contains(edge); });
        gone_.clear();
    }
    const std::size_t count = std::min(rest_.size(), std::max(least_ordered, first_.size()));
    const auto end = rest_.begin() + static_cast<std::ptrdiff_t>(count);
    if (end != rest_.end()) {
        std::nth_element(rest_.begin(), end, rest_.end());
        horizon_ = *end;
    } else if (!rest_.empty()) {
        // What comes later than all of these is a rest again.
        horizon_ = *std::max_element(rest_.begin(), rest_.end());
        ++horizon_->to;
    }
    first_.insert(rest_.begin(), end);
    rest_.erase(rest_.begin(), end);
}

namespace {

/// Steps of one dynamic program, some nanoseconds each.
constexpr std::size_t max_core_steps = 1'000'000;

}  // namespace

void Shares::put(std::size_t host, std::size_t extra, const Cost& cost, bool searched) {
    if (host >= at_.size()) at_.resize(host + 1, none);
    if (at_[host] == none) {
        at_[host] = static_cast<std::int32_t>(hosts_.size());
        hosts_.emplace_back().host = host;
    }
    auto& choices = hosts_[static_cast<std::size_t>(at_[host])];
    if (!std::exchange(choices.changed, true))
        changed_.push_back(static_cast<std::uint32_t>(at_[host]));
    const auto at = std::ranges::lower_bound(choices.list, extra, {}, &Choice::extra);
    const auto edge_of = [&](const Cost& of) {
        return Edge{Price{of, static_cast<Amount>(extra)}, static_cast<std::uint32_t>(at_[host]),
                    static_cast<std::int32_t>(extra)};
    };
    EdgeOrder& order = order_of(extra);
    if (at != choices.list.end() && at->extra == extra) {
        if (at->cost != cost) {
            order.remove(edge_of(at->cost));
            order.add(edge_of(cost));
        }
        *at = Choice{extra, cost, searched};
        return;
    }
    choices.list.insert(at, Choice{extra, cost, searched});
    order.add(edge_of(cost));
}

EdgeOrder& Shares::order_of(std::size_t extra) {
    if (extra >= by_extra_.size()) by_extra_.resize(extra + 1);
    return by_extra_[extra];
}

/// `none` if there is none.
std::int32_t Shares::find_choice(const Choices& choices, std::size_t extra) const {
    const auto& list = choices.list;
    const auto at = std::ranges::lower_bound(list, extra, {}, &Choice::extra);
    return at != list.end() && at->extra == extra ? static_cast<std::int32_t>(at - list.begin())
                                                  : none;
}

std::size_t Shares::given_by(std::size_t host) const {
    if (host >= at_.size() || at_[host] == none) return 0;
    const auto& choices = hosts_[static_cast<std::size_t>(at_[host])];
    return extra_of(choices, choices.taken);
}

const Cost* Shares::cost(std::size_t host, std::size_t extra) const {
    if (host >= at_.size() || at_[host] == none) return nullptr;
    const auto& choices = hosts_[static_cast<std::size_t>(at_[host])];
    const std::int32_t choice = find_choice(choices, extra);
    return choice == none ? nullptr : &choices.list[static_cast<std::size_t>(choice)].cost;
}

bool Shares::searched(const Share& share) const {
    const auto& list = hosts_[static_cast<std::size_t>(at_[share.host])].list;
    return std::ranges::any_of(
        list, [&](const Choice& choice) { return choice.extra == share.extra && choice.searched; });
}

std::vector<Share> Shares::searched() const {
    std::vector<Share> some;
    for (const auto& choices : hosts_)
        for (const auto& choice : choices.list)
            if (choice.searched) some.push_back(Share{choices.host, choice.extra});
    return some;
}

/// Its edges take the place of those that it had.
void Shares::draw_hull(std::uint32_t at) {
    auto& choices = hosts_[at];
    choices.changed = false;
    for (const Edge& edge : choices.hull) edges_.remove(edge);
    auto& hull = choices.hull;
    hull.clear();
    const auto from = [&](std::int32_t choice, const Choice& to) {
        const std::size_t extra = extra_of(choices, choice);
        return Price{to.cost - cost_of(choices, choice), static_cast<Amount>(to.extra - extra)};
    };
    for (std::int32_t next = 0; next < static_cast<std::int32_t>(choices.list.size()); ++next) {
        const auto& to = choices.list[static_cast<std::size_t>(next)];
        while (!hull.empty() && !(hull.back().price < from(hull.back().to, to))) hull.pop_back();
        hull.push_back(Edge{from(hull.empty() ? none : hull.back().to, to), at, next});
    }
    for (const Edge& edge : hull) edges_.add(edge);
}

bool Shares::is_searched(const Edge& edge) const {
    return hosts_[edge.at].list[static_cast<std::size_t>(edge.to)].searched;
}

bool Shares::find_price(std::size_t slots) {
    slots_ = slots;
    for (const std::uint32_t at : takers_) hosts_[at].taken = none;
    takers_.clear();
    for (const std::uint32_t at : changed_)
        if (hosts_[at].changed) draw_hull(at);
    changed_.clear();
    given_ = 0;
    return edges_.each(nullptr, [&](const Edge& edge) {
        const auto more = static_cast<std::size_t>(edge.price.slots);
        if (hosts_[edge.at].taken == none) takers_.push_back(edge.at);
        if (given_ + more >= slots) {
            last_ = edge;
            price_ = edge.price;
            return false;
        }
        given_ += more;
        hosts_[edge.at].taken = edge.to;
        return true;
    });
}

std::vector<Share> Shares::next(std::size_t count) {
    std::vector<Share> shares;
    edges_.each(&last_, [&](const Edge& edge) {
        if (!is_searched(edge))
            shares.push_back(Share{hosts_[edge.at].host, extra_of(hosts_[edge.at], edge.to)});
        return shares.size() < count;
    });
    return shares;
}

std::vector<Share> Shares::at_price() const {
    std::vector<Share> shares;
    for (const std::uint32_t at : takers_) {
        const auto& choices = hosts_[at];
        const std::int32_t choice = at == last_.at ? last_.to : choices.taken;
        shares.push_back(Share{choices.host, extra_of(choices, choice)});
    }
    return shares;
}

/// Of hosts that give nothing at the price only the cheapest count, for each number of slots as
/// many as could be in use together: any other could be exchanged for one of these that is not.
std::vector<Shares::Change> Shares::changes(const Scaled* limit) {
    std::vector<Change> all;
    const auto add = [&](std::uint32_t at, std::int32_t to) {
        const auto& choices = hosts_[at];
        const auto more = static_cast<Amount>(extra_of(choices, to)) -
                          static_cast<Amount>(extra_of(choices, choices.taken));
        Change change{{}, more, at, to};
        const Cost cost = cost_of(choices, to) - cost_of(choices, choices.taken);
        if (!above_price(price_, cost, more, limit, change.above)) return false;
        all.push_back(change);
        return true;
    };
    for (const std::uint32_t at : takers_) {
        const auto& choices = hosts_[at];
        if (choices.taken == none) continue;
        add(at, none);
        for (std::int32_t to = 0; to < static_cast<std::int32_t>(choices.list.size()); ++to)
            if (to != choices.taken && extra_of(choices, to) <= slots_) add(at, to);
    }
    for (std::size_t extra = 1; extra <= std::min(slots_, by_extra_.size() - 1); ++extra) {
        std::size_t left = slots_ - extra + 1;
        // What is above the limit is so for all that cost more.
        by_extra_[extra].each(nullptr, [&](const Edge& edge) {
            const auto& choices = hosts_[edge.at];
            if (choices.taken != none) return true;
            return add(edge.at, find_choice(choices, extra)) && --left > 0;
        });
    }
    std::ranges::sort(all, [](const Change& a, const Change& b) {
        return a.at != b.at ? a.at < b.at : a.to < b.to;
    });
    return all;
}

/// The dynamic program: by number of slots, the least above the bound.
struct Shares::Core {
    struct Node {
        std::int32_t before = none;
        std::uint32_t at = 0;
        std::int32_t to = none;
    };
    struct Step {
        Scaled above;
        std::size_t slots = 0;
        Node node;
    };
    std::vector<Scaled> above;
    std::vector<std::int32_t> node;  // -2: not reached
    std::vector<std::size_t> reached;
    std::vector<Node> nodes;
    std::vector<Step> steps;
    static constexpr std::int32_t never = -2;

    explicit Core(std::size_t slots) : above(slots), node(slots, never) {}

    /// Each host's changes once, on top of what was reached before; returns how many were tried.
    std::size_t run(const Change* first, const Change* end, const Scaled* limit) {
        steps.clear();
        std::size_t tried = 0;
        std::size_t kept = 0;
        for (const std::size_t slots : reached) {
            if (limit != nullptr && !(above[slots] < *limit)) {
                node[slots] = never;
                continue;
            }
            reached[kept++] = slots;
            for (const Change* change = first; change != end; ++change) {
                ++tried;
                const Amount sum = static_cast<Amount>(slots) + change->slots;
                if (sum < 0 || sum >= static_cast<Amount>(above.size())) continue;
                const auto to = static_cast<std::size_t>(sum);
                Step step;
                const Scaled* const best =
                    node[to] != never && (limit == nullptr || above[to] < *limit) ? &above[to]
                                                                                  : limit;
                if (!add_below(above[slots], change->above, best, step.above)) continue;
                step.slots = to;
                step.node = Node{node[slots], change->at, change->to};
                steps.push_back(step);
            }
        }
        reached.resize(kept);
        for (const auto& step : steps) {
            if (node[step.slots] == never)
                reached.push_back(step.slots);
            else if (!(step.above < above[step.slots]))
                continue;
            above[step.slots] = step.above;
            node[step.slots] = static_cast<std::int32_t>(nodes.size());
            nodes.push_back(step.node);
        }
        return tried;
    }
};

void Shares::keep(const std::vector<std::int32_t>& chosen) {
    best_.clear();
    for (std::size_t at = 0; at < hosts_.size(); ++at)
        if (chosen[at] != none)
            best_.push_back(Share{hosts_[at].host, extra_of(hosts_[at], chosen[at])});
    std::ranges::sort(best_, {}, &Share::host);
}

/// What was best before, where it still gives as many.
std::optional<std::vector<std::int32_t>> Shares::before() const {
    std::vector<std::int32_t> chosen(hosts_.size(), none);
    std::size_t given = 0;
    for (const auto& share : best_) {
        const auto at = static_cast<std::size_t>(at_[share.host]);
        const auto& list = hosts_[at].list;
        const auto choice = std::ranges::find(list, share.extra, &Choice::extra);
        chosen[at] = static_cast<std::int32_t>(choice - list.begin());
        given += share.extra;
    }
    if (given != slots_) return std::nullopt;
    return chosen;
}

/// The cheapest change of one host that gives so many more.
std::optional<Shares::Change> Shares::best_single(std::size_t open) {
    std::optional<Change> best;
    const auto consider = [&](std::uint32_t at) {
        const auto& choices = hosts_[at];
        const std::int32_t to = find_choice(choices, extra_of(choices, choices.taken) + open);
        if (to == none) return;
        Change change{{}, static_cast<Amount>(open), at, to};
        if (above_price(price_, cost_of(choices, to) - cost_of(choices, choices.taken),
                        change.slots, best ? &best->above : nullptr, change.above))
            best = change;
    };
    for (const std::uint32_t at : takers_)
        if (hosts_[at].taken != none) consider(at);
    if (open < by_extra_.size())
        by_extra_[open].each(nullptr, [&](const Edge& edge) {
            if (hosts_[edge.at].taken != none) return true;
            consider(edge.at);
            return false;
        });
    return best;
}

std::vector<Share> Shares::likeliest(std::size_t count) const {
    std::vector<const Change*> open;
    for (const auto& change : looked_at_)
        if (change.to != none &&
            !hosts_[change.at].list[static_cast<std::size_t>(change.to)].searched)
            open.push_back(&change);
    const auto end = open.begin() + static_cast<std::ptrdiff_t>(std::min(count, open.size()));
    std::partial_sort(open.begin(), end, open.end(),
                      [](const Change* a, const Change* b) { return a->above < b->above; });
    std::vector<Share> shares;
    for (auto change = open.begin(); change != end; ++change)
        shares.push_back(
            Share{hosts_[(*change)->at].host, extra_of(hosts_[(*change)->at], (*change)->to)});
    return shares;
}

bool Shares::find_best() {
    const std::size_t open = slots_ - given_;
    std::vector<std::int32_t> chosen(hosts_.size(), none);
    Cost at_price;
    for (const std::uint32_t at : takers_) {
        chosen[at] = hosts_[at].taken;
        at_price += cost_of(hosts_[at], chosen[at]);
    }
    gap_.reset();
    looked_at_.clear();
    if (static_cast<std::size_t>(price_.slots) == open) {
        chosen[last_.at] = last_.to;
        gap_.emplace();
        keep(chosen);
        least_ = at_price + price_.cost;
        return true;
    }
    // The first gap: what was best before, or a single change that gives what is open.
    std::optional<std::vector<std::int32_t>> first = before();
    if (first) {
        Cost cost;
        for (std::size_t at = 0; at < hosts_.size(); ++at)
            if ((*first)[at] != none) cost += cost_of(hosts_[at], (*first)[at]);
        above_price(price_, cost - at_price, static_cast<Amount>(open), nullptr, gap_.emplace());
    }
    if (const auto single = best_single(open); single && (!gap_ || single->above < *gap_)) {
        gap_ = single->above;
        first = chosen;
        (*first)[single->at] = single->to;
    }
    looked_at_ = changes(gap_ ? &*gap_ : nullptr);
    const auto& all = looked_at_;
    // By host, the host with the least first.
    std::vector<std::pair<const Change*, const Change*>> hosts;
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i + 1;
        while (end < all.size() && all[end].at == all[i].at) ++end;
        hosts.emplace_back(&all[i], &all[i] + (end - i));
        i = end;
    }
    std::vector<std::pair<const Scaled*, std::size_t>> order;
    for (std::size_t i = 0; i < hosts.size(); ++i)
        order.emplace_back(
            &std::min_element(hosts[i].first, hosts[i].second,
                              [](const Change& a, const Change& b) { return a.above < b.above; })
                 ->above,
            i);
    std::ranges::sort(order, [](const auto& a, const auto& b) {
        if (*a.first < *b.first) return true;
        return !(*b.first < *a.first) && a.second < b.second;
    });
    Core core{2 * slots_ + given_ + static_cast<std::size_t>(price_.slots) + 1};
    core.above[given_] = Scaled{};
    core.node[given_] = none;
    core.reached.push_back(given_);
    std::optional<std::int32_t> best;
    const Scaled* unseen = nullptr;  // the least of the hosts that were not looked at
    std::size_t steps = 0;
    for (const auto& [least, host] : order) {
        if (gap_ && !(*least < *gap_)) break;
        if (steps > std::min(max_core_steps, steps_left_)) {
            unseen = least;
            break;
        }
        steps += core.run(hosts[host].first, hosts[host].second, gap_ ? &*gap_ : nullptr);
        if (core.node[slots_] < 0 || (gap_ && !(core.above[slots_] < *gap_))) continue;
        gap_ = core.above[slots_];
        best = core.node[slots_];
    }
    steps_left_ -= std::min(steps, steps_left_);
    if (!gap_) return false;
    for (std::int32_t node = best.value_or(none); node != none;) {
        const auto& change = core.nodes[static_cast<std::size_t>(node)];
        chosen[change.at] = change.to;
        node = change.before;
    }
    keep(best ? chosen : *first);
    // The bound: what is given at the price, what is open at it, and the least above.
    Scaled total = unseen != nullptr ? *unseen : *gap_;
    for (std::size_t i = 0; i < max_levels; ++i)
        total[i] += Scaled::Wide{at_price[i]} * price_.slots;
    least_ = whole_cost(price_, static_cast<Amount>(open), total, true);
    return true;
}

}  // namespace reaper
