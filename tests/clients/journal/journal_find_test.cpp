// Requests, victims and chosen servers that are looked for: all filters, then the limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clients/journal/mariadb_database.hpp"
#include "tests/clients/journal/engines.hpp"
#include "tests/clients/journal/stories.hpp"
#include "tests/support/mariadb_server.hpp"

namespace reaper::journal::test::journal_find_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JournalFind : public OnEveryEngine {
protected:
    void prepare() override {
        cull("req-1", "web", "m1.large", 0, {{"v-1", "batch", "cheap", "host-1", "m1.small"}});
        cull("req-2", "db", "m1.huge", 100,
             {{"v-2", "batch", "cheap", "host-2", "m1.small"},
              {"v-3", "render", "cheaper", "host-2", "m1.tiny"}});
        finish("req-1", OutcomeKind::freed, 50);
        cull("req-3", "web", "m1.large", 200, {});
        finish("req-3", OutcomeKind::not_enough, 201);
    }

    struct Chosen {
        std::string server, name, project, host, flavor, project_name{};
    };
    void cull(const std::string& id, const std::string& project, const std::string& flavor, int at,
              const std::vector<Chosen>& chosen) {
        Request asked = request(id);
        asked.project = ProjectId{project};
        asked.flavor = flavor;
        asked.requesters = {ServerId{"waits-for-" + id}};
        wait(journal_->admit(asked, noon(at))).value();
        if (chosen.empty()) return;
        PlanEntry entry{1, noon(at + 1), plan(id)};
        auto& host = std::get<Plan>(entry.decision).hosts[0];
        Victim victim = host.victims[0];
        host.victims.clear();
        for (const Chosen& each : chosen) {
            victim.server = ServerId{each.server};
            victim.name = each.name;
            victim.project = ProjectId{each.project};
            victim.host = each.host;
            victim.flavor = each.flavor;
            victim.project_name = each.project_name;
            host.victims.push_back(victim);
        }
        wait(journal_->add_plan(RequestId{id}, entry)).value();
        for (const Chosen& each : chosen) step(id, each.server, Step::delete_sent, at + 2);
    }
    void step(const std::string& id, const std::string& server, Step kind, int at) {
        wait(journal_->add_step(RequestId{id}, StepEntry{ServerId{server}, kind, "", noon(at)}))
            .value();
    }
    void finish(const std::string& id, OutcomeKind kind, int at) {
        wait(journal_->finish(RequestId{id}, Outcome{kind, "why", noon(at)})).value();
    }
    std::vector<std::string> requests(const JournalQuery& query) {
        std::vector<std::string> ids;
        for (const auto& line : wait(journal_->find_requests(query)).value())
            ids.push_back(line.request.id.str());
        return ids;
    }
    std::vector<std::string> victims(const JournalQuery& query) {
        std::vector<std::string> ids;
        for (const auto& victim : wait(journal_->find_victims(query)).value())
            ids.push_back(victim.server.str());
        return ids;
    }
    std::vector<std::string> chosen(const std::string& server, int limit = 10) {
        std::vector<std::string> found;
        for (const auto& each : wait(journal_->chosen(server, limit)).value())
            found.push_back(each.server.str() + " for " + each.request.str());
        return found;
    }
    static JournalQuery with(std::string JournalQuery::*member, const std::string& value) {
        JournalQuery query;
        query.*member = value;
        return query;
    }
};
REAPER_ON_EVERY_ENGINE(JournalFind);

TEST_P(JournalFind, WithoutAWishAllAreFoundNewestFirst) {
    EXPECT_THAT(requests({}), ElementsAre("req-3", "req-2", "req-1"));
    EXPECT_THAT(victims({}), ElementsAre("v-3", "v-2", "v-1"));
    const auto lines = wait(journal_->find_requests({})).value();
    EXPECT_EQ(lines[1].victims, 2);
    EXPECT_EQ(lines[0].outcome->kind, OutcomeKind::not_enough);
}

TEST_P(JournalFind, PagesGoOnAfterARequestOrLeaveTheNewestOut) {
    EXPECT_THAT(requests(with(&JournalQuery::after, "req-3")), ElementsAre("req-2", "req-1"));
    EXPECT_THAT(requests(with(&JournalQuery::after, "req-1")), IsEmpty());
    JournalQuery freed = with(&JournalQuery::after, "req-3");
    freed.outcome = OutcomeKind::freed;
    freed.limit = 1;
    EXPECT_THAT(requests(freed), ElementsAre("req-1")) << "the limit counts what fits";
    const auto unknown = wait(journal_->find_requests(with(&JournalQuery::after, "req-9")));
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Errc::not_found);
    JournalQuery second;
    second.skip = 1;
    second.limit = 1;
    EXPECT_THAT(victims(second), ElementsAre("v-2"));
    EXPECT_THAT(requests(second), ElementsAre("req-2"));
}

TEST_P(JournalFind, AnIdIsFoundByItsBeginning) {
    for (int n = 0; n < 300; ++n) cull("req-1-" + std::to_string(n), "web", "m1.large", n, {});
    cull("req-1~2", "web", "m1.large", 300, {});
    cull("req-1~3", "db", "m1.large", 301, {});
    JournalQuery query = with(&JournalQuery::id_begins, "req-1~");
    const auto rows_read = [] {
        if (GetParam() == Engine::sqlite) return std::int64_t{0};  // it counts none
        MariadbDatabase server{MariadbServer::shared().new_database(),
                               MariadbDatabase::Use::reading};
        return server.ask_number(
            "SELECT sum(variable_value) FROM information_schema.global_status "
            "WHERE variable_name IN ('HANDLER_READ_NEXT', 'HANDLER_READ_PREV')");
    };
    const auto before = rows_read();
    EXPECT_THAT(requests(query), ElementsAre("req-1~3", "req-1~2"));
    EXPECT_LT(rows_read() - before, 100);
    query.project = "db";
    EXPECT_THAT(requests(query), ElementsAre("req-1~3"));
}

TEST_P(JournalFind, MessagesAndEventsAreFoundByTimeToo) {
    for (const int at : {10, 20, 30}) {
        wait(journal_->note_message(
                 {"m-" + std::to_string(at), "", RequestId{}, "ignored", "", noon(at)}))
            .value();
        wait(journal_->note_event({"paused", std::to_string(at), noon(at)})).value();
    }
    JournalQuery query;
    query.since = noon(20);
    EXPECT_EQ(wait(journal_->find_messages(query)).value().size(), 2U);
    query.until = noon(30);
    const auto messages = wait(journal_->find_messages(query)).value();
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].message_id, "m-20");
    const auto events = wait(journal_->find_events(query)).value();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].reason, "20");
    JournalQuery oldest;
    oldest.skip = 2;
    EXPECT_EQ(wait(journal_->find_events(oldest)).value().at(0).reason, "10");
}

TEST_P(JournalFind, TimesAreFromAndBefore) {
    JournalQuery query;
    query.since = noon(100);
    EXPECT_THAT(requests(query), ElementsAre("req-3", "req-2"));
    query.until = noon(200);
    EXPECT_THAT(requests(query), ElementsAre("req-2"));
    JournalQuery sent;
    sent.since = noon(2);
    sent.until = noon(102);
    EXPECT_THAT(victims(sent), ElementsAre("v-1"));
    sent.since = noon(102);
    sent.until.reset();
    EXPECT_THAT(victims(sent), ElementsAre("v-3", "v-2"));
}

TEST_P(JournalFind, ProjectsAndFlavorsAreTheRequestersOrTheVictims) {
    EXPECT_THAT(requests(with(&JournalQuery::project, "web")), ElementsAre("req-3", "req-1"));
    EXPECT_THAT(requests(with(&JournalQuery::project, "cheap")), IsEmpty());
    EXPECT_THAT(victims(with(&JournalQuery::project, "cheap")), ElementsAre("v-2", "v-1"));
    EXPECT_THAT(requests(with(&JournalQuery::flavor, "m1.huge")), ElementsAre("req-2"));
    EXPECT_THAT(victims(with(&JournalQuery::flavor, "m1.tiny")), ElementsAre("v-3"));
    EXPECT_THAT(victims(with(&JournalQuery::flavor, "m1.huge")), IsEmpty());
}

TEST_P(JournalFind, HostsAreThoseOfServersThatWereDeleted) {
    EXPECT_THAT(requests(with(&JournalQuery::host, "host-2")), ElementsAre("req-2"));
    EXPECT_THAT(victims(with(&JournalQuery::host, "host-2")), ElementsAre("v-3", "v-2"));
    step("req-2", "v-2", Step::skipped, 110);
    EXPECT_THAT(victims(with(&JournalQuery::host, "host-2")), ElementsAre("v-3"));
    step("req-2", "v-3", Step::skipped, 111);
    EXPECT_THAT(requests(with(&JournalQuery::host, "host-2")), IsEmpty());
}

TEST_P(JournalFind, ServersAreFoundByIdAndNameAndAsRequesters) {
    EXPECT_THAT(requests(with(&JournalQuery::server, "v-3")), ElementsAre("req-2"));
    EXPECT_THAT(requests(with(&JournalQuery::server, "batch")), ElementsAre("req-2", "req-1"));
    EXPECT_THAT(requests(with(&JournalQuery::server, "waits-for-req-3")), ElementsAre("req-3"));
    EXPECT_THAT(victims(with(&JournalQuery::server, "batch")), ElementsAre("v-2", "v-1"));
    EXPECT_THAT(victims(with(&JournalQuery::server, "v-1")), ElementsAre("v-1"));
    EXPECT_THAT(victims(with(&JournalQuery::server, "waits-for-req-3")), IsEmpty());
}

TEST_P(JournalFind, OutcomesAreTheRequests) {
    JournalQuery query;
    query.outcome = OutcomeKind::freed;
    EXPECT_THAT(requests(query), ElementsAre("req-1"));
    EXPECT_THAT(victims(query), ElementsAre("v-1"));
    query = {};
    query.under_way = true;
    EXPECT_THAT(requests(query), ElementsAre("req-2"));
    EXPECT_THAT(victims(query), ElementsAre("v-3", "v-2"));
}

TEST_P(JournalFind, TheLimitCountsWhatTheFiltersLeave) {
    JournalQuery query = with(&JournalQuery::project, "web");
    query.limit = 1;
    EXPECT_THAT(requests(query), ElementsAre("req-3"));
    query = with(&JournalQuery::server, "v-1");
    query.limit = 1;
    EXPECT_THAT(victims(query), ElementsAre("v-1"));
    query.limit = 0;
    EXPECT_THAT(victims(query), IsEmpty());
}

TEST_P(JournalFind, FiltersHoldTogether) {
    JournalQuery query = with(&JournalQuery::project, "web");
    query.outcome = OutcomeKind::freed;
    query.since = noon(0);
    query.server = "batch";
    EXPECT_THAT(requests(query), ElementsAre("req-1"));
    query.host = "host-2";
    EXPECT_THAT(requests(query), IsEmpty());
}

TEST_P(JournalFind, WordsOfTheQueryAreNoSql) {
    for (const char* const word : {"' OR 1=1 --", "%", "\"", "$.project", ""}) {
        const bool any = *word == '\0';
        EXPECT_EQ(requests(with(&JournalQuery::project, word)).empty(), !any) << word;
        EXPECT_EQ(victims(with(&JournalQuery::flavor, word)).empty(), !any) << word;
        EXPECT_EQ(requests(with(&JournalQuery::server, word)).empty(), !any) << word;
    }
}

TEST_P(JournalFind, ADamagedEntryIsLeftOutAndBreaksNothing) {
    home_->execute("UPDATE request SET request = 'no JSON' WHERE id = 'req-3'");
    home_->execute("UPDATE plan SET decision = '{' WHERE request = 1");
    EXPECT_THAT(requests({}), ElementsAre("req-2", "req-1"));
    JournalQuery one;
    one.limit = 1;
    EXPECT_THAT(requests(one), ElementsAre("req-2")) << "not an empty page";
    EXPECT_THAT(requests(with(&JournalQuery::project, "web")), ElementsAre("req-1"));
    EXPECT_THAT(requests(with(&JournalQuery::server, "batch")), ElementsAre("req-2", "req-1"));
    EXPECT_THAT(victims(with(&JournalQuery::flavor, "m1.small")), ElementsAre("v-2"));
}

TEST_P(JournalFind, ChosenServersAreFoundDeletedOrNot) {
    cull("req-4", "web", "m1.large", 300, {{"v-1", "batch", "cheap", "host-1", "m1.small"}});
    step("req-4", "v-1", Step::skipped, 303);
    EXPECT_THAT(chosen("batch"), ElementsAre("v-1 for req-4", "v-2 for req-2", "v-1 for req-1"));
    EXPECT_THAT(chosen("v-1"), ElementsAre("v-1 for req-4", "v-1 for req-1"));
    EXPECT_THAT(chosen("batch", 1), ElementsAre("v-1 for req-4"));
    EXPECT_THAT(chosen("no-such"), IsEmpty());
    const ChosenServer first = wait(journal_->chosen("v-3", 1)).value().at(0);
    EXPECT_EQ(first.received_at, noon(100));
    EXPECT_EQ(first.name, "render");
    EXPECT_EQ(first.project, ProjectId{"cheaper"});
    EXPECT_EQ(first.host, "host-2");
}

TEST_P(JournalFind, PlannedVictimsAreThoseOfDryRuns) {
    Request asked = request("req-4");
    wait(journal_->admit(asked, noon(300))).value();
    PlanEntry entry{1, noon(301), plan("req-4")};
    Victim& victim = std::get<Plan>(entry.decision).hosts[0].victims[0];
    victim.server = ServerId{"v-9"};
    victim.name = "batch";
    victim.host = "host-9";
    victim.flavor = "m1.small";
    wait(journal_->add_plan(RequestId{"req-4"}, entry)).value();
    finish("req-4", OutcomeKind::dry_run, 302);
    // In earnest, what a plan chose and another one did not was never to be deleted.
    Request earnest = request("req-5");
    wait(journal_->admit(earnest, noon(310))).value();
    entry.at = noon(311);
    std::get<Plan>(entry.decision).request = RequestId{"req-5"};
    wait(journal_->add_plan(RequestId{"req-5"}, entry)).value();
    finish("req-5", OutcomeKind::not_enough, 312);
    JournalQuery query;
    query.planned = true;
    const auto found = wait(journal_->find_victims(query)).value();
    ASSERT_EQ(found.size(), std::get<Plan>(entry.decision).victims().size());
    EXPECT_EQ(found[0].at, noon(302)) << "when it ended";
    query.server = "v-9";
    EXPECT_THAT(victims(query), ElementsAre("v-9"));
    query.flavor = "m1.small";
    query.host = "host-9";
    EXPECT_THAT(victims(query), ElementsAre("v-9"));
    query.flavor = "m1.tiny";
    EXPECT_THAT(victims(query), IsEmpty());
    query = {};
    query.planned = true;
    query.until = noon(301);
    EXPECT_THAT(victims(query), IsEmpty());
    EXPECT_THAT(victims(with(&JournalQuery::server, "v-9")), IsEmpty()) << "nothing was sent";
    const auto line = wait(journal_->find_requests(with(&JournalQuery::server, "v-9"))).value();
    EXPECT_EQ(line.at(0).victims, 0);
    EXPECT_EQ(line.at(0).planned, static_cast<int>(found.size()));
}

TEST_P(JournalFind, WhatWentIsCountedByFlavor) {
    using Counts = std::map<std::string, std::int64_t>;
    const auto since = [&](int at) { return wait(journal_->victims_by_flavor(noon(at))).value(); };
    EXPECT_EQ(since(0), (Counts{{"m1.small", 2}, {"m1.tiny", 1}}));
    EXPECT_EQ(since(102), (Counts{{"m1.small", 1}, {"m1.tiny", 1}}));
    step("req-2", "v-2", Step::force_delete_sent, 150);  // once more: one server went
    step("req-2", "v-3", Step::skipped, 150);            // it did not, after all
    PlanEntry again{2, noon(151), plan("req-2")};
    auto& victims = std::get<Plan>(again.decision).hosts[0].victims;
    victims[0].server = ServerId{"v-2"};
    victims[0].flavor = "m1.small";
    wait(journal_->add_plan(RequestId{"req-2"}, again)).value();
    EXPECT_EQ(since(0), (Counts{{"m1.small", 2}}));
    EXPECT_EQ(since(151), Counts{});
}

TEST_P(JournalFind, ATimelineCountsBySlots) {
    using std::chrono::seconds;
    const auto room = [&](const std::string& id, FreedRoomResultKind kind, int at) {
        wait(journal_->note_freed_room(RequestId{id}, {kind, "why", {}, noon(at), {}})).value();
    };
    for (const RequestSource source : {RequestSource::gateway, RequestSource::nova_failure}) {
        const std::string id = "req-" + std::string{to_string(source)};
        Request asked = request(id);
        asked.source = source;
        wait(journal_->admit(asked, noon(1000))).value();
        finish(id, OutcomeKind::freed, 1009);
        room(id, FreedRoomResultKind::taken, 1021);
    }
    Request late = request("req-late");
    late.source = RequestSource::gateway;
    wait(journal_->admit(late, noon(1000))).value();
    wait(journal_->add_plan(late.id, PlanEntry{1, noon(1001), plan("req-late")})).value();
    step("req-late", "v-8", Step::delete_sent, 1010);
    finish("req-late", OutcomeKind::incomplete, 1029);
    room("req-late", FreedRoomResultKind::wasted, 1030);
    TimelineSlot first, second, third, fourth;
    first.outcomes = {{OutcomeKind::freed, 2}};
    second.victims = 1;
    third.outcomes = {{OutcomeKind::incomplete, 1}};
    third.freed_rooms = {{FreedRoomResultKind::taken, 2}};
    third.waited_for = third.first_tries = 1;
    fourth.freed_rooms = {{FreedRoomResultKind::wasted, 1}};
    fourth.waited_for = 1;
    EXPECT_EQ(wait(journal_->timeline(noon(1000), seconds{10})).value(),
              (Timeline{{0, first}, {1, second}, {2, third}, {3, fourth}}));
    EXPECT_EQ(wait(journal_->timeline(noon(1030), seconds{10})).value(), (Timeline{{0, fourth}}));
    EXPECT_EQ(wait(journal_->timeline(noon(1031), seconds{10})).value(), Timeline{});
}

TEST_P(JournalFind, PagesOfPlannedVictimsLeaveNoneOut) {
    for (int i = 0; i < 4; ++i) {
        const std::string id = "req-dry-" + std::to_string(i);
        wait(journal_->admit(request(id), noon(300 + i * 10))).value();
        Plan chosen = plan(id);
        for (const char* const more : {"more-1", "more-2"}) {
            chosen.hosts[0].victims.push_back(chosen.hosts[0].victims[0]);
            chosen.hosts[0].victims.back().server = ServerId{more};
        }
        wait(journal_->add_plan(RequestId{id}, PlanEntry{1, noon(301 + i * 10), chosen})).value();
        finish(id, OutcomeKind::dry_run, 305 + i * 10);
    }
    JournalQuery query;
    query.planned = true;
    const auto all = wait(journal_->find_victims(query)).value();
    ASSERT_EQ(all.size(), 12U);
    // As the pages of the API go on: from the time of the last one, past those of that time.
    std::vector<VictimEntry> paged;
    query.limit = 1;
    while (true) {
        const auto page = wait(journal_->find_victims(query)).value();
        if (page.empty()) break;
        query.skip = query.until == page.back().at + Duration{1} ? query.skip + 1 : 1;
        query.until = page.back().at + Duration{1};
        paged.push_back(page.back());
    }
    EXPECT_EQ(paged.size(), all.size());
}

TEST_P(JournalFind, AWaitingServerIsFoundByItsName) {
    Request asked = request("req-4");
    asked.requesters = {ServerId{"w-1"}};
    asked.requester_names = {{ServerId{"w-1"}, "web-1"}};
    wait(journal_->admit(asked, noon(300))).value();
    EXPECT_THAT(requests(with(&JournalQuery::server, "web-1")), ElementsAre("req-4"));
    asked.requesters = {ServerId{"w-2"}};
    asked.requester_names = {{ServerId{"w-2"}, "web-2"}};
    wait(journal_->admit(asked, noon(310))).value();
    EXPECT_THAT(requests(with(&JournalQuery::server, "web-2")), ElementsAre("req-4"))
        << "who joins brings its name";
    EXPECT_EQ(
        wait(journal_->record(RequestId{"req-4"})).value()->request.requester_names,
        (std::map<ServerId, std::string>{{ServerId{"w-1"}, "web-1"}, {ServerId{"w-2"}, "web-2"}}));
}

TEST_P(JournalFind, VictimsAndChosenServersHaveTheProjectsNameOfThen) {
    cull("req-4", "web", "m1.large", 300, {{"v-4", "x", "p-4", "host-1", "m1.small", "batch"}});
    JournalQuery query;
    query.limit = 1;
    EXPECT_EQ(wait(journal_->find_victims(query)).value().at(0).project_name, "batch");
    EXPECT_EQ(wait(journal_->victims_since(noon(300))).value().at(0).project_name, "batch");
    EXPECT_EQ(wait(journal_->chosen("v-4", 1)).value().at(0).project_name, "batch");
    EXPECT_EQ(wait(journal_->chosen("v-1", 1)).value().at(0).project_name, "") << "not known";
}

TEST_P(JournalFind, ItTellsWhichProjectsHostsAndFlavorsItKnows) {
    Request named = request("req-4");
    named.project = ProjectId{"p-4"};
    named.project_name = "web";
    wait(journal_->admit(named, noon(300))).value();
    cull("req-5", "p-5", "m1.large", 400, {{"v-5", "x", "p-6", "host-5", "gpu", "batch"}});
    const auto known = [&](const JournalQuery& query) {
        return wait(journal_->known_values(query)).value();
    };
    const auto projects = [&](const char* text) {
        return known(with(&JournalQuery::project, text)).projects;
    };
    EXPECT_THAT(projects("web"), ElementsAre(ProjectId{"web"})) << "an id before a name";
    EXPECT_THAT(projects("batch"), ElementsAre(ProjectId{"p-6"})) << "a victim's";
    EXPECT_THAT(projects("cheap"), ElementsAre(ProjectId{"cheap"}));
    EXPECT_THAT(projects("no-such"), IsEmpty());
    EXPECT_THAT(projects("' OR '1' = '1"), IsEmpty());
    named.id = RequestId{"req-6"};
    named.project = ProjectId{"p-7"};
    named.project_name = "batch";
    wait(journal_->admit(named, noon(500))).value();
    EXPECT_THAT(projects("batch"), ElementsAre(ProjectId{"p-6"}, ProjectId{"p-7"}));
    EXPECT_TRUE(known(with(&JournalQuery::host, "host-5")).host);
    EXPECT_FALSE(known(with(&JournalQuery::host, "host-6")).host);
    EXPECT_TRUE(known(with(&JournalQuery::flavor, "m1.huge")).flavor);
    EXPECT_TRUE(known(with(&JournalQuery::flavor, "gpu")).flavor) << "a victim's";
    EXPECT_FALSE(known(with(&JournalQuery::flavor, "m1")).flavor);
    EXPECT_TRUE(known({}).host && known({}).flavor) << "what is not asked is known";
}

TEST_P(JournalFind, AUuidIsNeverAName) {
    const std::string id = "0b7f4b2e-7c2c-4c59-9d5e-3f0a6a1d9c11";
    Request waits = request("req-4");
    waits.requesters = {ServerId{"w-1"}};
    waits.requester_names = {{ServerId{"w-1"}, id}};
    wait(journal_->admit(waits, noon(300))).value();
    cull("req-5", "web", "m1.large", 400, {{"v-5", id, "cheap", "host-1", "m1.small"}});
    const JournalQuery query = with(&JournalQuery::server, id);
    EXPECT_THAT(requests(query), IsEmpty());
    EXPECT_THAT(victims(query), IsEmpty());
    EXPECT_THAT(chosen(id), IsEmpty());
    cull("req-6", "web", "m1.large", 500, {{id, "x", "cheap", "host-1", "m1.small"}});
    EXPECT_THAT(requests(query), ElementsAre("req-6"));
    EXPECT_THAT(victims(query), ElementsAre(id));
    EXPECT_THAT(chosen(id), ElementsAre(id + " for req-6"));
}

TEST_P(JournalFind, AClientsSearchThatTakesTooLongIsGivenUp) {
    for (int i = 0; i < 200; ++i) cull("more-" + std::to_string(i), "web", "m1.large", 300 + i, {});
    JournalOptions options;
    options.longest_search = std::chrono::milliseconds{-1};
    open(options);
    JournalQuery query = with(&JournalQuery::server, "no-such");
    EXPECT_THAT(requests(query), IsEmpty()) << "the reaper's own";
    query.patient = true;
    const auto given_up = wait(journal_->find_requests(query));
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, Errc::timeout);
    EXPECT_THAT(given_up.error().what, HasSubstr("it takes too long"));
    EXPECT_TRUE(wait(journal_->culls_between(noon(), noon(7)))) << "a long one of a client";
    query.patient = false;
    EXPECT_THAT(requests(query), IsEmpty()) << "what comes next has no end";
    auto reader = home_->open_for_reading().value();
    query.patient = true;
    EXPECT_TRUE(wait(reader->find_requests(query))) << "it keeps no reaper waiting";
}

TEST_P(JournalFind, AReaderFindsWhileTheReaperWrites) {
    auto reader = home_->open_for_reading();
    ASSERT_TRUE(reader) << reader.error().what;
    EXPECT_EQ(wait((*reader)->find_requests({})).value().size(), 3U);
    cull("req-4", "web", "m1.large", 300, {});
    EXPECT_EQ(wait((*reader)->find_requests({})).value().size(), 4U);
    EXPECT_EQ(wait((*reader)->chosen("render", 5)).value().size(), 1U);
}

}  // namespace
}  // namespace reaper::journal::test::journal_find_test
