#include <algorithm>
#include <gtest/gtest.h>

#include "strategies/seeded_rng.hpp"
#include "strategies/sketch.hpp"

namespace reaper::kind_gains_test {
namespace {

/// Kind by kind.
std::uint64_t one_by_one(const KindGains& gains, std::uint64_t kinds,
                         const std::vector<Amount>& lack) {
    std::uint64_t covering = 0;
    for (std::size_t kind = 0; kind < KindGains::max_kinds; ++kind) {
        if ((kinds >> kind & 1) == 0) continue;
        bool all = true;
        for (std::size_t need = 0; need < lack.size(); ++need)
            all = all && gains.of(kind)[need] >= lack[need];
        if (all) covering |= std::uint64_t{1} << kind;
    }
    return covering;
}

TEST(KindGains, CoveringIsWhatALookAtEachKindTells) {
    SeededRng rng{17};
    for (int round = 0; round < 500; ++round) {
        const std::size_t needs = 1 + rng.below(3);
        const std::size_t kinds = round % 9 == 0 ? 64 : 1 + rng.below(64);
        std::vector<Amount> amounts;
        for (std::size_t i = 0; i < kinds * needs; ++i)
            amounts.push_back(static_cast<Amount>(rng.below(6)));
        const KindGains gains{amounts, std::vector<Amount>(needs, 2)};
        const std::uint64_t all = ~std::uint64_t{0} >> (KindGains::max_kinds - kinds);
        for (int asked = 0; asked < 20; ++asked) {
            std::vector<Amount> lack;
            for (std::size_t need = 0; need < needs; ++need)
                lack.push_back(static_cast<Amount>(rng.below(9)) - 2);
            const std::uint64_t there = all & (rng.below(1ULL << 63) * 2 + rng.below(2));
            ASSERT_EQ(gains.covering(there, lack), one_by_one(gains, there, lack));
        }
    }
}

/// The least candidates that gain enough, from the kinds from one on; more than there are if none.
Amount by_enumeration(const KindGains& gains, const KindGains::Counts& counts, std::size_t kinds,
                      std::size_t from, const std::vector<Amount>& lack) {
    constexpr Amount impossible = 1'000;
    if (std::all_of(lack.begin(), lack.end(), [](Amount a) { return a <= 0; })) return 0;
    if (from == kinds) return impossible;
    Amount least = impossible;
    auto left = lack;
    for (Amount taken = 0; taken <= counts[from]; ++taken) {
        least = std::min(least, taken + by_enumeration(gains, counts, kinds, from + 1, left));
        for (std::size_t need = 0; need < left.size(); ++need) left[need] -= gains.of(from)[need];
    }
    return least;
}

TEST(KindGains, LeastNumberIsNeverAboveTheTrueOneAndMostlyIsIt) {
    SeededRng rng{18};
    int met = 0;
    int possible = 0;
    for (int round = 0; round < 2'000; ++round) {
        const std::size_t needs = 1 + rng.below(3);
        const std::size_t kinds = 1 + rng.below(5);
        std::vector<Amount> amounts;
        for (std::size_t i = 0; i < kinds * needs; ++i)
            amounts.push_back(static_cast<Amount>(rng.below(6)));
        KindGains::Counts counts{};
        for (std::size_t kind = 0; kind < kinds; ++kind)
            counts[kind] = static_cast<std::uint8_t>(rng.below(4));
        std::vector<Amount> slot;
        std::vector<Amount> lack;
        for (std::size_t need = 0; need < needs; ++need) {
            slot.push_back(1 + static_cast<Amount>(rng.below(6)));
            lack.push_back(slot.back() * 3 - static_cast<Amount>(rng.below(9)));
        }
        const KindGains gains{amounts, slot};
        const Amount least = by_enumeration(gains, counts, kinds, 0, lack);
        if (least > 100) continue;
        ++possible;
        ASSERT_LE(gains.least_number(counts, lack), least) << "round " << round;
        met += gains.least_number(counts, lack) == least ? 1 : 0;
    }
    EXPECT_GT(possible, 500);
    EXPECT_GT(met * 10, possible * 8);
}

TEST(KindGains, ThreeLargeInMemoryDoNotDoWhereCoresLack) {
    // Four slots of 4 cores and 24 GiB: three of 32 GiB have the memory, but 12 cores.
    const KindGains gains{{4, 32, 8, 16}, {4, 24}};
    KindGains::Counts counts{};
    counts[0] = 4;
    counts[1] = 4;
    EXPECT_EQ(gains.least_number(counts, {16, 96}), 4);
}

TEST(KindGains, NumbersTooLargeToAddUpTellNothing) {
    const Amount huge = Amount{1} << 60;
    KindGains::Counts counts{};
    counts[0] = 1;
    EXPECT_EQ((KindGains{{huge}, {huge}}.least_number(counts, {huge})), 0);
    EXPECT_EQ((KindGains{{1}, {1}}.least_number(counts, {huge})), 0);
}

TEST(KindGains, NoneCoverNothing) {
    EXPECT_TRUE((KindGains{{}, {1, 1}}.empty()));
    EXPECT_EQ((KindGains{{3, 4}, {1, 1}}.covering(0, {1, 1})), 0U);
}

}  // namespace
}  // namespace reaper::kind_gains_test
