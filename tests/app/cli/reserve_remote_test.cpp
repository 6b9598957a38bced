// `reaper reserve` and `unreserve`: how they end where the daemon refuses.
#include <gmock/gmock.h>

#include "app/cli/remote_daemon.hpp"

namespace reaper::cli::reserve_remote_test {
namespace {

class ReserveRemote : public RemoteDaemon {
protected:
    ExitCode reserved(int status, const std::string& message, bool unreserve = false) {
        answers(unreserve ? "/v1/unreserve" : "/v1/reserve",
                {{"error", {{"code", status}, {"message", message}}}}, status);
        ReserveCommand command;
        command.unreserve = unreserve;
        command.hosts = {"compute-9"};
        command.role = "web";
        command.resources = {{"VCPU", 1}};
        return captured(false, [&](const auto& global, const auto& terminal) {
            return carry_out(global, command, terminal);
        });
    }
};

TEST_F(ReserveRemote, WhatTheCloudDoesNotHaveEndsAsEverywhere) {
    serve();
    const std::string unknown =
        "there is no host 'compute-9' in this cloud, by name or id; did you mean 'compute-1'?";
    EXPECT_EQ(reserved(404, unknown), ExitCode::unknown);
    EXPECT_EQ(err_, "reaper: " + unknown + "\n");
    EXPECT_EQ(reserved(404, unknown, true), ExitCode::unknown);
    EXPECT_EQ(reserved(409, "so much is not free"), ExitCode::not_enough);
    EXPECT_EQ(reserved(400, "resources: there are none"), ExitCode::usage);
    EXPECT_EQ(reserved(404, "reservations.enabled is false"), ExitCode::usage)
        << "the daemon has them off";
    EXPECT_EQ(reserved(404, "there is no /v1/reserve here"), ExitCode::failed)
        << "not a daemon of this kind";
}

}  // namespace
}  // namespace reaper::cli::reserve_remote_test
