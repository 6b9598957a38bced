#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/openstack/keystone_format.hpp"
#include "tests/clients/openstack/fake_openstack.hpp"

namespace reaper::openstack::catalog_test {
namespace {

using ::testing::HasSubstr;

const Catalog two_regions{{
    {"compute", "North", "public", "http://north-nova"},
    {"compute", "North", "internal", "http://north-nova-internal"},
    {"compute", "South", "public", "http://south-nova"},
    {"placement", "North", "public", "http://north-placement"},
}};

std::string chosen(const Catalog& catalog, CloudService service, const std::string& region,
                   const std::string& interface = "public") {
    const auto url = choose_endpoint(catalog, service, region, interface);
    if (url) return *url;
    EXPECT_EQ(url.error().code, Errc::bad_input);
    return url.error().what;
}

TEST(Catalog, IsReadFromARecordedToken) {
    const auto token =
        read_token(test::recorded_answer("keystone-auth-tokens").dump(), "POST keystone");
    ASSERT_TRUE(token) << token.error().what;
    EXPECT_EQ(token->info.user_name, "admin");
    EXPECT_EQ(token->info.expires - token->issued, std::chrono::hours(1));
    EXPECT_EQ(chosen(token->catalog, CloudService::compute, ""), "http://127.0.0.1:18774/v2.1");
    EXPECT_EQ(chosen(token->catalog, CloudService::placement, "RegionOne", "internal"),
              "http://127.0.0.1:18778");
}

TEST(Catalog, PicksRegionAndInterface) {
    EXPECT_EQ(chosen(two_regions, CloudService::compute, "South"), "http://south-nova");
    EXPECT_EQ(chosen(two_regions, CloudService::compute, "North", "internal"),
              "http://north-nova-internal");
}

TEST(Catalog, AsksForARegionWhenThereAreSeveral) {
    EXPECT_THAT(chosen(two_regions, CloudService::compute, ""),
                HasSubstr("several regions (North, South); set cloud.region"));
}

TEST(Catalog, ListsTheRegionsWhenThereIsNoSuch) {
    EXPECT_THAT(chosen(two_regions, CloudService::compute, "West"),
                HasSubstr("no region West; the catalog has North, South"));
}

TEST(Catalog, SaysWhereAServiceIsInstead) {
    EXPECT_THAT(chosen(two_regions, CloudService::placement, "South"),
                HasSubstr("it is not in region South but in North"));
}

TEST(Catalog, SaysWhichServicesThereAre) {
    EXPECT_THAT(chosen(two_regions, CloudService::identity, "North"),
                HasSubstr("no such service, only compute, placement; register it in Keystone or "
                          "set cloud.endpoints.identity"));
    EXPECT_THAT(chosen({}, CloudService::compute, "North"), HasSubstr("only nothing"));
}

TEST(Catalog, SaysWhichInterfacesThereAre) {
    EXPECT_THAT(chosen(two_regions, CloudService::compute, "North", "admin"),
                HasSubstr("no admin interface, only internal, public; change cloud.interface"));
}

TEST(Catalog, AcceptsOldNames) {
    const Catalog old{{{"computev21", "R", "publicURL", "http://nova"}}};
    EXPECT_EQ(chosen(old, CloudService::compute, "R"), "http://nova");
}

}  // namespace
}  // namespace reaper::openstack::catalog_test
