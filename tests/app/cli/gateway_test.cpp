// The real `reaper gateway`, and the gateway in `reaper run`, before a small server of the test.
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/cli/notify_socket.hpp"
#include "app/cli/program.hpp"

namespace reaper::test::gateway_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A socket on loopback that blocks; closed with it.
class Blocking {
public:
    explicit Blocking(int fd) : fd_(fd) {}
    Blocking(Blocking&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Blocking& operator=(Blocking&&) = delete;
    ~Blocking() { close(); }

    static Blocking listener() {
        Blocking made{::socket(AF_INET, SOCK_STREAM, 0)};
        sockaddr_in address = loopback(0);
        if (::bind(made.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(made.fd_, 64) != 0)
            throw std::runtime_error("can't listen");
        return made;
    }
    static Blocking connected(int port) {
        Blocking made{::socket(AF_INET, SOCK_STREAM, 0)};
        sockaddr_in address = loopback(port);
        if (::connect(made.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            throw std::runtime_error("can't connect");
        return made;
    }
    Blocking accept() const { return Blocking{::accept(fd_, nullptr, nullptr)}; }
    bool is_open() const { return fd_ >= 0; }
    int port() const {
        sockaddr_in address{};
        socklen_t size = sizeof address;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
        return ntohs(address.sin_port);
    }
    void say(const std::string& text) const { ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL); }
    /// Until `end` comes, or the connection ends.
    std::string hear(const std::string& end) const {
        std::string heard;
        char block[4096];
        while (end.empty() || !heard.ends_with(end)) {
            const ssize_t got = ::recv(fd_, block, sizeof block, 0);
            if (got <= 0) break;
            heard.append(block, static_cast<std::size_t>(got));
        }
        return heard;
    }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    static sockaddr_in loopback(int port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        return address;
    }
    int fd_;
};

int free_port() {
    return Blocking::listener().port();
}

const std::string request = "GET /placement/traits HTTP/1.1\r\nHost: a\r\n\r\n";
const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class GatewayCommandTest : public testing::Test {
protected:
    std::string gateway_section() const {
        return "gateway:\n  listen: 127.0.0.1:" + std::to_string(port_) +
               "\n  placement_url: http://127.0.0.1:" + std::to_string(placement_.port()) +
               "/placement\n";
    }
    std::string write_config(const std::string& text) const {
        return directory_.write("gateway.yaml", text);
    }
    /// The request that came, on a connection that is left open.
    Blocking take_request(std::string& heard) const {
        Blocking peer = placement_.accept();
        heard = peer.hear("\r\n\r\n");
        return peer;
    }

    /// The next status that starts so and tells of the gateway.
    std::string status_with(const std::string& start) {
        while (true) {
            const std::string status = systemd_.next_that_starts_with(start);
            if (status.empty() || status.find("gateway: ") != status.npos) return status;
        }
    }

    Blocking placement_ = Blocking::listener();
    int port_ = free_port();
    TemporaryDirectory directory_;
    NotifySocket systemd_;
};

TEST_F(GatewayCommandTest, PassesOnAndEndsCallsUnderWayOnTerm) {
    Program gateway({"--config", write_config(gateway_section()), "gateway"},
                    {{"NOTIFY_SOCKET", systemd_.path()}});
    EXPECT_EQ(systemd_.next_that_starts_with("READY=1"), "READY=1");
    const Blocking client = Blocking::connected(port_);
    client.say(request);
    std::string heard;
    const Blocking peer = take_request(heard);
    EXPECT_EQ(heard, request);
    peer.say(answer);
    EXPECT_EQ(client.hear("ok"), answer);
    client.say(request);
    EXPECT_EQ(peer.hear("\r\n\r\n"), request);
    std::string status;
    do {
        status = systemd_.next_that_starts_with("STATUS=");
    } while (!status.empty() && status.find("1 call") == status.npos);
    EXPECT_EQ(status, "STATUS=gateway: 127.0.0.1:" + std::to_string(port_) + ", 1 call");
    gateway.send_signal(SIGHUP);
    EXPECT_TRUE(gateway.wait_for_error_text("a restart does it"));
    gateway.send_signal(SIGTERM);
    EXPECT_EQ(systemd_.next_that_starts_with("STOPPING=1"), "STOPPING=1");
    EXPECT_TRUE(gateway.wait_for_error_text("draining"));
    peer.say(answer);
    EXPECT_EQ(client.hear(""),
              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    const auto result = gateway.finish();
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(GatewayCommandTest, LeavesAtOnceWithoutCalls) {
    Program gateway({"--config", write_config(gateway_section()), "gateway"}, {});
    ASSERT_TRUE(gateway.wait_for_error_text("starts as a gateway"));
    gateway.send_signal(SIGINT);
    const auto result = gateway.finish();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("leads to Placement at http://127.0.0.1:"));
}

TEST_F(GatewayCommandTest, ABadConfigurationIsReportedInOneLine) {
    const auto run = [&](const std::string& text) {
        return run_program({"--config", write_config(text), "gateway"});
    };
    const auto none = run("log: {level: info}\ncloud: {endpoints: {placement: 'http://p'}}\n");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("gateway.listen: is not there; expected IP:PORT"));
    const auto bad = run("gateway: {listen: here, placement_url: 'http://p'}\n");
    EXPECT_EQ(bad.exit_code, 2);
    EXPECT_THAT(bad.err, HasSubstr("gateway.yaml:1: gateway.listen: is \"here\""));
    EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1);
    const auto lost = run_program({"--config", "/no/such.yaml", "gateway"});
    EXPECT_EQ(lost.exit_code, 1);
    const auto key =
        run(gateway_section() + "  tls:\n    cert_file: " + directory_.write("no.pem", "nothing") +
            "\n    key_file: " + directory_.write("no.key", "nothing") + "\n");
    EXPECT_EQ(key.exit_code, 2);
    EXPECT_THAT(key.err, HasSubstr("no.pem"));
}

TEST_F(GatewayCommandTest, APortThatIsTakenIsAFailure) {
    const Blocking taken = Blocking::listener();
    port_ = taken.port();
    const auto result = run_program({"--config", write_config(gateway_section()), "gateway"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("can't listen on 127.0.0.1:" + std::to_string(port_)));
}

TEST_F(GatewayCommandTest, WaitsForTheCatalogWhereNothingSaysWherePlacementIs) {
    const std::string config =
        "gateway: {listen: '127.0.0.1:" + std::to_string(port_) +
        "'}\nhttp: {max_retries: 0}\ncloud: {auth: {auth_url: 'http://127.0.0.1:1', username: u, "
        "password: swordfish, project_name: p}}\n";
    Program gateway({"--config", write_config(config), "gateway"}, {});
    ASSERT_TRUE(gateway.wait_for_error_text("gateway: not listening yet: "));
    gateway.send_signal(SIGTERM);
    const auto result = gateway.finish();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("swordfish")));
}

TEST_F(GatewayCommandTest, TheDaemonHasTheSameGateway) {
    const std::string config =
        "cloud: {auth: {auth_url: 'http://127.0.0.1:1', username: u, password: p, project_name: "
        "s}}\nhttp: {max_retries: 0}\nbroker: {urls: ['amqp://r:s@127.0.0.1:1/']}\n"
        "taggers: [{name: project}]\njournal: {path: " +
        directory_.file("journal.db") + "}\n" + gateway_section();
    Program daemon({"--config", write_config(config), "run"}, {{"NOTIFY_SOCKET", systemd_.path()}});
    ASSERT_TRUE(daemon.wait_for_error_text("leads to Placement"));
    // Also while the broker is away, and the log has no line for each call.
    const std::string here = "; gateway: 127.0.0.1:" + std::to_string(port_) + ", ";
    EXPECT_THAT(status_with("STATUS=waiting for the broker"),
                AllOf(HasSubstr(here), HasSubstr("passing everything through: ")));
    const Blocking client = Blocking::connected(port_);
    client.say(request);
    std::string heard;
    {
        const Blocking peer = take_request(heard);
        peer.say(answer);
        EXPECT_EQ(client.hear("ok"), answer);
    }
    EXPECT_EQ(heard, request);
    client.say(request);
    const Blocking peer = take_request(heard);
    daemon.send_signal(SIGTERM);
    EXPECT_THAT(status_with("STATUS=stopping"),
                AllOf(HasSubstr(here), HasSubstr("passing everything through: stopping")));
    peer.say(answer);
    const auto result = daemon.finish();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr(here)));
    EXPECT_EQ(client.hear(""),
              "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    // A dry run stands beside it.
    Program dry({"--config", write_config(config), "run", "--dry-run"}, {});
    ASSERT_TRUE(dry.wait_for_error_text("starts"));
    dry.send_signal(SIGTERM);
    EXPECT_THAT(dry.finish().err, Not(HasSubstr("leads to Placement")));
}

}  // namespace
}  // namespace reaper::test::gateway_test
