// A whole reaper that records: what it saw, planned and did comes back, and is decided alike again.
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>

#include "app/full_house.hpp"
#include "reaper/cli/daemon/run_command.hpp"
#include "reaper/cli/past/replay_policies.hpp"
#include "reaper/recording/replay.hpp"

namespace reaper::test::recording_test {
namespace {

class RecordingTest : public FullHouse {
protected:
    RecordingTest() {
        std::string pattern = ::testing::TempDir() + "/recording-XXXXXX";
        settings.record.directory = ::mkdtemp(pattern.data());
    }
    ~RecordingTest() override {
        crash();
        daemon_.reset();
        std::filesystem::remove_all(settings.record.directory);
    }
    void start_recording() {
        daemon_ = cli::recorder_of(settings, feed, dry_run).value();
        daemon_->recorder.note_policy(*compile_policy(settings.policy).value());
        observer = &daemon_->recorder;
        start();
    }
    recording::Replay replayed(const std::vector<config::Override>& overrides = {}) {
        crash();
        daemon_.reset();
        cli::ReplayPolicies policies("", "", overrides);
        auto result = recording::replay(
            settings.record.directory,
            [&](const recording::PolicyLine& line) { return policies.recorded(line); },
            [&](const recording::PolicyLine& line) { return policies.asked(line); });
        EXPECT_TRUE(result) << result.error().what;
        return result ? std::move(*result) : recording::Replay{};
    }

private:
    std::unique_ptr<cli::RecordingDaemon> daemon_;
};

TEST_F(RecordingTest, WhatItPlannedAndDidComesBack) {
    full_host();
    requester();
    start_recording();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    const auto deleted = record("req-1").steps.front().server;
    const auto replay = replayed();
    EXPECT_EQ(replay.checked, 1);
    EXPECT_EQ(replay.reproduced, 1);
    EXPECT_FALSE(replay.dry_run);
    ASSERT_EQ(replay.requests.size(), 1U);
    EXPECT_TRUE(replay.requests[0].surely);
    EXPECT_EQ(replay.requests[0].outcome->kind, OutcomeKind::freed);
    EXPECT_EQ(replay.requests[0].deleted, std::set<ServerId>{deleted});
    EXPECT_TRUE(replay.requests[0].recorded->frees());
}

TEST_F(RecordingTest, ADryRunIsDecidedAgainUnderOtherLimits) {
    dry_run = true;
    full_host();
    requester();
    start_recording();
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::dry_run);
    const auto replay = replayed({{"limits.victims_per_request", "1"}});
    EXPECT_TRUE(replay.dry_run);
    EXPECT_EQ(replay.reproduced, 1);
    ASSERT_EQ(replay.requests.size(), 1U);
    EXPECT_EQ(std::get<Plan>(replay.requests[0].recorded->decision).victims().size(), 2U);
    EXPECT_EQ(replay.requests[0].asked->safeguard(), "limit-request");
    EXPECT_TRUE(replay.requests[0].deleted.empty());
}

TEST_F(RecordingTest, APausedOneTellsWhatItWouldHaveDone) {
    with_events = true;
    full_host();
    requester();
    start_recording();
    run_until([&] { return service().view().has_value(); });
    clock.run_until(
        io(), [] { return false; }, std::chrono::minutes{1});
    pause.pause("observing", "test").value();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").safeguard, "paused");
    const auto replay = replayed();
    ASSERT_EQ(replay.requests.size(), 1U);
    EXPECT_FALSE(replay.requests[0].surely);
    ASSERT_TRUE(replay.requests[0].recorded);
    EXPECT_TRUE(replay.requests[0].recorded->frees());
}

}  // namespace
}  // namespace reaper::test::recording_test
