// The gateway: nova-scheduler finds no host, room is freed while it waits, and it finds one.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GatewayTest : public GatewayHouse {
protected:
    /// Where Placement fails from then on.
    int answer_after_the_cull(int error) {
        full_host();
        booting("new");
        start();
        FakeSearch& made = search("req-1");
        run_until([&] { return cloud.count("DELETE") == 1; });
        made.status = error;
        return claimed(made);
    }
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

TEST_F(GatewayTest, WhereThereIsRoomNoOtherServiceIsAsked) {
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
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "its room is on its way";
    requester();  // it is in ERROR now
    messages->deliver(body_of(failure()));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed) << "for its second try";
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, TheMessageOfARequestThatCouldNotBeDecidedInTimeIsServed) {
    full_host();
    settings.gateway.deadline = std::chrono::seconds{5};
    booting("requester-1");
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("projects")) return std::nullopt;
        return Error{Errc::unreachable, "keystone: no answer"};
    };
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    requester();  // it is in ERROR now
    messages->deliver(body_of(failure()));
    run_until([&] { return record("req-1").outcome.has_value(); });
    EXPECT_EQ(record("req-1").outcome->kind, OutcomeKind::failed);
    cloud.on_call = {};
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.source, RequestSource::nova_failure);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, TheMessageOfARequestWhoseSchedulerLeftIsServed) {
    full_host();
    booting("requester-1");
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::server_error, "nova: 503"};
    };
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") > 0; });
    made.leave();
    requester();  // it is in ERROR now
    messages->deliver(body_of(failure()));
    run_until([&] { return record("req-1").outcome.has_value(); });
    EXPECT_EQ(record("req-1").request.source, RequestSource::gateway);
    cloud.on_call = {};
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.source, RequestSource::nova_failure);
}

TEST_F(GatewayTest, TheMessageOfARequestOfAFormerProcessIsServed) {
    full_host();
    booting("requester-1");
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE")) return std::nullopt;
        return Error{Errc::server_error, "nova: 503"};
    };
    search("req-1");
    run_until([&] { return cloud.count("DELETE") > 0; });
    crash();
    start();
    requester();  // it is in ERROR now
    messages->deliver(body_of(failure()));
    run_until([&] { return record("req-1").outcome.has_value(); });
    EXPECT_EQ(record("req-1").request.source, RequestSource::gateway);
    cloud.on_call = {};
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(record("req-1").request.source, RequestSource::nova_failure);
}

TEST_F(GatewayTest, NorDoesItUnderAnotherId) {
    full_host();
    cloud.deletion_takes = std::chrono::seconds{30};
    settings.gateway.deadline = std::chrono::seconds{5};
    booting("requester-1");
    start();
    // To Placement, Nova names a request as its user did.
    EXPECT_THAT(search_for("req-of-the-user"), ElementsAre("rp-host1"));
    requester();
    NovaFailure message = failure();
    message.global_id = "req-of-the-user";
    messages->deliver(body_of(message));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("as req-of-the-user"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

/// What takes longer than nova-scheduler waits is for Nova's message of the failure.
class OnlyASearch : public GatewayHouse, public ::testing::WithParamInterface<std::string> {};

TEST_P(OnlyASearch, WhatHasNoticeGoesForTheFailureMessage) {
    settings.policy.notice.period = std::chrono::minutes{2};
    full_host();
    booting("requester-1");
    start();
    const std::string call = GetParam();
    EXPECT_THAT(search_for(call), IsEmpty());
    EXPECT_EQ(outcome_of(call).kind, OutcomeKind::not_enough);
    requester();
    NovaFailure message = failure();
    message.global_id = call;
    messages->deliver(body_of(message));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Ids, OnlyASearch, ::testing::Values("req-1", "req-of-the-user"));

TEST_F(GatewayTest, TheSecondRequestOfAUsersIdCausesNoSecondCullEither) {
    full_host();
    booting("requester-1");
    start();
    EXPECT_THAT(search_for("req-of-the-user"), ElementsAre("rp-host1"));
    const std::string second = "req-of-the-user~2";
    auto known = record("req-of-the-user");
    known.request.id = RequestId{second};
    journal.records[RequestId{second}] = known;
    journal.records[RequestId{"req-of-the-user"}].request.requesters = {ServerId{"another"}};
    requester();
    NovaFailure message = failure();
    message.global_id = "req-of-the-user";
    messages->deliver(body_of(message));
    run_until([&] { return all_acknowledged(1); });
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("as " + second));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, RoomThatNovaRefusesIsWasted) {
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

TEST_F(GatewayTest, WhereItFailsAfterTheCullItIsAskedAgain) {
    full_host();
    booting("new");
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1; });
    made.status = 503;
    const std::size_t before = made.asked.size();
    run_until([&] { return made.asked.size() > before + 2; });
    EXPECT_FALSE(made.done());
    made.status = 200;
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
}

TEST_F(GatewayTest, IfThatGoesOnItsFailureIsTheAnswer) {
    EXPECT_EQ(answer_after_the_cull(503), 503) << "no candidates would be no valid host";
}

TEST_F(GatewayTest, SoIsItAtOnceWhereItRefusesTheToken) {
    const TimePoint began = clock.now();
    EXPECT_EQ(answer_after_the_cull(401), 401) << "its client gets another one";
    EXPECT_LT(clock.now() - began, std::chrono::seconds{10});
}

TEST_F(GatewayTest, ACallerWithARefusedTokenGetsTheRefusalOnly) {
    full_host();
    booting("new");
    start();
    for (const int refused : {401, 403}) {
        FakeSearch& made = search("req-1");
        made.status = refused;
        run_until([&] { return made.done(); });
        EXPECT_EQ(made.answered, refused);
        EXPECT_EQ(made.body, "{}");
        EXPECT_FALSE(made.own);
        EXPECT_EQ(made.asked.size(), 1U);
    }
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.count("servers in"), 0U);
    EXPECT_TRUE(journal.records.empty());
}

TEST_F(GatewayTest, WherePlacementFailedAndRoomIsThereNoServerIsDeletedForTheMessageEither) {
    full_host();
    cloud.add_host("empty", small * 4);
    booting("requester-1");
    start();
    FakeSearch& made = search("req-1");
    made.status = 503;
    run_until([&] { return made.done(); });
    EXPECT_EQ(made.answered, 503);
    requester();  // to nova-scheduler that was NoValidHost
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::already_there);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayTest, PlacesOnHostsThatAreDownAreNone) {
    full_host();
    cloud.add_host("dead", small * 100);
    ComputeServiceRecord& service = cloud.services["dead"];
    service.host = "dead";
    service.enabled = true;
    service.up = false;
    booting("new");
    start();
    pass(std::chrono::seconds{5});
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayTest, ASearchOfWhichNovaListsNoServerIsOfferedHosts) {
    full_host();
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_TRUE(journal.records.empty());
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

TEST_F(GatewayTest, WhereAllOfThemFindPlacesNoServerIsDeleted) {
    cloud.add_host("host1", small * 4);
    for (const char* id : {"n1", "n2", "n3"}) booting(id, "regular", "r-many");
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_EQ(made.asked.size(), 1U);
    EXPECT_TRUE(journal.records.empty());
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

TEST_F(GatewayTest, ALikeBootTakesNoRoomOfAServerThatNovaMoves) {
    full_host("host1");
    cloud.add_host("host0", small);
    FakeServer& moves = cloud.add_server(uuid_of("moves"), "host0", "regular", small);
    moves.record.flavor = flavor_of(2);
    moves.record.server.status = "RESIZE";
    moves.record.server.task_state = "resize_prep";
    ActionRecord action;
    action.name = "migrate";
    action.request = RequestId{"req-m"};
    cloud.recorded_actions["req-m"] = action;
    cloud.histories[moves.record.server.id] = {action};
    cloud.deletion_takes = std::chrono::seconds{3};
    start();
    FakeSearch& first = search("req-m");
    run_until([&] { return cloud.count("DELETE") == 1; });
    booting("new");
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_THAT(found(first), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayTest, ABootIsNotTakenForAServerThatIsMovedWithAGlobalId) {
    full_host("host1");
    cloud.add_host("host0", small);
    const ServerId moves{uuid_of("moves")};
    ServerRecord& shown = cloud.add_server(moves.str(), "host0", "regular", small).record;
    shown.flavor = flavor_of(2);
    shown.server.status = "REBUILD";
    shown.server.task_state = "rebuilding";
    ActionRecord action;
    action.name = "evacuate";
    action.request = RequestId{"req-local"};
    action.started = clock.now();
    cloud.recorded_actions["req-local"] = action;
    cloud.histories[moves] = {action};
    booting("new");
    start();
    EXPECT_THAT(search_for("req-global"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "an offer deletes no server";
    EXPECT_EQ(claimed(claim("req-global", moves, "rp-host1")), 204);
    EXPECT_THAT(record("req-global").request.requesters, ElementsAre(moves));
}

TEST_F(GatewayTest, AServerThatIsRebuiltInPlaceOrHangsDelaysNoBoot) {
    full_host("host1");
    cloud.add_host("host0", small);
    const ServerId stays{uuid_of("stays")};
    ServerRecord& shown = cloud.add_server(stays.str(), "host0", "regular", small).record;
    shown.flavor = flavor_of(2);
    shown.server.status = "REBUILD";
    shown.server.task_state = "rebuilding";
    ActionRecord action;
    action.name = "rebuild";
    action.started = clock.now();
    cloud.histories[stays] = {action};
    const ServerId one = booting("one");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    cloud.server_at(one.str()).record.server.task_state = "spawning";
    cloud.histories[stays].front().name = "evacuate";
    cloud.histories[stays].front().started = clock.now() - std::chrono::hours{1};
    booting("two");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
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

TEST_F(GatewayTest, AtItsDeadlineTheAnswerHasRoomThatIsComing) {
    full_host();
    cloud.deletion_takes = std::chrono::minutes{2};
    settings.gateway.deadline = std::chrono::seconds{10};
    booting("new");
    start();
    const auto began = clock.now();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_GE(clock.now() - began, std::chrono::seconds{10});
    EXPECT_LT(clock.now() - began, std::chrono::seconds{12});
}

TEST_F(GatewayTest, WhatIsNotProvenWaitsForTheFirstPart) {
    settings.policy.safeguards.project_breaker.unproven = 1;
    with_events = true;
    full_host();
    const ServerId first = booting("first");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("second");
    FakeSearch& waits = search("req-2");
    pass(std::chrono::seconds{1});
    EXPECT_FALSE(waits.done());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(claimed(claim("req-1", first, "rp-host1")), 204);
    ServerSeen boots;
    boots.record = cloud.server_at(first.str()).record;
    boots.record.server.host = "host1";
    boots.at = clock.now();
    events->tell(boots);
    EXPECT_THAT(found(waits), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayTest, WhatIsNotProvenInItsTimeGetsNothing) {
    settings.policy.safeguards.project_breaker.unproven = 1;
    full_host();
    booting("first");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    booting("second");
    EXPECT_THAT(search_for("req-2"), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(outcome_of("req-2").safeguard, "unproven");
}

TEST_F(GatewayTest, OneWhoLeavesStopsWhatCanBeStopped) {
    full_host();
    booting("new");
    start();
    FakeSearch* made = nullptr;
    before("server host1", [&] { made->leave(); });
    made = &search("req-1");
    run_until([&] { return made->done(); });
    pass(std::chrono::minutes{1});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(outcome_of("req-1").reason, HasSubstr("nova-scheduler waits"));
}

TEST_F(GatewayTest, PausedItPassesEverythingThrough) {
    full_host();
    booting("new");
    start();
    pause.why = "paused by alice: maintenance";
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
    search_for("");  // not nova-scheduler: it names its request
    std::tie(said, told) = state();
    EXPECT_EQ(told["searches"], 1);
    EXPECT_TRUE(told["last_search_s"].is_number());
    EXPECT_TRUE(told["passes_through"].is_null());
    pause.why = "paused by alice: maintenance";
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

TEST_F(GatewayTest, WhoIsLookedForTakesNoPlaceOfThoseThatWaitForRoom) {
    full_host();
    cloud.lists_take = std::chrono::milliseconds{100};
    start();
    std::vector<FakeSearch*> revocable;
    for (int i = 1; i <= settings.gateway.max_held; ++i) {
        booting("spot-" + std::to_string(i), "spot");
        revocable.push_back(&search("req-s" + std::to_string(i)));
    }
    run_until([&] { return cloud.count("servers in") > 0; });
    const ServerId server = booting("new", "regular", "", 4);
    const TimePoint began = clock.now();
    FakeSearch& made = search("req-1",
                              "/allocation_candidates?"
                              "resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4");
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1", 4)), 204);
    EXPECT_LT(clock.now() - began, settings.gateway.deadline);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    for (FakeSearch* const each : revocable) EXPECT_THAT(found(*each), IsEmpty());
}

TEST_F(GatewayTest, OfThoseThatAreLookedForAtOnceSoManyWait) {
    full_host();
    settings.gateway.max_held = 1;
    cloud.lists_take = std::chrono::milliseconds{100};
    cloud.deletion_takes = std::chrono::seconds{5};
    booting("new");
    booting("more", "regular", "", 4);
    start();
    FakeSearch& first = search("req-1");
    FakeSearch& second = search("req-2",
                                "/allocation_candidates?"
                                "resources=DISK_GB:40,MEMORY_MB:4096,VCPU:4");
    EXPECT_EQ(found(first).size() + found(second).size(), 1U);
    EXPECT_EQ(journal.records.size(), 1U);
}

TEST_F(GatewayTest, BeyondTheNumberOfLooksSearchesPass) {
    full_host();
    cloud.lists_take = std::chrono::minutes{1};
    start();
    booting("new");
    std::vector<FakeSearch*> looked;
    for (int i = 1; i <= 48; ++i) looked.push_back(&search("req-" + std::to_string(i)));
    run_until([&] { return cloud.count("servers in") > 0; });
    const TimePoint began = clock.now();
    EXPECT_THAT(search_for("req-more"), IsEmpty());
    EXPECT_LT(clock.now() - began, std::chrono::seconds{1});
    for (FakeSearch* const each : looked) EXPECT_FALSE(each->done());
    for (FakeSearch* const each : looked) EXPECT_THAT(found(*each), ElementsAre("rp-host1"));
    EXPECT_LT(clock.now() - began, std::chrono::seconds{2}) << "the claim identifies the requester";
}

TEST_F(GatewayTest, HostsOntoWhichNothingHasAnOutcomeInTimeArePassedOver) {
    full_host("host1");
    full_host("host2");
    for (const char* victim : {"host1a", "host1b", "host1c", "host1d", "host2a", "host2b"})
        cloud.slow[ServerId{victim}] = std::chrono::minutes{2};
    settings.gateway.deadline = std::chrono::seconds{5};
    start();
    // Three onto each host; then nothing is waited for on either.
    for (int i = 1; i <= 6; ++i) {
        const std::string name = "new-" + std::to_string(i);
        booting(name);
        search_for("req-" + std::to_string(i));
        cloud.remove(uuid_of(name));
    }
    booting("late");
    const auto began = clock.now();
    EXPECT_THAT(search_for("req-7"), IsEmpty());
    EXPECT_LT(clock.now() - began, std::chrono::seconds{1});
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(service().gateway()->line(), HasSubstr("3 requests in a row"));
}

TEST_F(GatewayTest, OfSeveralThatAreAlikeEachGetsItsOwn) {
    full_host();
    std::map<std::string, ServerId> asking;
    for (const char* n : {"1", "2", "3"}) asking.emplace("req-" + std::string{n}, booting(n));
    start();
    for (const auto& [request, server] : asking)
        EXPECT_THAT(search_for(request), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "the claims tell";
    std::vector<FakeSearch*> claims;
    for (const auto& [request, server] : asking)
        claims.push_back(&claim(request, server, "rp-host1"));
    for (FakeSearch* const each : claims) EXPECT_EQ(claimed(*each), 204);
    EXPECT_EQ(cloud.count("DELETE"), 3U);
    for (const auto& [request, server] : asking)
        EXPECT_THAT(record(request).request.requesters, ElementsAre(server));
}

}  // namespace
}  // namespace reaper::test::gateway_test
