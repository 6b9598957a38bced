// The gateway and res-type: searches that say by a trait which kind of room they admit.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "app/gateway_house.hpp"

namespace reaper::test::gateway_kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string prefix = "CUSTOM_RES_TYPE_";

/// Nova's query for a flavor with such a trait.
std::string two_cpus_that(const std::string& admit) {
    return two_cpus + "&required=" + prefix + admit;
}

class GatewayKinds : public GatewayHouse {
protected:
    void SetUp() override { settings.policy.scheduler.res_type_traits = true; }

    /// A server whose flavor has the trait.
    ServerId booting_that(const std::string& admit, const std::string& project = "regular",
                          const std::string& name = "new") {
        const ServerId id = booting(name, project);
        cloud.server_at(uuid_of(name)).record.flavor.extra_specs["trait:" + prefix + admit] =
            "required";
        return id;
    }
    /// Oversubscribed CPU, and a reaper that knows its class.
    void oversold_host(const std::string& name, Amount vcpus) {
        cloud.classes.insert("CUSTOM_REVOCABLE_VCPU");
        settings.policy.taggers.push_back(
            {"resource", {{"class", std::string{"CUSTOM_REVOCABLE_VCPU"}}}});
        Resources capacity = small * 4;
        capacity.set(ResourceClass{"CUSTOM_REVOCABLE_VCPU"}, vcpus);
        cloud.add_host(name, capacity);
        cloud.add_server(name + "-web", name, "regular", Resources{{"VCPU", 8}});
    }
    /// What the only candidate takes.
    static nlohmann::json taken(const FakeSearch& made) {
        const auto answer = nlohmann::json::parse(made.body.value());
        return answer["allocation_requests"][0]["allocations"].front()["resources"];
    }
};

const nlohmann::json two_oversold{
    {"CUSTOM_REVOCABLE_VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

TEST_F(GatewayKinds, TheTraitIsTakenOutAndRegularRoomFreed) {
    full_host();
    booting_that("REGULAR");
    start();
    FakeSearch& made = search("req-1", two_cpus_that("REGULAR"));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
    for (const auto& target : made.asked) EXPECT_THAT(target, Not(HasSubstr(prefix)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_THAT(record("req-1").request.phases_because, HasSubstr(prefix + "REGULAR=required"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, RegularFirstCullsBeforeItTakesRevocableRoom) {
    full_host();
    oversold_host("host2", 4);
    booting_that("PREFER_REGULAR");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("PREFER_REGULAR")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, WhereNothingCanBeFreedRegularFirstGetsRevocableRoom) {
    oversold_host("host2", 4);
    booting_that("PREFER_REGULAR");
    start();
    FakeSearch& made = search("req-1", two_cpus_that("PREFER_REGULAR"));
    EXPECT_THAT(found(made), ElementsAre("rp-host2"));
    EXPECT_EQ(taken(made), two_oversold);
    FakeSearch& state = search("", "/reaper-gateway");
    run_until([&] { return state.done(); });
    EXPECT_EQ(nlohmann::json::parse(*state.body)["revocable"], 1);
}

TEST_F(GatewayKinds, RevocableFirstCullsOnlyWithoutRevocableRoom) {
    full_host();
    oversold_host("host2", 4);
    booting_that("PREFER_REVOCABLE");
    start();
    FakeSearch& made = search("req-1", two_cpus_that("PREFER_REVOCABLE"));
    EXPECT_THAT(found(made), ElementsAre("rp-host2"));
    EXPECT_EQ(taken(made), two_oversold);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.add_server("tenant", "host2", "spot", Resources{{"CUSTOM_REVOCABLE_VCPU", 3}});
    booting_that("PREFER_REVOCABLE", "regular", "second");
    EXPECT_THAT(search_for("req-2", two_cpus_that("PREFER_REVOCABLE")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, RevocableAloneNeverCullsAndTakesNoRegularRoom) {
    full_host();
    cloud.add_host("empty", small * 4);
    oversold_host("host2", 1);
    booting_that("REVOCABLE");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REVOCABLE")), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayKinds, SeveralServersGetTheirRoomOfOneKind) {
    full_host();
    oversold_host("host2", 2);
    booting_that("PREFER_REVOCABLE");
    const ServerId other = booting("other", "regular", "r-new");
    cloud.server_at(other.str()).record.flavor = cloud.server_at(uuid_of("new")).record.flavor;
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("PREFER_REVOCABLE")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 2U);
}

TEST_F(GatewayKinds, TheServersOwnWordGoesBeforeItsFlavors) {
    full_host();
    oversold_host("host2", 4);
    booting_that("PREFER_REVOCABLE");
    cloud.server_at(uuid_of("new")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "regular"}};
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("PREFER_REVOCABLE")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, WithoutATraitItsWordCountsWhereThereIsNoRoom) {
    oversold_host("host2", 4);
    booting("new");
    cloud.server_at(uuid_of("new")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "~regular"}};
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), ElementsAre("rp-host2"));
    EXPECT_EQ(taken(made), two_oversold);
}

TEST_F(GatewayKinds, WhoAdmitsNoRoomIsRefusedThoughThereIsSome) {
    for (int i = 0; i < 3; ++i) cloud.add_host("free-" + std::to_string(i), small * 8);
    booting("new");
    cloud.server_at(uuid_of("new")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "!=re*"}};
    start();
    FakeSearch& made = search("req-1");
    EXPECT_THAT(found(made), IsEmpty());
    EXPECT_EQ(made.answered, 200) << "Nova finds no valid host";
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayKinds, AFlavorMayAdmitNoRoomToo) {
    cloud.add_host("free", small * 8);
    const ServerId server = booting("new");
    cloud.server_at(server.str()).record.flavor.extra_specs["reaper:res_type"] = "=nothing";
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
}

TEST_F(GatewayKinds, WhoSaysNothingHasTheRoomThatThereIs) {
    cloud.add_host("free", small * 8);
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), Not(IsEmpty()));
}

TEST_F(GatewayKinds, WhoAdmitsNoRoomIsRefusedWhateverItsFlavorsTraitSays) {
    cloud.add_host("free", small * 4);
    booting_that("REGULAR");
    cloud.server_at(uuid_of("new")).record.server.metadata =
        std::map<std::string, std::string>{{"res-type", "!=re*"}};
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), IsEmpty());
}

TEST_F(GatewayKinds, WithoutACertainRequesterHostsAreOfferedInTheEnd) {
    full_host();
    oversold_host("host2", 1);
    const ServerId server = booting_that("ANY");
    booting_that("ANY", "spot", "other");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("ANY")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, ARequesterWithoutTheTraitIsNotTheOneThatSearches) {
    full_host();
    booting_that("REGULAR");
    booting("plain", "spot");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "the requester is certain";
}

TEST_F(GatewayKinds, ARevocableRequesterDeletesNoServerForAnyKind) {
    full_host();
    booting_that("ANY", "spot");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("ANY")), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayKinds, WithoutARevocableClassRoomIsRevocableByItsServer) {
    cloud.add_host("empty", small * 4);
    booting_that("REVOCABLE", "spot");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REVOCABLE")), ElementsAre("rp-empty"));
    booting_that("REVOCABLE", "regular", "other");
    EXPECT_THAT(search_for("req-2", two_cpus_that("REVOCABLE")), IsEmpty());
}

TEST_F(GatewayKinds, AHostOfOneKindOffersItselfForThatAlone) {
    cloud.add_host("plain", small * 4);
    cloud.add_host("spare", small * 4);
    cloud.traits["spare"] = {revocable_trait};
    booting_that("REGULAR");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), ElementsAre("rp-plain"));
}

TEST_F(GatewayKinds, AHostWithAllTraitsIsForAllThoughAnotherIsNot) {
    full_host();
    cloud.traits["host1"] = {regular_trait, revocable_trait};
    cloud.add_host("spare", small * 4);
    cloud.traits["spare"] = {revocable_trait};
    booting_that("REGULAR");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, NoServerIsDeletedOnAHostThatIsNotForTheRequester) {
    full_host();
    cloud.traits["host1"] = {revocable_trait};
    booting_that("REGULAR");
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(GatewayKinds, TheTraitIsRemovedEvenIfNoRequestCanBeHelped) {
    full_host();
    cloud.add_host("empty", small * 4);
    booting_that("REGULAR");
    start();
    pause.why = "maintenance";
    EXPECT_THAT(search_for("req-1", two_cpus_that("REGULAR")), ElementsAre("rp-empty"));
    EXPECT_THAT(search_for("", two_cpus_that("PREFER_REVOCABLE")), ElementsAre("rp-empty"));
    EXPECT_THAT(search_for("req-2", two_cpus_that("REVOCABLE")), ElementsAre("rp-empty"));
}

TEST_F(GatewayKinds, PlacesOfOneKindStayThoughThereAreNoneOfTheOther) {
    cloud.add_host("empty", small * 4);
    oversold_host("host2", 1);
    booting_that("ANY", "spot");
    ServerRecord& record = cloud.server_at(uuid_of("new")).record;
    record.groups = {"g-1"};
    cloud.groups["g-1"] = ServerGroup{"g-1", "g", "anti-affinity", 1, {record.server.id}};
    start();
    EXPECT_THAT(search_for("req-1", two_cpus_that("ANY")), ElementsAre("rp-empty"));
}

TEST_F(GatewayKinds, AMoveOutOfRevocableRoomDeletesNoServer) {
    full_host();
    oversold_host("host2", 4);
    const std::string id = uuid_of("mover");
    cloud.add_server(id, "host2", "regular", Resources{{"CUSTOM_REVOCABLE_VCPU", 2}});
    ServerRecord& record = cloud.server_at(id).record;
    record.flavor = flavor_of(2);
    record.flavor.extra_specs["trait:" + prefix + "PREFER_REGULAR"] = "required";
    record.server.status = "MIGRATING";
    record.server.task_state = "migrating";
    ActionRecord action;
    action.name = "live-migration";
    action.request = RequestId{"req-1"};
    cloud.recorded_actions["req-1"] = action;
    start();
    search_for("req-1", two_cpus_that("PREFER_REGULAR"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    // As nova-conductor leaves it: its migration holds the room.
    FakeServer& mover = cloud.server_at(id);
    mover.resources = {};
    Consumer migration;
    migration.holds[HostId{"rp-host2"}] = Resources{{"CUSTOM_REVOCABLE_VCPU", 2}};
    cloud.consumers[ServerId{uuid_of("migration")}] = migration;
    action.request = RequestId{"req-2"};
    cloud.recorded_actions["req-2"] = action;
    search_for("req-2", two_cpus_that("PREFER_REGULAR"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    // So it is where Nova names its migrations.
    cloud.migrations[ServerId{id}] = {ServerId{uuid_of("migration")}};
    action.request = RequestId{"req-3"};
    cloud.recorded_actions["req-3"] = action;
    search_for("req-3", two_cpus_that("PREFER_REGULAR"));
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

/// As a resize that its user never confirms.
TEST_F(GatewayKinds, WhatAnotherServerLeftBehindMakesNoMoverRevocable) {
    full_host();
    oversold_host("host2", 4);
    const std::string id = uuid_of("mover");
    ServerRecord& record = cloud.add_server(id, "host2", "regular", Resources{}).record;
    record.flavor = flavor_of(2);
    record.server.status = "MIGRATING";
    record.server.task_state = "migrating";
    Consumer own;
    own.holds[HostId{"rp-host2"}] = Resources{{"MEMORY_MB", 2048}};
    Consumer left;
    left.holds[HostId{"rp-host2"}] = Resources{{"CUSTOM_REVOCABLE_VCPU", 2}};
    cloud.consumers[ServerId{uuid_of("migration")}] = own;
    cloud.consumers[ServerId{uuid_of("resized")}] = left;
    cloud.migrations[ServerId{id}] = {ServerId{uuid_of("migration")}};
    ActionRecord action;
    action.name = "live-migration";
    action.request = RequestId{"req-1"};
    cloud.recorded_actions["req-1"] = action;
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(GatewayKinds, ContradictingTraitsAreRefused) {
    full_host();
    booting_that("REGULAR");
    cloud.server_at(uuid_of("new")).record.flavor.extra_specs["trait:" + prefix + "REVOCABLE"] =
        "required";
    start();
    const std::string both = two_cpus_that("REGULAR") + "," + prefix + "REVOCABLE";
    EXPECT_THAT(search_for("req-1", both), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    cloud.add_host("empty", small * 4);
    EXPECT_THAT(search_for("req-2", both), IsEmpty()) << "though there is room";
    const std::string none = two_cpus + "&required=!" + prefix + "REGULAR,!" + prefix + "REVOCABLE";
    EXPECT_THAT(search_for("req-3", none), IsEmpty());
}

TEST_F(GatewayKinds, WhatPlacementRefusesPassesAsItIs) {
    oversold_host("host2", 4);
    booting_that("PREFER_REVOCABLE");
    start();
    FakeSearch& made = search("req-1", two_cpus_that("PREFER_REVOCABLE"));
    made.status = 503;
    run_until([&] { return made.done(); });
    EXPECT_EQ(made.answered, 503);
    FakeSearch& refused = search("req-2", two_cpus_that("REVOCABLE"));
    refused.status = 400;
    run_until([&] { return refused.done(); });
    EXPECT_EQ(refused.answered, 400);
}

TEST_F(GatewayKinds, TheServerIsLabelledAsWhatItGot) {
    oversold_host("host2", 4);
    const ServerId server = booting_that("PREFER_REVOCABLE");
    start();
    search_for("req-1", two_cpus_that("PREFER_REVOCABLE"));
    HttpRequest put{
        "PUT",
        "/allocations/" + server.str(),
        {{"X-Openstack-Request-Id", "req-1"}},
        nlohmann::json{{"allocations", {{"rp-host2", {{"resources", two_oversold}}}}}}.dump()};
    FakeSearch claim{cloud};
    EXPECT_TRUE(service().gateway()->wants(put.method, put.target));
    claim.begin(io(), service().gateway(), std::move(put));
    run_until([&] { return claim.done(); });
    EXPECT_EQ(claim.answered, 204);
    ServerRecord& record = cloud.server_at(server.str()).record;
    record.server.status = "ACTIVE";
    record.server.task_state = "";
    run_until([&] { return cloud.count("MARK " + server.str()) > 0; });
    EXPECT_EQ(cloud.server_at(server.str()).record.server.metadata.get().at("res-type"),
              "revocable");
}

}  // namespace
}  // namespace reaper::test::gateway_kinds_test
