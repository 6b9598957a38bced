#include "reaper/controllers/freed_room/ledger_journal.hpp"

#include <gtest/gtest.h>

namespace reaper::journalled_ledger_test {
namespace {

using std::chrono::seconds;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} +
                     std::chrono::hours{12}};
const HostId host{"host-1"};
const RequestId other{"req-other"};

RequestRecord story_with_plan(const std::vector<std::string>& victims) {
    RequestRecord record;
    record.request.id = RequestId{"req-1"};
    record.request.project = ProjectId{"regular"};
    record.request.resources = Resources{{"VCPU", 2}};
    record.received_at = noon;
    Plan plan;
    plan.request = record.request.id;
    plan.slots_requested = plan.slots_wanted = plan.slots_freed = 1;
    HostPlan on_host;
    on_host.host = host;
    on_host.slots = 1;
    for (const std::string& id : victims) {
        Victim victim;
        victim.server = ServerId{id};
        on_host.victims.push_back(victim);
    }
    plan.hosts.push_back(on_host);
    record.plans.push_back({1, noon, plan});
    return record;
}

TEST(LedgerOfTheJournal, AnUnfinishedPlanIsEvictingAndPromised) {
    const Ledger ledger = ledger_of({story_with_plan({"s1", "s2"})}, {}, noon, seconds{60});
    EXPECT_TRUE(ledger.evicting(ServerId{"s1"}));
    EXPECT_TRUE(ledger.evicting(ServerId{"s2"}));
    EXPECT_EQ(ledger.promised_to_others(host, other), (Resources{{"VCPU", 2}}));
}

TEST(LedgerOfTheJournal, VictimsThatStayAreNotEvicting) {
    RequestRecord record = story_with_plan({"skipped", "failed", "sent", "planned"});
    record.steps = {{ServerId{"skipped"}, Step::skipped, "locked", noon},
                    {ServerId{"failed"}, Step::delete_sent, "", noon},
                    {ServerId{"failed"}, Step::failed, "refused", noon},
                    {ServerId{"sent"}, Step::delete_sent, "", noon}};
    const Ledger ledger = ledger_of({record}, {}, noon, seconds{60});
    EXPECT_EQ(ledger.evicting_on(host),
              (std::vector<ServerId>{ServerId{"planned"}, ServerId{"sent"}}));
}

TEST(LedgerOfTheJournal, OfAReplacedPlanOnlyWhatWasSentIsEvicting) {
    RequestRecord record = story_with_plan({"skipped", "sent", "never-sent"});
    record.steps = {{ServerId{"skipped"}, Step::skipped, "locked", noon},
                    {ServerId{"sent"}, Step::delete_sent, "", noon}};
    record.plans.push_back(story_with_plan({"second"}).plans.front());
    const Ledger ledger = ledger_of({record}, {}, noon, seconds{60});
    EXPECT_EQ(ledger.evicting_on(host),
              (std::vector<ServerId>{ServerId{"second"}, ServerId{"sent"}}));
}

TEST(LedgerOfTheJournal, FreedRoomStaysPromisedForItsTime) {
    RequestRecord record = story_with_plan({"s1"});
    record.outcome = Outcome{OutcomeKind::freed, "", noon};
    Ledger ledger = ledger_of({}, {record}, noon, seconds{60});
    EXPECT_EQ(ledger.promised_to_others(host, other), (Resources{{"VCPU", 2}}));
    Snapshot later;
    later.taken_at = noon + seconds{59};
    ledger.expire(later, later.taken_at);
    EXPECT_FALSE(ledger.evicting(ServerId{"s1"}));
    EXPECT_EQ(ledger.promised_to_others(host, other), (Resources{{"VCPU", 2}}));
    later.taken_at = noon + seconds{61};
    ledger.expire(later, later.taken_at);
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
}

TEST(LedgerOfTheJournal, ASetBackClockPromisesRoomForNoLonger) {
    RequestRecord record = story_with_plan({"s1"});
    record.outcome = Outcome{OutcomeKind::freed, "", noon};
    Snapshot later;
    later.taken_at = noon - std::chrono::hours{1};
    Ledger ledger = ledger_of({}, {record}, later.taken_at, seconds{60});
    EXPECT_EQ(ledger.promised_to_others(host, other), (Resources{{"VCPU", 2}}));
    later.taken_at += seconds{61};
    ledger.expire(later, later.taken_at);
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
}

TEST(LedgerOfTheJournal, RoomThatIsThereAfterACullReplacesWhatItsPlansPromised) {
    RequestRecord record = story_with_plan({"s1"});
    record.steps = {{ServerId{"s1"}, Step::gone, "", noon}};
    HostPlan there;
    there.host = HostId{"host-2"};
    there.slots = there.slots_ready = 1;
    record.plans.push_back({2, noon, NothingToDo{"room is there already", {there}}});
    record.outcome = Outcome{OutcomeKind::freed, "", noon};
    const Ledger ledger = ledger_of({}, {record}, noon, seconds{60});
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
    EXPECT_EQ(ledger.promised_to_others(HostId{"host-2"}, other), (Resources{{"VCPU", 2}}));
}

TEST(LedgerOfTheJournal, WhatIsNotEnoughForItsRequestIsPromisedNoMore) {
    RequestRecord record = story_with_plan({"s1"});
    record.steps = {{ServerId{"s1"}, Step::gone, "", noon}};
    record.plans.push_back({2, noon, NotEnough{}});
    record.outcome = Outcome{OutcomeKind::incomplete, "", noon};
    const Ledger ledger = ledger_of({}, {record}, noon, seconds{60});
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
}

TEST(LedgerOfTheJournal, RoomThatWasNotFreedIsNotPromised) {
    for (const OutcomeKind kind : {OutcomeKind::failed, OutcomeKind::not_enough,
                                   OutcomeKind::refused, OutcomeKind::dry_run}) {
        RequestRecord record = story_with_plan({"s1"});
        record.outcome = Outcome{kind, "", noon};
        EXPECT_TRUE(ledger_of({}, {record}, noon, seconds{60}).empty()) << to_string(kind);
    }
}

}  // namespace
}  // namespace reaper::journalled_ledger_test
