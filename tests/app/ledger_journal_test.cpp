#include "reaper/controllers/ledger_journal.hpp"

#include <gtest/gtest.h>

namespace reaper::journalled_ledger_test {
namespace {

using std::chrono::seconds;

const TimePoint noon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} +
                     std::chrono::hours{12}};
const HostId host{"host-1"};
const RequestId other{"req-other"};

Story story_with_plan(const std::vector<std::string>& victims) {
    Story story;
    story.request.id = RequestId{"req-1"};
    story.request.project = ProjectId{"regular"};
    story.request.resources = Resources{{"VCPU", 2}};
    story.received_at = noon;
    Plan plan;
    plan.request = story.request.id;
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
    story.plans.push_back({1, noon, plan});
    return story;
}

TEST(LedgerOfTheJournal, AnUnfinishedPlanIsEvictingAndPromised) {
    const Ledger ledger = ledger_of({story_with_plan({"s1", "s2"})}, {}, seconds{60});
    EXPECT_TRUE(ledger.evicting(ServerId{"s1"}));
    EXPECT_TRUE(ledger.evicting(ServerId{"s2"}));
    EXPECT_EQ(ledger.promised_to_others(host, other), (Resources{{"VCPU", 2}}));
}

TEST(LedgerOfTheJournal, VictimsThatStayAreNotEvicting) {
    Story story = story_with_plan({"spared", "failed", "sent", "planned"});
    story.steps = {{ServerId{"spared"}, Step::spared, "locked", noon},
                   {ServerId{"failed"}, Step::delete_sent, "", noon},
                   {ServerId{"failed"}, Step::failed, "refused", noon},
                   {ServerId{"sent"}, Step::delete_sent, "", noon}};
    const Ledger ledger = ledger_of({story}, {}, seconds{60});
    EXPECT_EQ(ledger.evicting_on(host),
              (std::vector<ServerId>{ServerId{"planned"}, ServerId{"sent"}}));
}

TEST(LedgerOfTheJournal, OfAReplacedPlanOnlyWhatWasSentIsEvicting) {
    Story story = story_with_plan({"spared", "sent", "never-sent"});
    story.steps = {{ServerId{"spared"}, Step::spared, "locked", noon},
                   {ServerId{"sent"}, Step::delete_sent, "", noon}};
    story.plans.push_back(story_with_plan({"second"}).plans.front());
    const Ledger ledger = ledger_of({story}, {}, seconds{60});
    EXPECT_EQ(ledger.evicting_on(host),
              (std::vector<ServerId>{ServerId{"second"}, ServerId{"sent"}}));
}

TEST(LedgerOfTheJournal, FreedRoomStaysPromisedForItsTime) {
    Story story = story_with_plan({"s1"});
    story.outcome = Outcome{OutcomeKind::freed, "", noon};
    Ledger ledger = ledger_of({}, {story}, seconds{60});
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

TEST(LedgerOfTheJournal, RoomThatIsThereAfterACullReplacesWhatItsPlansPromised) {
    Story story = story_with_plan({"s1"});
    story.steps = {{ServerId{"s1"}, Step::gone, "", noon}};
    HostPlan there;
    there.host = HostId{"host-2"};
    there.slots = there.slots_ready = 1;
    story.plans.push_back({2, noon, NothingToDo{"room is there already", {there}}});
    story.outcome = Outcome{OutcomeKind::freed, "", noon};
    const Ledger ledger = ledger_of({}, {story}, seconds{60});
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
    EXPECT_EQ(ledger.promised_to_others(HostId{"host-2"}, other), (Resources{{"VCPU", 2}}));
}

TEST(LedgerOfTheJournal, WhatIsNotEnoughForItsRequestIsPromisedNoMore) {
    Story story = story_with_plan({"s1"});
    story.steps = {{ServerId{"s1"}, Step::gone, "", noon}};
    story.plans.push_back({2, noon, NotEnough{}});
    story.outcome = Outcome{OutcomeKind::incomplete, "", noon};
    const Ledger ledger = ledger_of({}, {story}, seconds{60});
    EXPECT_TRUE(ledger.promised_to_others(host, other).empty());
}

TEST(LedgerOfTheJournal, NobodyIsPromisedRoomThatWasNotFreed) {
    for (const OutcomeKind kind : {OutcomeKind::failed, OutcomeKind::not_enough,
                                   OutcomeKind::refused, OutcomeKind::dry_run}) {
        Story story = story_with_plan({"s1"});
        story.outcome = Outcome{kind, "", noon};
        EXPECT_TRUE(ledger_of({}, {story}, seconds{60}).empty()) << to_string(kind);
    }
}

}  // namespace
}  // namespace reaper::journalled_ledger_test
