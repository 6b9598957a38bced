// Room that is kept in Placement from its victim to its requester: no other server gets it in
// between, and nothing stays behind.
#include <gmock/gmock.h>

#include "app/gateway_house.hpp"
#include "reaper/model/escrow_consumer.hpp"
#include "support/log_capture.hpp"

namespace reaper::test::escrow_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const ResourceClass vcpu{"VCPU"};
const Resources tiny{{"VCPU", 1}, {"MEMORY_MB", 1024}, {"DISK_GB", 10}};

class EscrowTest : public GatewayHouse {
protected:
    EscrowTest() {
        settings.cull.watch = minutes{5};
        settings.gateway.listen = "127.0.0.1:8780";
        // A client that bypasses the gateway may look at any time.
        watch_free_room();
    }
    /// A host full of revocable servers, with ids as Nova gives them.
    void full_of(const std::vector<std::string>& names, int vcpus = 2) {
        const Resources each{{"VCPU", vcpus}, {"MEMORY_MB", vcpus * 1024}, {"DISK_GB", vcpus * 10}};
        cloud.add_host("host1", each * static_cast<Amount>(names.size()));
        for (const auto& name : names) cloud.add_server(uuid_of(name), "host1", "spot", each);
    }
    void watch_free_room() {
        cloud.on_call = [this](const std::string&) -> std::optional<Error> {
            if (!cloud.host_names().empty())
                most_free_ = std::max(most_free_, cloud.free_on("host1").get(vcpu));
            return std::nullopt;
        };
    }
    Amount most_free() const { return most_free_; }
    /// Answers such calls with an error.
    void fail(const std::string& call_prefix, Errc code) {
        cloud.on_call = [call_prefix, code](const std::string& call) -> std::optional<Error> {
            if (!call.starts_with(call_prefix)) return std::nullopt;
            return Error{code, "placement: it is so"};
        };
    }
    void nothing_kept() {
        run_until([&] { return cloud.consumers.empty(); });
    }
    Amount held_by(const std::string& name) {
        return cloud.server_at(uuid_of(name)).resources.get(vcpu);
    }
    /// A consumer as a reaper makes it.
    Consumer escrow_consumer(Amount vcpus = 2) const {
        Consumer made;
        made.holds[HostId{"rp-host1"}] = small * (vcpus / 2);
        made.generation = 1;
        made.project = "openstack-reaper";
        made.user = "alice";
        made.type = "RESERVATION";
        return made;
    }
    static ServerId escrow_consumer_id(const std::string& name) {
        return *escrow_consumer_of(ServerId{uuid_of(name)});
    }

private:
    Amount most_free_ = 0;
};

TEST_F(EscrowTest, ItChangesHandsAndIsNeverFree) {
    full_of({"a", "b"});
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_THAT(cloud.consumers, SizeIs(1));
    EXPECT_EQ(cloud.consumers.begin()->second.type, "RESERVATION");
    EXPECT_EQ(cloud.consumers.begin()->second.user, "alice") << "as its server's";
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_THAT(cloud.consumers, IsEmpty());
    EXPECT_EQ(held_by("new"), 2);
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(EscrowTest, SoItIsForSeveralServersOfARequest) {
    full_of({"a", "b", "c"});
    const ServerId one = booting("one", "regular", "r-both");
    const ServerId two = booting("two", "regular", "r-both");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, OneVictimsRoomMayBeForTwoServers) {
    full_of({"a"}, 4);
    const ServerId one = booting("one", "regular", "r-both");
    const ServerId two = booting("two", "regular", "r-both");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(cloud.consumers.begin()->second.holds.begin()->second.get(vcpu), 2);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, AClassThatItsServersDoNotClaimIsNotInTheWayWhereItIsClosed) {
    full_of({"a"}, 4);
    const ProviderId slots{"rp-slots"};
    const ResourceClass preemptible{"CUSTOM_PREEMPTIBLE"};
    cloud.nested[slots] = {"slots", HostId{"rp-host1"}, {{preemptible, Inventory{1}}}};
    cloud.server_at(uuid_of("a")).also[slots].set(preemptible, 1);
    const ServerId one = booting("one", "regular", "r-both");
    const ServerId two = booting("two", "regular", "r-both");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.consumers.begin()->second.holds.count(slots), 1U);
    cloud.nested[slots].inventories[preemptible].reserved = 1;  // for another request
    EXPECT_EQ(claimed(claim("req-1", one, "rp-host1")), 204);
    EXPECT_EQ(cloud.consumers.begin()->second.holds.count(slots), 0U);
    EXPECT_EQ(claimed(claim("req-1", two, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, WhereAClassOfAVictimIsClosedItIsFreedAsBefore) {
    full_of({"a"});
    const ProviderId slots{"rp-slots"};
    const ResourceClass preemptible{"CUSTOM_PREEMPTIBLE"};
    cloud.nested[slots] = {"slots", HostId{"rp-host1"}, {{preemptible, Inventory{1}}}};
    cloud.nested[slots].inventories[preemptible].min_unit = 2;
    cloud.server_at(uuid_of("a")).also[slots].set(preemptible, 1);
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("holdings"), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, WhatItsServerDoesNotNeedIsReleased) {
    full_of({"large"}, 8);
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    nothing_kept();
    EXPECT_EQ(cloud.free_on("host1").get(vcpu), 6);
}

TEST_F(EscrowTest, IfAVictimChangedSinceTheLastLookItStays) {
    full_of({"a"});
    booting("new");
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("holdings")) cloud.server_at(uuid_of("a")).resources = tiny;
        return std::nullopt;
    };
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    EXPECT_EQ(cloud.count("holdings"), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(cloud.server_at(uuid_of("a")).resources, tiny);
}

TEST_F(EscrowTest, IfItsConsumerChangedAndNotWhatItHoldsItIsReadAgain) {
    full_of({"a"});
    booting("new");
    int refusals = 1;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("holdings") || refusals-- <= 0) return std::nullopt;
        return Error{Errc::conflict, "placement: another generation"};
    };
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("holdings"), 2U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_THAT(cloud.consumers, SizeIs(1));
}

TEST_F(EscrowTest, IfItChangedSinceItWasReadTheClaimReadsItAgain) {
    full_of({"a"});
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    cloud.consumers.at(escrow_consumer_id("a")).generation = 7;
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

/// Of ids as Placement and Nova have them; the request takes two victims' room.
class FreeRoomTest : public EscrowTest {
protected:
    FreeRoomTest() {
        query.replace(query.find("VCPU%3A2"), 8, "VCPU%3A4");
        query.replace(query.find("MEMORY_MB%3A2048"), 16, "MEMORY_MB%3A4096");
        query.replace(query.find("DISK_GB%3A20"), 12, "DISK_GB%3A40");
    }
    void full_of_these(const std::vector<std::string>& names) {
        full_of(names);
        cloud.set_provider("host1", host);
        for (const auto& name : names) cloud.server_at(uuid_of(name)).provider = HostId{host};
        server = booting("new", "regular", "", 4);
    }
    /// Half of it is free.
    void half_free() {
        full_of_these({"a", "b"});
        cloud.remove(uuid_of("b"));
    }
    const std::string host = "11111111-1111-4111-8111-111111111111";
    const std::string request = "req-22222222-2222-4222-8222-222222222222";
    std::string query = two_cpus;
    ServerId server;
};

TEST_F(FreeRoomTest, ItIsTakenBeforeAnyServerIsDeleted) {
    half_free();
    start();
    bool taken = false;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) taken = cloud.free_on("host1").get(vcpu) == 0;
        return std::nullopt;
    };
    EXPECT_THAT(search_for(request, query), ElementsAre(host));
    EXPECT_TRUE(taken);
    EXPECT_EQ(cloud.free_on("host1").get(vcpu), 0);
    EXPECT_EQ(claimed(claim(request, server, host, 4)), 204);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(FreeRoomTest, IfAnotherServerWasFasterNoServerIsDeleted) {
    half_free();
    start();
    before("holdings", [&] { cloud.add_server(uuid_of("fast"), "host1", "regular", small); });
    EXPECT_THAT(search_for(request, query), IsEmpty());
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(FreeRoomTest, ItIsNotTakenWhileAClaimOfTheHostHasNoAnswer) {
    half_free();
    const ServerId spot = booting("other", "spot");
    cloud.server_at(spot.str()).record.server.task_state = "networking";
    start();
    FakeSearch& other = claim("req-1", spot, host);
    other.hangs = true;
    run_until([&] { return !other.asked.empty(); });
    bool both = false;
    before("holdings", [&] { both = other.hangs; });
    FakeSearch& made = search(request, query);
    run_until([&] { return journal.records.contains(RequestId{request}); });
    const auto began = clock.steady();
    run_until([&] { return both || clock.steady() > began + seconds{1}; });
    other.hangs = false;
    EXPECT_EQ(claimed(other), 204);
    run_until([&] { return made.done(); });
    EXPECT_FALSE(both) << "Placement may let both have the same room";
}

TEST_F(FreeRoomTest, WhatIsKeptForItAlreadyIsNotTakenTwice) {
    full_of_these({"a", "b", "c"});
    start();
    int deletions = 0;  // the second one is refused, and another victim is taken
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("DELETE") || ++deletions != 2) return std::nullopt;
        return Error{Errc::rejected, "nova: not now"};
    };
    EXPECT_THAT(search_for(request, query), ElementsAre(host));
    EXPECT_EQ(deletions, 3);
    EXPECT_EQ(claimed(claim(request, server, host, 4)), 204);
    EXPECT_EQ(outcome_of(request).kind, OutcomeKind::freed);
}

/// Of NUMA memory and devices Placement knows nothing: its host gives them back then.
TEST_F(EscrowTest, WhileItsVictimIsDeletedAndNotForgottenItIsNotThere) {
    full_of({"a"});
    booting("new");
    cloud.server_at(uuid_of("new")).record.flavor.extra_specs["hw:mem_page_size"] = "large";
    cloud.ignore_deletes = true;
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1; });
    cloud.server_at(uuid_of("a")).record.server.status = "DELETED";
    pass(seconds{5});
    EXPECT_FALSE(made.done());
    cloud.remove(uuid_of("a"));
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
}

TEST_F(EscrowTest, ForWhoNeedsNoneOfThatItIsThereAtOnce) {
    full_of({"a"});
    booting("new");
    cloud.ignore_deletes = true;
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1; });
    cloud.server_at(uuid_of("a")).record.server.status = "DELETED";
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
}

TEST_F(EscrowTest, UnlessItsHostFailsMeanwhile) {
    full_of({"a"});
    booting("new");
    cloud.server_at(uuid_of("new")).record.flavor.extra_specs["hw:mem_page_size"] = "large";
    cloud.ignore_deletes = true;
    start();
    FakeSearch& made = search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1; });
    cloud.server_at(uuid_of("a")).record.server.status = "DELETED";
    pass(seconds{20});
    EXPECT_TRUE(made.done());
    EXPECT_THAT(found(made), ElementsAre("rp-host1"));
}

TEST_F(EscrowTest, WhatIsNotClaimedIsReleased) {
    settings.cull.promise = seconds{30};
    full_of({"a"});
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_THAT(cloud.consumers, SizeIs(1));
    nothing_kept();
    EXPECT_EQ(cloud.free_on("host1").get(vcpu), 2);
}

TEST_F(EscrowTest, AServerThatIsNotDeletedHasItBack) {
    full_of({"a"});
    booting("new");
    cloud.conflict_on_delete = true;
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    nothing_kept();
    EXPECT_EQ(held_by("a"), 2);
    EXPECT_GE(cloud.count("holdings"), 2U);
    EXPECT_EQ(most_free(), 0);
}

TEST_F(EscrowTest, WhereAnotherClientDeletedItTheLogSaysWhatToDo) {
    const LogCapture log;
    full_of({"a"});
    booting("new");
    cloud.conflict_on_delete = true;
    cloud.on_call = [this](const std::string& call) -> std::optional<Error> {
        if (call.starts_with("DELETE")) cloud.consumers.clear();
        return std::nullopt;
    };
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "it is free";
    pass(seconds{5});
    EXPECT_THAT(log.lines_with("heal_allocations --instance " + uuid_of("a")), SizeIs(1));
    EXPECT_THAT(log.lines_with("has its room back"), IsEmpty());
}

TEST_F(EscrowTest, AServerThatHasItBackMayGoForTheNextRequest) {
    full_of({"a"});
    booting("new");
    cloud.conflict_on_delete = true;
    const std::string id = uuid_of("a");
    int looks = -1;  // after it was given back; the answer to the first one is late
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (looks < 0 && call.starts_with("holdings " + id + " ")) {
            looks = 0;
            cloud.slow[ServerId{id}] = seconds{20};
        }
        if (looks >= 0 && call == "server " + id && ++looks > 1) cloud.slow.clear();
        return std::nullopt;
    };
    start();
    EXPECT_THAT(search_for("req-1"), IsEmpty());
    run_until([&] { return looks == 1; });
    cloud.conflict_on_delete = false;
    cloud.remove(uuid_of("new"));
    const ServerId server = booting("next");
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    pass(seconds{20});
    EXPECT_EQ(claimed(claim("req-2", server, "rp-host1")), 204);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, WhereItMayNotBeKeptItIsFreedAsBefore) {
    full_of({"a"});
    booting("new");
    fail("holdings", Errc::forbidden);
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(EscrowTest, WhenTheAnswerIsLostItIsLookedAt) {
    full_of({"a"});
    booting("new");
    fail("holdings", Errc::timeout);
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "nothing was done";
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(EscrowTest, OrNotAtAllIfTheOperatorWantsSo) {
    settings.gateway.escrow = false;
    full_of({"a"});
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("holdings"), 0U);
    EXPECT_EQ(most_free(), 2);
}

TEST_F(EscrowTest, ForAMessageNoCallWaitsInTheGateway) {
    full_of({"a"});
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("holdings"), 0U);
}

TEST_F(EscrowTest, AfterACrashInTheMiddleTheServerHasItBackOrIsGone) {
    full_of({"a"});
    booting("new");
    cloud.ignore_deletes = true;
    start();
    search("req-1");
    run_until([&] { return cloud.count("DELETE") == 1; });
    EXPECT_EQ(held_by("a"), 0);
    crash();
    cloud.remove(uuid_of("new"));
    cloud.ignore_deletes = false;
    start();
    nothing_kept();
    EXPECT_EQ(cloud.exists(uuid_of("a")) ? held_by("a") : cloud.free_on("host1").get(vcpu), 2);
}

TEST_F(EscrowTest, AfterACrashWhatIsPromisedStaysKept) {
    full_of({"a", "b"});
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    outcome_of("req-1");
    crash();
    start();
    pass(seconds{5});
    EXPECT_THAT(cloud.consumers, SizeIs(1));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    EXPECT_EQ(most_free(), 0);
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

TEST_F(EscrowTest, WhatAGatewayKeptIsNotInTheWayOnceThereIsNone) {
    full_of({"a", "b"});
    const ServerId server = booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(claimed(claim("req-1", server, "rp-host1")), 204);
    outcome_of("req-1");
    crash();
    settings.gateway.listen.clear();
    requester();
    start();
    pass(seconds{2});
    messages->deliver(body_of(another("req-2", "requester-1")));
    EXPECT_EQ(outcome_of("req-2").kind, OutcomeKind::freed);
    EXPECT_THAT(record("req-2").plans, SizeIs(1));
}

TEST_F(EscrowTest, NorIsWhatAnotherReaperKept) {
    settings.gateway.listen.clear();
    full_of({"a", "b"});
    cloud.remove(uuid_of("b"));
    cloud.consumers[escrow_consumer_id("b")] = escrow_consumer();
    requester("requester-1", "regular", 4);
    start();
    pass(seconds{2});
    messages->deliver(body_of(failure(4)));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(EscrowTest, OneHostWhereItEndedThatCanNotBeReadIsNotInTheWayOfOthers) {
    full_of({"a"});
    cloud.add_host("host2", tiny);
    Consumer& left = cloud.consumers[escrow_consumer_id("gone")] = escrow_consumer();
    left.holds = {{HostId{"rp-host2"}, tiny}};
    booting("new");
    start();
    pass(seconds{2});
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.ends_with(" rp-host2")) return std::nullopt;
        return Error{Errc::unreachable, "placement: connection refused"};
    };
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
}

TEST_F(EscrowTest, WhatAnotherReaperLeftIsEndedByWhoServes) {
    full_of({"a", "b"});
    start();
    messages->serves = false;
    cloud.remove(uuid_of("a"));
    cloud.server_at(uuid_of("b")).resources = {};
    cloud.consumers[escrow_consumer_id("a")] = cloud.consumers[escrow_consumer_id("b")] =
        escrow_consumer();
    pass(minutes{70});
    EXPECT_THAT(cloud.consumers, SizeIs(2)) << "the other one may be at work";
    messages->serves = true;
    pass(minutes{70});
    EXPECT_THAT(cloud.consumers, IsEmpty());
    EXPECT_EQ(held_by("b"), 2);
    EXPECT_EQ(cloud.free_on("host1").get(vcpu), 2);
}

TEST_F(EscrowTest, BeforeItDecidesItKnowsWhatAnotherLeft) {
    full_of({"a", "b"});
    cloud.remove(uuid_of("a"));
    cloud.consumers[escrow_consumer_id("a")] = escrow_consumer();
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "its room was freed already";
}

TEST_F(EscrowTest, WhatEndsWhileItsHostIsReadIsNotInTheWay) {
    full_of({"a", "b"});
    cloud.remove(uuid_of("a"));
    booting("new");
    start();
    const ServerId consumer = escrow_consumer_id("a");
    cloud.consumers[consumer] = escrow_consumer();
    int looks = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("allocations " + consumer.str())) return std::nullopt;
        ++looks;
        cloud.consumers.clear();
        return std::nullopt;
    };
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(cloud.count("DELETE"), 0U) << "its room is free by now";
}

TEST_F(EscrowTest, AfterACrashItDecidesWhenItKnowsWhatItKept) {
    full_of({"a", "b"});
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    outcome_of("req-1");
    crash();
    cloud.remove(uuid_of("new"));
    booting("next");
    int failures = 3;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("allocations") || failures-- <= 0) return std::nullopt;
        return Error{Errc::timeout, "placement: no answer"};
    };
    start();
    EXPECT_THAT(search_for("req-2"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "the first one's room was free";
}

TEST_F(EscrowTest, WithoutTheRightToLookForThatItStillServes) {
    full_of({"a"});
    booting("new");
    fail("usage", Errc::forbidden);
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    EXPECT_EQ(cloud.count("usage"), 1U);
}

TEST_F(EscrowTest, AForeignConsumerIsLeftAlone) {
    full_of({"a", "b"});
    cloud.remove(uuid_of("a"));
    cloud.consumers[escrow_consumer_id("a")] = escrow_consumer();
    cloud.consumers[escrow_consumer_id("a")].project = "others";
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1")) << "by b's room";
    pass(minutes{5});
    EXPECT_TRUE(cloud.consumers.contains(escrow_consumer_id("a")));
}

TEST_F(EscrowTest, ADryRunKeepsAndEndsNothing) {
    dry_run = true;
    full_of({"a", "b"});
    cloud.remove(uuid_of("a"));
    cloud.consumers[escrow_consumer_id("a")] = escrow_consumer();
    start();
    pass(minutes{5});
    EXPECT_EQ(cloud.count("holdings"), 0U);
}

TEST_F(EscrowTest, AtItsEndItKeepsNothingThatIsFree) {
    full_of({"a"});
    booting("new");
    start();
    EXPECT_THAT(search_for("req-1"), ElementsAre("rp-host1"));
    outcome_of("req-1");
    stop_and_join();
    EXPECT_THAT(cloud.consumers, IsEmpty());
}

}  // namespace
}  // namespace reaper::test::escrow_test
