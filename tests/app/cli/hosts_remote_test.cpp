// `reaper hosts --api`: projects that have no servers on the daemon's hosts.
#include <gmock/gmock.h>

#include "app/cli/remote_daemon.hpp"
#include "reaper/report/snapshot_file.hpp"

namespace reaper::cli::hosts_remote_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class HostsRemote : public RemoteDaemon {
protected:
    HostsRemote() {
        Host host;
        host.id = HostId{"id-h1"};
        host.name = "h1";
        Server server;
        server.id = ServerId{"s-1"};
        server.project = ProjectId{"p-1"};
        host.servers = {server};
        Provider root;
        root.id = ProviderId{host.id.str()};
        host.providers = {root};
        answers("/v1/snapshot", page(report::host_json(host)));
        auto found = page(report::host_json(host));
        found["project"] = "p-2";
        answers(idle("idle"), found);
        answers(idle("typo"),
                {{"error", {{"code", 404}, {"message", "project: there is no 'typo'"}}}}, 404);
    }
    static nlohmann::json page(const nlohmann::json& host) {
        return {{"version", 2},
                {"taken_at", "2026-11-26T12:00:00.000Z"},
                {"revocable_classes", nlohmann::json::array()},
                {"remarks", nlohmann::json::array()},
                {"project_names", {{"p-1", "web"}}},
                {"hosts", nlohmann::json::array({host})},
                {"hosts_links", nlohmann::json::array()}};
    }
    static std::string idle(const std::string& project) {
        return "/v1/snapshot?limit=1&project=" + project;
    }
    ExitCode run(const std::string& project, const std::string& flavor = "") {
        return captured(false, [&](const GlobalOptions& global, const Terminal& terminal) {
            HostsCommand command;
            command.filters.project = project;
            command.filters.flavor = flavor;
            return carry_out(global, command, terminal);
        });
    }
};

TEST_F(HostsRemote, AProjectWithServersThereIsFoundByWhatTheHostsTell) {
    serve();
    ASSERT_EQ(run("web"), ExitCode::ok) << err_;
    EXPECT_THAT(out_, HasSubstr("h1"));
    EXPECT_THAT(asked(), Not(Contains(HasSubstr("project="))));
}

TEST_F(HostsRemote, AProjectWithoutServersHasNoRowsAndAnUnknownOneIsReported) {
    serve();
    ASSERT_EQ(run("idle"), ExitCode::ok) << err_;
    EXPECT_THAT(out_, Not(HasSubstr("h1")));
    EXPECT_EQ(run("typo"), ExitCode::unknown);
    EXPECT_THAT(err_, HasSubstr("there is no 'typo'"));
}

TEST_F(HostsRemote, AFlavorWithoutServersHasNoRowsAndAnUnknownOneIsReported) {
    answers("/v1/room?flavor=idle", {{"answer", "fits-now"}});
    answers("/v1/room?flavor=typo",
            {{"error", {{"code", 404}, {"message", "no flavor has the id or name 'typo'"}}}}, 404);
    serve();
    ASSERT_EQ(run("", "idle"), ExitCode::ok) << err_;
    EXPECT_THAT(out_, Not(HasSubstr("h1")));
    EXPECT_EQ(run("", "typo"), ExitCode::unknown);
    EXPECT_THAT(err_, HasSubstr("'typo'"));
}

}  // namespace
}  // namespace reaper::cli::hosts_remote_test
