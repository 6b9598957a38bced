#include "reaper/model/role.hpp"

#include <gtest/gtest.h>

#include "core/reservation_builder.hpp"

namespace reaper::role_test {
namespace {

using testing::role;

TEST(RoleTest, PathsOfNamesAreRoles) {
    for (const char* const text : {"a", "engineering/backend", "a.b-c_D/9", "...", "a/b/c/d/e"})
        EXPECT_TRUE(Role::parse(text)) << text;
}

TEST(RoleTest, AnythingElseIsReportedWithTheReason) {
    const std::string long_one(Role::max_length + 1, 'x');
    for (const std::string text : {"", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "-a", "a/-b",
                                   "a b", "*", "a%b", "ä", "a\nb", long_one.c_str()}) {
        const auto parsed = Role::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Errc::bad_input);
        EXPECT_TRUE(parsed.error().what.starts_with("role '")) << parsed.error().what;
        EXPECT_EQ(parsed.error().what.find('\n'), std::string::npos);
    }
}

TEST(RoleTest, AboveIsWhatTheOtherPathBeginsWithNameByName) {
    EXPECT_TRUE(role("eng").is_above(role("eng/backend")));
    EXPECT_TRUE(role("eng").is_above(role("eng/backend/db")));
    EXPECT_FALSE(role("eng").is_above(role("eng")));
    EXPECT_FALSE(role("eng").is_above(role("engines")));
    EXPECT_FALSE(role("eng").is_above(role("engines/backend")));
    EXPECT_FALSE(role("eng/backend").is_above(role("eng")));
    EXPECT_FALSE(Role{}.is_above(role("eng")));
    EXPECT_TRUE(role("eng").is_open_to(role("eng")));
    EXPECT_TRUE(role("eng").is_open_to(role("eng/backend")));
    EXPECT_FALSE(role("eng/backend").is_open_to(role("eng/frontend")));
}

TEST(RoleTest, TheParentIsOneNameShorter) {
    EXPECT_EQ(role("a/b/c").parent(), role("a/b"));
    EXPECT_EQ(role("a/b").parent(), role("a"));
    EXPECT_EQ(role("a").parent(), std::nullopt);
    EXPECT_EQ(role("a/b/c").depth(), 3U);
    EXPECT_EQ(Role{}.depth(), 0U);
}

}  // namespace
}  // namespace reaper::role_test
