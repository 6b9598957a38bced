#include "reaper/oversubscription/correction.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <tuple>

#include "core/seeded.hpp"

namespace reaper::correction_test {
namespace {

using namespace reaper::testing;
using Candidates = std::vector<CorrectionCandidate>;

CorrectionCandidate on_sold(const std::string& id, Amount vcpus, double harm) {
    return {ServerId{id}, vcpus, true, harm};
}
CorrectionCandidate on_ordinary(const std::string& id, Amount vcpus, double harm) {
    return {ServerId{id}, vcpus, false, harm};
}

std::string chosen(const Candidates& candidates, Amount shed) {
    std::string text;
    for (const auto& id : choose_corrected(candidates, {HostId{"h"}, false, shed, ""}))
        text += (text.empty() ? "" : " ") + id.str();
    return text;
}

TEST(Correction, TakesTheSetThatDoesTheLeastHarm) {
    const Candidates candidates{on_sold("a", 4, 10), on_sold("b", 2, 4), on_sold("c", 2, 5),
                                on_sold("d", 1, 1)};
    EXPECT_EQ(chosen(candidates, 1), "d");
    EXPECT_EQ(chosen(candidates, 2), "b");
    EXPECT_EQ(chosen(candidates, 3), "b d");
    EXPECT_EQ(chosen(candidates, 4), "b c");
    EXPECT_EQ(chosen(candidates, 5), "b c d");
    EXPECT_EQ(chosen(candidates, 6), "a b");
}

TEST(Correction, OfEqualsTheFewestServersThenTheFewestVcpusThenTheFirst) {
    EXPECT_EQ(chosen({on_sold("a", 1, 1), on_sold("b", 1, 1), on_sold("c", 2, 2)}, 2), "c");
    EXPECT_EQ(chosen({on_sold("a", 8, 2), on_sold("b", 3, 2)}, 2), "b");
    EXPECT_EQ(chosen({on_sold("b", 2, 2), on_sold("a", 2, 2), on_sold("c", 2, 2)}, 2), "a");
    EXPECT_EQ(chosen({on_sold("d", 1, 1), on_sold("c", 1, 1), on_sold("b", 1, 1)}, 2), "b c");
}

TEST(Correction, WhoIsOnOversubscribedRoomGoesFirst) {
    const Candidates candidates{on_ordinary("a", 4, 0), on_sold("b", 4, 100), on_sold("c", 1, 100)};
    EXPECT_EQ(chosen(candidates, 1), "c");
    EXPECT_EQ(chosen(candidates, 5), "b c");
    EXPECT_EQ(chosen(candidates, 6), "a b c");
}

TEST(Correction, WhereAllAreNotEnoughAllGo) {
    EXPECT_EQ(chosen({on_sold("a", 2, 1), on_ordinary("b", 2, 1)}, 5), "a b");
    EXPECT_EQ(chosen({}, 5), "");
}

TEST(Correction, WhoHoldsNothingIsOfNoUse) {
    EXPECT_EQ(chosen({on_sold("a", 0, 0), on_sold("b", 2, 9), on_sold("c", -1, 0)}, 1), "b");
    EXPECT_EQ(chosen({on_sold("a", 0, 0)}, 1), "");
}

TEST(Correction, NothingToShedChoosesNoServer) {
    EXPECT_EQ(chosen({on_sold("a", 2, 1)}, 0), "");
    EXPECT_EQ(chosen({on_sold("a", 2, 1)}, -3), "");
}

TEST(Correction, AllChoosesEachServer) {
    const auto all =
        choose_corrected({on_sold("b", 0, 1), on_ordinary("a", 2, 1)}, {HostId{"h"}, true, 0, ""});
    EXPECT_EQ(all, (std::vector<ServerId>{ServerId{"a"}, ServerId{"b"}}));
}

TEST(Correction, HarmThatIsNoNumberCountsAsNone) {
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    EXPECT_EQ(chosen({on_sold("a", 2, 1), on_sold("b", 2, nan_value)}, 2), "b");
    EXPECT_EQ(chosen({on_sold("a", 2, 1), on_sold("b", 2, -5), on_sold("c", 2, 0)}, 4), "b c");
    EXPECT_EQ(chosen({on_sold("a", 2, infinite), on_sold("b", 2, infinite)}, 4), "a b");
    EXPECT_EQ(chosen({on_sold("a", 2, infinite), on_sold("b", 2, 7)}, 2), "b");
}

TEST(Correction, SaysWhatTheChosenHold) {
    const Candidates candidates{on_sold("a", 4, 1), on_sold("b", 2, 1)};
    EXPECT_EQ(vcpus_of({ServerId{"a"}, ServerId{"x"}}, candidates), 4);
}

TEST(Correction, RoomBeyondTheEstimateIsACorrection) {
    EXPECT_EQ(excess_correction(HostId{"h"}, 0, "why"), std::nullopt);
    EXPECT_EQ(excess_correction(HostId{"h"}, 3, "why"),
              (HostCorrection{HostId{"h"}, false, 3, "why"}));
}

/// The best of all sets, by looking at each.
std::vector<ServerId> by_enumeration(const Candidates& candidates, Amount shed) {
    using Cost = std::tuple<double, std::size_t, Amount, std::vector<ServerId>>;
    std::optional<Cost> best;
    for (unsigned set = 0; set < 1U << candidates.size(); ++set) {
        Cost cost{};
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if ((set >> i & 1U) == 0) continue;
            std::get<0>(cost) += candidates[i].harm;
            std::get<1>(cost) += 1;
            std::get<2>(cost) += candidates[i].vcpus;
            std::get<3>(cost).push_back(candidates[i].id);
        }
        std::sort(std::get<3>(cost).begin(), std::get<3>(cost).end());
        if (std::get<2>(cost) >= shed && (!best || cost < *best)) best = cost;
    }
    return best ? std::get<3>(*best) : std::vector<ServerId>{};
}

TEST(Correction, EqualsEnumeration) {
    holds("the least harm", [] {
        Candidates candidates;
        Amount all = 0;
        const int servers = 1 + upto(9);
        for (int i = 0; i < servers; ++i) {
            candidates.push_back(on_sold(std::string(1, static_cast<char>('a' + (i * 7) % 10)),
                                         1 + upto(8), upto(6)));
            all += candidates.back().vcpus;
        }
        const Amount shed = 1 + upto(static_cast<int>(all) - 1);
        RC_ASSERT(choose_corrected(candidates, {HostId{"h"}, false, shed, ""}) ==
                  by_enumeration(candidates, shed));
    });
}

}  // namespace
}  // namespace reaper::correction_test
