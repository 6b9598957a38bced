#include "strategies/shares.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
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
    const auto at =
        std::lower_bound(choices.list.begin(), choices.list.end(), extra,
                         [](const Choice& choice, std::size_t e) { return choice.extra < e; });
    if (at != choices.list.end() && at->extra == extra)
        *at = Choice{extra, cost, searched};
    else
        choices.list.insert(at, Choice{extra, cost, searched});
}

const Cost* Shares::cost(std::size_t host, std::size_t extra) const {
    if (host >= at_.size() || at_[host] == none) return nullptr;
    const auto& list = hosts_[static_cast<std::size_t>(at_[host])].list;
    const auto at =
        std::lower_bound(list.begin(), list.end(), extra,
                         [](const Choice& choice, std::size_t e) { return choice.extra < e; });
    return at != list.end() && at->extra == extra ? &at->cost : nullptr;
}

bool Shares::searched(const Share& share) const {
    const auto& list = hosts_[static_cast<std::size_t>(at_[share.host])].list;
    return std::any_of(list.begin(), list.end(), [&](const Choice& choice) {
        return choice.extra == share.extra && choice.searched;
    });
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
void Shares::drop_dear(std::vector<Change>& all) const {
    std::vector<std::vector<Change*>> by_slots(slots_ + 1);
    for (auto& change : all)
        if (hosts_[change.at].taken == none)
            by_slots[static_cast<std::size_t>(change.slots)].push_back(&change);
    bool any = false;
    for (std::size_t slots = 1; slots <= slots_; ++slots) {
        auto& some = by_slots[slots];
        const std::size_t count = slots_ - slots + 1;
        if (some.size() <= count) continue;
        const auto last = some.begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(some.begin(), last, some.end(),
                         [](const Change* a, const Change* b) { return a->above < b->above; });
        const Scaled dearest = (*last)->above;
        for (Change* const change : some)
            if (dearest < change->above) change->slots = 0;
        any = true;
    }
    if (any) std::erase_if(all, [](const Change& change) { return change.slots == 0; });
}

std::vector<Shares::Change> Shares::changes(const Scaled* limit) const {
    std::vector<Change> all;
    for (std::size_t at = 0; at < hosts_.size(); ++at) {
        const auto& choices = hosts_[at];
        const Cost cost = cost_of(choices, choices.taken);
        const auto extra = static_cast<Amount>(extra_of(choices, choices.taken));
        const auto add = [&](std::int32_t to, const Cost& new_cost, std::size_t new_extra) {
            Change change{
                {}, static_cast<Amount>(new_extra) - extra, static_cast<std::uint32_t>(at), to};
            if (above_price(price_, new_cost - cost, change.slots, limit, change.above))
                all.push_back(change);
        };
        if (choices.taken != none) add(none, Cost{}, 0);
        for (std::size_t i = 0; i < choices.list.size(); ++i) {
            const auto& choice = choices.list[i];
            const auto to = static_cast<std::int32_t>(i);
            if (to != choices.taken && choice.extra <= slots_) add(to, choice.cost, choice.extra);
        }
    }
    drop_dear(all);
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
    std::sort(best_.begin(), best_.end(),
              [](const Share& a, const Share& b) { return a.host < b.host; });
}

/// What was best before, where it still gives as many.
std::optional<std::vector<std::int32_t>> Shares::before() const {
    std::vector<std::int32_t> chosen(hosts_.size(), none);
    std::size_t given = 0;
    for (const auto& share : best_) {
        const auto at = static_cast<std::size_t>(at_[share.host]);
        const auto& list = hosts_[at].list;
        const auto choice = std::find_if(list.begin(), list.end(), [&](const Choice& each) {
            return each.extra == share.extra;
        });
        chosen[at] = static_cast<std::int32_t>(choice - list.begin());
        given += share.extra;
    }
    if (given != slots_) return std::nullopt;
    return chosen;
}

/// The cheapest change of one host that gives so many more.
std::optional<Shares::Change> Shares::best_single(std::size_t open) const {
    std::optional<Change> best;
    for (std::size_t at = 0; at < hosts_.size(); ++at) {
        const auto& choices = hosts_[at];
        const std::size_t extra = extra_of(choices, choices.taken) + open;
        const auto choice = std::lower_bound(
            choices.list.begin(), choices.list.end(), extra,
            [](const Choice& each, std::size_t wanted) { return each.extra < wanted; });
        if (choice == choices.list.end() || choice->extra != extra) continue;
        Change change{{},
                      static_cast<Amount>(open),
                      static_cast<std::uint32_t>(at),
                      static_cast<std::int32_t>(choice - choices.list.begin())};
        if (above_price(price_, choice->cost - cost_of(choices, choices.taken), change.slots,
                        best ? &best->above : nullptr, change.above))
            best = change;
    }
    return best;
}

bool Shares::find_best() {
    const std::size_t open = slots_ - given_;
    std::vector<std::int32_t> chosen;
    Cost at_price;
    for (const auto& choices : hosts_) {
        chosen.push_back(choices.taken);
        at_price += cost_of(choices, choices.taken);
    }
    gap_.reset();
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
            cost += cost_of(hosts_[at], (*first)[at]);
        above_price(price_, cost - at_price, static_cast<Amount>(open), nullptr, gap_.emplace());
    }
    if (const auto single = best_single(open); single && (!gap_ || single->above < *gap_)) {
        gap_ = single->above;
        first = chosen;
        (*first)[single->at] = single->to;
    }
    auto all = changes(gap_ ? &*gap_ : nullptr);
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
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
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
