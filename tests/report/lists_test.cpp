// Each list in each format, as golden/list-NAME.txt has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reaper/report/history_tables.hpp"
#include "reaper/report/hosts_tables.hpp"
#include "reaper/report/json.hpp"
#include "reaper/report/table.hpp"
#include "tests/report/examples.hpp"

namespace reaper::report::test::lists_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

void expect_list(const std::string& name, const Table& table) {
    for (const auto& row : table.rows) ASSERT_EQ(row.size(), table.columns.size());
    ASSERT_LT(table.key, table.columns.size());
    const Paint plain{false};
    expect_golden("list-" + name + ".txt", "--- on a terminal\n" + table_text(table, 100, plain) +
                                               "--- piped\n" + table_lines(table, false, plain) +
                                               "--- wide\n" + table_lines(table, true, plain) +
                                               "--- csv\n" + table_csv(table) + "--- name\n" +
                                               table_names(table));
}

TEST(Lists, OfRequests) {
    expect_list("requests", requests_table(example_lines(), noon(300'000)));
    EXPECT_EQ(table_text(requests_table({}, noon(300'000)), 100, Paint{false}), "No requests.\n");
}

TEST(Lists, OfRequestsNameACorrection) {
    RequestSummary line;
    line.request.correction = Correction{HostId{"h"}, "compute-1", {}};
    EXPECT_THAT(table_lines(requests_table({line}, noon(300'000)), false, Paint{false}),
                HasSubstr("correction"));
}

TEST(Lists, TellPlannedVictimsApartFromDeletedOnes) {
    RequestSummary line;
    line.planned = 12;
    line.outcome = Outcome{OutcomeKind::dry_run, "12 victims", noon()};
    line.request.requesters = {ServerId{"5e2d"}, ServerId{"6f3e"}};
    line.request.requester_names = {{ServerId{"5e2d"}, "web-1"}};
    const Table table = requests_table({line}, noon(300'000));
    EXPECT_THAT(table_lines(table, false, Paint{false}), HasSubstr(" (12) "));
    EXPECT_THAT(table_csv(table), HasSubstr(",web-1 and 1 more,0,,1,"));
    EXPECT_THAT(table_csv(table), HasSubstr(",12,\"web-1, 6f3e\","));
    line.victims = 3;
    EXPECT_THAT(table_lines(requests_table({line}, noon(300'000)), false, Paint{false}),
                Not(HasSubstr("(12)")));
    EXPECT_THAT(table_csv(requests_table({line}, noon(300'000))),
                HasSubstr(",web-1 and 1 more,3,,1,"));
    RequestSummary fewer = line;
    fewer.victims = 0;
    const auto order = order_of(requests_table({fewer, line}, noon(300'000)), "-victims");
    ASSERT_TRUE(order);
    EXPECT_EQ(*order, (std::vector<std::size_t>{1, 0})) << "planned ones count for none";
}

/// "Which of these is web-1?"
TEST(Lists, OfRequestsNameTheFirstThatWaitsAndTheFlavor) {
    RequestSummary line;
    line.request.id = example_request().id;
    const auto text = [&](std::size_t width) {
        return table_text(requests_table({line}, noon(300'000)), width, Paint{false});
    };
    line.request.flavor = "m1.small";
    line.request.requesters = {ServerId{"5e2d"}};
    EXPECT_THAT(text(100), HasSubstr("  5e2d       1 x m1.small  "));
    line.request.requester_names = {{ServerId{"5e2d"}, "we\x1b[2Jb-1"}};
    EXPECT_THAT(text(100), HasSubstr("  we\\x1b[2Jb-1  "));
    line.request.requester_names = {{ServerId{"5e2d"}, "web-1"}};
    line.request.requesters.insert(line.request.requesters.end(),
                                   {ServerId{"6f3e"}, ServerId{"7a4f"}});
    EXPECT_THAT(text(100), HasSubstr("  web-1 and 2 more  "));
    EXPECT_THAT(
        table_csv(requests_table({line}, noon(300'000))),
        AllOf(HasSubstr(",web-1 and 2 more,0,,1,m1.small,"), HasSubstr(",\"web-1, 6f3e, 7a4f\",")));
}

/// Also where names are long.
TEST(Lists, OfRequestsAreALineEachOnATerminal) {
    RequestSummary line;
    line.request.id = example_request().id;
    line.request.slots = 2;
    line.request.flavor = "general-purpose.extra-large.with-a-long-name";
    line.request.requesters = {ServerId{"5e2d"}};
    line.request.requester_names = {
        {ServerId{"5e2d"}, "frontend-autoscaling-group-eu-central-1a-0001"}};
    line.received_at = noon();
    line.outcome = Outcome{OutcomeKind::already_there, "room for 2 slots", noon()};
    FreedRoomResult room;
    room.kind = FreedRoomResultKind::taken;
    room.takers = {{ServerId{"5e2d"}, noon(), {}}};
    line.freed_room = room;
    for (const std::size_t width : {80U, 100U, 160U}) {
        const auto text = table_text(requests_table({line}, noon(300'000)), width, Paint{false});
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
        EXPECT_THAT(text, HasSubstr("\n5min  req-7f3a2b10  already-there  ")) << text;
        EXPECT_THAT(text, HasSubstr("1 of 2 taken"));
    }
}

TEST(Lists, SkippedVictimsOfARealRequestAreNotPlannedOnes) {
    RequestSummary line;
    line.planned = 12;
    EXPECT_THAT(table_lines(requests_table({line}, noon(300'000)), false, Paint{false}),
                Not(HasSubstr("(12)")))
        << "under way";
    line.outcome = Outcome{OutcomeKind::incomplete, "all were skipped", noon()};
    EXPECT_THAT(table_lines(requests_table({line}, noon(300'000)), false, Paint{false}),
                Not(HasSubstr("(12)")));
}

/// People see the name; programs have the id too.
TEST(Lists, NameProjectsWhereTheyAreKnown) {
    RequestSummary line;
    line.request.project = ProjectId{"8d3f"};
    const auto text = [&](bool wide) {
        return table_lines(requests_table({line}, noon(300'000)), wide, Paint{false});
    };
    EXPECT_THAT(text(false), HasSubstr("8d3f"));
    line.request.project_name = "we\x1b[2Jb";
    EXPECT_THAT(text(false), HasSubstr("we\\x1b[2Jb"));
    EXPECT_THAT(text(false), Not(HasSubstr("8d3f")));
    EXPECT_THAT(text(true), HasSubstr("8d3f"));
    VictimEntry victim;
    victim.project = ProjectId{"8d3f"};
    victim.project_name = "web";
    EXPECT_THAT(table_csv(victims_table({victim})), HasSubstr("web,8d3f"));
    Snapshot snapshot;
    snapshot.hosts.resize(1);
    snapshot.hosts[0].servers.resize(1);
    snapshot.hosts[0].servers[0].project = ProjectId{"8d3f"};
    snapshot.project_names[ProjectId{"8d3f"}] = "web";
    EXPECT_THAT(table_lines(servers_table(snapshot), false, Paint{false}), HasSubstr("web"));
    EXPECT_EQ(servers_json(snapshot)["servers"][0]["project_name"], "web");
    EXPECT_EQ(to_json(snapshot)["hosts"][0]["servers"][0]["project_name"], "web");
}

TEST(Lists, OfMessages) {
    expect_list("messages",
                messages_table({{"m-1", "compute_task.build_instances.error", RequestId{"req-1"},
                                 "duplicate", "the request is known", noon()},
                                {"m-2", "\x1b]0;title\x07", RequestId{}, "malformed", "not JSON",
                                 noon(1'000)}}));
    EXPECT_EQ(table_text(messages_table({}), 100, Paint{false}), "No messages.\n");
}

TEST(Lists, OfVictims) {
    const std::vector<VictimEntry> victims = victims_of(example_story());
    ASSERT_EQ(victims.size(), 1U);
    expect_list("victims", victims_table(victims));
    EXPECT_EQ(array_of(victims)[0]["request"], example_request().id.str());
    EXPECT_EQ(table_text(victims_table({}), 100, Paint{false}), "No victims.\n");
}

TEST(Lists, OfEvents) {
    expect_list("events", events_table({{"resumed", "by alice", noon(1)},
                                        {"paused", "by \x1b[2Jmallory", noon()}}));
    EXPECT_EQ(table_text(events_table({}), 100, Paint{false}), "No events.\n");
}

TEST(Lists, OfHostsAndTheirServers) {
    expect_list("hosts", hosts_table(example_snapshot()));
    expect_list("servers", servers_table(example_snapshot()));
    const auto servers = servers_json(example_snapshot());
    EXPECT_EQ(servers["servers"].size(), servers_table(example_snapshot()).rows.size());
    EXPECT_EQ(servers["servers"][0]["host"], example_snapshot().hosts[0].name);
    EXPECT_EQ(servers["version"], json_version);
}

TEST(Lists, OfHostsTellWhatIsOversubscribed) {
    Snapshot snapshot = example_snapshot();
    const ResourceClass room{"CUSTOM_REVOCABLE_VCPU"};
    snapshot.revocable_classes.insert(room);
    EXPECT_THAT(hosts_table(snapshot).summary, Not(HasSubstr("oversubscribed")));
    Provider& provider = snapshot.hosts[1].providers.front();
    provider.inventories[room] = Inventory{.total = 6};
    provider.used.add(room, 8);
    EXPECT_THAT(hosts_table(snapshot).summary,
                HasSubstr("; oversubscribed CUSTOM_REVOCABLE_VCPU: 6 published on 1 host, 8 used, "
                          "0 free"));
    const auto only = with_columns(hosts_table(snapshot), {"CUSTOM_REVOCABLE_VCPU_free"});
    ASSERT_TRUE(only);
    EXPECT_THAT(table_csv(*only), HasSubstr("\r\n-2\r\n")) << "2 more than there is";
    const auto json = to_json(snapshot);
    EXPECT_EQ(json["oversubscribed"]["CUSTOM_REVOCABLE_VCPU"],
              (nlohmann::json{
                  {"published", 6}, {"used", 8}, {"free", 0}, {"wanted", nullptr}, {"hosts", 1}}));
    EXPECT_EQ(json["hosts"][0]["oversubscribed"], nlohmann::json::object());
}

TEST(Lists, OfHostsTellWhatIsWantedWhereThatIsKnown) {
    Snapshot snapshot = example_snapshot();
    ASSERT_GE(snapshot.hosts.size(), 2U);
    const ResourceClass room{"CUSTOM_REVOCABLE_VCPU"};
    snapshot.revocable_classes.insert(room);
    snapshot.hosts[1].providers.front().inventories[room] = Inventory{.total = 6};
    const auto wanted = [&](const EstimatedRoom& estimated) {
        const auto only =
            with_columns(hosts_table(snapshot, estimated), {"CUSTOM_REVOCABLE_VCPU_wanted"});
        return only ? table_csv(*only) : "";
    };
    std::string empty = "CUSTOM_REVOCABLE_VCPU_wanted\r\n";
    for (std::size_t i = 0; i < snapshot.hosts.size(); ++i) empty += "\r\n";
    EXPECT_EQ(wanted({}), empty);
    const EstimatedRoom estimated{room, {{snapshot.hosts[1].id, 9}}};
    EXPECT_THAT(wanted(estimated), HasSubstr("\r\n\r\n9\r\n"));
    EXPECT_THAT(hosts_table(snapshot, estimated).summary, HasSubstr("6 free, 9 wanted"));
    auto json = to_json(snapshot, estimated);
    EXPECT_EQ(json["hosts"][1]["oversubscribed"][room.str()]["wanted"], 9);
    EXPECT_EQ(json["oversubscribed"][room.str()]["wanted"], 9);
    EXPECT_EQ(json["hosts"][0]["oversubscribed"], nlohmann::json::object());
    // Nothing is published yet.
    snapshot.hosts[1].providers.front().inventories.erase(room);
    EXPECT_THAT(hosts_table(snapshot, estimated).summary,
                HasSubstr("0 published on 0 hosts, 0 used, 0 free, 9 wanted"));
    EXPECT_THAT(wanted(estimated), HasSubstr("9\r\n"));
}

}  // namespace
}  // namespace reaper::report::test::lists_test
