// The gateway: nova-scheduler finds no host, room is freed while it waits, and it finds one.
#include <gmock/gmock.h>
#include <list>
#include <nlohmann/json.hpp>

#include "app/full_house.hpp"
#include "fakes/fake_search.hpp"

namespace reaper::test::gateway_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string two_cpus =
    "/placement/allocation_candidates?limit=1000&"
    "resources=DISK_GB%3A20%2CMEMORY_MB%3A2048%2CVCPU%3A2&"
    "root_required=%21COMPUTE_STATUS_DISABLED";

class GatewayTest : public FullHouse {
protected:
    /// A server that nova-scheduler looks for a host for.
    ServerId booting(const std::string& id, const std::string& project = "regular",
                     const std::string& reservation = "", int vcpus = 2) {
        requester(id, project, vcpus);
        ServerRecord& record = cloud.server_at(uuid_of(id)).record;
        record.server.status = "BUILD";
        record.server.task_state = "scheduling";
        record.fault.reset();
        record.reservation = reservation.empty() ? "r-" + id : reservation;
        return record.server.id;
    }
    FakeSearch& search(const std::string& request, const std::string& target = two_cpus) {
        FakeSearch& made = searches_.emplace_back(cloud);
        made.begin(io(), service().gateway(),
                   HttpRequest{"GET", target, {{"x-openstack-request-id", request}}});
        return made;
    }
    /// The claim of a server on a host.
    FakeSearch& claim(const std::string& request, const ServerId& server,
                      const std::string& provider, int vcpus = 2) {
        const json amounts = {
            {"VCPU", vcpus}, {"MEMORY_MB", vcpus * 1024}, {"DISK_GB", vcpus * 10}};
        const json body = {{"allocations", {{provider, {{"resources", amounts}}}}}};
        HttpRequest put{"PUT",
                        "/allocations/" + server.str(),
                        {{"X-Openstack-Request-Id", request}},
                        body.dump()};
        FakeSearch& made = searches_.emplace_back(cloud);
        EXPECT_TRUE(service().gateway()->wants(put.method, put.target));
        made.begin(io(), service().gateway(), std::move(put));
        return made;
    }
    int claimed(FakeSearch& made) {
        run_until([&] { return made.done(); });
        return made.answered;
    }
    /// Its hosts, when it has its answer.
    std::vector<std::string> found(FakeSearch& made) {
        run_until([&] { return made.done(); });
        std::vector<std::string> hosts;
        const json answer = json::parse(made.body.value_or("{}"));
        for (const auto& way : answer.value("allocation_requests", json::array()))
            for (const auto& [provider, amounts] : way["allocations"].items())
                hosts.push_back(provider);
        for (const auto& host : hosts)
            EXPECT_TRUE(answer["provider_summaries"].contains(host)) << answer.dump();
        EXPECT_EQ(answer.value("provider_summaries", json::object()).size(), hosts.size());
        return hosts;
    }
    std::vector<std::string> search_for(const std::string& request,
                                        const std::string& target = two_cpus) {
        return found(search(request, target));
    }

private:
    std::list<FakeSearch> searches_;
};

TEST_F(GatewayTest, RoomIsFreedWhileTheSchedulerWaits) {
    full_host();
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.source, RequestSource::gateway);
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, WhereThereIsRoomNobodyIsAskedAnything) {
    cloud.add_host("host1", small * 200);
    booting("new");
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_FALSE(made.own);
    EXPECT_EQ(made.asked.size(), 1U);
    EXPECT_EQ(cloud.count("servers in"), 0U);
}

TEST_F(GatewayTest, ARevocableRequesterCausesNoCull) {
    full_host();
    booting("new", "spot");
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_FALSE(made.own);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayTest, TheMessageOfTheSameRequestCausesNoSecondCull) {
    full_host();
    cloud.deletion_takes = std::chrono::seconds{30};
    settings.gateway.deadline = std::chrono::seconds{5};
    booting("requester-1");
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    requester();  // it is in ERROR now
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed) << "for its second try";
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, NorDoesItUnderAnotherId) {
    full_host();
    cloud.deletion_takes = std::chrono::seconds{30};
    settings.gateway.deadline = std::chrono::seconds{5};
    booting("requester-1");
    start();
    // To Placement, Nova names a request as its user did.
    EXPECT_THAT(search_for("req-of-the-user"), IsEmpty());
    requester();
    NovaFailure message = failure();
    message.global_id = "req-of-the-user";
    messages->deliver(body_of(message));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("as req-of-the-user"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, RoomThatNovaWasToldOfAndRefusedIsWasted) {
    full_host();
    booting("requester-1");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    requester();  // a filter of Nova's keeps it off
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(1); });
    run_until([&] { return record("req-1").freed_room.has_value(); });
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::wasted);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, WhenPlacementFailsItsAnswerPasses) {
    full_host();
    booting("new");
    start();
    FakeSearch& made = search("req-1");
    made.status = 503;
    run_until([&] { return made.done(); });
    EXPECT_EQ(made.body, "{}");
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayTest, ASearchThatNobodyWaitsForPasses) {
    full_host();
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayTest, WhereAClaimMayBeAnybodysItTellsWhoAsks) {
    full_host();
    const ServerId server = booting("new");
    const ServerId other = booting("other", "spot");
    start();
    FakeSearch& first = search("req-1");
    FakeSearch& second = search("req-2");
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_THAT(found(second), ElementsAre("rp-host1"));
    EXPECT_TRUE(first.own);
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "for an offer nobody dies";
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(claimed(claim("req-1", other, "rp-host1")), 409) << "there is no room";
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(claimed(claim("req-2", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_THAT(record("req-2").request.requesters, ElementsAre(server));
    EXPECT_FALSE(journal.records.contains(RequestId{"req-1"}));
}

TEST_F(GatewayTest, AnOfferIsForAllServersOfARequest) {
    full_host();
    const ServerId one = booting("n1", "regular", "r-many");
    const ServerId two = booting("n2", "regular", "r-many");
    booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(record("req-1").request.slots, 2);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayTest, WhereAllWhoMayAskAreRevocableNothingIsOffered) {
    full_host();
    booting("a", "spot");
    booting("b", "spot", "", 2);
    cloud.server_at(uuid_of("b")).record.server.metadata = {{"res-type", "~revocable"}};
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_FALSE(made.own);
}

TEST_F(GatewayTest, AClaimThatComesTooLateIsHelped) {
    full_host();
    cloud.remove("host1a");
    const ServerId server = booting("new");
    const ServerId other = booting("other", "spot");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-2", other, "rp-host1")), 204) << "the last place";
    EXPECT_TRUE(journal.records.empty());
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    const ServerId more = booting("more", "spot");
    EXPECT_EQ(claimed(claim("req-2", more, "rp-host1")), 409) << "a revocable one's is not";
}

TEST_F(GatewayTest, AClaimOfPromisedRoomIsRefused) {
    full_host();
    const ServerId server = booting("new");
    const ServerId late = booting("late", "spot", "", 4);  // whose search was answered before
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(cloud.living("host1").front());  // there is room for one more
    const ServerId small_one = booting("small", "spot");
    EXPECT_EQ(claimed(claim("req-2", late, "rp-host1", 4)), 409);
    EXPECT_EQ(claimed(claim("req-3", small_one, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-4", booting("more", "spot"), "rp-host1")), 409);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
}

TEST_F(GatewayTest, TheOtherOneGoesOnAndThenItIsCertain) {
    full_host();
    const ServerId server = booting("new");
    booting("other", "spot");
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("servers in BUILD") == 1U; });
    cloud.remove(uuid_of("other"));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_THAT(record("req-1").request.requesters, ElementsAre(server));
}

TEST_F(GatewayTest, WhoIsKnownToAskForAnotherIsNotTakenForIt) {
    full_host();
    booting("new", "spot");
    start();
    FakeSearch& first = search("req-1");
    run_until([&] { return first.done() || journal.records.contains(RequestId{"req-1"}); });
    const ServerId second = booting("later");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_THAT(record("req-2").request.requesters, ElementsAre(second));
}

TEST_F(GatewayTest, AllServersOfOneRequestGetTheirPlaces) {
    full_host();
    cloud.remove("host1a");  // one place is there already
    for (const char* id : {"n1", "n2", "n3"}) booting(id, "regular", "r-many");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(record("req-1").request.slots, 3);
    EXPECT_EQ(cloud.living("host1").size(), 1U);
}

TEST_F(GatewayTest, WhereAllOfThemFindPlacesNobodyDies) {
    cloud.add_host("host1", small * 4);
    for (const char* id : {"n1", "n2", "n3"}) booting(id, "regular", "r-many");
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_EQ(made.asked.size(), 1U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayTest, FreedRoomIsNoCandidateOfAnybodyElse) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("spot-1", "spot");
    FakeSearch& other = search("req-2");
    EXPECT_THAT(found(other), IsEmpty());
    EXPECT_TRUE(other.own);
    // Nor of another regular one, who gets room of its own.
    cloud.remove(uuid_of("spot-1"));
    booting("regular-2");
    EXPECT_THAT(search_for("req-3"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.living("host1").size(), 2U);
    // Its own it finds again and again.
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
}

TEST_F(GatewayTest, ASecondTryGetsTheRoomOfTheFirst) {
    full_host();
    booting("requester-1");
    cloud.deletion_takes = std::chrono::seconds{10};
    settings.gateway.deadline = std::chrono::seconds{5};
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    requester();  // too late: it is in ERROR
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    booting("again");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(record("req-1").freed_room->kind, FreedRoomResultKind::handed_over);
}

TEST_F(GatewayTest, WhatItsServerTookIsPromisedNoMore) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    boots(uuid_of("new"), "host1");
    cloud.remove("host1d");
    booting("spot-1", "spot");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
}

TEST_F(GatewayTest, TwoClaimsAtOnceTakeNoPromisedRoomTogether) {
    full_host();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.remove(cloud.living("host1").front());  // there is room for one more
    FakeSearch& one = claim("req-2", booting("spot-1", "spot"), "rp-host1");
    FakeSearch& two = claim("req-3", booting("spot-2", "spot"), "rp-host1");
    EXPECT_EQ(claimed(one) + claimed(two), 204 + 409);
}

TEST_F(GatewayTest, AForcedHostIsTheOneWhereRoomIsFreed) {
    full_host("host1");
    full_host("host2");
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus + "&in_tree=rp-host2"), ElementsAre("rp-host2"));
    EXPECT_EQ(cloud.living("host1").size(), 4U);
    EXPECT_EQ(cloud.living("host2").size(), 3U);
}

TEST_F(GatewayTest, AnOperationOnAServerIsKnownByItsAction) {
    full_host("host1");
    cloud.add_host("host0", small);
    FakeServer& moved = cloud.add_server(uuid_of("moved"), "host0", "regular", small);
    moved.record.flavor = flavor_of(2);
    moved.record.server.status = "MIGRATING";
    moved.record.server.task_state = "migrating";
    ActionRecord action;
    action.name = "live-migration";
    action.request = RequestId{"req-m"};
    cloud.recorded_actions["req-m"] = action;
    start();
    EXPECT_THAT(search_for("req-m"), ElementsAre("rp-host1"));
    EXPECT_EQ(record("req-m").request.operation, Operation::live_migrate);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, AResizeIsToTheFlavorThatTheSearchFits) {
    full_host("host1");
    cloud.add_host("host0", small);
    FakeServer& resized = cloud.add_server(uuid_of("resized"), "host0", "regular", small);
    resized.record.flavor = flavor_of(2);
    resized.record.server.status = "RESIZE";
    resized.record.server.task_state = "resize_prep";
    ActionRecord action;
    action.name = "resize";
    action.request = RequestId{"req-r"};
    cloud.recorded_actions["req-r"] = action;
    cloud.flavors = {{"f2", flavor_of(2)}, {"f4", flavor_of(4)}, {"f8", flavor_of(8)}};
    start();
    const std::string target = "/allocation_candidates?resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4";
    EXPECT_THAT(search_for("req-r", target), ElementsAre("rp-host1"));
    EXPECT_EQ(record("req-r").request.resources, (small + small));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayTest, AnImpossibleRequestIsAnsweredAtOnce) {
    full_host();
    booting("new", "regular", "", 16);
    start();
    const auto began = clock.now();
    EXPECT_THAT(search_for("req-1",
                           "/allocation_candidates?"
                           "resources=DISK_GB:160,MEMORY_MB:16384,VCPU:16"),
                IsEmpty());
    EXPECT_LT(clock.now() - began, std::chrono::seconds{2});
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::not_enough);
}

TEST_F(GatewayTest, AtItsDeadlineItGetsPlacementsOwnAnswer) {
    full_host();
    cloud.deletion_takes = std::chrono::minutes{2};
    settings.gateway.deadline = std::chrono::seconds{10};
    booting("new");
    start();
    const auto began = clock.now();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_GE(clock.now() - began, std::chrono::seconds{10});
    EXPECT_LT(clock.now() - began, std::chrono::seconds{12});
}

TEST_F(GatewayTest, OneWhoLeavesStopsWhatCanBeStopped) {
    full_host();
    booting("new");
    start();
    FakeSearch* made = nullptr;
    before("server host1", [&] { made->leave(); });
    made = &search("req-1");
    run_until([&] { return made->done(); });
    const TimePoint until = clock.now() + std::chrono::minutes{1};
    run_until([&] { return clock.now() > until; });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("nova-scheduler waits"));
}

TEST_F(GatewayTest, PausedItPassesEverythingThrough) {
    full_host();
    booting("new");
    start();
    pause.why = "paused by somebody: maintenance";
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayTest, ItTellsHowItIs) {
    full_host();
    booting("new");
    start();
    const auto state = [&] {
        FakeSearch& made = search("", "/placement/reaper-gateway");
        run_until([&] { return made.done(); });
        EXPECT_TRUE(made.own);
        return std::pair{made.answered, json::parse(*made.body)};
    };
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    auto [said, told] = state();
    EXPECT_EQ(said, 200);
    EXPECT_EQ(told["served"], 1);
    EXPECT_EQ(told["searches"], 1);
    EXPECT_TRUE(told["last_search_s"].is_number());
    EXPECT_TRUE(told["passes_through"].is_null());
    pause.why = "paused by somebody: maintenance";
    std::tie(said, told) = state();
    EXPECT_EQ(said, 503);
    EXPECT_THAT(told["passes_through"].get<std::string>(), HasSubstr("maintenance"));
}

TEST_F(GatewayTest, AReaperThatStandsByPassesEverythingThrough) {
    full_host();
    booting("new");
    start();
    messages->serves = false;
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayTest, BeyondItsNumberSearchesPass) {
    full_host();
    settings.gateway.max_held = 1;
    cloud.deletion_takes = std::chrono::seconds{10};
    booting("new");
    start();
    FakeSearch& first = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1U; });
    booting("more", "regular", "", 4);
    EXPECT_THAT(search_for("req-2",
                           "/allocation_candidates?"
                           "resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4"),
                IsEmpty());
    EXPECT_FALSE(first.done());
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, WhenNothingHasAnOutcomeInTimeItPassesForAWhile) {
    full_host();
    journal.fails = [](const std::string&) { return true; };
    settings.gateway.deadline = std::chrono::seconds{5};
    start();
    for (int i = 1; i <= 3; ++i) {
        const std::string name = "new-" + std::to_string(i);
        booting(name);
        EXPECT_THAT(search_for("req-" + std::to_string(i)), IsEmpty());
        cloud.remove(uuid_of(name));
    }
    booting("late");
    const auto began = clock.now();
    EXPECT_THAT(search_for("req-4"), IsEmpty());
    EXPECT_LT(clock.now() - began, std::chrono::seconds{1});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayTest, OfSeveralThatAreAlikeEachGetsItsOwn) {
    full_host();
    for (const char* id : {"n1", "n2", "n3"}) booting(id);
    start();
    FakeSearch& first = search("req-1");
    FakeSearch& second = search("req-2");
    FakeSearch& third = search("req-3");
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_THAT(found(second), ElementsAre("rp-host1"));
    EXPECT_THAT(found(third), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 3U);
}

}  // namespace
}  // namespace reaper::test::gateway_test
