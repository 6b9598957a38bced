// Servers that no longer wait for room.
#include "reaper/request_spec/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::test::waiting_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

std::optional<std::string> why_of(Operation operation, const std::string& status,
                                  const std::string& task_state = "",
                                  const std::string& host = "host1") {
    Request request;
    request.operation = operation;
    request.excluded_hosts = {{"host1", "its own"}};
    ServerRecord record;
    record.server.status = status;
    record.server.task_state = task_state;
    record.server.host = host;
    return why_not_waiting(request, ServerId{"s1"}, record);
}

TEST(Waiting, OneThatFailedToMoveWaits) {
    for (const auto operation : {Operation::resize, Operation::migrate, Operation::live_migrate})
        EXPECT_EQ(why_of(operation, "ACTIVE"), std::nullopt);
    EXPECT_EQ(why_of(Operation::evacuate, "ERROR"), std::nullopt);
}

TEST(Waiting, OneThatIsElsewhereByNowDoesNot) {
    EXPECT_THAT(why_of(Operation::resize, "ACTIVE", "", "host2"), Optional(HasSubstr("host2")));
    EXPECT_THAT(why_of(Operation::resize, "VERIFY_RESIZE"), Optional(HasSubstr("on its way")));
}

TEST(Waiting, OneThatWasShelvedSinceDoesNot) {
    EXPECT_THAT(why_of(Operation::resize, "SHELVED_OFFLOADED", "", ""),
                Optional(HasSubstr("shelved")));
    EXPECT_THAT(why_of(Operation::migrate, "SHELVED"), Optional(HasSubstr("shelved")));
    EXPECT_THAT(why_of(Operation::resize, "ACTIVE", "shelving"), Optional(HasSubstr("shelved")));
    EXPECT_EQ(why_of(Operation::unshelve, "SHELVED_OFFLOADED", "unshelving", ""), std::nullopt);
}

TEST(Waiting, OneThatHasAHostIsPlaced) {
    const auto is_placed_as = [](Operation operation, const std::string& status,
                                 const std::string& host) {
        Request request;
        request.operation = operation;
        if (operation != Operation::build) request.excluded_hosts = {{"host1", "its own"}};
        ServerRecord record;
        record.server.status = status;
        record.server.host = host;
        return is_placed(request, record);
    };
    EXPECT_TRUE(is_placed_as(Operation::build, "BUILD", "host1"));
    EXPECT_TRUE(is_placed_as(Operation::build, "ACTIVE", "host1"));
    EXPECT_FALSE(is_placed_as(Operation::build, "BUILD", ""));
    EXPECT_FALSE(is_placed_as(Operation::build, "ERROR", "host1"));
    EXPECT_FALSE(is_placed_as(Operation::resize, "ACTIVE", "host1"));
    EXPECT_TRUE(is_placed_as(Operation::resize, "VERIFY_RESIZE", "host2"));
    EXPECT_FALSE(is_placed(Request{}, std::nullopt));
}

}  // namespace
}  // namespace reaper::test::waiting_test
