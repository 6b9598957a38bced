#include "strategies/kind_gains.hpp"

#include <gtest/gtest.h>

#include "strategies/dice.hpp"

namespace reaper {
namespace {

/// Kind by kind.
std::uint64_t one_by_one(const KindGains& gains, std::uint64_t kinds,
                         const std::vector<Amount>& lack) {
    std::uint64_t covering = 0;
    for (std::size_t kind = 0; kind < KindGains::most_kinds; ++kind) {
        if ((kinds >> kind & 1) == 0) continue;
        bool all = true;
        for (std::size_t need = 0; need < lack.size(); ++need)
            all = all && gains.of(kind)[need] >= lack[need];
        if (all) covering |= std::uint64_t{1} << kind;
    }
    return covering;
}

TEST(KindGains, CoveringIsWhatALookAtEachKindTells) {
    Dice dice{17};
    for (int round = 0; round < 500; ++round) {
        const std::size_t needs = 1 + dice.below(3);
        const std::size_t kinds = round % 9 == 0 ? 64 : 1 + dice.below(64);
        std::vector<Amount> amounts;
        for (std::size_t i = 0; i < kinds * needs; ++i)
            amounts.push_back(static_cast<Amount>(dice.below(6)));
        const KindGains gains{amounts, needs};
        const std::uint64_t all = ~std::uint64_t{0} >> (KindGains::most_kinds - kinds);
        for (int asked = 0; asked < 20; ++asked) {
            std::vector<Amount> lack;
            for (std::size_t need = 0; need < needs; ++need)
                lack.push_back(static_cast<Amount>(dice.below(9)) - 2);
            const std::uint64_t there = all & (dice.below(1ULL << 63) * 2 + dice.below(2));
            ASSERT_EQ(gains.covering(there, lack), one_by_one(gains, there, lack));
        }
    }
}

TEST(KindGains, NoneCoverNothing) {
    EXPECT_TRUE((KindGains{{}, 2}.empty()));
    EXPECT_EQ((KindGains{{3, 4}, 2}.covering(0, {1, 1})), 0U);
}

}  // namespace
}  // namespace reaper
