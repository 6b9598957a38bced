#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

#include "app/cli/notify_socket.hpp"
#include "reaper/daemon/daemon_shell.hpp"

namespace reaper::cli::sd_notify_test {
namespace {

class ServiceManagerTest : public testing::Test {
protected:
    void SetUp() override { setenv("NOTIFY_SOCKET", socket_.path().c_str(), 1); }
    void TearDown() override {
        unsetenv("NOTIFY_SOCKET");
        unsetenv("WATCHDOG_USEC");
        unsetenv("WATCHDOG_PID");
    }
    test::NotifySocket socket_;
};

TEST_F(ServiceManagerTest, SaysReadyStoppingAndAlive) {
    ServiceManager manager;
    manager.ready();
    manager.alive();
    manager.stopping();
    EXPECT_EQ(socket_.next(), "READY=1");
    EXPECT_EQ(socket_.next(), "WATCHDOG=1");
    EXPECT_EQ(socket_.next(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, StatusIsOneLineAndNotRepeated) {
    ServiceManager manager;
    manager.status("two\nlines");
    manager.status("two\nlines");
    manager.status("another");
    EXPECT_EQ(socket_.next(), "STATUS=two\\x0alines");
    EXPECT_EQ(socket_.next(), "STATUS=another");
}

TEST_F(ServiceManagerTest, AReloadCarriesTheMonotonicTime) {
    ServiceManager manager;
    manager.reloading();
    const std::string message = socket_.next();
    ASSERT_EQ(message.substr(0, 27), "RELOADING=1\nMONOTONIC_USEC=");
    EXPECT_GT(std::stoll(message.substr(27)), 0);
}

TEST_F(ServiceManagerTest, TheWatchdogIntervalComesFromTheEnvironment) {
    EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt);
    setenv("WATCHDOG_USEC", "2500000", 1);
    EXPECT_EQ(ServiceManager().watchdog_interval(), std::chrono::microseconds(2'500'000));
    setenv("WATCHDOG_PID", std::to_string(getpid() + 1).c_str(), 1);
    EXPECT_EQ(ServiceManager().watchdog_interval(), std::nullopt) << "meant for another process";
}

TEST_F(ServiceManagerTest, IsQuietWithoutSystemd) {
    unsetenv("NOTIFY_SOCKET");
    ServiceManager manager;
    manager.ready();
    manager.status("no listener");
    setenv("NOTIFY_SOCKET", socket_.path().c_str(), 1);
    manager.stopping();
    EXPECT_EQ(socket_.next(), "STOPPING=1");
}

}  // namespace
}  // namespace reaper::cli::sd_notify_test
