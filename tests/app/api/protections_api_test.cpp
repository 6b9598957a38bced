// Servers that operators protect, by the admin API: in the journal, in force at once, ended in
// time.
#include "app/api_house.hpp"
#include "reaper/controllers/safeguards/server_protections.hpp"

namespace reaper::test::protections_api_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProtectionsApi : public ApiHouse {
protected:
    json protect(const std::string& body, int expected = 200) {
        return answer(expected, "POST /v1/protect", "/v1/protect", body);
    }
    json list() { return get("/v1/protections").at("protections"); }
    bool noted(const std::string& kind) const {
        return std::any_of(journal.noted_marks.begin(), journal.noted_marks.end(),
                           [&](const JournalEvent& event) { return event.kind == kind; });
    }
    const Outcome& asked_for(int vcpus, const std::string& request = "req-1") {
        NovaFailure one = failure(vcpus);
        one.request_id = request;
        messages->deliver(body_of(one));
        return outcome_of(request);
    }
};

TEST_F(ProtectionsApi, AServerThatAnOperatorProtectsIsNoVictimAndShowsIt) {
    full_host();
    requester();
    start_and_read_the_cloud();
    const json told = answer(200, "POST /v1/protect", "/v1/protect",
                             R"({"server": "host1b", "for": "2h", "reason": "moves"})",
                             {api::Access::act, "alice@default"});
    EXPECT_EQ(told.at("protection").at("by"), "alice@default");
    EXPECT_EQ(list(), json::array({told.at("protection")}));
    EXPECT_EQ(asked_for(8).kind, OutcomeKind::not_enough);
    EXPECT_EQ(outcome_of("req-1").safeguard, "protected");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    bool shown = false;
    const json host = answer(200, "GET /v1/hosts/{host}", "/v1/hosts/host1");
    for (const json& server : host.at("servers"))
        if (server.at("id") == "host1b") {
            shown = true;
            EXPECT_THAT(std::string{server.at("protected")}, HasSubstr("by an operator: until "));
            EXPECT_THAT(std::string{server.at("protected")}, HasSubstr("alice@default: moves"));
        } else {
            EXPECT_FALSE(server.contains("protected"));
        }
    EXPECT_TRUE(shown);
    EXPECT_TRUE(noted("server-protected"));
}

TEST_F(ProtectionsApi, ItCountsForAPlanThatIsBeingCarriedOut) {
    full_host();
    requester();
    bool asked = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        // The last look at the victims was made.
        if (asked || call != "server " + uuid_of("requester-1") ||
            cloud.count("server host1a") == 0)
            return std::nullopt;
        asked = true;
        ServerProtection now;
        now.server = ServerId{"host1a"};
        now.since = clock.now();
        boost::asio::co_spawn(io(), service().protections()->protect(std::move(now)),
                              [](std::exception_ptr error, Result<void> done) {
                                  if (error) std::rethrow_exception(error);
                                  EXPECT_TRUE(done);
                              });
        return std::nullopt;
    };
    start();
    EXPECT_EQ(asked_for(8).kind, OutcomeKind::not_enough);
    EXPECT_TRUE(asked);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(ProtectionsApi, ItSurvivesARestartAndEndsByItself) {
    full_host();
    requester();
    start_and_read_the_cloud();
    protect(R"({"server": "host1b", "for": "30min"})");
    crash();
    start_and_read_the_cloud();
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].at("server"), "host1b");
    EXPECT_EQ(asked_for(8).kind, OutcomeKind::not_enough);
    clock.advance(std::chrono::minutes{31});
    run_until([&] { return journal.protected_servers.empty(); });
    EXPECT_THAT(list(), IsEmpty());
    run_until([&] { return noted("protection-over"); });
    requester("requester-2");
    NovaFailure next = another("req-2", "requester-2");
    next.timestamp = "2026-11-20 00:31:00.000000";
    messages->deliver(body_of(next));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
}

TEST_F(ProtectionsApi, OneThatIsRenewedWhileTheOldOneEndsStays) {
    full_host();
    start_and_read_the_cloud();
    protect(R"({"server": "host1b", "by": "alice"})");
    const ServerId server{"host1b"};
    ServerProtection renewed;
    renewed.server = server;
    renewed.since = clock.now() + Duration{1};
    renewed.by = "carol";
    int done = 0;
    const auto count = [&done](std::exception_ptr error, const auto& result) {
        if (error) std::rethrow_exception(error);
        EXPECT_TRUE(result);
        ++done;
    };
    // Both are queued before either is done.
    boost::asio::co_spawn(io(), service().protections()->protect(std::move(renewed)), count);
    boost::asio::co_spawn(io(), service().protections()->unprotect(server, "bob"), count);
    run_until([&] { return done == 2; });
    crash();
    start_and_read_the_cloud();
    ASSERT_EQ(list().size(), 1U);
    EXPECT_EQ(list()[0].at("by"), "carol");
}

TEST_F(ProtectionsApi, ByAClockThatIsWrongItDoesNotEnd) {
    full_host();
    start_and_read_the_cloud();
    protect(R"({"server": "host1b", "for": "30min"})");
    clock_ahead = Duration{std::chrono::minutes{31}};
    pass(std::chrono::minutes{31});
    EXPECT_EQ(list().size(), 1U);
    EXPECT_FALSE(noted("protection-over"));
    clock_ahead = Duration{0};
    run_until([&] { return noted("protection-over"); });
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(ProtectionsApi, OneThatIsNotWrittenIsNotInForce) {
    full_host();
    start_and_read_the_cloud();
    journal.fails = [](const std::string& what) { return what.starts_with("protect"); };
    protect(R"({"server": "host1b"})", 503);
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(ProtectionsApi, ItIsInForceAndEndsWithoutItsEvent) {
    full_host();
    start_and_read_the_cloud();
    journal.fails = [](const std::string& what) { return what.starts_with("event "); };
    protect(R"({"server": "host1b"})");
    EXPECT_EQ(list().size(), 1U);
    answer(200, "POST /v1/unprotect", "/v1/unprotect", R"({"server": "host1b"})");
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_FALSE(noted("server-protected") || noted("server-unprotected"));
}

TEST_F(ProtectionsApi, AnOperatorEndsItByIdOrName) {
    full_host();
    cloud.server_at("host1b").record.server.name = "db";
    start_and_read_the_cloud();
    protect(R"({"server": "db", "by": "bob"})");
    EXPECT_EQ(list()[0].at("name"), "db");
    EXPECT_EQ(list()[0].at("by"), "bob");
    EXPECT_EQ(list()[0].at("until"), nullptr);
    const json done = answer(200, "POST /v1/unprotect", "/v1/unprotect", R"({"server": "db"})");
    EXPECT_EQ(done.at("was").at("server"), "host1b");
    EXPECT_THAT(list(), IsEmpty());
    EXPECT_TRUE(journal.protected_servers.empty());
    answer(404, "POST /v1/unprotect", "/v1/unprotect", R"({"server": "db"})");
}

TEST_F(ProtectionsApi, AUuidIsNeverAnothersName) {
    full_host();
    const std::string gone = uuid_of("gone");
    cloud.server_at("host1b").record.server.name = gone;
    start_and_read_the_cloud();
    const std::string body = R"({"server": ")" + gone + R"("})";
    protect(body, 404);
    protect(R"({"server": "host1b"})");
    answer(404, "POST /v1/unprotect", "/v1/unprotect", body);
    answer(404, "GET /v1/explain/{server}", "/v1/explain/" + gone);
}

TEST_F(ProtectionsApi, WhatCanNotBeDoneIsRefusedWithTheReason) {
    full_host();
    for (const char* id : {"host1a", "host1b"}) cloud.server_at(id).record.server.name = "twin";
    start_and_read_the_cloud();
    EXPECT_THAT(why(protect(R"({"server": "no-such"})", 404)), HasSubstr("no host has a server"));
    EXPECT_THAT(why(protect(R"({"server": "twin"})", 400)), HasSubstr("give the id of one"));
    EXPECT_THAT(why(protect(R"({"server": "host1a", "until": "2001-01-01T00:00:00"})", 400)),
                HasSubstr("over already"));
    for (const char* body :
         {"", "[]", R"({"server": ""})", R"({"server": "host1a", "for": "soon"})",
          R"({"server": "host1a", "for": "1h", "until": "2099-01-01T00:00:00"})",
          R"({"server": "host1a", "why": "x"})", R"({"server": "host1a", "for": 1e999})"})
        protect(body, 400);
    const json refused = answer(403, "POST /v1/protect", "/v1/protect", R"({"server": "host1a"})",
                                {api::Access::look, {}});
    EXPECT_THAT(why(refused), HasSubstr("admin.socket"));
    EXPECT_THAT(list(), IsEmpty());
}

TEST_F(ProtectionsApi, ADryRunNamesTheOrder) {
    dry_run = true;
    full_host();
    start_and_read_the_cloud();
    EXPECT_THAT(why(protect(R"({"server": "host1a"})", 409)),
                HasSubstr("pause, restart it without dry_run, reaper protect, reaper resume"));
}

}  // namespace
}  // namespace reaper::test::protections_api_test
