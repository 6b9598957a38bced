// Room that is promised to a request is held: no new revocable server starts on its host meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/full_house.hpp"

namespace reaper::test::room_holds_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string spot_class = "CUSTOM_PREEMPTIBLE";

class RoomHoldsTest : public FullHouse {
protected:
    RoomHoldsTest() {
        settings.policy.taggers.front().name = "resource";
        settings.cull.watch = minutes{5};
    }
    /// One host of 8 VCPU, full of four revocable servers, which hold one of the class each; `left`
    /// of it are not taken.
    void spot_host(const std::string& name = "host1", Amount left = 1) {
        Resources capacity = small * 4;
        capacity.set(ResourceClass{spot_class}, 4 + left);
        cloud.add_host(name, capacity);
        Resources revocable = small;
        revocable.set(ResourceClass{spot_class}, 1);
        for (const char* n : {"a", "b", "c", "d"})
            cloud.add_server(name + n, name, "tenant", revocable);
    }
    Amount& reserved(const std::string& host = "host1") {
        return cloud.reserved[{host, spot_class}];
    }
    void given_back() {
        run_until([&] { return journal.open_holds.empty(); });
    }
    InventoryHoldEndKind last_end() const { return journal.ended_holds.back().second.kind; }
    std::size_t place_of(const std::string& entry) const {
        const auto& all = journal.written;
        return static_cast<std::size_t>(
            std::find_if(all.begin(), all.end(),
                         [&](const auto& one) { return one.starts_with(entry); }) -
            all.begin());
    }
};

TEST_F(RoomHoldsTest, ItIsJournalledThenSetThenTheVictimDies) {
    spot_host();
    reserved() = 1;
    requester();
    start();
    before("reserve", [&] { EXPECT_THAT(journal.open_holds, SizeIs(1)); });
    messages->deliver(body_of(failure()));
    run_until([&] { return cloud.count("DELETE") == 1; });
    EXPECT_EQ(reserved(), 5);
    EXPECT_LT(place_of("plan"), place_of("hold"));
    EXPECT_LT(place_of("hold"), place_of("delete-sent"));
    const InventoryHold hold = journal.open_holds.at(0);
    EXPECT_EQ(hold.before, 1);
    EXPECT_EQ(hold.set, 5);
    EXPECT_EQ(hold.request, RequestId{"req-1"});
    EXPECT_EQ(hold.host_name, "host1");
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
}

TEST_F(RoomHoldsTest, ItLastsAsLongAsThePromiseAndIsGivenBackAsItWas) {
    spot_host();
    reserved() = 1;
    requester();
    start();
    messages->deliver(body_of(failure()));
    const TimePoint freed_at = outcome_of("req-1").at;
    EXPECT_EQ(reserved(), 5);
    given_back();
    EXPECT_GE(clock.now(), freed_at + settings.cull.promise);
    EXPECT_LE(clock.now(), freed_at + settings.cull.promise + seconds{10});
    EXPECT_EQ(reserved(), 1);
    EXPECT_EQ(last_end(), InventoryHoldEndKind::given_back);
}

TEST_F(RoomHoldsTest, WhenTheRequesterTookTheRoomItEnds) {
    settings.cull.promise = minutes{30};
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    const TimePoint taken_at = clock.now();
    boots("second-try", "host1");
    given_back();
    EXPECT_LT(clock.now() - taken_at, minutes{10});
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, RoomOfAGoneRequesterIsGivenBackWithoutADeletion) {
    spot_host();
    requester();
    start();
    before("reserve", [&] { cloud.remove(uuid_of("requester-1")); });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::refused);
    given_back();
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, ARequestForTheClassItselfIsNotKeptOff) {
    config::Plugin project;
    project.name = "project";
    settings.policy.taggers.push_back(project);
    settings.policy.tagger_conflict = "all";
    cloud.tagged = {ProjectId{"tenant"}};
    spot_host();
    Flavor flavor = flavor_of(2);
    flavor.extra_specs = {{"resources:" + spot_class, "1"}};
    cloud.add_requester(uuid_of("requester-1"), "regular", flavor);
    start();
    messages->deliver(body_of(NovaFailure{}));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("reserve"), 0U);
}

TEST_F(RoomHoldsTest, SeveralRequestsOnAHostShareOne) {
    spot_host();
    requester("r1");
    requester("r2");
    start();
    messages->deliver(body_of(another("req-1", "r1")));
    outcome_of("req-1");
    clock.advance(seconds{50});
    messages->deliver(body_of(another("req-2", "r2")));
    const TimePoint second_at = outcome_of("req-2").at;
    EXPECT_EQ(cloud.count("DELETE"), 2U);
    given_back();
    EXPECT_GE(clock.now(), second_at + settings.cull.promise);
    EXPECT_EQ(cloud.count("reserve rp-host1 CUSTOM_PREEMPTIBLE 5"), 1U);
    EXPECT_EQ(cloud.count("reserve rp-host1 CUSTOM_PREEMPTIBLE 0"), 1U);
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, WhatAnotherClientSetMeanwhileStays) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    reserved() = 2;
    given_back();
    EXPECT_EQ(reserved(), 2);
    EXPECT_EQ(last_end(), InventoryHoldEndKind::changed);
    EXPECT_THAT(journal.ended_holds.back().second.reason, HasSubstr("reserved to 2"));
}

/// As RoomPublisher does it.
class HoldsOfSoldRoomTest : public RoomHoldsTest {
protected:
    HoldsOfSoldRoomTest() {
        cloud.add_host("host1", small * 4);
        FakeNested& sold = cloud.nested[provider];
        sold.name = "host1-preemptible";
        sold.parent = HostId{cloud.provider_of("host1")};
        inventory().total = 10;
        for (const char* n : {"a", "b", "c", "d"})
            cloud.add_server(n, "host1", "tenant", small).also[provider].set(held, 1);
    }
    Inventory& inventory() { return cloud.nested.at(provider).inventories[held]; }
    void total(Amount to) {
        TotalChange change;
        change.to = to;
        inventory() = inventory_after(change, inventory());
    }
    void promised() {
        requester();
        start();
        messages->deliver(body_of(failure()));
        outcome_of("req-1");
        EXPECT_EQ(inventory().reserved, 10);
    }

    const ProviderId provider{"rp-host1-preemptible"};
    const ResourceClass held{spot_class};
};

TEST_F(HoldsOfSoldRoomTest, LessThatIsSoldMeanwhileIsGivenBackToo) {
    promised();
    total(8);
    EXPECT_EQ(inventory().reserved, 8);
    given_back();
    EXPECT_EQ(last_end(), InventoryHoldEndKind::given_back);
    total(12);
    EXPECT_EQ(inventory().reserved, 0);
}

TEST_F(HoldsOfSoldRoomTest, MoreThatIsSoldMeanwhileIsHeldToo) {
    inventory().reserved = 3;
    promised();
    total(12);
    EXPECT_EQ(inventory().reserved, 12);
    given_back();
    EXPECT_EQ(last_end(), InventoryHoldEndKind::given_back);
    EXPECT_EQ(inventory().reserved, 3);
}

TEST_F(HoldsOfSoldRoomTest, ANextPromiseAfterARestartHoldsWhatIsSoldThen) {
    settings.cull.promise = minutes{30};
    promised();
    crash();
    total(8);
    requester("r2");
    start();
    messages->deliver(body_of(another("req-2", "r2")));
    outcome_of("req-2");
    EXPECT_EQ(inventory().reserved, 8);
    EXPECT_THAT(journal.open_holds, SizeIs(1));
    given_back();
    EXPECT_EQ(inventory().reserved, 0);
}

TEST_F(RoomHoldsTest, ItIsGivenBackHoweverOftenThatFails) {
    spot_host();
    requester();
    start();
    int refused = 0;
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("reserve") || !call.ends_with(" 0") || ++refused > 12)
            return std::nullopt;
        return Error{Errc::unreachable, "placement: connection refused"};
    };
    int unwritten = 0;
    journal.fails = [&](const std::string& what) {
        return what.starts_with("hold given-back") && ++unwritten <= 3;
    };
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    given_back();
    EXPECT_EQ(reserved(), 0);
    EXPECT_GT(refused, 12);
    EXPECT_EQ(unwritten, 4);
}

TEST_F(RoomHoldsTest, OneThatCantBeSetDoesNotStopTheCull) {
    spot_host();
    requester();
    start();
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("reserve")) return std::nullopt;
        return Error{Errc::forbidden, "placement: 403"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    given_back();
    EXPECT_EQ(last_end(), InventoryHoldEndKind::not_set);
    EXPECT_THAT(journal.ended_holds, SizeIs(1));
}

TEST_F(RoomHoldsTest, OneWhoseAnswerWasLostIsGivenBackToo) {
    spot_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("reserve") || !call.ends_with(" 5")) return std::nullopt;
        reserved() = 5;
        return Error{Errc::timeout, "placement: no answer"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_THAT(journal.open_holds, SizeIs(1));
    given_back();
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, WhatCantBeJournalledIsNotSet) {
    spot_host();
    requester();
    start();
    journal.fails = [](const std::string& what) { return what.starts_with("hold"); };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("reserve"), 0U);
}

TEST_F(RoomHoldsTest, AfterACrashTheNextProcessGivesItBack) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    run_until([&] { return reserved() == 5; });
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    crash();
    cloud.remove(uuid_of("requester-1"));
    start();
    given_back();
    EXPECT_EQ(reserved(), 0);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(RoomHoldsTest, AfterACrashItLastsAsLongAsThePromiseStill) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    const TimePoint freed_at = outcome_of("req-1").at;
    crash();
    clock.advance(seconds{20});
    start();
    EXPECT_EQ(reserved(), 5);
    given_back();
    EXPECT_GE(clock.now(), freed_at + settings.cull.promise);
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, AnOrderlyStopGivesItBack) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    EXPECT_EQ(reserved(), 5);
    const TimePoint stopped_at = clock.now();
    stop_and_join();
    EXPECT_EQ(reserved(), 0);
    EXPECT_THAT(journal.open_holds, SizeIs(0));
    EXPECT_LT(clock.now(), stopped_at + seconds{5});
}

TEST_F(RoomHoldsTest, AStopDoesNotWaitLongForPlacementAndLeavesItToTheNextStart) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    run_until([&] { return all_acknowledged(1); });
    cloud.on_call = [](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("reserve")) return std::nullopt;
        return Error{Errc::unreachable, "placement: connection refused"};
    };
    const TimePoint stopped_at = clock.now();
    stop_and_join();
    EXPECT_LT(clock.now(), stopped_at + seconds{15});
    EXPECT_THAT(journal.open_holds, SizeIs(1));
    cloud.on_call = {};
    crash();
    clock.advance(minutes{10});
    start();
    given_back();
    EXPECT_EQ(reserved(), 0);
}

TEST_F(RoomHoldsTest, OfAHostThatIsGoneIsOver) {
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    outcome_of("req-1");
    cloud.clear_servers();
    cloud.remove_host("host1");
    given_back();
    EXPECT_EQ(last_end(), InventoryHoldEndKind::gone);
}

TEST_F(RoomHoldsTest, WhatIsReservedToTheLastUnitAlreadyIsNotOurs) {
    spot_host();
    reserved() = 5;
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("reserve"), 0U);
    EXPECT_EQ(place_of("hold"), journal.written.size());
}

TEST_F(RoomHoldsTest, WhenAnotherReaperGivesItBackDuringOurPromiseWeHoldIt) {
    spot_host();
    reserved() = 5;
    requester();
    start();
    messages->deliver(body_of(failure()));
    const TimePoint freed_at = outcome_of("req-1").at;
    reserved() = 1;
    pass(seconds{3});
    EXPECT_EQ(reserved(), 5);
    given_back();
    EXPECT_GE(clock.now(), freed_at + settings.cull.promise);
    EXPECT_EQ(reserved(), 1);
    pass(minutes{1});
    EXPECT_EQ(cloud.count("reserve"), 2U);
}

TEST_F(RoomHoldsTest, IfAnotherClientWasFasterWeHoldTheRestOfIt) {
    spot_host();
    requester();
    start();
    before("reserve", [&] { reserved() = 3; });
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(last_end(), InventoryHoldEndKind::not_set);
    pass(seconds{3});
    EXPECT_EQ(reserved(), 5);
    given_back();
    EXPECT_EQ(reserved(), 3);
}

TEST_F(RoomHoldsTest, WhatCantBeReadIsHeldWhenItCan) {
    spot_host();
    requester();
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        const bool planned = place_of("plan") < journal.written.size();
        if (!planned || cloud.count("DELETE") > 0 || !call.starts_with("room")) return std::nullopt;
        return Error{Errc::unreachable, "placement: connection refused"};
    };
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    pass(seconds{3});
    EXPECT_EQ(reserved(), 5);
}

TEST_F(RoomHoldsTest, ADryRunHoldsNothingAndGivesNothingBack) {
    dry_run = true;
    spot_host();
    reserved() = 5;
    InventoryHold left;
    left.provider = left.host = HostId{"rp-host1"};
    left.resource_class = ResourceClass{spot_class};
    left.set = 5;
    journal.open_holds.push_back(left);
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::dry_run);
    clock.advance(minutes{10});
    stop_and_join();
    EXPECT_EQ(cloud.count("reserve"), 0U);
    EXPECT_EQ(reserved(), 5);
}

TEST_F(RoomHoldsTest, TurnedOffItWritesNothing) {
    settings.policy.taggers.front().parameters = {{"freed_room", std::string{"open"}}};
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("reserve"), 0U);
}

TEST_F(RoomHoldsTest, WithoutATaggerThatHasAClassItWritesNothing) {
    settings.policy.taggers.front().name = "project";
    cloud.tagged = {ProjectId{"tenant"}};
    spot_host();
    requester();
    start();
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("reserve"), 0U);
}

}  // namespace
}  // namespace reaper::test::room_holds_test
