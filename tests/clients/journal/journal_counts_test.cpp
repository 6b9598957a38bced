// Victims, what happened to the room, events of the reaper itself, and counts of everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

#include "clients/journal/sqlite_database.hpp"
#include "clients/journal/store.hpp"
#include "tests/clients/journal/engines.hpp"
#include "tests/clients/journal/stories.hpp"

namespace reaper::journal::test::journal_counts_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class JournalCounts : public OnEveryEngine {
protected:
    void admit(const std::string& id) { wait(journal_->admit(request(id), noon())).value(); }
    void add_plan(const std::string& id, const std::vector<std::string>& servers) {
        PlanEntry entry{1, noon(1), plan(id)};
        auto& victims = std::get<Plan>(entry.decision).hosts[0].victims;
        Victim victim = victims[0];
        victims.clear();
        for (const auto& server : servers) {
            victim.server = ServerId{server};
            victim.name = "name of " + server;
            victims.push_back(victim);
        }
        wait(journal_->add_plan(RequestId{id}, entry)).value();
    }
    void step(const std::string& id, const std::string& server, Step kind, int at) {
        wait(journal_->add_step(RequestId{id}, StepEntry{ServerId{server}, kind, "", noon(at)}))
            .value();
    }
    void finish(const std::string& id, OutcomeKind kind, int at,
                const std::string& safeguard = "") {
        wait(journal_->finish(RequestId{id}, Outcome{kind, "why", noon(at), safeguard})).value();
    }
    void note(const std::string& id, FreedRoomResultKind kind, int at) {
        wait(journal_->note_freed_room(RequestId{id},
                                       FreedRoomResult{kind, "why", {HostId{"h-1"}}, noon(at)}))
            .value();
    }
    std::vector<std::string> victims(int since) {
        std::vector<std::string> servers;
        for (const auto& victim : wait(journal_->victims_since(noon(since))).value())
            servers.push_back(victim.server.str() + " for " + victim.request.str());
        return servers;
    }
    /// Two servers a minute, for two requests.
    std::shared_ptr<DeletionLimit> open_with_limit() {
        auto limit = std::make_shared<DeletionLimit>();
        limit->most = 2;
        limit->window_ms = 60'000;
        JournalOptions options;
        options.limit = limit;
        open(options);
        for (const char* const id : {"req-1", "req-2"}) admit(id);
        return limit;
    }
};
REAPER_ON_EVERY_ENGINE(JournalCounts);

TEST_P(JournalCounts, NoDeletionIsWrittenBeyondTheLimit) {
    const auto limit = open_with_limit();
    step("req-1", "a", Step::delete_sent, 1);
    step("req-2", "b", Step::delete_sent, 2);
    const StepEntry third{ServerId{"c"}, Step::delete_sent, "", noon(3)};
    const auto refused = wait(journal_->add_step(RequestId{"req-2"}, third));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::rejected);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr("2 servers were deleted in the last"),
                                            HasSubstr("limits.victims_per_window is 2")));
    step("req-1", "a", Step::delete_sent, 4);  // it is counted already
    step("req-1", "a", Step::force_delete_sent, 5);
    step("req-2", "b", Step::skipped, 6);  // never sent, after all
    step("req-2", "c", Step::delete_sent, 7);
    step("req-2", "d", Step::delete_sent, 70);  // the others are past
    limit->most = 0;
    step("req-2", "e", Step::delete_sent, 71);
    EXPECT_EQ(victims(0).size(), 4U);
}

TEST_P(JournalCounts, AServerThatIsShelvedCountsLikeADeletedOne) {
    open_with_limit();
    add_plan("req-2", {"b"});
    step("req-1", "a", Step::shelve_sent, 1);
    step("req-1", "a", Step::delete_sent, 2);  // Nova could not shelve it
    step("req-2", "b", Step::shelve_sent, 3);
    const StepEntry third{ServerId{"c"}, Step::shelve_sent, "", noon(4)};
    EXPECT_FALSE(wait(journal_->add_step(RequestId{"req-2"}, third)));
    EXPECT_THAT(victims(0), ElementsAre("a for req-1", "b for req-2"));
    EXPECT_EQ(wait(journal_->find_victims({.server = "b"})).value().size(), 1U);
    for (const auto& line : wait(journal_->list(10)).value()) EXPECT_EQ(line.victims, 1);
}

TEST_P(JournalCounts, TheLimitCountsAServerOnceFromItsFirstSending) {
    const auto limit = open_with_limit();
    const auto may = [&](const char* server, int at) {
        const StepEntry next{ServerId{server}, Step::delete_sent, "", noon(at)};
        return wait(journal_->add_step(RequestId{"req-2"}, next)).has_value();
    };
    step("req-1", "a", Step::delete_sent, 1);
    step("req-2", "a", Step::delete_sent, 2);  // one server, two requests
    step("req-1", "b", Step::delete_sent, 10);
    step("req-1", "b", Step::force_delete_sent, 50);  // counts from its first sending
    EXPECT_FALSE(may("c", 60));
    EXPECT_FALSE(may("c", 61)) << "a second ago, of the second request";
    EXPECT_TRUE(may("c", 62)) << "a window is open at its beginning";
    EXPECT_FALSE(may("d", 69));
    EXPECT_TRUE(may("d", 70));
}

TEST_P(JournalCounts, VictimsAreThoseWhoseDeletionWasSentOldestFirst) {
    admit("req-1");
    admit("req-2");
    add_plan("req-1", {"a", "b", "c"});
    add_plan("req-2", {"d"});
    step("req-2", "d", Step::delete_sent, 20);
    step("req-1", "a", Step::delete_sent, 10);
    step("req-1", "a", Step::force_delete_sent, 30);
    step("req-1", "a", Step::gone, 40);
    step("req-1", "b", Step::skipped, 10);
    step("req-1", "c", Step::vanished, 10);
    EXPECT_THAT(victims(0), ElementsAre("a for req-1", "d for req-2"));
    EXPECT_THAT(victims(10), ElementsAre("a for req-1", "d for req-2"));
    EXPECT_THAT(victims(11), ElementsAre("d for req-2"));
    const VictimEntry first = wait(journal_->victims_since(noon())).value().at(0);
    EXPECT_EQ(first.at, noon(10));
    EXPECT_EQ(first.name, "name of a");
    EXPECT_EQ(first.project, ProjectId{"cheap"});
    EXPECT_EQ(first.host, "host-1");
}

TEST_P(JournalCounts, ADeletionThatNovaRefusedMadeNoVictim) {
    admit("req-1");
    add_plan("req-1", {"refused", "refused-once"});
    step("req-1", "refused", Step::delete_sent, 10);
    step("req-1", "refused", Step::skipped, 11);
    step("req-1", "refused-once", Step::delete_sent, 10);
    step("req-1", "refused-once", Step::skipped, 11);
    step("req-1", "refused-once", Step::delete_sent, 20);
    EXPECT_THAT(victims(0), ElementsAre("refused-once for req-1"));
    EXPECT_EQ(wait(journal_->victims_since(noon())).value().at(0).at, noon(20));
}

TEST_P(JournalCounts, OneServerMayBeAVictimOfTwoRequests) {
    for (const char* const id : {"req-1", "req-2"}) {
        admit(id);
        add_plan(id, {"again"});
    }
    step("req-1", "again", Step::delete_sent, 1);
    step("req-1", "again", Step::skipped, 2);
    step("req-2", "again", Step::delete_sent, 3);
    EXPECT_THAT(victims(0), ElementsAre("again for req-2"));
}

TEST_P(JournalCounts, VictimsAreTheSameFromTheStory) {
    admit("req-1");
    add_plan("req-1", {"a", "b"});
    step("req-1", "b", Step::delete_sent, 1);
    step("req-1", "a", Step::delete_sent, 2);
    step("req-1", "b", Step::skipped, 3);
    step("req-1", "b", Step::force_delete_sent, 4);
    const auto read = wait(journal_->victims_since(noon())).value();
    const auto derived = victims_of(*wait(journal_->record(RequestId{"req-1"})).value());
    ASSERT_EQ(read.size(), 2U);
    ASSERT_EQ(derived.size(), 2U);
    for (std::size_t i = 0; i < read.size(); ++i) {
        EXPECT_EQ(read[i].server, derived[i].server);
        EXPECT_EQ(read[i].at, derived[i].at);
        EXPECT_EQ(read[i].name, derived[i].name);
        EXPECT_EQ(read[i].request, derived[i].request);
    }
}

TEST_P(JournalCounts, TheFirstResultOfFreedRoomStays) {
    admit("req-1");
    admit("req-2");
    finish("req-1", OutcomeKind::freed, 5);
    note("req-1", FreedRoomResultKind::wasted, 60);
    note("req-1", FreedRoomResultKind::taken, 70);
    open();
    const auto records = wait(journal_->freed_rooms_since(noon(60))).value();
    ASSERT_EQ(records.size(), 1U);
    ASSERT_TRUE(records[0].freed_room);
    EXPECT_EQ(records[0].freed_room->kind, FreedRoomResultKind::wasted);
    EXPECT_EQ(records[0].freed_room->reason, "why");
    EXPECT_EQ(records[0].freed_room->at, noon(60));
    EXPECT_THAT(records[0].freed_room->untaken, ElementsAre(HostId{"h-1"}));
    EXPECT_TRUE(wait(journal_->freed_rooms_since(noon(61))).value().empty());
    const auto lines = wait(journal_->list(10)).value();
    EXPECT_FALSE(lines.at(0).freed_room);
    EXPECT_EQ(lines.at(1).freed_room->kind, FreedRoomResultKind::wasted);
    EXPECT_FALSE(wait(journal_->note_freed_room(RequestId{"none"}, FreedRoomResult{})));
}

TEST_P(JournalCounts, MarksAreNewestFirst) {
    for (int i = 0; i < 3; ++i)
        wait(journal_->note_event(
                 {i == 1 ? "resumed" : "paused", "by " + std::to_string(i), noon(i)}))
            .value();
    const auto events = wait(journal_->events(2)).value();
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].reason, "by 2");
    EXPECT_EQ(events[1].kind, "resumed");
    EXPECT_EQ(events[1].at, noon(1));
}

TEST_P(JournalCounts, EventsOfAKindAreFoundHoweverManyOthersThereAre) {
    for (int i = 0; i < 4; ++i) {
        wait(journal_->note_event({"host-left-alone", "h-" + std::to_string(i), noon(i)})).value();
        wait(journal_->note_event({"paused", "by " + std::to_string(i), noon(i)})).value();
    }
    JournalQuery query;
    query.kind = "host-left-alone";
    query.since = noon(1);
    query.limit = 3;
    const auto events = wait(journal_->find_events(query)).value();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[0].reason, "h-3");
    EXPECT_EQ(events[0].at, noon(3));
    EXPECT_EQ(events[2].reason, "h-1");
    query.kind = "resumed";
    EXPECT_TRUE(wait(journal_->find_events(query)).value().empty());
}

TEST_P(JournalCounts, TotalsCountWhatHappenedSince) {
    for (const char* const id : {"old", "freed", "braked", "open"}) admit(id);
    finish("old", OutcomeKind::freed, 1);
    note("old", FreedRoomResultKind::taken, 2);
    add_plan("freed", {"v-1", "v-2"});
    step("freed", "v-1", Step::delete_sent, 10);
    step("freed", "v-2", Step::delete_sent, 11);
    finish("freed", OutcomeKind::freed, 12);
    note("freed", FreedRoomResultKind::wasted, 50);
    finish("braked", OutcomeKind::refused, 13, "limit-window");
    wait(journal_->note_message({"m", "e", RequestId{}, "ignored", "", noon(14)})).value();
    wait(journal_->note_message({"m", "e", RequestId{}, "ignored", "", noon(3)})).value();
    wait(journal_->note_event({"paused", "by hand", noon(15)})).value();
    const JournalTotals totals = wait(journal_->totals(noon(10))).value();
    EXPECT_THAT(totals.outcomes,
                ElementsAre(Pair(OutcomeKind::freed, 1), Pair(OutcomeKind::refused, 1)));
    EXPECT_EQ(totals.under_way, 1);
    EXPECT_EQ(totals.victims, 2);
    EXPECT_THAT(totals.freed_rooms, ElementsAre(Pair(FreedRoomResultKind::wasted, 1)));
    EXPECT_THAT(totals.safeguards, ElementsAre(Pair("limit-window", 1)));
    EXPECT_THAT(totals.messages, ElementsAre(Pair("ignored", 1)));
    EXPECT_THAT(totals.events, ElementsAre(Pair("paused", 1)));
    EXPECT_EQ(wait(journal_->totals(noon(10))).value().victims, 2) << "can be asked again";
}

TEST_P(JournalCounts, TotalsAreReadBesideAWriter) {
    auto reader = home_->open_for_reading().value();
    admit("req-1");
    EXPECT_EQ(wait(reader->totals(noon())).value().under_way, 1);
    admit("req-2");
    EXPECT_EQ(wait(reader->totals(noon())).value().under_way, 2);
}

TEST_P(JournalCounts, TheBrakeOfAnOutcomeIsKept) {
    admit("req-1");
    finish("req-1", OutcomeKind::refused, 1, "thrash");
    open();
    EXPECT_EQ(wait(journal_->record(RequestId{"req-1"})).value()->outcome->safeguard, "thrash");
}

TEST_P(JournalCounts, AClockThatJumpsAheadDoesNotForgetTheNewestRequests) {
    open(JournalOptions{std::chrono::days{90}, 2});
    for (const char* const id : {"a", "b", "c"}) {
        admit(id);
        finish(id, OutcomeKind::freed, 1);
    }
    wait(journal_->note_event({"clock-stepped", "", noon(400 * 86'400)})).value();
    EXPECT_FALSE(wait(journal_->record(RequestId{"a"})).value());
    EXPECT_TRUE(wait(journal_->record(RequestId{"b"})).value());
    EXPECT_TRUE(wait(journal_->record(RequestId{"c"})).value());
}

InventoryHold hold_on(const std::string& provider, int since) {
    InventoryHold hold;
    hold.provider = ProviderId{provider};
    hold.resource_class = ResourceClass{"CUSTOM_SPOT"};
    hold.host = HostId{"root of " + provider};
    hold.host_name = "name of " + provider;
    hold.before = 1;
    hold.set = 4;
    hold.request = RequestId{"req-1"};
    hold.since = noon(since);
    return hold;
}

TEST_P(JournalCounts, HoldsAreThereUntilTheyEnd) {
    wait(journal_->add_hold(hold_on("p-1", 1))).value();
    wait(journal_->add_hold(hold_on("p-2", 2))).value();
    InventoryHold second = hold_on("p-1", 3);
    second.before = 4;
    wait(journal_->add_hold(second)).value();
    open();
    const auto holds = wait(journal_->holds()).value();
    ASSERT_EQ(holds.size(), 2U);
    EXPECT_EQ(holds[0].provider, ProviderId{"p-1"});
    EXPECT_EQ(holds[0].resource_class, ResourceClass{"CUSTOM_SPOT"});
    EXPECT_EQ(holds[0].host, HostId{"root of p-1"});
    EXPECT_EQ(holds[0].host_name, "name of p-1");
    EXPECT_EQ(holds[0].before, 1) << "the first one's";
    EXPECT_EQ(holds[0].set, 4);
    EXPECT_EQ(holds[0].request, RequestId{"req-1"});
    EXPECT_EQ(holds[0].since, noon(1));
    const InventoryHoldEnd end{InventoryHoldEndKind::given_back, "", noon(9)};
    const ResourceClass spot{"CUSTOM_SPOT"};
    wait(journal_->end_hold(ProviderId{"p-1"}, spot, end)).value();
    EXPECT_TRUE(wait(journal_->end_hold(ProviderId{"p-1"}, spot, end))) << "the second time";
    EXPECT_EQ(wait(journal_->holds()).value().size(), 1U);
    wait(journal_->add_hold(second)).value();
    EXPECT_EQ(wait(journal_->holds()).value().back().before, 4);
}

TEST_P(JournalCounts, TheEndOfAProtectionLeavesTheNextOne) {
    ServerProtection protection;
    protection.server = ServerId{"s-1"};
    protection.since = noon();
    protection.until = noon(60);
    wait(journal_->note_protection(protection)).value();
    protection.since = noon(60);
    protection.until.reset();
    protection.by = "alice";
    wait(journal_->note_protection(protection)).value();
    wait(journal_->end_protection(protection.server, noon())).value();
    open();
    const auto known = wait(journal_->protections()).value();
    ASSERT_EQ(known.size(), 1U);
    EXPECT_EQ(known[0], protection);
    wait(journal_->end_protection(protection.server, noon(60))).value();
    EXPECT_TRUE(wait(journal_->end_protection(protection.server, noon(60)))) << "the second time";
    EXPECT_TRUE(wait(journal_->protections()).value().empty());
}

TEST_P(JournalCounts, AHoldUnderWayIsNotForgottenHoweverOldItIs) {
    wait(journal_->add_hold(hold_on("p-1", 1))).value();
    wait(journal_->note_event({"clock-stepped", "", noon(400 * 86'400)})).value();
    EXPECT_EQ(wait(journal_->holds()).value().size(), 1U);
}

TEST(JournalTables, AreLookedThroughByIndexes) {
    const Folder folder;
    ASSERT_TRUE(open_journal(folder.path()));
    SqliteDatabase database{folder.path(), SQLITE_OPEN_READONLY};
#define HOW "EXPLAIN QUERY PLAN SELECT 1 FROM "
    const std::pair<const char*, const char*> looks[] = {
        {HOW "request_search WHERE project = 'a'", "request_search_project"},
        {HOW "request_search WHERE project_name = 'a' AND project_name <> ''",
         "request_search_project_name"},
        {HOW "request_search WHERE flavor = 'a'", "request_search_flavor"},
        {HOW "chosen WHERE server = 'a'", "chosen_server"},
        {HOW "chosen WHERE name = 'a'", "chosen_name"},
        {HOW "chosen WHERE project = 'a'", "chosen_project"},
        {HOW "chosen WHERE project_name = 'a' AND project_name <> ''", "chosen_project_name"},
        {HOW "chosen WHERE host = 'a'", "chosen_host"}};
#undef HOW
    for (const auto& [what, index] : looks) {
        auto plan = database.statement(what);
        ASSERT_TRUE(plan.step());
        EXPECT_THAT(plan.text(3), AllOf(HasSubstr("SEARCH"), HasSubstr(index))) << what;
    }
    for (const bool planned : {false, true}) {
        JournalQuery query;
        query.server = "a";
        query.planned = planned;
        const std::string look =
            std::string{"EXPLAIN QUERY PLAN "} + sql_of_victims(database, query);
        SqliteDatabase another{folder.path(), SQLITE_OPEN_READONLY};
        std::string steps;
        for (auto plan = another.statement(look.c_str()); plan.step();)
            steps += plan.text(3) + "; ";
        EXPECT_THAT(steps, AllOf(HasSubstr("chosen_server"), HasSubstr("chosen_name"))) << look;
    }
}

}  // namespace
}  // namespace reaper::journal::test::journal_counts_test
