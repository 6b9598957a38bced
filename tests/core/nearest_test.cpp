#include "reaper/model/nearest.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace reaper::test::nearest_test
