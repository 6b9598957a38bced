#include "reaper/cloud/cache/cloud_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "core/cloud_builder.hpp"
#include "reaper/cloud/cache/estimate.hpp"
#include "reaper/request_spec/request_builder.hpp"
#include "tagging/taggers.hpp"

namespace reaper::live_picture_test {
namespace {

using namespace reaper::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

const Resources small{{"VCPU", 2}, {"MEMORY_MB", 2048}, {"DISK_GB", 20}};

Flavor flavor(Amount vcpus) {
    Flavor made;
    made.name = "m" + std::to_string(vcpus);
    made.vcpus = vcpus;
    made.memory_mb = vcpus * 1024;
    made.root_gb = vcpus * 10;
    return made;
}

ServerRecord record(const std::string& id, const std::string& on, Amount vcpus = 2,
                    const std::string& project = "cheap") {
    ServerRecord made;
    made.server.id = ServerId{id};
    made.server.host = on;
    made.server.project = ProjectId{project};
    made.server.status = "ACTIVE";
    made.flavor = flavor(vcpus);
    made.server.flavor_name = made.flavor.name;
    return made;
}

CloudEvent seen(const ServerRecord& what, long when) {
    return ServerSeen{what, what.server.host, at(when)};
}

CloudEvent gone(const std::string& id, const std::string& on, long when) {
    return ServerGone{ServerId{id}, on, at(when)};
}

/// What Placement and Nova tell of a host that holds exactly these servers.
HostReading reading(const std::string& host, long began, const std::vector<ServerRecord>& servers,
                    bool with_servers = true) {
    HostReading made;
    made.host = HostId{host};
    made.began = at(began);
    ProviderState state;
    for (const auto& [name, amount] : small * 4) state.inventories[name].total = amount;
    for (const auto& each : servers)
        state.allocations[each.server.id] =
            std::get<Resources>(resources_of(each.flavor, each.boot_from_volume));
    made.states[HostId{host}] = std::move(state);
    if (with_servers) made.servers = servers;
    return made;
}

class LivePictureTest : public ::testing::Test {
protected:
    LivePictureTest() {
        Taggers taggers;
        const auto* info = find_tagger("project");
        taggers.push_back(std::move(
            std::get<std::unique_ptr<Tagger>>(info->make(with_standards(info->parameters, {})))));
        taggers_ = std::make_shared<const Taggers>(std::move(taggers));
        tag_data_.projects_by_tag["preemptible"] = {ProjectId{"cheap"}};
        Snapshot snapshot;
        snapshot.taken_at = at(0);
        for (const char* name : {"a", "b"}) {
            snapshot.hosts.push_back(host(name, small * 4));
            snapshot.hosts.back().read_at = at(0);
        }
        cache.replace(std::move(snapshot), taggers_, tag_data_);
    }

    std::vector<std::string> on(const std::string& host) const {
        std::vector<std::string> ids;
        for (const auto& server : cache.find(HostId{host})->servers) ids.push_back(server.id.str());
        return ids;
    }
    Resources used(const std::string& host) const { return cache.find(HostId{host})->root().used; }

    std::shared_ptr<const Taggers> taggers_;
    TagData tag_data_;
    CloudCache cache;
};

TEST_F(LivePictureTest, ACreatedServerTakesItsRoomAndIsTagged) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    ASSERT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_EQ(used("a"), small);
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().revocable());
    cache.apply(seen(record("s2", "a", 4, "regular"), 2), at(2));
    EXPECT_EQ(used("a"), small * 3);
    EXPECT_FALSE(cache.find(HostId{"a"})->servers.back().revocable());
}

TEST_F(LivePictureTest, WhatPlacementListedAlreadyIsNotCountedAgain) {
    auto early = reading("a", 1, {record("s1", "a"), record("s2", "a")});
    early.servers = std::vector{record("s2", "a")};  // Nova does not list the other yet
    cache.apply(early);
    EXPECT_EQ(used("a"), small * 2);
    cache.apply(seen(record("s1", "a"), 2), at(2));
    EXPECT_THAT(on("a"), ElementsAre("s1", "s2"));
    EXPECT_EQ(used("a"), small * 2);
    EXPECT_THAT(cache.find(HostId{"a"})->root().other_consumers, IsEmpty());
    cache.apply(gone("s1", "a", 3), at(3));
    EXPECT_EQ(used("a"), small);
}

TEST_F(LivePictureTest, UseOfAnUnknownServerIsThatOfAServerWhichWasOnItsWay) {
    auto early = reading("a", 10, {record("s2", "a")});
    early.states.begin()->second.allocations[unread_consumers] = small;
    cache.apply(early);
    EXPECT_EQ(used("a"), small * 2);
    auto on_its_way = record("s1", "a");
    on_its_way.server.created = at(9);
    cache.apply(seen(on_its_way, 11), at(11));
    EXPECT_EQ(used("a"), small * 2);
    // One that was made later takes room of its own.
    auto later = record("s3", "a");
    later.server.created = at(60);
    cache.apply(seen(later, 61), at(61));
    EXPECT_EQ(used("a"), small * 3);
}

TEST_F(LivePictureTest, UseOfAnUnknownServerIsNotThatOfALaterServer) {
    auto early = reading("a", 10, {});
    early.states.begin()->second.allocations[unread_consumers] = small;
    cache.apply(early);
    auto later = record("s1", "a");
    later.server.created = at(60);
    cache.apply(seen(later, 61), at(61));
    EXPECT_EQ(used("a"), small * 2);
}

TEST_F(LivePictureTest, ARepeatedEventChangesNothing) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    cache.apply(seen(record("s1", "a"), 1), at(2));
    EXPECT_EQ(used("a"), small);
    cache.apply(gone("s1", "a", 3), at(3));
    cache.apply(gone("s1", "a", 3), at(4));
    EXPECT_EQ(used("a"), Resources{});
}

TEST_F(LivePictureTest, AServerThatIsGoneNeverComesBack) {
    cache.apply(gone("s1", "a", 5), at(5));
    cache.apply(seen(record("s1", "a"), 4), at(6));   // late
    cache.apply(seen(record("s1", "a"), 9), at(10));  // out of order
    EXPECT_THAT(on("a"), IsEmpty());
    // Nor by a list that was begun before.
    cache.apply(reading("a", 4, {record("s1", "a")}));
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
    cache.apply(reading("a", 11, {}));
    EXPECT_THAT(on("a"), IsEmpty());
}

TEST_F(LivePictureTest, AnOlderEventOfAServerCountsForNothing) {
    cache.apply(seen(record("s1", "b"), 10), at(10));
    cache.apply(seen(record("s1", "a"), 5), at(11));
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_THAT(on("b"), ElementsAre("s1"));
}

TEST_F(LivePictureTest, AMovedServerLeavesItsHost) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    cache.apply(seen(record("s1", "b"), 2), at(2));
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_EQ(used("a"), Resources{});
    EXPECT_EQ(used("b"), small);
}

TEST_F(LivePictureTest, AResizedServerTakesWhatItsNewFlavorSays) {
    cache.apply(seen(record("s1", "a", 2), 1), at(1));
    cache.apply(seen(record("s1", "a", 4), 2), at(2));
    EXPECT_EQ(used("a"), small * 2);
}

TEST_F(LivePictureTest, AnExactReadingCorrectsWhatEventsMissed) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    cache.apply(reading("a", 5, {record("s2", "a", 4)}));
    EXPECT_THAT(on("a"), ElementsAre("s2"));
    EXPECT_EQ(used("a"), small * 2);
    EXPECT_EQ(cache.find(HostId{"a"})->read_at, at(5));
}

/// As Nova reports that a resize is confirmed.
TEST_F(LivePictureTest, TheHostThatAMoveLeftIsReadAgain) {
    ServerSeen confirmed;
    confirmed.record = record("s1", "b");
    confirmed.reporter = "a";
    confirmed.at = at(6);
    cache.apply(confirmed, at(6));
    EXPECT_THAT(on("b"), ElementsAre("s1"));
    EXPECT_THAT(cache.due(9, at(9), at(0)), UnorderedElementsAre(HostId{"a"}, HostId{"b"}));
    EXPECT_TRUE(cache.changed_since_read(HostId{"a"}));
    cache.apply(reading("a", 7, {}));
    EXPECT_FALSE(cache.changed_since_read(HostId{"a"}));
}

TEST_F(LivePictureTest, AnEventDuringAReadingIsNewerThanTheReading) {
    cache.apply(seen(record("s1", "a"), 6), at(6));
    cache.apply(reading("a", 5, {}));  // its list does not have it yet
    EXPECT_THAT(on("a"), ElementsAre("s1"));
    // Nothing is known to be held: it is no victim until the host is read again.
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().allocations.empty());
    EXPECT_THAT(cache.due(1, at(9), at(0)), ElementsAre(HostId{"a"}));
}

TEST_F(LivePictureTest, WhoWentDuringAReadingIsOnItsWay) {
    cache.apply(reading("a", 1, {record("s1", "a")}));
    cache.apply(gone("s1", "a", 6), at(6));
    auto mixed = reading("a", 5, {record("s1", "a")});  // so Placement said before
    mixed.servers->clear();
    cache.apply(mixed);
    ASSERT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
    EXPECT_EQ(used("a"), small);
    EXPECT_THAT(cache.due(1, at(9), at(0)), ElementsAre(HostId{"a"}));
    mixed.began = at(8);  // not for long
    cache.apply(mixed);
    EXPECT_EQ(used("a"), small);
    EXPECT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
    mixed.began = at(6) + std::chrono::minutes{2};  // its deletion left the room behind
    cache.apply(mixed);
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_EQ(used("a"), small);
    EXPECT_EQ(cache.find(HostId{"a"})->root().other_consumers.size(), 1U);
}

TEST_F(LivePictureTest, WhoIsMarkedDeletedGoesWithHisRoom) {
    cache.apply(reading("a", 1, {record("s1", "a")}));
    auto deleted = record("s1", "a");
    deleted.server.status = "DELETED";
    cache.apply(seen(deleted, 6), at(6));  // Nova saves it before the room leaves Placement
    EXPECT_EQ(used("a"), Resources{});
    cache.apply(reading("a", 7, {deleted}));
    ASSERT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
    EXPECT_EQ(cache.find(HostId{"a"})->servers.front().resources(), small);
    EXPECT_EQ(used("a"), small);
    cache.apply(gone("s1", "a", 8), at(8));
    cache.apply(reading("a", 9, {}));
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_EQ(used("a"), Resources{});
}

TEST_F(LivePictureTest, RoomOfAServerWhoseDeletionBeginsIsHeldAndOnItsWay) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    ServerRecord going = record("s1", "a");
    going.server.task_state = "deleting";
    cache.apply(seen(going, 2), at(2));
    EXPECT_EQ(used("a"), small);
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
}

TEST_F(LivePictureTest, WhoVanishesWhileItsHostIsReadIsAskedForAndGoes) {
    cache.apply(reading("a", 1, {record("s1", "a"), record("s2", "a")}));
    auto mixed = reading("a", 5, {record("s1", "a"), record("s2", "a")});
    mixed.servers->erase(mixed.servers->begin());  // Nova's list came after Placement's answer
    EXPECT_THAT(cache.unlisted(mixed), ElementsAre(ServerId{"s1"}));
    mixed.gone.insert(ServerId{"s1"});
    cache.apply(mixed);
    ASSERT_THAT(on("a"), ElementsAre("s1", "s2"));
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().being_deleted());
    EXPECT_EQ(cache.find(HostId{"a"})->servers.front().project, ProjectId{"cheap"});
    EXPECT_THAT(cache.due(1, at(9), at(0)), ElementsAre(HostId{"a"})) << "to see its room go";
    mixed.gone.clear();
    mixed.began = at(6);
    EXPECT_THAT(cache.unlisted(mixed), IsEmpty());  // Nova said so
    cache.apply(reading("a", 7, {record("s2", "a")}));
    EXPECT_THAT(on("a"), ElementsAre("s2"));
}

TEST_F(LivePictureTest, WhoMovedWhileItsHostWasReadStaysUnknown) {
    cache.apply(reading("a", 1, {record("s1", "a")}));
    auto mixed = reading("a", 5, {record("s1", "a")});
    mixed.servers->clear();
    EXPECT_THAT(cache.unlisted(mixed), ElementsAre(ServerId{"s1"}));
    cache.apply(mixed);  // Nova knows it: it is no one's room to come
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_EQ(cache.find(HostId{"a"})->root().other_consumers.size(), 1U);
}

TEST_F(LivePictureTest, WhomNovaListedNoMoreGoesWithHisRoom) {
    auto mixed = reading("a", 5, {record("s1", "a")});
    mixed.servers->clear();
    cache.apply(mixed);
    EXPECT_EQ(used("a"), small);
    cache.apply(gone("s1", "a", 6), at(6));
    EXPECT_EQ(used("a"), Resources{});
    EXPECT_THAT(cache.due(1, at(9), at(0)), ElementsAre(HostId{"a"}));
}

TEST_F(LivePictureTest, AReadingOfTheRoomAloneCountsUnknownConsumersAsUsed) {
    cache.apply(reading("a", 5, {record("stranger", "a")}, false));
    EXPECT_THAT(on("a"), IsEmpty());
    EXPECT_EQ(used("a"), small);
    EXPECT_EQ(cache.find(HostId{"a"})->root().other_consumers.size(), 1U);
}

TEST_F(LivePictureTest, WhatTheReaperWroteItselfIsHeldAtOnce) {
    const ServerId consumer{"kept"};
    const Provider& root = cache.find(HostId{"a"})->root();
    cache.apply(reading("a", 1, {record("s1", "a")}));
    cache.set_holdings(HostId{"a"}, consumer, {{ProviderId{"a"}, small * 2}});
    EXPECT_EQ(used("a"), small * 3);
    EXPECT_EQ(root.other_consumers.at(consumer), small * 2);
    cache.set_holdings(HostId{"a"}, consumer, {{ProviderId{"a"}, small}, {ProviderId{"b"}, small}});
    EXPECT_EQ(used("a"), small * 2) << "of another provider it is not this host's";
    cache.set_holdings(HostId{"a"}, consumer, {});
    EXPECT_EQ(used("a"), small);
    EXPECT_THAT(root.other_consumers, IsEmpty());
    cache.set_holdings(HostId{"nowhere"}, consumer, {{ProviderId{"a"}, small}});
    EXPECT_EQ(used("a"), small);
}

TEST_F(LivePictureTest, AReadingThatCameLateChangesNothing) {
    cache.apply(reading("a", 9, {record("s1", "a")}));
    cache.apply(reading("a", 5, {}));
    EXPECT_THAT(on("a"), ElementsAre("s1"));
}

TEST_F(LivePictureTest, AReadingFromBeforeABulkReadingTakesNoTraitsBack) {
    Snapshot snapshot;
    snapshot.hosts.push_back(host("a", small * 4));
    snapshot.hosts.back().read_at = at(9);
    snapshot.hosts.back().providers.front().traits = {Trait{"CUSTOM_NEW"}};
    cache.replace(std::move(snapshot), taggers_, tag_data_);
    auto older = reading("a", 8, {});
    older.with_traits = true;
    older.states.begin()->second.traits = {Trait{"CUSTOM_OLD"}};
    cache.apply(older);
    const Provider& root = cache.find(HostId{"a"})->root();
    EXPECT_TRUE(root.traits.contains(Trait{"CUSTOM_NEW"}));
    EXPECT_FALSE(root.traits.contains(Trait{"CUSTOM_OLD"}));
    older.began = at(10);
    cache.apply(older);
    EXPECT_TRUE(root.traits.contains(Trait{"CUSTOM_OLD"}));
}

TEST_F(LivePictureTest, WhatOnlyAnOlderReadingAskedForIsKnownThoughItCameLate) {
    cache.apply(reading("a", 5, {record("s1", "a")}));
    auto older = reading("a", 4, {});
    older.with_traits = true;
    older.states.begin()->second.traits = {Trait{"CUSTOM_FAST"}};
    older.aggregates = {"uuid-of-east"};
    cache.apply(older);
    const Host& host = *cache.find(HostId{"a"});
    EXPECT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_TRUE(host.root().traits.contains(Trait{"CUSTOM_FAST"}));
    EXPECT_EQ(host.placement_aggregates, std::set<std::string>{"uuid-of-east"});
    older.began = at(3);
    older.aggregates->clear();
    cache.apply(older);
    EXPECT_EQ(host.placement_aggregates, std::set<std::string>{"uuid-of-east"});
}

TEST_F(LivePictureTest, ARestoreIsNewerThanTheListOfUnfinishedDeletions) {
    ServerRecord one = record("s1", "a");
    cache.apply(seen(one, 1), at(1));
    one.server.status = "SOFT_DELETED";
    const auto status = [&] { return cache.find(ServerId{"s1"})->status; };
    EXPECT_TRUE(cache.set_unfinished({one}, at(2)));
    EXPECT_EQ(status(), "SOFT_DELETED");
    cache.apply(seen(record("s1", "a"), 4), at(4));
    cache.set_unfinished({one}, at(3));
    EXPECT_EQ(status(), "ACTIVE");
    cache.apply(seen(one, 6), at(6));
    cache.set_unfinished({one}, at(5));
    EXPECT_TRUE(cache.find(ServerId{"s1"})->unfinished_deletion);
}

TEST_F(LivePictureTest, AServerOnAnUnknownHostMakesTheStructureDoubtful) {
    EXPECT_FALSE(cache.structure_stale());
    cache.apply(seen(record("s1", "new-host"), 1), at(1));
    EXPECT_TRUE(cache.structure_stale());
}

TEST_F(LivePictureTest, OtherProvidersMakeTheStructureDoubtful) {
    HostReading other = reading("a", 5, {});
    other.states[ProviderId{"a-nested"}] = {};
    EXPECT_FALSE(cache.apply(other));
    EXPECT_TRUE(cache.structure_stale());
}

TEST_F(LivePictureTest, ADisabledServiceIsSeenAtOnce) {
    ServiceSeen disabled;
    disabled.record.host = "a";
    disabled.record.enabled = false;
    disabled.record.disabled_reason = "new disks";
    cache.apply(disabled, at(3));
    EXPECT_FALSE(cache.find(HostId{"a"})->enabled);
    EXPECT_EQ(cache.find(HostId{"a"})->why_unavailable, "new disks");
}

TEST_F(LivePictureTest, AForcedDownHostStaysDownUntilItIsRead) {
    ServiceSeen down;
    down.record.host = "a";
    down.record.up = false;
    cache.apply(down, at(3));
    ServiceSeen up;
    up.record.host = "a";
    cache.apply(up, at(4));
    EXPECT_FALSE(cache.find(HostId{"a"})->up);
    HostReading read = reading("a", 5, {});
    read.service = ComputeServiceRecord{"a", "nova", true, true, ""};
    cache.apply(read);
    EXPECT_TRUE(cache.find(HostId{"a"})->up);
}

TEST_F(LivePictureTest, AReadingThatDidNotAskForAggregatesTakesNothingBack) {
    HostReading asked = reading("a", 5, {});
    asked.aggregates = std::set<std::string>{"aggregate-1"};
    cache.apply(asked);
    cache.apply(reading("a", 6, {}));
    EXPECT_EQ(cache.find(HostId{"a"})->placement_aggregates,
              (std::set<std::string>{"aggregate-1"}));
}

TEST_F(LivePictureTest, OtherAnswersAboutTagsRetagServers) {
    cache.apply(seen(record("s1", "a", 2, "late"), 1), at(1));
    EXPECT_FALSE(cache.find(HostId{"a"})->servers.front().revocable());
    tag_data_.projects_by_tag["preemptible"].insert(ProjectId{"late"});
    cache.retag(taggers_, tag_data_);
    EXPECT_TRUE(cache.find(HostId{"a"})->servers.front().revocable());
}

TEST_F(LivePictureTest, WhatIsDueComesInTheOrderOfItsUrgency) {
    cache.apply(reading("a", 1, {}));
    cache.apply(reading("b", 2, {}));
    EXPECT_THAT(cache.due(9, at(100), at(1)), IsEmpty());
    EXPECT_THAT(cache.due(9, at(100), at(3)), ElementsAre(HostId{"a"}, HostId{"b"}));
    cache.apply(seen(record("s1", "b"), 3), at(3));
    EXPECT_THAT(cache.due(9, at(2), at(0)), IsEmpty());  // not settled yet
    EXPECT_THAT(cache.due(9, at(3), at(3)), ElementsAre(HostId{"b"}, HostId{"a"}));
}

TEST_F(LivePictureTest, AHostThatIsErasedIsNoMorePlannedOn) {
    cache.apply(seen(record("s1", "a"), 1), at(1));
    cache.erase(HostId{"a"});
    EXPECT_EQ(cache.find(HostId{"a"}), nullptr);
    EXPECT_EQ(cache.index().size(), 1U);
    EXPECT_EQ(cache.ages().servers, 0U);
}

TEST_F(LivePictureTest, HypervisorsOfOneServiceKeepTheirOwnServers) {
    Snapshot snapshot;
    for (const char* name : {"a", "b"}) {
        snapshot.hosts.push_back(host(name, small * 4));
        snapshot.hosts.back().service_host = "ironic";
    }
    cache.replace(std::move(snapshot), taggers_, tag_data_);
    ServerRecord on_a = record("s1", "ironic");
    ServerRecord on_b = record("s2", "ironic");
    for (const char* name : {"a", "b"}) {
        // Nova tells the servers of the service, Placement those of the host.
        HostReading read = reading(name, 5, {name[0] == 'a' ? on_a : on_b});
        read.servers = {on_a, on_b};
        cache.apply(read);
    }
    EXPECT_THAT(on("a"), ElementsAre("s1"));
    EXPECT_THAT(on("b"), ElementsAre("s2"));
    EXPECT_EQ(used("a"), small);
    EXPECT_EQ(used("b"), small);
}

TEST_F(LivePictureTest, UnitLimitsOfAnExactReadingOutliveABulkReading) {
    HostReading exact = reading("a", 5, {});
    exact.states.begin()->second.inventories[ResourceClass{"VCPU"}] = {
        .total = 80, .allocation_ratio = 1.4, .max_unit = 4};
    cache.apply(exact);
    for (const Amount capacity : {112, 113}) {
        Snapshot snapshot;
        snapshot.taken_at = at(6);
        snapshot.hosts.push_back(host("a", {{"VCPU", capacity}}));
        snapshot.hosts.back().estimated = true;
        auto& bulk = snapshot.hosts.back().providers.front().inventories;
        bulk.at(ResourceClass{"VCPU"}).capacity_only = true;
        cache.replace(std::move(snapshot), taggers_, tag_data_);
        const auto& vcpu = cache.find(HostId{"a"})->root().inventories.at(ResourceClass{"VCPU"});
        EXPECT_EQ(vcpu.max_unit == 4, capacity == 112) << capacity;
        EXPECT_EQ(vcpu.capacity_only, capacity != 112) << capacity;
    }
}

TEST_F(LivePictureTest, AServiceWithoutAHostMakesTheStructureDoubtfulOnlyWhenItIsNew) {
    const ComputeServiceRecord a{"a", "nova", true, true, ""};
    const ComputeServiceRecord b{"b", "nova", true, true, ""};
    const ComputeServiceRecord empty{"ironic-without-nodes", "nova", true, true, ""};
    cache.set_services({a, b, empty});
    EXPECT_FALSE(cache.structure_stale());
    cache.apply(seen(record("s1", "ironic-without-nodes"), 1), at(1));
    EXPECT_FALSE(cache.structure_stale());
    const ComputeServiceRecord added{"c", "nova", true, true, ""};
    cache.set_services({a, b, empty, added});
    EXPECT_TRUE(cache.structure_stale());
}

TEST_F(LivePictureTest, AnEventOutOfOrderStillHasItsHostReadAgain) {
    cache.apply(seen(record("s1", "b"), 10), at(10));
    cache.apply(reading("b", 11, {record("s1", "b")}));
    EXPECT_THAT(cache.due(9, at(99), at(0)), IsEmpty());
    cache.apply(seen(record("s1", "a"), 5), at(12));
    EXPECT_THAT(cache.due(9, at(99), at(0)), ElementsAre(HostId{"b"}));
}

TEST_F(LivePictureTest, TellsWhatServersMostOftenHold) {
    for (const char* id : {"s1", "s2"}) cache.apply(seen(record(id, "a", 2), 1), at(1));
    cache.apply(seen(record("s3", "b", 4), 1), at(1));
    EXPECT_THAT(cache.common_shapes(5), ElementsAre(small, small * 2));
    EXPECT_THAT(cache.common_shapes(1), ElementsAre(small));
}

/// Whatever happens to the order and number of events, an exact reading afterwards makes the
/// cache the truth again, and the use is always the sum of what is held.
TEST_F(LivePictureTest, AnyMixOfEventsAndReadingsEndsInTheTruth) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::mt19937 rng{seed};
        const auto roll = [&](int sides) { return static_cast<int>(rng() % unsigned(sides)); };
        CloudCache live;
        Snapshot snapshot;
        for (const char* name : {"a", "b"}) snapshot.hosts.push_back(host(name, small * 4));
        live.replace(std::move(snapshot), taggers_, tag_data_);
        long now = 1;
        for (int step = 0; step < 60; ++step, ++now) {
            const std::string id = "s" + std::to_string(roll(6));
            const std::string place = roll(2) == 0 ? "a" : "b";
            const long sent = now - roll(20);
            if (roll(4) == 0)
                live.apply(gone(id, place, sent), at(now));
            else
                live.apply(seen(record(id, place, 2 * (1 + roll(2))), sent), at(now));
        }
        const std::vector<ServerRecord> truth{record("t1", "a"), record("t2", "a", 4)};
        live.apply(reading("a", now + 1, truth));
        live.apply(reading("b", now + 1, {}));
        const Host& a = *live.find(HostId{"a"});
        ASSERT_EQ(a.servers.size(), 2U) << "seed " << seed;
        EXPECT_EQ(a.root().used, small * 3) << "seed " << seed;
        EXPECT_THAT(a.root().other_consumers, IsEmpty());
        EXPECT_EQ(live.find(HostId{"b"})->root().used, Resources{}) << "seed " << seed;
        EXPECT_EQ(live.ages().servers, 2U) << "seed " << seed;
    }
}

// ---- the estimate of bulk answers ----

CloudRecords bulk_records() {
    CloudRecords made;
    const ProviderId root{"root"};
    const ProviderId nested{"nested"};
    made.providers = {{root, "a", {}, root}, {nested, "a-gpu", root, root}};
    made.hypervisors = {{root, "a", "a", "QEMU"}};
    made.services = {{"a", "nova", true, true, ""}};
    made.servers = {record("s1", "a")};
    made.servers.front().flavor.extra_specs["resources:CUSTOM_GPU"] = "1";
    return made;
}

std::vector<ProviderSummary> bulk_summaries() {
    ProviderSummary root{ProviderId{"root"}, {}, ProviderId{"root"}, small * 4, small * 2, {}};
    ProviderSummary nested{ProviderId{"nested"},         ProviderId{"root"},
                           ProviderId{"root"},           Resources{{"CUSTOM_GPU", 2}},
                           Resources{{"CUSTOM_GPU", 1}}, {Trait{"CUSTOM_FAST"}}};
    return {root, nested};
}

TEST(Estimate, GivesEachServerWhatItsFlavorSaysAndKeepsTheUseThatPlacementTold) {
    auto records = bulk_records();
    EXPECT_THAT(estimate_states(records, bulk_summaries()), IsEmpty());
    const auto snapshot = assemble(records, {}, {}, at(0));
    ASSERT_EQ(snapshot.hosts.size(), 1U);
    const Host& a = snapshot.hosts.front();
    EXPECT_EQ(a.root().used, small * 2);
    EXPECT_EQ(a.root().inventories.at(ResourceClass{"VCPU"}).capacity(), 8);
    EXPECT_TRUE(a.root().inventories.at(ResourceClass{"VCPU"}).capacity_only);
    ASSERT_EQ(a.servers.size(), 1U);
    EXPECT_EQ(a.servers.front().allocations.at(ProviderId{"root"}), small);
    EXPECT_EQ(a.servers.front().allocations.at(ProviderId{"nested"}),
              (Resources{{"CUSTOM_GPU", 1}}));
    EXPECT_EQ(a.root().other_consumers.at(unread_consumers), small);
    EXPECT_TRUE(a.providers.back().other_consumers.empty());
    EXPECT_TRUE(a.providers.back().traits.contains(Trait{"CUSTOM_FAST"}));
}

/// Who holds the class is known by it: where it is reserved to the last unit, as for freed room
/// that is held, no server stops being revocable.
TEST(Estimate, WhatIsReservedToTheLastUnitIsStillHeld) {
    auto records = bulk_records();
    auto summaries = bulk_summaries();
    summaries.back().capacity = {};
    EXPECT_THAT(estimate_states(records, summaries), IsEmpty());
    const auto snapshot = assemble(records, {}, {}, at(0));
    const Host& a = snapshot.hosts.front();
    EXPECT_EQ(a.servers.front().allocations.at(ProviderId{"nested"}),
              (Resources{{"CUSTOM_GPU", 1}}));
    EXPECT_TRUE(a.providers.back().other_consumers.empty());
}

TEST(Estimate, AHostWithoutASummaryMustBeReadExactly) {
    auto records = bulk_records();
    EXPECT_THAT(estimate_states(records, {}), ElementsAre(HostId{"root"}));
}

TEST(Estimate, AHostOfWhichAProviderIsMissingMustBeReadExactly) {
    auto records = bulk_records();
    auto summaries = bulk_summaries();
    summaries.pop_back();
    EXPECT_THAT(estimate_states(records, summaries), ElementsAre(HostId{"root"}));
}

TEST(Estimate, HypervisorsOfOneServiceMustBeReadExactly) {
    auto records = bulk_records();
    records.hypervisors.push_back({HostId{"other"}, "other", "a", "ironic"});
    EXPECT_EQ(estimate_states(records, bulk_summaries()).size(), 2U);
}

TEST(Estimate, BareMetalMustBeReadExactly) {
    auto records = bulk_records();
    records.hypervisors[0].type = "ironic";
    EXPECT_THAT(estimate_states(records, bulk_summaries()),
                ::testing::Contains(records.hypervisors[0].id));
}

}  // namespace
}  // namespace reaper::live_picture_test
