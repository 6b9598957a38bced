// `reaper check` with columns that are not there: told before anything is asked.
#include <gmock/gmock.h>

#include "app/cli/program.hpp"
#include "app/cli/remote_daemon.hpp"

namespace reaper::cli::check_columns_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The small server of the test is Keystone.
class CheckColumns : public RemoteDaemon {
protected:
    test::ProgramResult check(std::vector<std::string> words) {
        const std::string path = directory_.write(
            "reaper.yaml",
            "cloud:\n"
            "  auth:\n"
            "    auth_url: " +
                url() +
                "/v3\n"
                "    username: reaper\n"
                "    user_domain_name: Default\n"
                "    password: swordfish\n"
                "    project_name: service\n"
                "    project_domain_name: Default\n"
                "http: {max_retries: 0, call_timeout: 2s, connect_timeout: 1s}\n"
                "broker: {urls: [\"amqp://reaper:swordfish@127.0.0.1:1/\"], connect_timeout: 1s}\n"
                "taggers: [{name: project}]\n"
                "journal: {path: " +
                directory_.file("journal.db") + "}\npause_file: " + directory_.file("paused") +
                "\n");
        words.insert(words.begin(), {"--config", path, "check"});
        return test::run_program(words);
    }

    test::TemporaryDirectory directory_;
};

TEST_F(CheckColumns, UnknownColumnsAreReportedBeforeAnythingIsAsked) {
    serve();
    for (const char* const option : {"--columns", "--sort"}) {
        const auto refused = check({option, "verdikt"});
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_EQ(refused.out, "");
        EXPECT_THAT(refused.err, HasSubstr(std::string{option} + ": there is no column 'verdikt'"));
    }
    EXPECT_THAT(asked(), IsEmpty());
    EXPECT_EQ(check({"--columns", "verdict"}).exit_code, 4);
    EXPECT_THAT(asked(), Not(IsEmpty())) << "the server of this test would have been asked";
}

}  // namespace
}  // namespace reaper::cli::check_columns_test
