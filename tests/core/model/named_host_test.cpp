#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/model/named_records.hpp"

namespace reaper::test::named_host_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Host host(const std::string& id, const std::string& name, const std::string& service) {
    Host made;
    made.id = HostId{id};
    made.name = name;
    made.service_host = service;
    return made;
}

const std::vector<Host> cloud{host("id-1", "compute-1.example.org", "compute-1.example.org"),
                              host("id-12", "compute-12.example.org", "compute-12.example.org"),
                              host("id-2", "compute-2.east", "c2-east"),
                              host("id-3", "compute-2.west", "c2-west"),
                              host("id-4", "compute-3", "compute-3"),
                              host("id-5", "compute-3.west", "c3-west")};

Result<const Host*> named(const std::string& written) {
    std::vector<const Host*> hosts;
    for (const Host& each : cloud) hosts.push_back(&each);
    return host_named(hosts, written);
}

std::string id_of(const std::string& written) {
    const auto found = named(written);
    return found ? (*found)->id.str() : found.error().what;
}

TEST(HostNamed, IsFoundByIdWholeNameServiceAndShortName) {
    EXPECT_EQ(id_of("id-12"), "id-12");
    EXPECT_EQ(id_of("compute-12.example.org"), "id-12");
    EXPECT_EQ(id_of("compute-1"), "id-1") << "no part of a label";
    EXPECT_EQ(id_of("compute-1.example"), "id-1");
    EXPECT_EQ(id_of("c2-west"), "id-3");
    EXPECT_EQ(id_of("compute-3"), "id-4") << "a whole name goes before a shortened one";
}

TEST(HostNamed, SeveralMatchesAreReportedAndNoneIsChosen) {
    const auto several = named("compute-2");
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().code, Errc::bad_input);
    EXPECT_THAT(several.error().what, HasSubstr("compute-2.east (id-2)"));
    EXPECT_THAT(several.error().what, HasSubstr("compute-2.west (id-3)"));
}

TEST(HostNamed, OfAnUnknownOneTheNearestNamesAreReported) {
    const auto unknown = named("compute-13");
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Errc::not_found);
    EXPECT_THAT(unknown.error().what,
                HasSubstr("there is no host 'compute-13' in this cloud, by name or id; did you "
                          "mean 'compute-1', 'compute-12' or 'compute-3'?"));
    EXPECT_THAT(id_of("comptue-3.west"), HasSubstr("did you mean 'compute-3.west'"));
    EXPECT_THAT(id_of("frobnicate"), Not(HasSubstr("did you mean")));
    EXPECT_THAT(id_of(""), HasSubstr("there is no host ''"));
}

}  // namespace
}  // namespace reaper::test::named_host_test
