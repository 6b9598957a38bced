#include <gtest/gtest.h>

#include "reaper/model/text.hpp"

namespace reaper::test::nearest_test {
namespace {

const std::vector<std::string> known{"run", "plan", "hosts", "history", "max_retries", "MEMORY_MB"};

TEST(Nearest, FindsTypingErrors) {
    EXPECT_EQ(nearest("plna", known), "plan");
    EXPECT_EQ(nearest("host", known), "hosts");
    EXPECT_EQ(nearest("histroy", known), "history");
    EXPECT_EQ(nearest("maxretries", known), "max_retries");
    EXPECT_EQ(nearest("memory_mb", known), "MEMORY_MB") << "whatever their case";
}

TEST(Nearest, DoesNotGuessWildly) {
    EXPECT_EQ(nearest("frobnicate", known), std::nullopt);
    EXPECT_EQ(nearest("", known), std::nullopt);
    EXPECT_EQ(nearest("x", {}), std::nullopt);
    EXPECT_EQ(nearest(std::string(10'000, 'q'), known), std::nullopt);
}

TEST(Nearest, ThreeAreNamedTheNearestFirst) {
    EXPECT_EQ(did_you_mean("plna", known), "; did you mean 'plan'?");
    EXPECT_EQ(did_you_mean("h-99", {"h-1", "h-91", "h-9", "h-95", "z"}),
              "; did you mean 'h-91', 'h-9' or 'h-95'?");
    EXPECT_EQ(did_you_mean("frobnicate", known), "");
}

}  // namespace
}  // namespace reaper::test::nearest_test
