#include "reaper/runtime/turns.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <optional>
#include <string>
#include <vector>

namespace reaper::test::turns_test {
namespace {

using ::testing::ElementsAre;

class TurnsTest : public ::testing::Test {
protected:
    /// Asks for a turn, and keeps it until `end`.
    void ask(const std::string& name, bool in_a_hurry) {
        boost::asio::co_spawn(io, hold(name, in_a_hurry), boost::asio::detached);
        io.restart();
        io.poll();
    }
    Task<void> hold(std::string name, bool in_a_hurry) {
        auto turn = co_await turns.take(in_a_hurry);
        now.push_back(std::move(name));
        held.emplace(std::move(turn));
    }
    void end() {
        held.reset();
        io.restart();
        io.poll();
    }

    boost::asio::io_context io{1};
    Turns turns{io.get_executor()};
    std::vector<std::string> now;  ///< who had a turn, in order
    std::optional<AsyncSemaphore::Permit> held;
};

TEST_F(TurnsTest, OneAtATimeInTheOrderOfAsking) {
    ask("a", false);
    ask("b", false);
    ask("c", false);
    EXPECT_THAT(now, ElementsAre("a"));
    end();
    end();
    EXPECT_THAT(now, ElementsAre("a", "b", "c"));
    end();
    ask("d", false);
    EXPECT_THAT(now, ElementsAre("a", "b", "c", "d"));
}

TEST_F(TurnsTest, WhoIsInAHurryWaitsForOneOfTheOthersAtMost) {
    ask("a", false);
    ask("b", false);
    ask("c", false);
    ask("d", true);
    ask("e", true);
    for (int i = 0; i < 4; ++i) end();
    EXPECT_THAT(now, ElementsAre("a", "b", "d", "e", "c"));
}

TEST_F(TurnsTest, TheOthersStillHaveTheirTurn) {
    ask("a", true);
    ask("b", true);
    ask("c", false);
    ask("d", true);
    for (int i = 0; i < 3; ++i) end();
    EXPECT_THAT(now, ElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace reaper::test::turns_test
