// What Placement's candidates show before any host is read.
#include "reaper/gateway/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::test::candidates_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string summary(const std::string& provider, const std::string& root,
                    const std::string& traits = "") {
    return "\"" + provider + R"(": {"resources": {}, "traits": [)" + traits +
           R"(], "root_provider_uuid": ")" + root + "\"}";
}

TEST(HostsAtAGlance, AreTheRootsEachOnce) {
    const std::string body = R"({"provider_summaries": {)" + summary("a", "a") + ", " +
                             summary("a-numa", "a") + ", " + summary("b", "b") + "}}";
    EXPECT_THAT(quick_hosts_of(body, 8), ElementsAre(HostId{"a"}, HostId{"b"}));
    EXPECT_THAT(quick_hosts_of(body, 1), ElementsAre(HostId{"a"}));
    EXPECT_THAT(quick_hosts_of(R"({"root_provider_uuid":"c"})", 8), ElementsAre(HostId{"c"}));
}

TEST(HostsAtAGlance, SharedRoomCannotBeJudged) {
    const std::string body =
        summary("a", "a") + summary("s", "s", R"("MISC_SHARES_VIA_AGGREGATE")");
    EXPECT_THAT(quick_hosts_of(body, 8), IsEmpty());
}

TEST(HostsAtAGlance, WhatBreaksOffTellsNoMore) {
    const std::string whole = summary("a", "a") + summary("b", "b");
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_LE(quick_hosts_of(std::string_view(whole).substr(0, size), 8).size(), 2U);
    EXPECT_THAT(quick_hosts_of(whole.substr(0, whole.size() - 2), 8), ElementsAre(HostId{"a"}));
    EXPECT_THAT(quick_hosts_of("", 8), IsEmpty());
}

}  // namespace
}  // namespace reaper::test::candidates_test
