// Whether a daemon runs and is ready, by what it answers.
#include "reaper/cli/daemon/daemon_health.hpp"

#include <cstdlib>
#include <gmock/gmock.h>

#include "app/cli/remote_daemon.hpp"

namespace reaper::cli::daemon_health_test {
namespace {

using State = DaemonHealth::State;
using testing::HasSubstr;

http::LocalAnswer probe(int status, const char* check, bool ok, const char* note = nullptr) {
    nlohmann::json body{{"checks", {{{"name", check}, {"ok", ok}, {"detail", "as it is"}}}},
                        {"notes", nlohmann::json::array()}};
    if (note != nullptr) body["notes"].push_back({{"name", note}, {"detail", ""}});
    return {status, body.dump()};
}

TEST(DaemonHealth, IsWhatItsProbesSay) {
    const auto live = probe(200, "loop", true);
    struct Case {
        Result<http::LocalAnswer> live, ready;
        State state;
        const char* text;
    };
    const http::LocalAnswer starting{503, R"({"error": {"message": "it has not started yet"}})"};
    for (const auto& [says_live, says_ready, state, text] : {
             Case{live, probe(200, "broker", true), State::ready, "daemon: ready"},
             Case{live, probe(503, "broker", false), State::not_ready,
                  "daemon: not ready (broker: as it is)"},
             Case{probe(503, "loop", false), live, State::failing, "daemon: failing (loop: "},
             Case{starting, starting, State::failing, "(it has not started yet)"},
             Case{live, starting, State::not_ready, "(it has not started yet)"},
             Case{Error{Errc::unreachable, "refused"}, live, State::not_running,
                  "daemon: not running (refused)"},
             Case{Error{Errc::timeout, "late"}, live, State::silent, "daemon: silent (late)"},
             Case{live, Error{Errc::timeout, "late"}, State::silent, "late"},
             Case{Error{Errc::forbidden, "not yours"}, live, State::unknown, "not known"},
             Case{http::LocalAnswer{200, "<html>"}, live, State::unknown, "not known"},
         }) {
        const DaemonHealth health = health_from(says_live, says_ready);
        EXPECT_EQ(health.state, state) << text;
        EXPECT_THAT(to_text(health), HasSubstr(text));
    }
}

TEST(DaemonHealth, ADryRunIsReportedAndIsNoFailure) {
    const auto health =
        health_from(probe(200, "loop", true, "dry-run"), probe(200, "broker", true, "dry-run"));
    EXPECT_EQ(health.state, State::ready);
    EXPECT_EQ(to_text(health), "daemon: ready, in a dry run");
    EXPECT_EQ(to_json(health),
              (nlohmann::json{{"state", "ready"}, {"why", nullptr}, {"dry_run", true}}));
    const auto refused = health_from(Error{Errc::unreachable, "refused"}, probe(200, "a", true));
    EXPECT_EQ(to_json(refused).at("dry_run"), nullptr) << "it is not known";
}

TEST(DaemonHealth, IsAskedOnTheSocketOrElseOnAPortInTheClear) {
    config::LocalSettings settings;
    EXPECT_EQ(where_to_ask(settings), "");
    EXPECT_EQ(local_health(settings).state, State::unknown);
    EXPECT_THAT(to_text(local_health(settings)),
                HasSubstr("neither admin.socket nor metrics.listen"));
    settings.admin.listen = "0.0.0.0:8787";
    EXPECT_EQ(where_to_ask(settings), "http://127.0.0.1:8787");
    settings.admin.cert_file = "cert.pem";
    EXPECT_EQ(where_to_ask(settings), "");
    settings.metrics.listen = "[::]:9787";
    EXPECT_EQ(where_to_ask(settings), "http://[::1]:9787");
    settings.admin.socket = "/nowhere/admin.sock";
    EXPECT_EQ(where_to_ask(settings), "unix:/nowhere/admin.sock");
    EXPECT_EQ(local_health(settings).state, State::not_running);
}

class HealthPort : public RemoteDaemon {
protected:
    HealthPort() {
        ::setenv("OS_TOKEN", "swordfish", 1);
        for (const char* const path : {"/healthz", "/readyz"})
            replies_[path] = test::json_reply(200, probe(200, "loop", true).body);
        serve();
    }
    ~HealthPort() override { ::unsetenv("OS_TOKEN"); }
    /// Of each question: the token that came with it.
    std::vector<std::string> tokens() {
        std::vector<std::string> all;
        for (const auto& each : requests()) all.push_back(each.header("x-auth-token"));
        return all;
    }
};

/// Any process that listens there first would get the token.
TEST_F(HealthPort, OfThisMachinesProbesNoneCarriesAToken) {
    config::LocalSettings settings;
    settings.metrics.listen = url().substr(std::string{"http://"}.size());
    EXPECT_EQ(local_health(settings).state, State::ready);
    settings.metrics.listen = "";
    settings.admin.listen = url().substr(std::string{"http://"}.size());
    EXPECT_EQ(local_health(settings).state, State::ready);
    EXPECT_THAT(tokens(), testing::ElementsAre("", "", "", ""));
    ApiOptions named;
    named.url = url();
    EXPECT_EQ(health_over(named).state, State::ready);
    EXPECT_THAT(tokens(), testing::Contains("swordfish")) << "the server that --api names gets it";
}

}  // namespace
}  // namespace reaper::cli::daemon_health_test
