#include "reaper/planner/oversubscribed_room.hpp"

#include <gtest/gtest.h>

namespace reaper::oversubscribed_room_test {
namespace {

const ResourceClass room_class{"CUSTOM_REVOCABLE_VCPU"};
const ResourceClass slot_class{"CUSTOM_PREEMPTIBLE"};

Host host_with(const ResourceClass& name, Inventory inventory, Amount used) {
    Host host;
    Provider root, nested;
    root.inventories[ResourceClass{"VCPU"}] = Inventory{.total = 8};
    nested.inventories[name] = inventory;
    nested.used.add(name, used);
    host.providers = {root, nested};
    return host;
}

TEST(OversubscribedRoomOfAHost, IsWhatItsInventoryOffers) {
    const Host host = host_with(room_class, Inventory{.total = 6, .reserved = 1}, 2);
    const auto rooms = oversubscribed_room(host, {room_class, slot_class});
    ASSERT_EQ(rooms.size(), 1U);
    EXPECT_EQ(rooms.at(room_class).published, 5);
    EXPECT_EQ(rooms.at(room_class).used, 2);
    EXPECT_EQ(rooms.at(room_class).free, 3);
    EXPECT_TRUE(oversubscribed_room(host, {}).empty()) << "no tagger goes by it";
    EXPECT_TRUE(oversubscribed_room(host_with(slot_class, Inventory{.total = 6}, 2),
                                    {room_class, slot_class})
                    .empty())
        << "slots stand for nothing";
}

TEST(OversubscribedRoomOfAHost, NothingIsFreeWhereNothingMayStart) {
    const Host host = host_with(room_class, Inventory{.total = 1, .min_unit = 2}, 0);
    const auto room = oversubscribed_room(host, {room_class}).at(room_class);
    EXPECT_EQ(room.published, 0);
    EXPECT_EQ(room.free, 0);
}

TEST(OversubscribedRoomOfAllHosts, IsTheirSum) {
    Snapshot snapshot;
    snapshot.revocable_classes = {room_class};
    snapshot.hosts = {host_with(room_class, Inventory{.total = 6}, 2),
                      host_with(room_class, Inventory{.total = 3}, 5),
                      host_with(slot_class, Inventory{.total = 9}, 1)};
    const auto room = oversubscribed_room(snapshot).at(room_class);
    EXPECT_EQ(room.published, 9);
    EXPECT_EQ(room.used, 7);
    EXPECT_EQ(room.free, 4) << "what one host lacks, another does not make up for";
    EXPECT_EQ(room.hosts, 2U);
}

}  // namespace
}  // namespace reaper::oversubscribed_room_test
