// The real daemon, with neither broker nor cloud: how it starts, reloads and leaves.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/notify_socket.hpp"
#include "app/cli/program.hpp"

namespace reaper::test::daemon_test {
namespace {

class DaemonTest : public testing::Test {
protected:
    /// Right, and leading nowhere: nothing listens on these ports.
    std::string config(const std::string& promise, const std::string& queue) const {
        return "cloud:\n"
               "  auth:\n"
               "    auth_url: http://127.0.0.1:1/v3\n"
               "    username: reaper\n"
               "    user_domain_name: Default\n"
               "    password: swordfish\n"
               "    project_name: service\n"
               "    project_domain_name: Default\n"
               "http: {max_retries: 0, connect_timeout: 1s}\n"
               "broker:\n"
               "  urls: [\"amqp://reaper:swordfish@127.0.0.1:1/\"]\n"
               "  queue: " +
               queue +
               "\n"
               "taggers: [{name: project}]\n"
               "cull: {promise: " +
               promise +
               "}\n"
               "journal: {path: " +
               directory_.file("journal.db") + "}\n";
    }
    std::string write_config(const std::string& promise = "1min",
                             const std::string& queue = "reaper") const {
        return directory_.write("reaper.yaml", config(promise, queue));
    }
    Program::Environment environment() const {
        return {{"NOTIFY_SOCKET", systemd_.path()}, {"WATCHDOG_USEC", "200000"}};
    }

    TemporaryDirectory directory_;
    NotifySocket systemd_;
};

TEST_F(DaemonTest, StaysUpWithoutBrokerAndCloudAndLeavesOnTerm) {
    Program daemon({"--config", write_config(), "run"}, environment());
    ASSERT_TRUE(daemon.wait_for_error_text("starts"));
    ASSERT_TRUE(daemon.wait_for_error_text("127.0.0.1:1"));
    EXPECT_EQ(systemd_.next_that_starts_with("WATCHDOG=1"), "WATCHDOG=1");
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(systemd_.next_that_starts_with("STOPPING=1"), "STOPPING=1");
    const auto result = daemon.finish();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err.find("swordfish"), std::string::npos) << result.err;
    EXPECT_TRUE(std::filesystem::exists(directory_.file("journal.db")));
}

TEST_F(DaemonTest, IsNotReadyBeforeBrokerAndCloudAnswer) {
    Program daemon({"--config", write_config(), "run"}, environment());
    ASSERT_TRUE(daemon.wait_for_error_text("127.0.0.1:1"));
    daemon.send_signal(SIGINT);
    EXPECT_EQ(daemon.finish().exit_code, 0);
    std::string message;
    do {
        message = systemd_.next();
        EXPECT_NE(message, "READY=1");
    } while (message != "STOPPING=1" && !message.empty());
}

/// Connects, and never answers.
class SilentServer {
public:
    std::string at() const {
        return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

private:
    boost::asio::io_context io_;
    boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::address_v4::loopback(), 0}};
};

/// As in the middle of the first reading of a large cloud.
TEST_F(DaemonTest, ATermAtTheStartWaitsForNoAnswer) {
    const SilentServer silent;
    const std::string nowhere = "127.0.0.1:1";
    for (const auto& [keystone, broker] :
         {std::pair{silent.at(), nowhere}, {nowhere, silent.at()}, {silent.at(), silent.at()}}) {
        std::string text = config("1min", "reaper");
        text.replace(text.find("http://127.0.0.1:1"), 18, "http://" + keystone);
        text.replace(text.find("@127.0.0.1:1/"), 13, "@" + broker + "/");
        text.replace(text.find("max_retries"), 11, "call_timeout: 1h, max_retries");
        Program daemon({"--config", directory_.write("reaper.yaml", text), "run"}, environment());
        ASSERT_TRUE(daemon.wait_for_error_text("starts"));
        EXPECT_EQ(systemd_.next_that_starts_with("WATCHDOG=1"), "WATCHDOG=1");
        daemon.send_signal(SIGTERM);
        const auto result = daemon.finish();
        EXPECT_EQ(result.exit_code, 0) << keystone << " " << broker << "\n" << result.err;
    }
}

TEST_F(DaemonTest, AReloadTellsWhatIsAppliedAndWhatNeedsARestart) {
    Program daemon({"--config", write_config(), "run"}, environment());
    ASSERT_TRUE(daemon.wait_for_error_text("starts"));
    write_config("2min", "other");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_error_text("applied: cull."));
    EXPECT_EQ(systemd_.next_that_starts_with("RELOADING=1").substr(0, 27),
              "RELOADING=1\nMONOTONIC_USEC=");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_error_text("needs a restart: broker."));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.finish().exit_code, 0);
}

TEST_F(DaemonTest, ABadFileIsRefusedAndTheOldOneKept) {
    Program daemon({"--config", write_config(), "run"}, environment());
    ASSERT_TRUE(daemon.wait_for_error_text("starts"));
    directory_.write("reaper.yaml", config("1min", "reaper") + "nonsense: 1\n");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_error_text("nonsense"));
    EXPECT_TRUE(daemon.wait_for_error_text("reload refused"));
    write_config();
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_error_text("nothing changed"));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.finish().exit_code, 0);
}

TEST_F(DaemonTest, AJournalThatCannotBeUsedIsAFailure) {
    const std::string path = directory_.write("reaper.yaml", config("1min", "reaper"));
    std::filesystem::create_directory(directory_.file("journal.db"));
    const auto result = run_program({"--config", path, "run"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(directory_.file("journal.db")), std::string::npos) << result.err;
}

TEST_F(DaemonTest, ASecondDaemonOnTheSameJournalIsRefused) {
    Program first({"--config", write_config(), "run"}, environment());
    ASSERT_TRUE(first.wait_for_error_text("starts"));
    const auto second = run_program({"--config", directory_.file("reaper.yaml"), "run"});
    EXPECT_EQ(second.exit_code, 1) << second.err;
    first.send_signal(SIGTERM);
    EXPECT_EQ(first.finish().exit_code, 0);
}

/// By the option or by the configuration. Recording is not configured.
TEST_F(DaemonTest, ADryRunKeepsAJournalAndARecordingOfItsOwn) {
    for (const bool by_option : {true, false}) {
        std::string text = config("1min", "reaper");
        if (!by_option) text += "dry_run: true\n";
        const std::string path = directory_.write("reaper.yaml", text);
        std::vector<std::string> arguments{"--config", path, "run"};
        if (by_option) arguments.emplace_back("--dry-run");
        Program daemon(arguments, environment());
        ASSERT_TRUE(daemon.wait_for_error_text("starts (dry run: nothing is deleted)"));
        daemon.send_signal(SIGTERM);
        const auto result = daemon.finish();
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_THAT(result.err,
                    ::testing::HasSubstr("recording decisions in " + directory_.file("dry-run")));
        EXPECT_FALSE(std::filesystem::exists(directory_.file("journal.db")));
        const auto history = run_program({"--config", path, "history"});
        EXPECT_EQ(history.exit_code, 0) << history.err;
        EXPECT_EQ(
            history.err.find("a dry run's, " + directory_.file("dry-run.db")) != std::string::npos,
            by_option)
            << history.err;
        std::filesystem::remove(directory_.file("dry-run.db"));
        std::filesystem::remove_all(directory_.file("dry-run"));
    }
}

TEST_F(DaemonTest, ADryRunThatCanKeepNothingSaysSo) {
    const std::string path = write_config();
    std::filesystem::create_directory(directory_.file("dry-run.db"));
    directory_.write("dry-run", "no directory");
    Program daemon({"--config", path, "run", "--dry-run"}, environment());
    ASSERT_TRUE(daemon.wait_for_error_text("starts (dry run"));
    daemon.send_signal(SIGTERM);
    const auto result = daemon.finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.err, ::testing::HasSubstr("nothing is kept for 'reaper history'"));
    EXPECT_THAT(result.err, ::testing::HasSubstr("nothing is kept for 'reaper report'"));
    // As a service it is to keep it.
    directory_.write("reaper.yaml", config("1min", "reaper") + "dry_run: true\n");
    EXPECT_EQ(run_program({"--config", path, "run"}).exit_code, 1);
}

/// A dry run that is the service has the ports of the configuration.
TEST_F(DaemonTest, ADryRunByItsConfigurationHasTheConfiguredApi) {
    const std::string socket = directory_.file("admin.sock");
    const std::string path =
        directory_.write("reaper.yaml", config("1min", "reaper") +
                                            "dry_run: true\nadmin: {socket: " + socket + "}\n");
    Program daemon({"--config", path, "run"}, environment());
    EXPECT_TRUE(daemon.wait_for_error_text("admin API: "));
    EXPECT_TRUE(std::filesystem::exists(socket));
    directory_.write("reaper.yaml", config("1min", "reaper") + "admin: {socket: " + socket + "}\n");
    daemon.send_signal(SIGHUP);
    EXPECT_TRUE(daemon.wait_for_error_text("needs a restart: dry_run"));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.finish().exit_code, 0);
}

TEST_F(DaemonTest, ADryRunHasItsApiOnThisMachineAlone) {
    const SilentServer service;
    const std::string path = directory_.write(
        "reaper.yaml", config("1min", "reaper") + "metrics: {listen: \"" + service.at() + "\"}\n");
    for (const std::string where :
         {"10.0.0.1:8787", "127.0.0.1", "127.0.0.1:x", "unix:", "[::1]"}) {
        const auto result =
            run_program({"--config", path, "run", "--dry-run", "--admin", where}, environment());
        EXPECT_EQ(result.exit_code, 2) << where;
        EXPECT_THAT(result.err, ::testing::HasSubstr("--admin: expected IP:PORT on loopback"))
            << where;
    }
    const std::string socket = directory_.file("dry.sock");
    Program daemon({"--config", path, "run", "--dry-run", "--admin", "unix:" + socket},
                   environment());
    EXPECT_TRUE(daemon.wait_for_error_text(socket));
    EXPECT_TRUE(std::filesystem::exists(socket));
    daemon.send_signal(SIGTERM);
    const auto result = daemon.finish();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err.find("metrics"), std::string::npos) << "that port is the service's";
}

/// A start does not wait forever: systemd starts it again.
TEST_F(DaemonTest, AStartThatDoesNotComeEnds) {
    // On a busy machine it comes less far in the same time.
    bool knows_why = false;
    for (const std::string within : {"300ms", "3s", "30s"}) {
        const std::string path = directory_.write(
            "reaper.yaml", config("1min", "reaper") + "start_within: " + within + "\n");
        Program daemon({"--config", path, "run"}, environment());
        const auto result = daemon.finish();
        EXPECT_EQ(result.exit_code, 1);
        const std::string said = "not ready within " + within + " (start_within): ";
        knows_why = result.err.find(said + "waiting for the broker") != std::string::npos;
        if (knows_why) break;
        EXPECT_THAT(result.err, ::testing::HasSubstr(said + "starting"));
    }
    EXPECT_TRUE(knows_why);
}

/// systemd does not restart after exit status 2: only another configuration helps.
TEST_F(DaemonTest, AFileThatIsMissingMayComeAndAMistakeStays) {
    EXPECT_EQ(run_program({"--config", directory_.file("none.yaml"), "run"}).exit_code, 1);
    const std::string text = config("1min", "reaper");
    const std::string key = "password: swordfish";
    std::string missing = text;
    missing.replace(missing.find(key), key.size(),
                    "password_file: " + directory_.file("not-mounted-yet"));
    directory_.write("reaper.yaml", missing);
    EXPECT_EQ(run_program({"--config", directory_.file("reaper.yaml"), "run"}).exit_code, 1);
    directory_.write("reaper.yaml", missing + "alternatives: 0\n");
    EXPECT_EQ(run_program({"--config", directory_.file("reaper.yaml"), "run"}).exit_code, 2);
    directory_.write("reaper.yaml", text + "alternatives: 0\n");
    EXPECT_EQ(run_program({"--config", directory_.file("reaper.yaml"), "run"}).exit_code, 2);
}

TEST_F(DaemonTest, UnderJournaldLinesCarryTheirPriority) {
    directory_.write("reaper.yaml", config("1min", "reaper") + "log: {target: journald}\n");
    Program daemon({"--config", directory_.file("reaper.yaml"), "run"}, environment());
    EXPECT_TRUE(daemon.wait_for_error_text("<6>reaper "));
    daemon.send_signal(SIGTERM);
    EXPECT_EQ(daemon.finish().exit_code, 0);
}

}  // namespace
}  // namespace reaper::test::daemon_test
