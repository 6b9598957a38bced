#include "clients/openstack/glance.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::openstack::glance_test {
namespace {

using namespace std::chrono_literals;
using test::json_reply;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

const std::string path = "/glance/v2/images/i-1";

class GlanceTest : public ::testing::Test {
protected:
    GlanceTest() { cloud.cloud.endpoint_overrides["image"] = cloud.server.url() + "/glance"; }
    void answer(int status, const std::string& body) {
        cloud.on("GET " + path, json_reply(status, body));
    }
    /// What the image says; a failure of the call fails the test.
    template <class Dependencies>
    std::optional<ImageProperties> found(const Dependencies& parts, const std::string& id = "i-1") {
        auto read = cloud.run(parts.images->image(id));
        if (read) return std::move(*read);
        ADD_FAILURE() << read.error().what;
        return std::nullopt;
    }
    std::size_t asked() const { return cloud.server.count("GET", path); }

    test::FakeOpenStack cloud;
};

TEST_F(GlanceTest, TellsThePropertiesThatAreTexts) {
    answer(200, R"({"id": "i-1", "name": "web", "size": 1, "tags": [], "protected": false,
                    "virtual_size": null, "res_type": "~regular"})");
    auto parts = cloud.connect();
    EXPECT_THAT(found(parts), Optional(ElementsAre(Pair("id", "i-1"), Pair("name", "web"),
                                                   Pair("res_type", "~regular"))));
}

/// A thousand images are kept, and Glance takes 64 KiB for each of a hundred properties.
TEST(ReadImage, KeepsNothingThatIsLongerThanWhatIsAskedOf) {
    const std::string trait = "trait:CUSTOM_" + std::string(248, 'A');
    nlohmann::json image{{"id", "i-1"}, {trait, "required"}, {"res_type", "regular"}};
    image["story"] = std::string(65'000, 'x');
    image[std::string(65'000, 'y')] = "short";
    const auto read = read_image(image.dump(), "GET glance");
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_THAT(*read, ElementsAre(Pair("id", "i-1"), Pair("res_type", "regular"),
                                   Pair(trait, "required")));
}

TEST_F(GlanceTest, AnImageIsAskedOnceAMinute) {
    answer(200, R"({"id": "i-1", "res_type": "regular"})");
    auto parts = cloud.connect();
    EXPECT_TRUE(found(parts));
    EXPECT_TRUE(found(parts));
    EXPECT_EQ(asked(), 1U);
    answer(200, R"({"id": "i-1", "res_type": "revocable"})");
    cloud.clock.advance(61s);
    EXPECT_THAT(found(parts), Optional(Contains(Pair("res_type", "revocable"))));
    EXPECT_EQ(asked(), 2U);
}

TEST_F(GlanceTest, AnImageThatIsNotThereIsNoFailure) {
    answer(404, "");
    auto parts = cloud.connect();
    EXPECT_FALSE(found(parts));
    cloud.on("GET /glance/v2/images/i-2", json_reply(200, R"({"id": "i-2"})"));
    EXPECT_TRUE(found(parts, "i-2"));
}

TEST_F(GlanceTest, AnImageThatIsNotVisibleIsReported) {
    answer(403, "{}");
    auto parts = cloud.connect();
    const auto failed = cloud.run(parts.images->image("i-1"));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, Errc::forbidden);
}

TEST_F(GlanceTest, WhatCannotBeReadIsAnErrorUntilItCan) {
    for (const int status : {503, 200}) {
        answer(status, "not JSON");
        auto parts = cloud.connect();
        const auto failed = cloud.run(parts.images->image("i-1"));
        ASSERT_FALSE(failed) << status;
        EXPECT_THAT(failed.error().what, ::testing::HasSubstr("glance")) << status;
        answer(200, R"({"id": "i-1"})");
        EXPECT_TRUE(found(parts)) << status;
    }
}

TEST_F(GlanceTest, ACloudWithoutAnImageServiceIsNoTrouble) {
    cloud.cloud.endpoint_overrides.erase("image");
    cloud.catalog = nlohmann::json::parse(R"([{"type": "compute", "name": "nova", "id": "c",
        "endpoints": [{"interface": "public", "region": "R", "region_id": "R", "id": "e",
                       "url": "http://127.0.0.1:1/v2.1"}]}])");
    auto parts = cloud.connect();
    EXPECT_FALSE(found(parts));
    EXPECT_FALSE(found(parts, ""));
}

/// By what the token says of the reaper.
TEST_F(GlanceTest, ListsTheSnapshotsThatNovaMadeForTheReaper) {
    auto parts = cloud.connect();
    const auto who = cloud.run(parts.session->authenticate());
    ASSERT_TRUE(who);
    const std::string list = "GET /glance/v2/images?image_type=snapshot&owner=" + who->project_id +
                             "&user_id=" + who->user_id + "&limit=500";
    cloud.on(list, json_reply(200, R"({"images": [
        {"id": "i-1", "name": "web-shelved", "instance_uuid": "s-1",
         "created_at": "2026-11-30T05:18:52Z"},
        {"id": "i-2", "name": "of no server"}], "next": "/v2/images?marker=i-2"})"));
    cloud.on(list + "&marker=i-2",
             json_reply(200, R"({"images": [{"id": "i-3", "name": "b", "instance_uuid": "s-3",
                                              "created_at": "2026-11-30T05:18:52Z"}]})"));
    const auto found = cloud.run(parts.images->own_server_images());
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->size(), 2U);
    EXPECT_EQ((*found)[0].id, "i-1");
    EXPECT_EQ((*found)[0].name, "web-shelved");
    EXPECT_EQ((*found)[0].server, ServerId{"s-1"});
    EXPECT_EQ((*found)[0].created, parse_time("2026-11-30T05:18:52Z"));
    EXPECT_EQ((*found)[1].server, ServerId{"s-3"});
    cloud.on(list, json_reply(200, R"({"images": {}})"));
    EXPECT_FALSE(cloud.run(parts.images->own_server_images()));
    cloud.on(list, json_reply(403, "{}"));
    EXPECT_EQ(cloud.run(parts.images->own_server_images()).error().code, Errc::forbidden);
}

TEST_F(GlanceTest, DeletesAnImage) {
    auto parts = cloud.connect();
    const auto deleted = [&](int status) {
        cloud.on("DELETE " + path, json_reply(status, ""));
        return cloud.run(parts.images->delete_image("i-1"));
    };
    EXPECT_TRUE(deleted(204).value());
    EXPECT_FALSE(deleted(404).value());
    EXPECT_EQ(deleted(403).error().code, Errc::forbidden);
    EXPECT_FALSE(cloud.run(parts.images->delete_image("")));
}

TEST(ImagesRoot, HasItsVersionOnce) {
    EXPECT_EQ(images_root("http://g:9292"), "http://g:9292/v2");
    EXPECT_EQ(images_root("http://g:9292/"), "http://g:9292/v2");
    EXPECT_EQ(images_root("http://g/image/v2/"), "http://g/image/v2");
    EXPECT_EQ(images_root("http://g/image/v2.9"), "http://g/image/v2.9");
}

TEST(ReadImage, RefusesWhatIsNoImage) {
    for (const char* const body : {"", "[]", "{}", R"({"id": 3})"})
        EXPECT_FALSE(read_image(body, "GET glance")) << body;
}

}  // namespace
}  // namespace reaper::openstack::glance_test
