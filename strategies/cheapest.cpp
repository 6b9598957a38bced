#include "strategies/cheapest.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "reaper/model/amount.hpp"
#include "strategies/cover.hpp"

namespace reaper {
namespace {

constexpr std::int64_t selection_factor = 20;
constexpr std::int64_t least_steps = 1'000;

/// A host's next slot: what it adds, as a lower bound or exactly. Lower goes first.
struct Offer {
    Cost added;
    std::vector<Amount> places;  // of all its victims in the tie rule's order
    std::size_t host = 0;
    bool searched = false;

    friend bool operator<(const Offer& a, const Offer& b) {
        return std::tie(a.added, a.places, a.host) < std::tie(b.added, b.places, b.host);
    }
};

/// What is chosen on one host, and what its next slot would take.
struct Choice {
    Amount slots = 0;
    std::optional<Cover> chosen;
    Cover next;  // searched, or only its bound
};

std::string count(Amount n, const std::string& what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

class Cheapest {
public:
    Cheapest(const Problem& problem, const Order& order, std::int64_t max_steps)
        : problem_{problem},
          order_{order},
          max_steps_{max_steps},
          steps_left_{saturating_multiply(max_steps, selection_factor)},
          choices_(problem.hosts.size()) {}

    Selection run() {
        Amount open = problem_.slots;
        for (std::size_t host = 0; host < choices_.size(); ++host) {
            choices_[host].slots = problem_.hosts[host].slots_ready;
            open -= choices_[host].slots;
            offer_bound(host);
        }
        while (open > 0 && !offers_.empty()) {
            const Offer first = *offers_.begin();
            offers_.erase(offers_.begin());
            if (first.searched)
                open -= accept(first.host);
            else
                offer_searched(first.host);
        }
        return tell();
    }

private:
    /// What `cost` adds to what the host costs already. A host where nobody dies costs nothing.
    Cost added(std::size_t host, Cost cost) const {
        const auto& chosen = choices_[host].chosen;
        if (chosen)
            for (std::size_t i = 0; i < cost.size(); ++i)
                cost[i] = saturating_subtract(cost[i], chosen->cost[i]);
        return cost;
    }

    Offer offer_of(std::size_t host, const Cost& cost, const std::vector<std::size_t>& victims) {
        Offer offer{added(host, cost), {}, host, false};
        if (order_.tie != Order::Tie::id)
            for (const std::size_t victim : victims)
                offer.places.push_back(
                    order_.place(*problem_.hosts[host].candidates[victim].server));
        return offer;
    }

    void offer_bound(std::size_t host) {
        const auto& option = problem_.hosts[host];
        auto& choice = choices_[host];
        if (choice.slots >= option.slots_possible) return;
        const CoverSearch search{problem_.shape, option, order_, choice.slots + 1};
        choice.next = Cover{};
        choice.next.bound = search.bound();
        // The first few of the tie rule's order: no set of that many comes before them.
        auto first = order_.ranking(option.candidates);
        first.resize(std::min(first.size(), static_cast<std::size_t>(choice.next.bound.back())));
        offers_.insert(offer_of(host, choice.next.bound, first));
    }

    void offer_searched(std::size_t host) {
        auto& choice = choices_[host];
        CoverSearch search{problem_.shape, problem_.hosts[host], order_, choice.slots + 1};
        const std::int64_t allowed = std::clamp(steps_left_ / 4, std::min(least_steps, max_steps_),
                                                std::max<std::int64_t>(max_steps_, 0));
        std::int64_t steps = allowed;
        choice.next = search.best(steps);
        steps_left_ = std::max<std::int64_t>(steps_left_ - (allowed - steps), 0);
        Offer offer = offer_of(host, choice.next.cost, choice.next.victims);
        offer.searched = true;
        offers_.insert(std::move(offer));
        if (!choice.next.proven) ++cut_;
    }

    /// Takes the host's next slot; returns how many slots more that gives.
    Amount accept(std::size_t host) {
        auto& choice = choices_[host];
        const auto& option = problem_.hosts[host];
        const Amount before = choice.slots;
        choice.chosen = std::move(choice.next);
        choice.slots = std::max(
            before + 1,
            option.room.slots(problem_.shape, room_without(option, choice.chosen->victims)));
        offer_bound(host);
        return choice.slots - before;
    }

    std::string unused(const Cost& cost) const {
        return to_string(order_.leftover(problem_.shape, cost)) + " unused";
    }

    Selection tell() const {
        Selection selection;
        const Cover* worst = nullptr;
        for (std::size_t host = 0; host < choices_.size(); ++host) {
            const auto& choice = choices_[host];
            if (!choice.chosen) continue;
            if (worst == nullptr || worst->cost < choice.chosen->cost) worst = &*choice.chosen;
            selection.hosts.emplace(
                host, Selection::OnHost{choice.chosen->victims, why_chosen(*choice.chosen)});
            if (!choice.chosen->proven) add_note(selection.note, host, *choice.chosen);
        }
        for (std::size_t host = 0; host < choices_.size(); ++host)
            if (!choices_[host].chosen && worst != nullptr)
                selection.passed.emplace(host, why_passed(choices_[host].next, *worst));
        if (selection.note.empty() && cut_ > 0)
            selection.note = "the search was cut short on " + count(cut_, "host") +
                             " that lost; its true best may be better";
        return selection;
    }

    std::string why_chosen(const Cover& cover) const {
        return "leaves " + unused(cover.cost) + " with " +
               count(static_cast<Amount>(cover.victims.size()), "victim") + ", the least of " +
               count(static_cast<Amount>(problem_.hosts.size()), "possible host");
    }

    std::string why_passed(const Cover& next, const Cover& worst) const {
        const bool searched = !next.cost.empty();
        const Cost& cost = searched ? next.cost : next.bound;
        if (cost.empty()) return "no further slot is possible";
        const bool none_unused = order_.leftover(problem_.shape, worst.cost).empty();
        return "would leave " + std::string{searched ? "" : "at least "} + unused(cost) + " with " +
               count(cost.back(), "victim") + (searched ? "" : " or more") +
               "; chosen hosts leave " + (none_unused ? "" : "at most ") + unused(worst.cost) +
               " with " + count(static_cast<Amount>(worst.victims.size()), "victim");
    }

    void add_note(std::string& note, std::size_t host, const Cover& cover) const {
        Cost gap = cover.cost;
        for (std::size_t i = 0; i < gap.size(); ++i)
            gap[i] = saturating_subtract(gap[i], cover.bound[i]);
        if (!note.empty()) note += "; ";
        note += "the search on " + problem_.hosts[host].host->name + " was cut short: ";
        const bool level = std::all_of(gap.begin(), gap.end(), [](Amount a) { return a == 0; });
        if (level)
            note += "no set leaves less, but among equals another may come first";
        else
            note += "at most " + to_string(order_.leftover(problem_.shape, gap)) + " and " +
                    count(gap.back(), "victim") + " above the least possible";
    }

    const Problem& problem_;
    const Order& order_;
    const std::int64_t max_steps_;
    std::int64_t steps_left_;
    std::vector<Choice> choices_;
    std::set<Offer> offers_;
    int cut_ = 0;
};

}  // namespace

Selection cheapest(const Problem& problem, const Order& order, std::int64_t max_steps) {
    return Cheapest{problem, order, max_steps}.run();
}

}  // namespace reaper
