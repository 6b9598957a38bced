// Where a dry run keeps what it would have done: never in another user's directory.
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/cli/program.hpp"
#include "reaper/cli/daemon/run_command.hpp"
#include "reaper/daemon/composition.hpp"
#include "support/log_capture.hpp"
#include "support/unprivileged_user.hpp"

namespace reaper::cli::dry_run_place_test {
namespace {

using testing::HasSubstr;

/// A world-writable directory, and what is kept beside its journal.
class DryRunPlace : public testing::Test {
protected:
    DryRunPlace() {
        ::chmod(directory_.file("").c_str(), 0777);
        settings_.journal.path = directory_.file("journal.db");
    }
    bool is_there(const std::string& name) const {
        return std::filesystem::exists(directory_.file(name));
    }

    test::TemporaryDirectory directory_;
    config::Settings settings_;
    RecordFeed feed_;
};

TEST_F(DryRunPlace, ItsOwnDirectoryKeepsJournalAndRecording) {
    EXPECT_TRUE(daemon_journal(settings_, true));
    const auto recorder = recorder_of(settings_, feed_, true);
    ASSERT_TRUE(recorder);
    EXPECT_NE(*recorder, nullptr);
    EXPECT_TRUE(is_there("dry-run.db"));
    EXPECT_TRUE(is_there("dry-run"));
    EXPECT_FALSE(is_there("journal.db"));
}

TEST_F(DryRunPlace, AnotherUsersKeepsNothingAndItIsSaid) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
    const test::UnprivilegedUser unprivileged{};
    const test::LogCapture log;
    EXPECT_TRUE(daemon_journal(settings_, true)) << "it still runs";
    const auto recorder = recorder_of(settings_, feed_, true);
    ASSERT_TRUE(recorder);
    EXPECT_EQ(*recorder, nullptr);
    EXPECT_FALSE(is_there("dry-run.db"));
    EXPECT_FALSE(is_there("dry-run"));
    EXPECT_THAT(log.text(), HasSubstr("nothing is kept for 'reaper history'"));
    EXPECT_THAT(log.text(), HasSubstr("nothing is kept for 'reaper report'"));
}

}  // namespace
}  // namespace reaper::cli::dry_run_place_test
