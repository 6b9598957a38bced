#include "reaper/report/culling.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "reaper/report/table.hpp"

namespace reaper::report::culling_test {
namespace {

using nlohmann::json;

const Resources wanted{{"VCPU", 1}, {"MEMORY_MB", 2048}};
const TimePoint then{std::chrono::seconds{1'800'000'000}};

CullingCandidate candidate(const std::string& host) {
    CullingCandidate made;
    made.host = HostId{host + "-uuid"};
    made.host_name = host;
    const ProviderId root{host + "-uuid"};
    made.providers[root] = {{ResourceClass{"VCPU"}, {8, 10}},
                            {ResourceClass{"MEMORY_MB"}, {8192, 8192}}};
    made.preemptible[root] = {{ServerId{"s-1"}, Resources{{"VCPU", 2}, {"MEMORY_MB", 4096}}}};
    made.preemptible[ProviderId{host + "-slots"}] = {
        {ServerId{"s-1"}, Resources{{"CUSTOM_PREEMPTIBLE", 1}}}};
    return made;
}

TEST(CullingJson, HasTheShapeOfAardvarksDocument) {
    CullingJson made;
    made.add(candidate("one"));
    made.add(candidate("two"));
    const json document = json::parse(made.finish(wanted, then));
    EXPECT_EQ(document.at("resources"), json({{"VCPU", 1}, {"MEMORY_MB", 2048}}));
    EXPECT_EQ(document.at("taken_at"), "2027-01-15T08:00:00.000Z");
    EXPECT_EQ(document.at("provider_summaries").size(), 2U);
    EXPECT_EQ(document.at("provider_summaries").at("one-uuid").at("resources"),
              json({{"VCPU", {{"used", 8}, {"capacity", 10}}},
                    {"MEMORY_MB", {{"used", 8192}, {"capacity", 8192}}}}));
    EXPECT_EQ(document.at("preemptible_allocations").at("one-uuid"),
              json({{"s-1", {{"VCPU", 2}, {"MEMORY_MB", 4096}}}}));
    EXPECT_EQ(document.at("preemptible_allocations").at("two-slots"),
              json({{"s-1", {{"CUSTOM_PREEMPTIBLE", 1}}}}));
}

TEST(CullingJson, WithoutCandidatesBothAreEmptyObjects) {
    CullingJson made;
    const json document = json::parse(made.finish(wanted, then));
    EXPECT_EQ(document.at("provider_summaries"), json::object());
    EXPECT_EQ(document.at("preemptible_allocations"), json::object());
}

TEST(CullingJson, HostileNamesStayInTheirPlace) {
    auto hostile = candidate("a\"},{\"b");
    CullingJson made;
    made.add(hostile);
    const json document = json::parse(made.finish(wanted, then));
    EXPECT_EQ(document.at("provider_summaries").begin().value().at("host"), "a\"},{\"b");
}

TEST(CullingText, TellsEachHostAndTheVerdict) {
    auto roomy = candidate("two");
    roomy.has_room = true;
    const std::string text =
        table_text(candidates_table({candidate("one"), roomy}, wanted, 3), 140, Paint{false});
    EXPECT_EQ(text,
              "HOST  ROOM        SERVERS  VCPU_USED  VCPU_CAPACITY  VCPU_PREEMPTIBLE  "
              "MEMORY_MB_USED  MEMORY_MB_CAPACITY  MEMORY_MB_PREEMPTIBLE\n"
              "one   by culling        1          8             10                 2            "
              "8192                8192                   4096\n"
              "two   yes               1          8             10                 2            "
              "8192                8192                   4096\n"
              "\n"
              "2 candidates of 3 hosts for VCPU=1 MEMORY_MB=2048: 1 with room as it is, 1 if "
              "preemptible servers go\n");
    EXPECT_EQ(table_text(candidates_table({}, wanted, 1), 140, Paint{false}),
              "No candidates.\n"
              "\n"
              "0 candidates of 1 host for VCPU=1 MEMORY_MB=2048: 0 with room as it is, 0 if "
              "preemptible servers go\n");
}

}  // namespace
}  // namespace reaper::report::culling_test
