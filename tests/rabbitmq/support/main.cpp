// The tests, or (`hold ...`) a reaper's source in a process of its own, for a test to freeze.
#include <gtest/gtest.h>
#include <string_view>

#include "tests/rabbitmq/support/holder.hpp"

int main(int count, char** arguments) {
    if (count > 1 && std::string_view(arguments[1]) == "hold")
        return reaper::test::hold(count - 2, arguments + 2);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
