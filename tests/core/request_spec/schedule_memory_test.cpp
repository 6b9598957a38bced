#include "reaper/request_spec/schedule_memory.hpp"

#include <gtest/gtest.h>

#include "core/cloud_builder.hpp"

namespace reaper::schedule_memory_test {
namespace {

using reaper::testing::at;

Schedule schedule(const std::string& request, const std::string& host = "") {
    Schedule made;
    made.request = RequestId{request};
    made.server = ServerId{"s"};
    if (!host.empty()) made.placement.only_hosts = {host};
    return made;
}

TEST(ScheduleMemory, TellsTheLatestOfARequest) {
    ScheduleMemory memory;
    memory.note(schedule("req-1", "a"), at(0));
    memory.note(schedule("req-1", "b"), at(1));
    memory.note(schedule("req-2"), at(1));
    ASSERT_NE(memory.find(RequestId{"req-1"}, ServerId{"s"}), nullptr);
    EXPECT_EQ(memory.find(RequestId{"req-1"}, ServerId{"s"})->placement.only_hosts,
              std::set<std::string>{"b"});
    EXPECT_EQ(memory.find(RequestId{"req-3"}, ServerId{"s"}), nullptr);
    EXPECT_EQ(memory.size(), 2U);
}

TEST(ScheduleMemory, SeparatesTheSchedulesOfOtherServers) {
    ScheduleMemory memory;
    memory.note(schedule("req-1", "a"), at(0));
    Schedule other = schedule("req-1", "b");
    other.server = ServerId{"another"};
    memory.note(other, at(1));
    EXPECT_EQ(memory.find(RequestId{"req-1"}, ServerId{"s"})->placement.only_hosts,
              std::set<std::string>{"a"});
    EXPECT_EQ(memory.find(RequestId{"req-1"}, ServerId{"no-such"}), nullptr);
}

TEST(ScheduleMemory, ForgetsWhatIsOld) {
    ScheduleMemory memory;
    memory.note(schedule("req-1"), at(0));
    memory.note(schedule("req-2"), at(3600));
    EXPECT_NE(memory.find(RequestId{"req-1"}, ServerId{"s"}), nullptr);
    memory.note(schedule("req-3"), at(3601));
    EXPECT_EQ(memory.find(RequestId{"req-1"}, ServerId{"s"}), nullptr);
    EXPECT_NE(memory.find(RequestId{"req-2"}, ServerId{"s"}), nullptr);
}

TEST(ScheduleMemory, IsBounded) {
    ScheduleMemory memory;
    for (std::size_t i = 0; i < ScheduleMemory::most + 5; ++i)
        memory.note(schedule("req-" + std::to_string(i)), at(0));
    EXPECT_EQ(memory.size(), ScheduleMemory::most);
    EXPECT_EQ(memory.find(RequestId{"req-4"}, ServerId{"s"}), nullptr);
    EXPECT_NE(memory.find(RequestId{"req-5"}, ServerId{"s"}), nullptr);
}

TEST(ScheduleMemory, IsBoundedInWhatUsersWriteIntoEach) {
    ScheduleMemory memory;
    Schedule large = schedule("req");
    constexpr std::size_t hints = 5'000;
    for (std::size_t i = 0; i < hints; ++i)
        large.placement.apart_from.emplace("server-" + std::to_string(i));
    constexpr std::size_t fit = ScheduleMemory::most_names / hints;
    for (std::size_t i = 0; i < fit + 5; ++i) {
        large.request = RequestId{"req-" + std::to_string(i)};
        memory.note(large, at(0));
        memory.note(large, at(0));
    }
    EXPECT_EQ(memory.size(), fit);
    EXPECT_EQ(memory.find(RequestId{"req-4"}, ServerId{"s"}), nullptr);
    ASSERT_NE(memory.find(RequestId{"req-5"}, ServerId{"s"}), nullptr);
    EXPECT_EQ(memory.find(RequestId{"req-5"}, ServerId{"s"})->placement.apart_from.size(), hints);
}

}  // namespace
}  // namespace reaper::schedule_memory_test
