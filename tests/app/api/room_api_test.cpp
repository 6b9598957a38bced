// GET /v1/room, and the flavors that it knows.
#include <gtest/gtest.h>

#include "app/api_house.hpp"
#include "reaper/runtime/run_task.hpp"
#include "reaper/triggers/flavor_search.hpp"

namespace reaper::test::room_api_test {
namespace {

using ::testing::HasSubstr;

/// Two hosts of 8 VCPU: one full of four revocable servers, one with a regular one of 2.
class RoomApi : public ApiHouse {
protected:
    RoomApi() {
        full_host("h1");
        cloud.add_host("h2", small * 4);
        cloud.add_server("regular", "h2", "regular", small);
        Flavor two = flavor_of(2);
        two.name = "m1.two";
        cloud.flavors = {{"id-two", two}};
    }
    json room(const std::string& query, int expected = 200) {
        return get("/v1/room?" + query, expected);
    }
};

TEST_F(RoomApi, TellsWhatFitsNowAfterVictimsAndNever) {
    start_and_read_the_cloud();
    const json now = room("flavor=m1.two&count=3");
    EXPECT_EQ(now.at("answer"), "fits-now");
    EXPECT_EQ(now.at("fits_now"), 3);
    EXPECT_EQ(now.at("possible"), 7);
    EXPECT_EQ(now.at("hosts").size(), 1U);
    EXPECT_EQ(now.at("hosts")[0].at("name"), "h2");
    EXPECT_EQ(now.at("decision"), nullptr);
    const json later = room("flavor=id-two&count=5&zone=nova&project=regular");
    EXPECT_EQ(later.at("answer"), "after-victims");
    EXPECT_EQ(later.at("victims"), 2);
    EXPECT_EQ(later.at("decision").at("decision"), "plan");
    const json never = room("resources=VCPU:9");
    EXPECT_EQ(never.at("answer"), "never");
    EXPECT_EQ(never.at("fits_now"), 0);
    EXPECT_FALSE(never.at("decision").at("rejected_counts").empty());
}

TEST_F(RoomApi, TheFlavorAndItsResourcesAreOneQuestion) {
    start_and_read_the_cloud();
    const json by_flavor = room("flavor=m1.two");
    const json by_resources = room("resources=VCPU:2,MEMORY_MB:2048,DISK_GB:20");
    EXPECT_EQ(by_flavor.at("request").at("resources"), by_resources.at("request").at("resources"));
    EXPECT_EQ(by_flavor.at("fits_now"), by_resources.at("fits_now"));
}

TEST_F(RoomApi, CullingCandidatesAreThoseOfTheFlavor) {
    start_and_read_the_cloud();
    const auto candidates = [&](const std::string& query) {
        return get("/v1/culling_candidates?" + query);
    };
    const json by_flavor = candidates("flavor=m1.two");
    EXPECT_EQ(by_flavor.at("resources"), json({{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_EQ(by_flavor, candidates("resources=VCPU:2,MEMORY_MB:2048,DISK_GB:20"));
    EXPECT_EQ(candidates("flavor=id-two"), by_flavor);
    EXPECT_THAT(why(get("/v1/culling_candidates?flavor=huge", 404)), HasSubstr("'huge'"));
}

TEST_F(RoomApi, WhatTheCloudDoesNotHaveIsNoShortage) {
    cloud.no_projects = {"no-such"};
    start_and_read_the_cloud();
    EXPECT_THAT(why(room("flavor=huge", 404)), HasSubstr("there is no flavor 'huge'"));
    EXPECT_THAT(why(room("flavor=huge", 404)), HasSubstr("'m1.two'"));
    EXPECT_THAT(why(room("resources=VCPU:1&zone=mars", 404)), HasSubstr("'mars'"));
    EXPECT_THAT(why(room("resources=CUSTOM_X:1", 404)), HasSubstr("'CUSTOM_X'"));
    EXPECT_THAT(why(room("resources=VCPU:1&project=no-such", 404)), HasSubstr("project: "));
}

TEST_F(RoomApi, AWrongQuestionIsRefused) {
    start_and_read_the_cloud();
    for (const char* const query :
         {"", "flavor=a&resources=VCPU:1", "resources=vcpus", "resources=VCPU:1&count=0",
          "resources=VCPU:1&count=1x", "resources=VCPU:1&traits=low", "resources=VCPU:1&size=2",
          "flavor=m1.two&flavor=m1.two"})
        room(query, 400);
}

TEST_F(RoomApi, TraitsCount) {
    cloud.traits["h2"] = {Trait{"CUSTOM_GPU"}};
    start_and_read_the_cloud();
    EXPECT_EQ(room("flavor=m1.two&traits=CUSTOM_GPU=required").at("possible"), 3);
    EXPECT_EQ(room("flavor=m1.two&traits=CUSTOM_GPU=forbidden").at("fits_now"), 0);
    EXPECT_EQ(room("flavor=m1.two&traits=CUSTOM_GPU=forbidden").at("possible"), 4);
}

TEST_F(RoomApi, BeforeTheCloudIsReadThereIsNoAnswer) {
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (call != "servers") return std::nullopt;
        return Error{Errc::unreachable, "away"};
    };
    start();
    EXPECT_THAT(why(room("resources=VCPU:1", 503)), HasSubstr("not been read"));
}

TEST_F(RoomApi, NothingIsWrittenOrPromised) {
    start_and_read_the_cloud();
    room("flavor=m1.two&count=5");
    EXPECT_TRUE(journal.records.empty());
    EXPECT_TRUE(service().view()->ledger.empty());
    EXPECT_EQ(cloud.living("h1").size(), 4U);
}

TEST_F(RoomApi, AFlavorIsFoundByIdBeforeItsName) {
    Flavor other = flavor_of(4);
    other.name = "id-two";
    cloud.flavors.emplace("id-four", other);
    boost::asio::io_context io;
    const auto found = [&](const char* written) {
        return run_task(io, find_flavor(cloud, written)).value().found;
    };
    EXPECT_EQ(found("id-two")->vcpus, 2);
    EXPECT_EQ(found("id-four")->vcpus, 4);
    EXPECT_EQ(found("m1.two")->vcpus, 2);
    EXPECT_FALSE(found("M1.TWO"));
}

TEST_F(RoomApi, APlanTakesAFlavorToo) {
    start_and_read_the_cloud();
    const auto plan = [&](int expected, const std::string& body) {
        return answer(expected, "POST /v1/plan", "/v1/plan", body);
    };
    const json asked = plan(200, R"({"project": "regular", "flavor": "m1.two", "slots": 2})");
    EXPECT_EQ(asked.at("request").at("flavor"), "m1.two");
    EXPECT_EQ(asked.at("request").at("resources"),
              json({{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_EQ(asked.at("request").at("slots"), 2);
    EXPECT_EQ(asked.at("request").at("project"), "regular");
    EXPECT_THAT(why(plan(404, R"({"project": "regular", "flavor": "huge"})")),
                HasSubstr("flavor: there is no flavor 'huge'"));
    EXPECT_THAT(
        why(plan(400, R"({"project": "regular", "flavor": "m1.two", "resources": "VCPU=1"})")),
        HasSubstr("with a flavor"));
    EXPECT_THAT(why(plan(404, R"({"project": "regular", "flavor": "m1.two",
                                  "traits": ["CUSTOM_NOPE=required"]})")),
                HasSubstr("'CUSTOM_NOPE'"));
}

TEST_F(RoomApi, ARequestOfAFlavorFreesRoomForIt) {
    start_and_read_the_cloud();
    answer(404, "POST /v1/requests", "/v1/requests",
           R"({"project": "regular", "flavor": "huge", "id": "none"})");
    EXPECT_TRUE(journal.records.empty());
    const HttpResponse said = ask({"POST",
                                   "/v1/requests",
                                   {},
                                   R"({"project": "regular", "flavor": "m1.two", "slots": 5,
                                       "id": "mine"})"});
    EXPECT_EQ(said.status, 200);
    const Outcome outcome = outcome_of("mine");
    EXPECT_EQ(outcome.kind, OutcomeKind::freed) << outcome.reason;
    const Request& asked = journal.records.at(RequestId{"mine"}).request;
    EXPECT_EQ(asked.resources, (Resources{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}}));
    EXPECT_EQ(asked.slots, 5);
    EXPECT_EQ(asked.flavor, "m1.two") << "it is found by it";
}

}  // namespace
}  // namespace reaper::test::room_api_test
