// Where a request says which kind of room it admits.
#include "reaper/request_spec/admitted_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::admitted_room_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

AdmittedRoom admitted(const TextMap& metadata, const TextMap& specs, const TextMap& image) {
    auto found = admitted_room(metadata, specs, image, true);
    if (const auto* const refused = std::get_if<Refused>(&found)) {
        ADD_FAILURE() << refused->reason;
        return {};
    }
    return std::get<AdmittedRoom>(found);
}

std::string refusal(const TextMap& metadata, const TextMap& specs, const TextMap& image) {
    const auto found = admitted_room(metadata, specs, image, true);
    const auto* const refused = std::get_if<Refused>(&found);
    return refused == nullptr ? "not refused" : refused->reason;
}

TEST(AdmittedRoom, RegularByDefault) {
    EXPECT_EQ(admitted({{"owner", "me"}}, {{"res_type", "revocable"}}, {}), AdmittedRoom{});
}

TEST(AdmittedRoom, EachPlaceMaySayItUnderBothNames) {
    for (const std::string key : {"res-type", "res_type"}) {
        const Phases revocable{ResType::revocable, false};
        const auto by_metadata = admitted({{key, "revocable"}}, {}, {});
        EXPECT_EQ(by_metadata.phases, revocable);
        EXPECT_EQ(by_metadata.because, "the server's metadata " + key + "=revocable");
        const auto by_flavor = admitted({}, {{"reaper:" + key, "revocable"}}, {});
        EXPECT_EQ(by_flavor.phases, revocable);
        EXPECT_THAT(by_flavor.because, HasSubstr("flavor's extra spec reaper:" + key));
        const auto by_image = admitted({}, {}, {{key, "revocable"}});
        EXPECT_EQ(by_image.phases, revocable);
        EXPECT_THAT(by_image.because, HasSubstr("image's property " + key));
    }
}

TEST(AdmittedRoom, TheFirstPlaceCountsAndTheOthersAreNotRead) {
    const TextMap metadata{{"res-type", "~regular"}};
    const TextMap specs{{"reaper:res_type", "~revocable"}};
    const TextMap image{{"res_type", "revocable"}};
    EXPECT_EQ(to_string(admitted(metadata, specs, image).phases), "~regular");
    EXPECT_EQ(to_string(admitted({}, specs, image).phases), "~revocable");
    EXPECT_EQ(to_string(admitted({}, {}, image).phases), "revocable");
    EXPECT_EQ(to_string(admitted(metadata, {{"reaper:res_type", "nonsense"}}, {}).phases),
              "~regular");
}

TEST(AdmittedRoom, WhatCantBeUnderstoodIsRefusedWithItsPlace) {
    EXPECT_THAT(refusal({{"res-type", "spot"}}, {}, {}),
                AllOf(HasSubstr("the server's metadata"), HasSubstr("matches neither")));
    EXPECT_THAT(refusal({}, {{"reaper:res_type", "!=re*"}}, {}),
                AllOf(HasSubstr("the flavor's extra spec"), HasSubstr("leaves no kind of room")));
    EXPECT_THAT(refusal({}, {}, {{"res_type", "regular,~revocable"}}),
                AllOf(HasSubstr("the image's property"), HasSubstr("one constraint at most")));
}

TEST(AdmittedRoom, BothNamesInOnePlaceAreTwoConstraints) {
    EXPECT_THAT(refusal({{"res-type", "regular"}, {"res_type", "regular"}}, {}, {}),
                HasSubstr("one constraint at most"));
}

TEST(AdmittedRoom, ATraitSaysItWhereTheGatewayTakesItOut) {
    const TextMap specs{{"trait:CUSTOM_RES_TYPE_PREFER_REVOCABLE", "required"}};
    const auto by_flavor = admitted({}, specs, {{"res_type", "revocable"}});
    EXPECT_EQ(to_string(by_flavor.phases), "~revocable");
    EXPECT_EQ(by_flavor.because,
              "the flavor's extra spec trait:CUSTOM_RES_TYPE_PREFER_REVOCABLE=required");
    EXPECT_EQ(to_string(admitted({{"res-type", "regular"}}, specs, {}).phases), "regular");
    const auto by_image = admitted({}, {}, {{"trait:CUSTOM_RES_TYPE_REVOCABLE", "forbidden"}});
    EXPECT_EQ(to_string(by_image.phases), "regular");
    EXPECT_THAT(by_image.because, HasSubstr("image's property"));
    EXPECT_EQ(admitted({}, {{"trait:CUSTOM_RES_TYPE_REVOCABLE", "maybe"}}, {}), AdmittedRoom{});

    const auto without_gateway = admitted_room({}, specs, {}, false);
    EXPECT_EQ(std::get<AdmittedRoom>(without_gateway), AdmittedRoom{});
}

TEST(AdmittedRoom, ATraitBesideAnotherConstraintIsOneTooMany) {
    EXPECT_THAT(
        refusal({},
                {{"reaper:res_type", "regular"}, {"trait:CUSTOM_RES_TYPE_REVOCABLE", "required"}},
                {}),
        HasSubstr("one constraint at most"));
}

TEST(AdmittedRoom, ABareMarkOnAServerThatRanIsNoWish) {
    const std::map<std::string, std::string> labeled{{"res-type", "regular"}, {"a", "b"}};
    EXPECT_EQ(without_marks(labeled), (std::map<std::string, std::string>{{"a", "b"}}));
    const std::map<std::string, std::string> in_revocable{{"res_type", "revocable"}};
    EXPECT_TRUE(without_marks(in_revocable).empty());
    EXPECT_EQ(mark_in(labeled), ResType::regular);
    EXPECT_EQ(mark_in(in_revocable), ResType::revocable);
    for (const char* const wish : {"==revocable", "~regular"}) {
        const std::map<std::string, std::string> wished{{"res-type", wish}};
        EXPECT_EQ(without_marks(wished), wished);
        EXPECT_FALSE(mark_in(wished));
    }
}

}  // namespace
}  // namespace reaper::admitted_room_test
