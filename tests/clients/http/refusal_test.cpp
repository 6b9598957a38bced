#include <gtest/gtest.h>

#include "clients/http/failure.hpp"

namespace reaper::http::refusal_test {
namespace {

TEST(WithoutSecret, EveryOccurrenceGoes) {
    EXPECT_EQ(without("tell hush to hush", "hush"), "tell ... to ...");
    EXPECT_EQ(without("hushhush", "hush"), "......");
    EXPECT_EQ(without("nothing to hide", ""), "nothing to hide");
}

TEST(WithoutSecret, OneOfDotsComesToAnEnd) {
    EXPECT_EQ(without("No such user.", "."), "No such user...");
    EXPECT_EQ(without("wait...", ".."), "wait....");
}

}  // namespace
}  // namespace reaper::http::refusal_test
