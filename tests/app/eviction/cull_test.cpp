// What a plan came to.
#include "reaper/eviction/cull.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::cull_test {
namespace {

class CullTest : public FullHouse {
protected:
    Cull cull_of(const Plan& plan) {
        Recheck look{io_.get_executor(), cloud.ports(), live_, RequestSource::gateway};
        return Cull{Request{}, plan, {}, std::move(look), AsyncSemaphore{io_.get_executor(), 1}};
    }

private:
    boost::asio::io_context io_;
    const LiveSettings live_ = live_settings();
};

TEST_F(CullTest, APlanWithoutVictimsIsDone) {
    EXPECT_EQ(cull_of(Plan{}).conclude().end, Execution::End::freed);
}

TEST_F(CullTest, RoomThatAnotherServerTookMeanwhileIsPlannedAgain) {
    Cull cull = cull_of(Plan{});
    cull.stopped = true;
    cull.taken = "another server claimed it";
    const Execution execution = cull.conclude();
    EXPECT_EQ(execution.end, Execution::End::replan);
    EXPECT_EQ(execution.reason, "another server claimed it");
}

}  // namespace
}  // namespace reaper::test::cull_test
