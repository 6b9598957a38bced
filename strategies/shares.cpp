#include "strategies/shares.hpp"

#include <algorithm>
#include <utility>

namespace reaper {
namespace {

/// Steps of one dynamic program, some nanoseconds each.
constexpr std::size_t max_core_steps = 1'000'000;

Price price_between(const Cost& from, std::size_t extra, const Cost& to, std::size_t to_extra) {
    return Price{to - from, static_cast<Amount>(to_extra - extra)};
}

}  // namespace

void Shares::put(std::size_t host, std::size_t extra, const Cost& cost, bool searched) {
    if (host >= at_.size()) at_.resize(host + 1, none);
    if (at_[host] == none) {
        at_[host] = static_cast<std::int32_t>(hosts_.size());
        hosts_.emplace_back().host = host;
    }
    auto& choices = hosts_[static_cast<std::size_t>(at_[host])];
    choices.changed = true;
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

void Shares::draw_hull(Choices& choices) {
    choices.changed = false;
    auto& hull = choices.hull;
    hull.clear();
    const auto between = [&](std::int32_t a, std::int32_t b) {
        const auto& to = choices.list[static_cast<std::size_t>(b)];
        if (a == none) return price_between(Cost{}, 0, to.cost, to.extra);
        const auto& from = choices.list[static_cast<std::size_t>(a)];
        return price_between(from.cost, from.extra, to.cost, to.extra);
    };
    for (std::int32_t next = 0; next < static_cast<std::int32_t>(choices.list.size()); ++next) {
        while (!hull.empty()) {
            const std::int32_t before = hull.size() > 1 ? hull[hull.size() - 2] : none;
            if (between(before, hull.back()) < between(hull.back(), next)) break;
            hull.pop_back();
        }
        hull.push_back(next);
    }
}

bool Shares::find_price(std::size_t slots) {
    slots_ = slots;
    auto& edges = edges_;
    edges.clear();
    std::size_t possible = 0;
    for (std::size_t at = 0; at < hosts_.size(); ++at) {
        auto& choices = hosts_[at];
        if (choices.changed) draw_hull(choices);
        choices.taken = none;
        std::size_t extra = 0;
        Cost cost;
        for (const std::int32_t to : choices.hull) {
            const auto& choice = choices.list[static_cast<std::size_t>(to)];
            edges.push_back(Edge{price_between(cost, extra, choice.cost, choice.extra),
                                 static_cast<std::uint32_t>(at), to});
            extra = choice.extra;
            cost = choice.cost;
        }
        possible += extra;
    }
    if (possible < slots) return false;
    // The cheapest edges that give as many: half of what is open is put in order each time.
    auto first = edges.begin();
    auto end = edges.end();
    given_ = 0;
    while (end - first > 1) {
        const auto middle = first + (end - first) / 2;
        std::nth_element(first, middle, end);
        std::size_t sum = 0;
        for (auto edge = first; edge != middle; ++edge)
            sum += static_cast<std::size_t>(edge->price.slots);
        if (given_ + sum >= slots) {
            end = middle;
        } else {
            given_ += sum;
            first = middle;
        }
    }
    last_ = *first;
    price_ = last_.price;
    beyond_ = static_cast<std::size_t>(first - edges.begin()) + 1;
    for (auto edge = edges.begin(); edge != first; ++edge)
        hosts_[edge->at].taken = std::max(hosts_[edge->at].taken, edge->to);
    return true;
}

std::vector<Share> Shares::next(std::size_t count) const {
    std::vector<Edge> next;
    for (std::size_t i = beyond_; i < edges_.size(); ++i)
        if (!hosts_[edges_[i].at].list[static_cast<std::size_t>(edges_[i].to)].searched)
            next.push_back(edges_[i]);
    count = std::min(count, next.size());
    std::partial_sort(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(count), next.end());
    std::vector<Share> shares;
    for (std::size_t i = 0; i < count; ++i) {
        const auto& choices = hosts_[next[i].at];
        shares.push_back(Share{choices.host, extra_of(choices, next[i].to)});
    }
    return shares;
}

std::vector<Share> Shares::at_price() const {
    std::vector<Share> shares;
    for (std::size_t at = 0; at < hosts_.size(); ++at) {
        const auto& choices = hosts_[at];
        const std::int32_t choice = at == last_.at ? last_.to : choices.taken;
        if (choice != none) shares.push_back(Share{choices.host, extra_of(choices, choice)});
    }
    return shares;
}

/// By slots: of a host that gives nothing at the price only the cheapest count, as many as could be
/// in use together: any other could be exchanged for one of these that is not.
std::vector<std::optional<Cost>> Shares::dearest_that_count() const {
    std::vector<std::optional<Cost>> dearest(slots_ + 1);
    if (hosts_.size() <= slots_) return dearest;
    std::vector<std::vector<Cost>> costs(slots_ + 1);
    for (const auto& choices : hosts_)
        for (const auto& choice : choices.list)
            if (choice.extra <= slots_) costs[choice.extra].push_back(choice.cost);
    for (std::size_t extra = 1; extra <= slots_; ++extra) {
        const std::size_t count = slots_ - extra + 1;
        if (costs[extra].size() <= count) continue;
        const auto last = costs[extra].begin() + static_cast<std::ptrdiff_t>(count - 1);
        std::nth_element(costs[extra].begin(), last, costs[extra].end());
        dearest[extra] = *last;
    }
    return dearest;
}

std::vector<Shares::Change> Shares::changes(const Scaled* limit) const {
    std::vector<Change> all;
    const auto dearest = dearest_that_count();
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
            if (to == choices.taken || choice.extra > slots_) continue;
            if (choices.taken == none && dearest[choice.extra] &&
                *dearest[choice.extra] < choice.cost)
                continue;
            add(to, choice.cost, choice.extra);
        }
    }
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
