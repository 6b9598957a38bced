// Edges in order, as far as they are asked for, against a plain sorted set.
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <vector>

#include "strategies/seeded_rng.hpp"
#include "strategies/shares.hpp"

namespace reaper::edge_order_test {
namespace {

using Key = std::tuple<std::uint32_t, std::int32_t, Amount>;

Key key_of(const Edge& edge) {
    return {edge.at, edge.to, edge.price.slots};
}

Edge random_edge(SeededRng& rng) {
    Edge edge;
    edge.price.cost[0] = static_cast<Amount>(rng.below(500));
    edge.price.slots = 1 + static_cast<Amount>(rng.below(4));
    edge.at = static_cast<std::uint32_t>(rng.below(300));
    edge.to = static_cast<std::int32_t>(rng.below(3));
    return edge;
}

std::vector<Key> first_of(EdgeOrder& order, const Edge* after, std::size_t count) {
    std::vector<Key> found;
    order.each(after, [&](const Edge& edge) {
        found.push_back(key_of(edge));
        return found.size() < count;
    });
    return found;
}

std::vector<Key> first_of(const std::set<Edge>& plain, const Edge* after, std::size_t count) {
    std::vector<Key> found;
    auto next = after == nullptr ? plain.begin() : plain.upper_bound(*after);
    for (; next != plain.end() && found.size() < count; ++next) found.push_back(key_of(*next));
    return found;
}

TEST(EdgeOrder, IsThatOfAPlainSet) {
    SeededRng rng{11};
    for (int round = 0; round < 20; ++round) {
        EdgeOrder order;
        std::set<Edge> plain;
        const auto add = [&] {
            const Edge edge = random_edge(rng);
            if (plain.insert(edge).second) order.add(edge);
        };
        const int at_first = static_cast<int>(rng.below(2'000));
        for (int i = 0; i < at_first; ++i) add();
        for (int step = 0; step < 300; ++step) {
            if (rng.below(3) > 0) {
                add();
            } else if (!plain.empty()) {
                auto some = plain.lower_bound(random_edge(rng));
                if (some == plain.end()) some = plain.begin();
                const Edge edge = *some;
                order.remove(edge);
                plain.erase(some);
                // And sometimes it comes back.
                if (rng.below(4) == 0 && plain.insert(edge).second) order.add(edge);
            }
            if (rng.below(4) > 0) continue;
            const std::size_t count = 1 + rng.below(rng.below(5) == 0 ? 3'000 : 20);
            ASSERT_EQ(first_of(order, nullptr, count), first_of(plain, nullptr, count));
            auto some = plain.lower_bound(random_edge(rng));
            if (some == plain.end()) continue;
            const Edge after = *some;
            ASSERT_EQ(first_of(order, &after, count), first_of(plain, &after, count));
        }
    }
}

TEST(EdgeOrder, AnEdgeOfTheSamePriceForMoreSlotsIsAnotherOne) {
    const auto edge = [](Amount cost, Amount slots) {
        Edge one;
        one.price.cost[0] = cost;
        one.price.slots = slots;
        one.to = 0;
        return one;
    };
    EdgeOrder order;
    order.add(edge(4, 2));
    order.remove(edge(4, 2));
    order.add(edge(2, 1));
    EXPECT_EQ(first_of(order, nullptr, 9), (std::vector<Key>{{0, 0, 1}}));
}

TEST(EdgeOrder, NothingIsVisitedOfNone) {
    EdgeOrder order;
    EXPECT_FALSE(order.each(nullptr, [](const Edge&) { return false; }));
    Edge edge;
    order.add(edge);
    order.remove(edge);
    EXPECT_FALSE(order.each(nullptr, [](const Edge&) { return false; }));
}

}  // namespace
}  // namespace reaper::edge_order_test
