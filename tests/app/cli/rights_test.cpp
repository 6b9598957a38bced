// What rights `reaper check` tells: those of deploy/least-rights, by feature.
#include "reaper/cli/rights.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

namespace reaper::cli::rights_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* table = R"(RIGHTS = {
    "nova": {
        "look": [
            "os:servers:detail",
            "os:servers:detail:all",
        ],
        "delete": [
            "os:servers:delete",
        ],
    },
    "placement": {
        "look": [
            "p:list",
        ],
    },)";

std::vector<Finding> told(const std::set<std::string>& features,
                          const std::vector<Finding>& findings) {
    std::vector<Finding> made;
    check_rights(features, read_rights(table), findings,
                 [&](Finding finding) { made.push_back(std::move(finding)); });
    return made;
}

TEST(Rights, AreReadFromTheScriptThatPrintsThem) {
    EXPECT_THAT(read_rights(table), ElementsAre(Right{"nova", "look", "os:servers:detail"},
                                                Right{"nova", "look", "os:servers:detail:all"},
                                                Right{"nova", "delete", "os:servers:delete"},
                                                Right{"placement", "look", "p:list"}));
    std::ifstream file{std::string{REAPER_SOURCE_DIR} + "/deploy/least-rights"};
    const std::string script{std::istreambuf_iterator<char>{file}, {}};
    const auto rights = read_rights(embedded::rights);
    EXPECT_THAT(rights, Contains(Right{"nova", "delete", "os_compute_api:servers:delete"}));
    EXPECT_THAT(rights, Contains(Right{"glance", "look", "get_image"}));
    EXPECT_THAT(rights, Not(Contains(testing::Field(&Right::rule, "reaper"))));
    for (const Right& right : rights)
        EXPECT_THAT(script, HasSubstr("            \"" + right.rule + "\",\n"));
}

TEST(Rights, EachFeatureNamesWhatItNeeds) {
    const auto all = told({"look", "delete", "nothing"}, {});
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].what, "rights for delete");
    EXPECT_EQ(all[0].detail, "needed: nova: os:servers:delete");
    EXPECT_EQ(all[1].detail,
              "needed: nova: os:servers:detail, os:servers:detail:all; placement: p:list");
    EXPECT_EQ(all[1].verdict, Verdict::ok);
    const Finding refused{Verdict::fail, "keystone", "401"};
    EXPECT_EQ(told({"delete"}, {refused})[0].verdict, Verdict::warn) << "nobody was asked";
}

TEST(Rights, WhatARefusedCallNamesIsMissing) {
    const Finding refused{Verdict::fail, "servers",
                          "403: Policy doesn't allow os:servers:detail:all to be performed."};
    const auto all = told({"look", "delete"}, {refused});
    EXPECT_EQ(all[0].verdict, Verdict::ok) << "another feature's";
    EXPECT_EQ(all[1].verdict, Verdict::fail);
    EXPECT_TRUE(all[1].detail.starts_with("missing: nova: os:servers:detail:all ("))
        << all[1].detail;
    const Finding hint{Verdict::warn, "right to delete", "the policies os:servers:delete must ..."};
    EXPECT_EQ(told({"delete"}, {hint})[0].verdict, Verdict::ok) << "it was not refused";
    const Finding colon{Verdict::fail, "p", "Access was denied: p:list: no"};
    EXPECT_EQ(told({"look"}, {colon})[0].verdict, Verdict::fail);
}

TEST(Rights, FeaturesAreThoseThatAreConfigured) {
    config::Settings settings;
    settings.labels.servers = "none";
    EXPECT_THAT(features_of(settings, false), ElementsAre("delete", "look"));
    settings.labels.servers = "all";
    settings.gateway.listen = "127.0.0.1:8780";
    settings.reservations.enabled = true;
    settings.oversubscription.enabled = true;
    settings.admin.listen = "127.0.0.1:8787";
    settings.admin.auth = "keystone";
    EXPECT_THAT(features_of(settings, true),
                ElementsAre("admin", "delete", "gateway", "held-room", "labels", "look",
                            "oversubscription", "reservations"));
}

}  // namespace
}  // namespace reaper::cli::rights_test
