#include "strategies/order.hpp"

#include <algorithm>
#include <numeric>

#include "reaper/model/amount.hpp"

namespace reaper {

Cost Order::base(const Shape& shape, const HostRoom& room, Amount slots) const {
    const auto totals = room.totals(shape, room.room_now());
    Cost cost(terms.size(), 0);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i].kind != Term::Kind::leftover) continue;
        const auto& need = shape[terms[i].need];
        cost[i] =
            saturating_subtract(totals[terms[i].need], saturating_multiply(need.amount, slots));
    }
    return cost;
}

Cost Order::of(const HostRoom& room, const ByPool& gains) const {
    Cost cost(terms.size(), 0);
    for (std::size_t i = 0; i < terms.size(); ++i) {
        if (terms[i].kind == Term::Kind::victims) cost[i] = 1;
        if (terms[i].kind != Term::Kind::leftover) continue;
        for (std::size_t pool = 0; pool < gains.size(); ++pool)
            if (room.pools[pool].need == terms[i].need)
                cost[i] = saturating_add(cost[i], gains[pool]);
    }
    return cost;
}

Amount Order::place(const Server& server) const {
    const Amount created = server.created.time_since_epoch().count();
    switch (tie) {
        case Tie::id: return 0;
        case Tie::newest: return -created;
        case Tie::oldest: return created;
    }
    return 0;
}

std::vector<std::size_t> Order::ranking(const std::vector<Candidate>& candidates) const {
    std::vector<std::size_t> ranked(candidates.size());
    std::iota(ranked.begin(), ranked.end(), std::size_t{0});
    std::sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) {
        const Server& first = *candidates[a].server;
        const Server& second = *candidates[b].server;
        if (place(first) != place(second)) return place(first) < place(second);
        return first.id < second.id;
    });
    return ranked;
}

Resources Order::leftover(const Shape& shape, const Cost& cost) const {
    Resources unused;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (terms[i].kind == Term::Kind::leftover)
            unused.set(shape[terms[i].need].resource_class, cost[i]);
    return unused;
}

Order leftover_order(const Shape& shape, const std::vector<ResourceClass>& classes,
                     Order::Tie tie) {
    Order order;
    order.tie = tie;
    std::vector<bool> listed(shape.size(), false);
    const auto list = [&](std::size_t need) {
        if (!listed[need]) order.terms.push_back(Term{Term::Kind::leftover, need});
        listed[need] = true;
    };
    for (const auto& resource_class : classes)
        for (std::size_t need = 0; need < shape.size(); ++need)
            if (shape[need].resource_class == resource_class) list(need);
    for (std::size_t need = 0; need < shape.size(); ++need) list(need);
    order.terms.push_back(Term{Term::Kind::victims, 0});
    return order;
}

}  // namespace reaper
