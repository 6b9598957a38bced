// A standby that takes over and can't work: it ends, so that another one may.
#include "reaper/daemon/standby.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/log_capture.hpp"

namespace reaper::test::standby_test {
namespace {

using ::testing::SizeIs;

/// The journal is free.
class NoOtherReaper final : public Reapers {
public:
    ReaperList list() const override { return {}; }
    void configured(std::string, std::string) override {}
    void note_state(ReaperState) override {}
};

class StandbyTest : public testing::Test, public DaemonWork {
protected:
    /// The service says this, and nothing more.
    ExitCode take_over_and_say(ServiceStatus status) {
        says_ = std::move(status);
        DaemonShell shell{io_, settings, std::nullopt};
        shell_ = &shell;
        const NoOtherReaper reapers;
        const auto take_over = []() -> ResultTask<void> { co_return Result<void>{}; };
        const auto tell = [&shell](const ServiceStatus& now) { shell.on_status(now); };
        Standby standby{io_, *this, take_over, &reapers, tell};
        return shell.run(standby, false);
    }

    config::Settings settings;
    const LogCapture log;

private:
    ResultTask<void> run() override {
        shell_->on_status(says_);
        co_await end_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return Result<void>{};
    }
    void stop() override { end_.expires_after(std::chrono::seconds{0}); }
    void reload(LiveSettings) override {}

    boost::asio::io_context io_;
    boost::asio::steady_timer end_{io_, std::chrono::minutes{5}};
    DaemonShell* shell_ = nullptr;
    ServiceStatus says_;
};

TEST_F(StandbyTest, EndsWithOneLineIfItsCredentialsAreRefused) {
    ServiceStatus refused;
    refused.line = "waiting for the cloud";
    refused.refused = "Keystone refused the credentials";
    EXPECT_EQ(take_over_and_say(refused), ExitCode::failed) << "another start may be let in";
    EXPECT_THAT(log.lines_with("Keystone refused the credentials"), SizeIs(1)) << log.text();
}

TEST_F(StandbyTest, EndsIfItIsNotReadyInTime) {
    settings.start_within = std::chrono::milliseconds{200};
    ServiceStatus waits;
    waits.line = "waiting for the cloud";
    EXPECT_EQ(take_over_and_say(waits), ExitCode::failed);
    EXPECT_THAT(log.lines_with("not ready within 200ms (start_within)"), SizeIs(1)) << log.text();
}

}  // namespace
}  // namespace reaper::test::standby_test
