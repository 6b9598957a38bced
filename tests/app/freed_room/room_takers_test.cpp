// Who got freed room before its request did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/controllers/freed_room/freed_room_tracker.hpp"

namespace reaper::test::room_takers_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + 12h};

class RoomTakersTest : public ::testing::Test {
protected:
    RoomTakersTest() {
        host.id = HostId{"h"};
        Provider& root = host.providers.emplace_back();
        root.id = ProviderId{"h"};
        root.inventories[ResourceClass{"VCPU"}] = Inventory{.total = 8};
        request.id = RequestId{"r"};
        request.project = ProjectId{"mine"};
        request.resources = Resources{{"VCPU", 4}};
    }
    void add(const std::string& id, Amount vcpus, bool revocable, TimePoint created = noon + 10s,
             const std::string& project = "others") {
        Server server;
        server.id = ServerId{id};
        server.project = ProjectId{project};
        server.created = created;
        server.status = "ACTIVE";
        const Resources held{{"VCPU", vcpus}};
        server.allocations = Allocations{{ProviderId{"h"}, held}};
        if (revocable) server.revocable_because = "a test";
        host.providers.front().used += held;
        host.servers.push_back(std::move(server));
    }
    bool look(const std::set<ServerId>* neighbours = nullptr) {
        takers = {};
        return note_takers(host, request, Ledger{}, noon, neighbours, takers);
    }

    Host host;
    Request request;
    RoomTakers takers;
};

TEST_F(RoomTakersTest, NoneWhereTheRoomIsThere) {
    add("a", 2, true);
    add("b", 2, false);
    EXPECT_FALSE(look());
}

TEST_F(RoomTakersTest, NoneWhereItIsGoneForAnotherReason) {
    add("old", 6, true, noon - 1h);
    EXPECT_FALSE(look());
    EXPECT_THAT(takers.revocable, IsEmpty());
    EXPECT_THAT(takers.regular, IsEmpty());
}

TEST_F(RoomTakersTest, RevocableServersIfItWouldBeThereWithoutThem) {
    add("spot", 4, true);
    add("web", 2, false);
    EXPECT_TRUE(look());
    EXPECT_THAT(takers.revocable, ElementsAre(ServerId{"spot"}));
    EXPECT_THAT(takers.regular, IsEmpty());
}

TEST_F(RoomTakersTest, RegularOnesIfItWouldBeGoneWithoutRevocableOnesToo) {
    add("spot", 1, true);
    add("web", 5, false);
    EXPECT_TRUE(look());
    EXPECT_THAT(takers.revocable, IsEmpty());
    EXPECT_THAT(takers.regular, ElementsAre(ServerId{"web"}));
}

TEST_F(RoomTakersTest, OneThatMovedThereIsKnownByItsAbsenceBefore) {
    add("moved", 6, false, noon - 1h);
    const std::set<ServerId> before;
    EXPECT_TRUE(look(&before));
    const std::set<ServerId> always{ServerId{"moved"}};
    EXPECT_FALSE(look(&always));
}

TEST_F(RoomTakersTest, TheRequestersOwnSecondTryIsNoOther) {
    add("retry", 4, false, noon + 10s, "mine");
    add("old", 3, true, noon - 1h);
    EXPECT_FALSE(look());
}

}  // namespace
}  // namespace reaper::test::room_takers_test
