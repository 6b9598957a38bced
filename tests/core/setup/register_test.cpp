#include "reaper/setup/register.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/reservations/reservation_record.hpp"

namespace reaper::register_test {
namespace {

using Kind = SlotStep::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ProviderId id{reservation_register::provider_id};
const ResourceClass unit{reservation_register::resource_class};

RegisterView with_register(Amount total) {
    RegisterView view;
    view.class_exists = true;
    const ProviderId host{"h1-uuid"};
    view.providers = {{host, "h1", {}, host}, {id, reservation_register::provider_name, {}, id}};
    view.state.emplace().inventories[unit] = Inventory{.total = total};
    return view;
}

std::vector<Kind> kinds(const std::vector<SlotStep>& steps) {
    std::vector<Kind> all;
    for (const auto& step : steps) all.push_back(step.kind);
    return all;
}

TEST(Register, IsMadeOnceWithRoomForAll) {
    const auto steps = register_to_set_up({});
    ASSERT_THAT(kinds(steps), ElementsAre(Kind::create_class, Kind::create_provider));
    EXPECT_EQ(steps[0].name, "CUSTOM_REAPER_RESERVATION");
    EXPECT_EQ(steps[1].name, "openstack-reaper-reservations");
    EXPECT_EQ(steps[1].provider, id);
    EXPECT_TRUE(steps[1].root.empty());
    EXPECT_EQ(steps[1].to, 2147483647);
    EXPECT_THAT(kinds(register_to_set_up(with_register(2147483647))),
                ElementsAre(Kind::keep, Kind::keep));
}

TEST(Register, ThatWasMadeHalfIsMadeWhole) {
    auto view = with_register(0);
    view.state->inventories.clear();
    auto steps = register_to_set_up(view);
    ASSERT_THAT(kinds(steps), ElementsAre(Kind::keep, Kind::set_total));
    EXPECT_EQ(steps[1].from, 0);
    view.providers.clear();
    EXPECT_THAT(kinds(register_to_set_up(view)), ElementsAre(Kind::keep, Kind::create_provider));
}

TEST(Register, IsNotMadeBesideAnotherProviderOfItsName) {
    RegisterView view;
    const ProviderId other{"other"};
    view.providers = {{other, reservation_register::provider_name, {}, other}};
    const auto steps = register_to_set_up(view);
    ASSERT_THAT(kinds(steps), ElementsAre(Kind::create_class, Kind::refuse));
    EXPECT_THAT(steps[1].why, HasSubstr("with another id: other"));
    EXPECT_THAT(kinds(register_to_undo(view)), ElementsAre(Kind::keep)) << "it is not ours";
}

TEST(Register, IsRemovedUnlessThereAreReservations) {
    auto view = with_register(2147483647);
    EXPECT_THAT(kinds(register_to_undo(view)),
                ElementsAre(Kind::remove_provider, Kind::remove_class));
    view.state->allocations[ServerId{"some-reservation"}] =
        Resources{{reservation_register::resource_class, 1}};
    const auto steps = register_to_undo(view);
    ASSERT_THAT(kinds(steps), ElementsAre(Kind::refuse, Kind::refuse));
    EXPECT_THAT(steps[0].why, HasSubstr("there are reservations: 1 consumer holds something "
                                        "there: some-reservation"));
    EXPECT_THAT(kinds(register_to_undo({})), ElementsAre(Kind::keep)) << "it is undone already";
}

}  // namespace
}  // namespace reaper::register_test
