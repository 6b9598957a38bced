#include "strategies/joint.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reaper {
namespace {

/// Knapsacks that are solved for one plan.
constexpr int max_rounds = 2'000;
/// Hosts beyond the price that are searched before the knapsack is solved again.
constexpr std::size_t max_batch = 32;
/// The same of those that may be part of a better way: a search costs more than a knapsack.
constexpr std::size_t max_likely = 4;

/// One way to share slots out is never as good as another: the sum of the hosts' places in the
/// order of names decides, then a sum of numbers as good as random, for each host and choice one.
void break_tie(std::size_t host, std::size_t extra, Cost& cost) {
    cost[max_objective_levels] = static_cast<Amount>(host) + 1;
    std::uint64_t mixed = (std::uint64_t{host} * 4096 + std::uint64_t{extra}) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    cost[max_objective_levels + 1] = static_cast<Amount>(mixed >> 20);
}

Cost without_ties(Cost cost) {
    std::fill(cost.level.begin() + max_objective_levels, cost.level.end(), Amount{0});
    return cost;
}

}  // namespace

/// What so many slots cost at the cut, for all numbers of them.
class Joint::Cut {
public:
    void set(const Price& price, const Scaled& slack) {
        price_ = price;
        slack_ = slack;
        set_ = true;
        ++version_;
    }
    /// Null if there is none.
    const Cost* of(Amount slots) {
        if (!set_) return nullptr;
        const auto at = static_cast<std::size_t>(slots);
        if (at >= costs_.size()) costs_.resize(at + 1);
        auto& [cost, version] = costs_[at];
        if (version != version_) {
            cost = whole_cost(price_, slots, slack_);
            version = version_;
        }
        return &cost;
    }

private:
    Price price_;
    Scaled slack_;
    bool set_ = false;
    std::size_t version_ = 0;
    std::vector<std::pair<Cost, std::size_t>> costs_;
};

Joint::Joint(Searches& searches) : searches_{searches}, hosts_{searches.problem().hosts} {}

Amount Joint::most_extra(std::size_t host, std::size_t slots) const {
    return std::min(hosts_.possible(host) - hosts_.ready(host), static_cast<Amount>(slots));
}

/// What costs no more than the hosts that are cheapest by their cheapest number of slots, as many
/// of them as give so many together.
void Joint::collect_cheapest(std::size_t slots, std::size_t supply) {
    struct Cheap {
        Price price;
        std::size_t host = 0;
        bool operator<(const Cheap& other) const {
            if (price < other.price) return true;
            return !(other.price < price) && host < other.host;
        }
    };
    std::vector<Cheap> heap;  // the dearest on top
    std::size_t given = 0;
    Cut cut;
    std::vector<std::pair<Share, Cost>> found;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        const Amount most = most_extra(host, slots);
        most_on_one_ = std::max(most_on_one_, most);
        std::optional<Price> cheapest;
        for (Amount extra = 1; extra <= most; ++extra) {
            const auto number = static_cast<std::size_t>(extra);
            const Cost* const worst = cut.of(extra);
            Cost bound;
            if (const Cost* const known = known_.cost(host, number)) {
                bound = *known;
            } else {
                if (!searches_.bound(host, hosts_.ready(host) + extra, sketch_, worst, bound))
                    continue;
                break_tie(host, number, bound);
                if (worst != nullptr && *worst < bound) continue;
                found.push_back({Share{host, number}, bound});
            }
            const Price price{bound, extra};
            if (!cheapest || price < *cheapest) cheapest = price;
        }
        if (!cheapest) continue;
        heap.push_back({*cheapest, host});
        std::push_heap(heap.begin(), heap.end());
        given += static_cast<std::size_t>(cheapest->slots);
        while (given >= supply + static_cast<std::size_t>(heap.front().price.slots)) {
            given -= static_cast<std::size_t>(heap.front().price.slots);
            std::pop_heap(heap.begin(), heap.end());
            heap.pop_back();
        }
        if (given >= supply) cut.set(heap.front().price, Scaled{});
    }
    all_ = given < supply;
    if (!all_) cut_ = heap.front().price;
    for (const auto& [share, bound] : found) {
        const Cost* const worst = all_ ? nullptr : cut.of(static_cast<Amount>(share.extra));
        if (worst == nullptr || !(*worst < bound))
            known_.put(share.host, share.extra, bound, false);
    }
}

/// Whether all is collected of one number of slots that may be part of a way within the gap.
bool Joint::covers_number(Amount number, const Scaled& gap) const {
    const Price& price = known_.price();
    for (std::size_t i = 0; i < max_levels; ++i) {
        const Scaled::Wide need = Scaled::Wide{price.cost[i]} * number + gap[i];
        const Scaled::Wide have = Scaled::Wide{cut_.cost[i]} * number;
        const Scaled::Wide left = have * price.slots - need * cut_.slots;
        if (left != 0) return left > 0;
    }
    return true;
}

/// The same of all numbers. Both are straight lines over the number: their ends suffice.
bool Joint::covers(std::size_t slots, const Scaled& gap) const {
    return all_ || (covers_number(1, gap) &&
                    covers_number(std::min(most_on_one_, static_cast<Amount>(slots)), gap));
}

/// Whether all is collected that may be part of a way within the gap: for each number of slots the
/// hosts that cost least, as many as decide. False if some were not.
bool Joint::complete(std::size_t slots, const Scaled& gap) {
    bool complete = true;
    const auto most = std::min(most_on_one_, static_cast<Amount>(slots));
    for (Amount number = 1; number <= most; ++number) {
        if (covers_number(number, gap)) continue;
        const auto extra = static_cast<std::size_t>(number);
        const Cost dearest = whole_cost(known_.price(), number, gap);
        Offers& offers = offers_.try_emplace(extra, searches_, number, false).first->second;
        std::vector<std::pair<std::size_t, Cost>> raised, fresh;
        do {
            for (const auto& [host, cost] : raised) offers.raise(host, cost);
            raised.clear();
            fresh.clear();
            for (const Offer* const offer : offers.first(known_.that_decide(extra))) {
                if (dearest < offer->cost) break;
                const Cost* const known = known_.cost(offer->host, extra);
                if (known == nullptr) {
                    fresh.emplace_back(offer->host, offer->cost);
                } else if (const Cost cost = without_ties(*known); offer->cost < cost) {
                    raised.emplace_back(offer->host, cost);
                }
            }
        } while (!raised.empty());
        for (const auto& [host, cost] : fresh) put(host, extra, cost, false);
        complete = complete && fresh.empty();
    }
    return complete;
}

/// Nothing that is collected makes up the number: a host that gives as many as are open at the
/// price for least does, beyond what it gives at the price. The host that would give more than are
/// open can.
void Joint::make_up() {
    const Share open = known_.open();
    std::optional<Cost> least;
    std::size_t least_on = open.host;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
        if (known_.given_by(host) > 0 ||
            hosts_.possible(host) - hosts_.ready(host) < static_cast<Amount>(open.extra))
            continue;
        Cost bound;
        const Amount all = hosts_.ready(host) + static_cast<Amount>(open.extra);
        if (!searches_.bound(host, all, sketch_, least ? &*least : nullptr, bound)) continue;
        if (least && !(bound < *least)) continue;
        least = bound;
        least_on = host;
    }
    for (const std::size_t host : {least_on, open.host}) {
        const std::size_t extra = known_.given_by(host) + open.extra;
        if (known_.cost(host, extra) != nullptr) continue;
        Cost bound;
        searches_.bound(host, hosts_.ready(host) + static_cast<Amount>(extra), sketch_, nullptr,
                        bound);
        put(host, extra, bound, false);
    }
}

void Joint::put(std::size_t host, std::size_t extra, Cost cost, bool searched) {
    break_tie(host, extra, cost);
    known_.put(host, extra, cost, searched);
}

/// Returns how many were not searched before.
std::size_t Joint::search(const std::vector<Share>& shares) {
    std::size_t fresh = 0;
    for (const auto& share : shares) {
        if (known_.searched(share)) continue;
        ++fresh;
        const Cover& cover =
            searches_.best(share.host, hosts_.ready(share.host) + static_cast<Amount>(share.extra));
        // Where the search was cut, only a bound is sure.
        Cost cost = cover.cost;
        if (!cover.proven) {
            const Cost* const known = known_.cost(share.host, share.extra);
            cost = known == nullptr ? cover.bound : std::max(*known, cover.bound);
        }
        put(share.host, share.extra, cost, true);
    }
    return fresh;
}

Cost Joint::cost_of(const std::vector<Share>& shares) const {
    Cost sum;
    for (const auto& share : shares)
        sum += searches_
                   .found(share.host, hosts_.ready(share.host) + static_cast<Amount>(share.extra))
                   ->cost;
    return sum;
}

void Joint::take(const std::vector<Share>& shares) {
    shares_ = shares;
    cost_ = cost_of(shares);
}

/// As the searches stand: where some were cut short, what they found decides, not what bounds say.
void Joint::settle(std::size_t slots) {
    search(known_.best());
    take(known_.best());
    if (std::equal(cost_.level.begin(), cost_.level.begin() + max_objective_levels,
                   least_.level.begin()))
        return;
    Shares found;
    for (const auto& share : known_.searched()) {
        const Amount all = hosts_.ready(share.host) + static_cast<Amount>(share.extra);
        Cost cost = searches_.found(share.host, all)->cost;
        break_tie(share.host, share.extra, cost);
        found.put(share.host, share.extra, cost, true);
    }
    if (!found.find_price(slots) || !found.find_best()) return;
    if (cost_of(found.best()) < cost_) take(found.best());
}

void Joint::solve(std::size_t slots) {
    if (supply_ == 0) collect_cheapest(slots, supply_ = slots);
    known_.renew_steps();
    least_ = Cost{};
    std::size_t batch = 1;
    std::size_t likely = 1;
    for (int round = 0;; ++round) {
        const bool stopped = searches_.stopped() || known_.used_up() || round >= max_rounds;
        const bool priced = known_.find_price(slots);
        if (!priced && all_) throw std::logic_error("more slots are asked for than are possible");
        if (!priced || !covers(slots, Scaled{})) {
            collect_cheapest(slots, supply_ *= 2);
            continue;
        }
        if (!stopped && search(known_.at_price()) > 0) {
            search(known_.next(batch));
            batch = std::min(2 * batch, max_batch);
            continue;
        }
        if (!known_.find_best()) {
            make_up();
            continue;
        }
        if (!covers(slots, known_.gap()) && !complete(slots, known_.gap())) continue;
        // Each round's bound holds, also where a later one was cut short.
        least_ = std::max(least_, without_ties(known_.least()));
        if (!stopped && search(known_.best()) > 0) {
            search(known_.likeliest(likely));
            likely = std::min(2 * likely, max_likely);
            continue;
        }
        return settle(slots);
    }
}

}  // namespace reaper
