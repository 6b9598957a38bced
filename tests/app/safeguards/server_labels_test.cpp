// Servers say in their metadata as what they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::server_marks_test {
namespace {

using std::chrono::seconds;

class ServerMarksTest : public FullHouse {
protected:
    std::map<std::string, std::string> metadata_of(const std::string& id) {
        return cloud.server_at(id).record.server.metadata.get();
    }
    void write(const std::string& id, const std::string& value) {
        cloud.server_at(id).record.server.metadata =
            std::map<std::string, std::string>{{"res-type", value}};
    }
    bool labeled(const std::string& id) { return cloud.count("MARK " + id) > 0; }
    /// Several passes.
    void some_time() { pass(seconds{30}); }
};

TEST_F(ServerMarksTest, OnlyTheServerThatTookTheFreedRoomIsMarkedRegular) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    boots("second-try", "host1");
    run_until([&] { return labeled("second-try"); });
    EXPECT_EQ(metadata_of("second-try").at("res-type"), "regular");
    some_time();
    EXPECT_EQ(cloud.count("MARK"), 1U);
}

TEST_F(ServerMarksTest, AMarkThatIsDueOutlivesTheProcess) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("MARK")) return std::nullopt;
        return Error{Errc::unreachable, "nova: no answer"};
    };
    boots("second-try", "host1");
    run_until([&] { return labeled("second-try"); });
    crash();
    cloud.on_call = {};
    start();
    run_until([&] { return cloud.count("MARK second-try") == 2; });
    EXPECT_EQ(metadata_of("second-try").at("res-type"), "regular");
}

TEST_F(ServerMarksTest, AServerThatIsStillBuiltIsMarkedWhenItRuns) {
    full_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    boots("second-try", "host1");
    cloud.server_at("second-try").record.server.status = "BUILD";
    some_time();
    EXPECT_EQ(cloud.count("MARK"), 0U);
    cloud.server_at("second-try").record.server.status = "ACTIVE";
    run_until([&] { return labeled("second-try"); });
}

TEST_F(ServerMarksTest, AllServersAreMarkedAsWhatTheyRunOnce) {
    full_host();
    boots("tenant", "host1");
    settings.labels.servers = "all";
    start();
    run_until([&] { return cloud.count("MARK") == 5; });
    some_time();
    EXPECT_EQ(cloud.count("MARK"), 5U);
    EXPECT_EQ(metadata_of("host1a").at("res-type"), "revocable");
    EXPECT_EQ(metadata_of("tenant").at("res-type"), "regular");
}

TEST_F(ServerMarksTest, TheMarkSaysWhatItRunsAsWhateverItsUserWrote) {
    full_host();
    write("host1a", "~regular");
    write("host1b", "regular");
    settings.labels.servers = "all";
    start();
    run_until([&] { return cloud.count("MARK") == 4; });
    some_time();
    EXPECT_EQ(metadata_of("host1a").at("res-type"), "revocable");
    EXPECT_EQ(metadata_of("host1b").at("res-type"), "revocable");
    EXPECT_EQ(cloud.count("MARK"), 4U) << "once each";
}

TEST_F(ServerMarksTest, AWrongMarkIsCorrectedOnAnyServer) {
    full_host();
    boots("tenant", "host1");
    write("tenant", "revocable");
    start();
    run_until([&] { return cloud.count("MARK") == 1; });
    some_time();
    EXPECT_EQ(metadata_of("tenant").at("res-type"), "regular") << "in regular room";
    EXPECT_EQ(cloud.count("MARK"), 1U);
}

TEST_F(ServerMarksTest, WhatItsUserWroteMeanwhileIsCorrectedToo) {
    full_host();
    settings.labels.servers = "all";
    start();
    before("server host1a", [&] { write("host1a", "mine"); });
    run_until([&] { return cloud.count("MARK") == 4; });
    some_time();
    EXPECT_EQ(metadata_of("host1a").at("res-type"), "revocable");
}

TEST_F(ServerMarksTest, AMarkThatNovaRefusesIsGivenUpAfterAFewTries) {
    full_host();
    settings.labels.servers = "all";
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("MARK host1a")) return Error{Errc::forbidden, "nova: 403: not you"};
        return std::nullopt;
    };
    start();
    run_until([&] { return cloud.count("MARK host1a") == 5; });
    some_time();
    EXPECT_EQ(cloud.count("MARK host1a"), 5U);
    EXPECT_EQ(cloud.count("MARK"), 8U);
}

TEST_F(ServerMarksTest, AMarkThatWasRefusedIsTriedAgainOnceAnHourAndAfterAReload) {
    full_host();
    settings.labels.servers = "all";
    bool may = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!may && call.starts_with("MARK host1a"))
            return Error{Errc::forbidden, "nova: 403: not you"};
        return std::nullopt;
    };
    start();
    run_until([&] { return cloud.count("MARK host1a") == 5; });
    const TimePoint given_up = clock.now();
    run_until([&] { return clock.now() - given_up >= std::chrono::minutes{59}; });
    EXPECT_EQ(cloud.count("MARK host1a"), 5U);
    run_until([&] { return cloud.count("MARK host1a") == 6; });
    some_time();
    EXPECT_EQ(cloud.count("MARK host1a"), 6U) << "one try an hour";
    may = true;
    service().reload(live_settings());
    some_time();
    EXPECT_EQ(cloud.count("MARK host1a"), 7U);
    EXPECT_EQ(metadata_of("host1a").at("res-type"), "revocable");
    some_time();
    EXPECT_EQ(cloud.count("MARK host1a"), 7U);
}

TEST_F(ServerMarksTest, NoServerIsMarkedInADryRunNorWhereItIsOff) {
    for (const bool off_by_dry_run : {true, false}) {
        full_host();
        settings.labels.servers = off_by_dry_run ? "all" : "none";
        this->dry_run = off_by_dry_run;
        start();
        some_time();
        EXPECT_EQ(cloud.count("MARK"), 0U);
        stop_and_join();
        crash();
    }
}

}  // namespace
}  // namespace reaper::test::server_marks_test
