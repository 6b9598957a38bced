#include "reaper/model/text.hpp"

#include <gtest/gtest.h>

namespace reaper::text_test {
namespace {

TEST(Text, BecomesOneCleanLine) {
    EXPECT_EQ(one_line("  a\r\n\tb\x1b[31m  c\x7f ", 100), "a b [31m c");
    EXPECT_EQ(one_line("gr\xC3\xBCn \xFF\xC0\xAF.", 100), "gr\xC3\xBCn .");
    EXPECT_EQ(one_line("caf\xC3\xA9", 4), "caf...");
    EXPECT_EQ(one_line("0123456789", 4), "0123...");
    EXPECT_EQ(one_line("csi \xC2\x9Bx", 100), "csi x");
    EXPECT_EQ(one_line("", 4), "");
}

}  // namespace
}  // namespace reaper::text_test
