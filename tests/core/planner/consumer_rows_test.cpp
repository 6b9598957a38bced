// Rows by key against a plain multimap: keys of few rows and of many, as both come and go.
#include "reaper/planner/consumer_rows.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "strategies/seeded_rng.hpp"

namespace reaper::consumer_rows_test {
namespace {

std::set<std::uint32_t> rows_of(const ConsumerRows& rows, std::uint32_t key) {
    std::set<std::uint32_t> found;
    rows.each(key, [&](std::uint32_t row) { found.insert(row); });
    return found;
}

TEST(ConsumerRows, AreThoseOfAPlainMap) {
    SeededRng rng{5};
    ConsumerRows rows;
    std::multimap<std::uint32_t, std::uint32_t> plain;
    std::size_t most = 0;
    for (int step = 0; step < 20'000; ++step) {
        // Keys that many rows have, and, close to them, keys that few have.
        const bool common = rng.below(2) == 0;
        const auto key = static_cast<std::uint32_t>(rng.below(common ? 3 : 400));
        if (rng.below(5) < 3 || plain.empty()) {
            const auto row = static_cast<std::uint32_t>(rng.below(300));
            rows.add(key, row);
            plain.emplace(key, row);
        } else if (const auto at = plain.lower_bound(key); at != plain.end()) {
            rows.erase(at->first, at->second);
            plain.erase(at);
        }
        if (step % 50 != 0) continue;
        for (const std::uint32_t each : {key, std::uint32_t{0}, std::uint32_t{1}, key + 1}) {
            std::set<std::uint32_t> expected;
            const auto [first, last] = plain.equal_range(each);
            for (auto at = first; at != last; ++at) expected.insert(at->second);
            most = std::max(most, expected.size());
            ASSERT_EQ(rows_of(rows, each), expected) << "step " << step << ", key " << each;
        }
    }
    EXPECT_GT(most, 100U) << "rows that had a key in common";
}

TEST(ConsumerRows, AKeyOfManyRowsThatAllWentIsOfNone) {
    ConsumerRows rows;
    for (std::uint32_t row = 0; row < 200; ++row) rows.add(7, row);
    rows.add(7, 3);
    for (std::uint32_t row = 0; row < 200; ++row) rows.erase(7, row);
    EXPECT_EQ(rows_of(rows, 7), std::set<std::uint32_t>{3});
    rows.erase(7, 3);
    EXPECT_EQ(rows_of(rows, 7), std::set<std::uint32_t>{});
    rows.add(7, 9);
    EXPECT_EQ(rows_of(rows, 7), std::set<std::uint32_t>{9});
}

}  // namespace
}  // namespace reaper::consumer_rows_test
