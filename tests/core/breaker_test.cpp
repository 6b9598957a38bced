// The circuit breaker: counts in a row, opens once, and says how it is closed.
#include "reaper/safeguards/breaker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::breaker_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

RequestId request(int i) {
    return RequestId{"req-" + std::to_string(i)};
}

TEST(Breaker, OpensWhenSoManyCullsInARowHelpedNobody) {
    Breaker breaker{{.wasted = 3, .failed = 0}};
    EXPECT_EQ(breaker.note_freed_room(request(1), CullWorth::wasted), std::nullopt);
    EXPECT_EQ(breaker.note_freed_room(request(2), CullWorth::wasted), std::nullopt);
    EXPECT_FALSE(breaker.open());
    EXPECT_THAT(breaker.note_freed_room(request(3), CullWorth::wasted),
                Optional(AllOf(HasSubstr("3 culls in a row went unused, the last for req-3"),
                               HasSubstr("`reaper history`"), HasSubstr("`reaper resume`"))));
    EXPECT_TRUE(breaker.open());
    EXPECT_EQ(breaker.note_freed_room(request(4), CullWorth::wasted), std::nullopt)
        << "it opens once";
}

TEST(Breaker, OneThatHelpedBeginsAnewAndANeedlessOneCountsForNothing) {
    Breaker breaker{{.wasted = 2, .failed = 0}};
    breaker.note_freed_room(request(1), CullWorth::wasted);
    breaker.note_freed_room(request(2), CullWorth::helped);
    EXPECT_EQ(breaker.note_freed_room(request(3), CullWorth::wasted), std::nullopt);
    breaker.note_freed_room(request(4), CullWorth::needless);
    EXPECT_TRUE(breaker.note_freed_room(request(5), CullWorth::wasted).has_value());
}

TEST(Breaker, OpensWhenDeletionsKeepFailing) {
    Breaker breaker{{.wasted = 0, .failed = 2}};
    breaker.note_deletion(false, request(1));
    breaker.note_deletion(true, request(1));
    EXPECT_EQ(breaker.note_deletion(false, request(2)), std::nullopt);
    EXPECT_THAT(breaker.note_deletion(false, request(2)),
                Optional(AllOf(HasSubstr("2 deletions in a row failed, the last for req-2"),
                               HasSubstr("`reaper resume`"))));
}

TEST(Breaker, CountsAnewAfterAReset) {
    Breaker breaker{{.wasted = 2, .failed = 2}};
    breaker.note_freed_room(request(1), CullWorth::wasted);
    breaker.note_deletion(false, request(1));
    breaker.reset();
    EXPECT_EQ(breaker.note_freed_room(request(2), CullWorth::wasted), std::nullopt);
    EXPECT_EQ(breaker.note_deletion(false, request(2)), std::nullopt);
    EXPECT_TRUE(breaker.note_freed_room(request(3), CullWorth::wasted).has_value());
    breaker.reset();
    EXPECT_FALSE(breaker.open());
}

TEST(Breaker, ZeroIsOff) {
    Breaker breaker{{.wasted = 0, .failed = 0}};
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(breaker.note_freed_room(request(i), CullWorth::wasted), std::nullopt);
        EXPECT_EQ(breaker.note_deletion(false, request(i)), std::nullopt);
    }
    EXPECT_FALSE(breaker.open());
}

}  // namespace
}  // namespace reaper::breaker_test
