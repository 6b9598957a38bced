// How the servers that ask are read: few calls for many of them, and none is missed.
#include "reaper/cloud/reader/requesters.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "fakes/fake_clock.hpp"
#include "fakes/fake_cloud.hpp"
#include "reaper/runtime/run_task.hpp"

namespace reaper::test::requesters_test {
namespace {

class RequestersTest : public ::testing::Test {
protected:
    std::vector<ServerId> wait(int servers) {
        std::vector<ServerId> ids;
        for (int i = 0; i < servers; ++i) {
            ids.emplace_back("s" + std::to_string(i));
            cloud.add_requester(ids.back().str(), "regular", {});
        }
        cloud.calls.clear();
        return ids;
    }
    auto read(std::vector<ServerId> ids) {
        return run_task(io, read_requesters(cloud, std::move(ids)));
    }

    FakeClock clock;
    FakeCloud cloud{clock};
    boost::asio::io_context io{1};
};

TEST_F(RequestersTest, AThousandAreReadWithAList) {
    auto ids = wait(1'000);
    cloud.remove("s3");
    const auto records = read(ids);
    ASSERT_TRUE(records);
    EXPECT_EQ(records->size(), 1'000U);
    EXPECT_FALSE(records->at(ServerId{"s3"}));
    EXPECT_EQ(records->at(ServerId{"s4"})->server.id.str(), "s4");
    EXPECT_LT(cloud.calls.size(), 20U);
}

TEST_F(RequestersTest, AServerWithAnotherReservationIdIsReadToo) {
    auto ids = wait(100);
    for (int i = 0; i < 50; ++i)
        cloud.server_at("s" + std::to_string(i)).record.reservation = "r-" + std::to_string(i + 2);
    const auto records = read(ids);
    ASSERT_TRUE(records);
    for (const ServerId& id : ids) EXPECT_TRUE(records->at(id)) << id.str();
}

TEST_F(RequestersTest, OfThoseThatAreAllGoneNoListTells) {
    auto ids = wait(40);
    for (const ServerId& id : ids) cloud.remove(id.str());
    const auto records = read(ids);
    ASSERT_TRUE(records);
    EXPECT_EQ(records->size(), 40U);
    for (const ServerId& id : ids) EXPECT_FALSE(records->at(id));
    EXPECT_EQ(cloud.count("servers of"), 0U);
}

TEST_F(RequestersTest, WhereNovaDoesNotAnswerNoServerCountsAsGone) {
    auto ids = wait(20);
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("servers of")) return Error{Errc::server_error, "nova is ill"};
        return std::nullopt;
    };
    EXPECT_FALSE(read(ids));
}

}  // namespace
}  // namespace reaper::test::requesters_test
