#include <gtest/gtest.h>

#include "reaper/model/text.hpp"

namespace reaper::name_list_test {
namespace {

TEST(NameList, TenAreNamedAndTheOthersAreCounted) {
    std::set<std::string> names;
    EXPECT_EQ(name_list(names), "none");
    names = {"b", "a\n"};
    EXPECT_EQ(name_list(names), "'a\\x0a', 'b'");
    for (char name = 'c'; name <= 'j'; ++name) names.insert(std::string{name});
    EXPECT_EQ(name_list(names), "'a\\x0a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'");
    names.insert({"k", "l"});
    EXPECT_EQ(name_list(names), "'a\\x0a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j' and 2 more");
}

}  // namespace
}  // namespace reaper::name_list_test
