// Lists as a command answers with them: documents in the order of the table, and errors.
#include "reaper/cli/output/list_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/cli/channel/remote_cloud.hpp"
#include "reaper/cli/output/room_tables.hpp"
#include "reaper/report/table.hpp"

namespace reaper::cli::list_output_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

List example() {
    report::Table table;
    table.columns = {report::column("name"), report::number("slots"), report::under("reason")};
    table.none = "No things.";
    json things = json::array();
    for (const auto& [name, slots] : {std::pair{"b", 2}, {"a", 10}}) {
        table.rows.push_back({std::string{name}, std::int64_t{slots}, std::string{"because"}});
        things.push_back({{"name", name}, {"slots", slots}});
    }
    return {std::move(table),
            [things] {
                return json{{"version", 2}, {"things", things}};
            },
            "things"};
}

std::string shown(ListFormat format, const std::string& sort = "",
                  const std::vector<std::string>& columns = {}, Page page = {}) {
    ListOptions options;
    options.format = format;
    options.sort = sort;
    options.columns = columns;
    const auto text = list_text(example(), options, page);
    return text ? *text : text.error().what;
}

TEST(ListOutput, HasEachFormat) {
    EXPECT_EQ(shown(ListFormat::table),
              "NAME  SLOTS  REASON\nb         2  because\n"
              "a        10  because\n");
    EXPECT_EQ(shown(ListFormat::table, "", {}, Page{true, 80, report::Paint{false}}),
              "NAME  SLOTS\nb         2\n    because\na        10\n    because\n");
    EXPECT_EQ(shown(ListFormat::wide), shown(ListFormat::table));
    EXPECT_EQ(shown(ListFormat::csv), "name,slots,reason\r\nb,2,because\r\na,10,because\r\n");
    EXPECT_EQ(shown(ListFormat::name), "b\na\n");
    EXPECT_EQ(json::parse(shown(ListFormat::json)), example().document());
    EXPECT_EQ(shown(ListFormat::yaml),
              "things:\n  - name: b\n    slots: 2\n  - name: a\n    slots: 10\nversion: 2\n");
}

TEST(ListOutput, IsSortedInEachFormat) {
    for (const auto format : {ListFormat::table, ListFormat::wide, ListFormat::csv,
                              ListFormat::json, ListFormat::yaml, ListFormat::name}) {
        const std::string up = shown(format, "slots");
        const std::string down = shown(format, "-slots");
        EXPECT_EQ(up, shown(format)) << "2 before 10";
        EXPECT_NE(up, down);
    }
    EXPECT_EQ(shown(ListFormat::name, "NAME"), "a\nb\n");
    EXPECT_EQ(json::parse(shown(ListFormat::json, "name"))["things"][0]["name"], "a");
}

TEST(ListOutput, ColumnsAreChosenAndTheRowsKeepTheirOrder) {
    EXPECT_EQ(shown(ListFormat::csv, "slots:desc", {"name"}), "name\r\na\r\nb\r\n")
        << "by a column that is not shown";
    EXPECT_EQ(shown(ListFormat::table, "", {"nothing"}),
              "--columns: there is no column 'nothing'; there are: name, slots, reason");
}

TEST(ListOutput, ADocumentWithoutAnOrderCantBeSorted) {
    List list = example();
    list.rows = "";
    ListOptions options;
    options.sort = "name";
    options.format = ListFormat::json;
    const auto text = list_text(std::move(list), options, {});
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().what, HasSubstr("has no order"));
}

TEST(YamlText, HasTheStructureOfTheJson) {
    const json document{{"a", nullptr},
                        {"b", {true, false, 1.5, -3, "true", ""}},
                        {"c", json::object()},
                        {"d", {{"x", json::array()}}},
                        {"e", "\xff\x1b"}};
    EXPECT_EQ(yaml_text(document),
              "a: ~\nb:\n  - true\n  - false\n  - 1.5\n  - -3\n  - \"true\"\n  - \"\"\n"
              "c:\n  {}\nd:\n  x:\n    []\ne: \"\ufffd\\x1b\"\n");
}

TEST(ReservationsTable, IsMadeOfWhatTheDaemonSays) {
    const json said{{"reservations",
                     {{{"id", "r-1"},
                       {"host", "uuid"},
                       {"host_name", "compute-1"},
                       {"role", "web"},
                       {"labels", {{"purpose", "peak"}}},
                       {"resources", {{"VCPU", 4}}},
                       {"used", {{"VCPU", 1}}},
                       {"held", {{"VCPU", 3}}},
                       {"lent", json::object()},
                       {"owed", json::object()},
                       {"principal", "alice, bob"},
                       {"reservers", {{"alice", {{"VCPU", 3}}}, {"bob", {{"VCPU", 1}}}}},
                       {"refines_role", "all"},
                       {"refines_labels", {{"why", "peak"}}},
                       {"from_config", false},
                       {"trouble", "gone"}},
                      {{"id", "r-2"}, {"host", "other"}, {"from_config", true}, {"role", 7}},
                      {{"id", "r-3"}, {"from_config", true}, {"principal", "capacity-team"}},
                      "nonsense"}},
                    {"remarks", {"look out"}}};
    const report::Table table = reservations_table(said);
    EXPECT_EQ(report::table_csv(table),
              "host,role,labels,reserved,used,held,lent,owed,by,refines,id,host_id,trouble\r\n"
              "compute-1,web,purpose=peak,VCPU=4,VCPU=1,VCPU=3,,,"
              "\"alice (VCPU=3), bob (VCPU=1)\",all why=peak,r-1,uuid,"
              "not as it should be: gone\r\n"
              "other,,,,,,,,the configuration,,r-2,other,\r\n"
              ",,,,,,,,capacity-team (the configuration),,r-3,,\r\n"
              ",,,,,,,,,,,,\r\n");
    EXPECT_EQ(report::table_names(table), "r-1\nr-2\nr-3\n");
    EXPECT_EQ(table.remarks, std::vector<std::string>{"look out"});
    EXPECT_TRUE(reservations_table(json::object()).rows.empty());
}

TEST(ListOfOversubscription, IsWhatTheDaemonTells) {
    const auto host = [](const char* name, json wanted, bool left_alone, bool too_busy) {
        return json{{"host", "id"},
                    {"host_name", name},
                    {"published", 4},
                    {"used", 6},
                    {"wanted", std::move(wanted)},
                    {"excess", 2},
                    {"left_alone", left_alone},
                    {"too_busy", too_busy},
                    {"why", "because"}};
    };
    const json said{{"hosts",
                     {host("c1", 4, false, false), host("c2", nullptr, false, false),
                      host("c3", 4, true, false), host("c4", 4, true, true), "nonsense"}}};
    const report::Table table = oversubscription_table(said);
    EXPECT_EQ(report::table_csv(table),
              "host,published,used,wanted,excess,state,host_id,why\r\n"
              "c1,4,6,4,2,,id,because\r\n"
              "c2,4,6,,2,not known,id,because\r\n"
              "c3,4,6,4,2,left alone,id,because\r\n"
              "c4,4,6,4,2,too busy,id,because\r\n"
              ",,,,,,,\r\n");
    EXPECT_TRUE(oversubscription_table(json::object()).rows.empty());
}

TEST(EstimatedRoomOfHosts, IsWhatTheDaemonTellsAndElseNotKnown) {
    const json said{{"class", "CUSTOM_REVOCABLE_VCPU"},
                    {"hosts",
                     {{{"host", "id1"}, {"wanted", 4}},
                      {{"host", "id2"}, {"wanted", nullptr}},
                      {{"host", 3}, {"wanted", 4}},
                      {{"host", "id4"}},
                      "nonsense"}}};
    const EstimatedRoom room = estimated_room_in(said);
    EXPECT_EQ(room.of.str(), "CUSTOM_REVOCABLE_VCPU");
    EXPECT_EQ(room.wanted, (std::map<HostId, Amount>{{HostId{"id1"}, 4}}));
    for (const json& other : {json::array(), json::object(), json{{"hosts", said.at("hosts")}},
                              json{{"class", 1}, {"hosts", 2}}})
        EXPECT_TRUE(estimated_room_in(other).wanted.empty());
}

}  // namespace
}  // namespace reaper::cli::list_output_test
