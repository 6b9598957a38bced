// Hosts that are loaded too much lose revocable servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "app/oversold_house.hpp"
#include "reaper/oversubscription/inventory_plan.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::test::qos_loop_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QosLoopTest : public OversoldHouse {
protected:
    /// A host with a regular server, two revocable ones on oversubscribed room, one in ordinary
    /// room.
    void mixed_host(const std::string& name = "host1") {
        busy_host(name, 8);
        nested_provider(name, 8);
        holder(name + "-sold1", 4, name);
        holder(name + "-sold2", 4, name);
        cloud.add_server(name + "-spot", name, "spot",
                         Resources{{"VCPU", 4}, {"MEMORY_MB", 1'024}, {"DISK_GB", 10}});
        estimate_fixed(8);
        load[name] = 4;
    }
    /// Such a host is busy, and a server of it has notice.
    std::string notified_for_load() {
        settings.policy.notice.period = minutes{10};
        mixed_host();
        correct_load("12");
        load["host1"] = 15;
        start();
        return notified();
    }
    bool corrected(std::size_t times = 1) const {
        const auto all = corrections();
        return all.size() >= times &&
               std::all_of(all.begin(), all.end(),
                           [](const RequestRecord& each) { return each.outcome.has_value(); });
    }
};

TEST_F(QosLoopTest, WhereTheLoadIsAboveItsThresholdAsMuchGoesAsItIsTooMuch) {
    mixed_host();
    correct_load("12");
    start();
    pass(minutes{5});
    EXPECT_THAT(corrections(), IsEmpty());
    load["host1"] = 15;
    pass([&] { return corrected(); });
    const RequestRecord record = corrections().front();
    EXPECT_THAT(record.request.id.str(), ::testing::StartsWith("qos-"));
    ASSERT_EQ(record.request.correction->servers.size(), 1U) << "4 vCPUs for 3 too much";
    EXPECT_THAT(record.request.correction->servers.front().server.str(),
                ::testing::StartsWith("host1-sold"));
    EXPECT_THAT(record.request.correction->servers.front().reason,
                HasSubstr("load average of 5 minutes is 15, above 12 on host host1"));
    EXPECT_EQ(record.outcome->kind, OutcomeKind::freed);
    load["host1"] = 11;
    pass(minutes{10});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_TRUE(cloud.exists("host1-regular"));
}

TEST_F(QosLoopTest, WhoHasNoticeStaysWhereTheLoadEnds) {
    const std::string victim = notified_for_load();
    pass(minutes{2});
    EXPECT_FALSE(corrected()) << "it is busy still";
    load["host1"] = 5;
    expect_withdrawn(victim);
}

TEST_F(QosLoopTest, WhoHasNoticeStaysWhereAReloadEndsTheWatch) {
    const std::string victim = notified_for_load();
    settings.oversubscription.qos = {"noop", {}};
    service().reload(live_settings());
    expect_withdrawn(victim);
}

TEST_F(QosLoopTest, ARestartGoesOnWithTheNoticeWhereTheLoadGoesOn) {
    const std::string victim = notified_for_load();
    pass(minutes{2});
    crash();
    start();
    pass([&] { return corrections().front().outcome.has_value(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::freed);
    EXPECT_FALSE(cloud.exists(victim));
    EXPECT_EQ(corrections().size(), 1U) << "no other server goes for the same load";
    EXPECT_EQ(cloud.living("host1").size(), 3U);
}

TEST_F(QosLoopTest, TheLogTellsOfABusyHostOnceAndOfEachCorrection) {
    mixed_host();
    correct_load("12");
    load["host1"] = 15;
    const LogCapture log;
    start();
    pass([&] { return corrected(); });
    const auto busy = log.lines_with("host1 is too busy");
    ASSERT_EQ(busy.size(), 1U) << log.text();
    EXPECT_THAT(busy.front(), HasSubstr("the load average of 5 minutes is 15, above 12"));
    EXPECT_THAT(log.text(), HasSubstr("oversubscription: host1: the load average of 5 minutes is "
                                      "15, above 12: 3 vCPUs must go; 1 server with 4 vCPUs goes"));
    // Around the threshold it is not calm.
    for (int i = 0; i < 5; ++i) {
        load["host1"] = i % 2 == 0 ? 11 : 12.5;
        pass(seconds{30});
    }
    EXPECT_THAT(log.lines_with("is calm again"), IsEmpty());
    load["host1"] = 11;
    pass(minutes{10});
    EXPECT_EQ(log.lines_with("host1 is calm again; it was too busy for").size(), 1U);
    EXPECT_EQ(log.lines_with("host1 is too busy").size(), 1U);
    EXPECT_EQ(log.lines_with("must go").size(), 1U);
}

TEST_F(QosLoopTest, TheLogTellsOnceWhyNoneGoes) {
    mixed_host();
    correct_load("12");
    for (const char* const id : {"host1-sold1", "host1-sold2", "host1-spot"})
        cloud.server_at(id).record.server.task_state = "migrating";
    load["host1"] = 15;
    const LogCapture log;
    start();
    pass(minutes{5});
    EXPECT_EQ(log.lines_with("host1 is too busy").size(), 1U) << log.text();
    EXPECT_EQ(log.lines_with("3 vCPUs must go; none goes: no revocable server may go now").size(),
              1U);
    for (const char* const id : {"host1-sold1", "host1-sold2", "host1-spot"})
        cloud.server_at(id).record.server.task_state = "";
    pass([&] { return corrected(); });
    EXPECT_EQ(log.lines_with("1 server with 4 vCPUs goes").size(), 1U);
    EXPECT_EQ(log.lines_with("none goes").size(), 1U);
}

TEST_F(QosLoopTest, WhatIsNotKnownIsNeitherBusyNorCalm) {
    mixed_host();
    correct_load("12");
    load["host1"] = 15;
    const LogCapture log;
    start();
    pass([&] { return corrected(); });
    load["host1"] = std::numeric_limits<double>::quiet_NaN();
    pass(minutes{10});
    EXPECT_THAT(log.lines_with("is calm again"), IsEmpty());
    EXPECT_EQ(log.lines_with("host1 is too busy").size(), 1U);
}

TEST_F(QosLoopTest, WhatWasShedIsGivenTimeToShow) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    start();
    pass([&] { return corrected(); });
    pass(seconds{100});
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "the average still has it";
    load["host1"] = 30;
    pass([&] { return cloud.count("DELETE") == 3; });
    EXPECT_TRUE(cloud.exists("host1-regular"));
    pass(minutes{10});
    EXPECT_EQ(cloud.count("DELETE"), 3U) << "no victim is left";
}

TEST_F(QosLoopTest, AllGoWhereAllAreToGo) {
    mixed_host();
    correct_load("12");
    settings.oversubscription.qos.parameters["evict"] = std::string{"all"};
    load["host1"] = 13;
    start();
    pass([&] { return corrected(); });
    pass(minutes{2});
    EXPECT_EQ(corrections().size(), 1U);
    EXPECT_THAT(cloud.living("host1"), ::testing::ElementsAre("host1-regular"));
}

TEST_F(QosLoopTest, WhatIsNotKnownCorrectsNothing) {
    mixed_host();
    correct_load("12");
    load["host1"] = std::numeric_limits<double>::quiet_NaN();
    start();
    pass(minutes{5});
    load["host1"] = 30;
    age = 100;
    pass(minutes{5});
    held_back.hangs = true;
    age = 0;
    pass(minutes{5});
    EXPECT_THAT(corrections(), IsEmpty());
    held_back.hangs = false;
    pass([&] { return corrected(); });
}

TEST_F(QosLoopTest, RevocableServersThatWaitForEachOtherStay) {
    mixed_host();
    config::Prometheus& asked = settings.oversubscription.prometheus;
    asked.server_label = "domain";
    asked.guest_steal_query = "waiting";
    settings.oversubscription.qos = {
        "pressure", {{"guest_steal_threshold", std::string{"0.2"}}, {"for", std::int64_t{1}}}};
    waiting["host1"] = {{"host1-regular", 0.1}, {"host1-sold1", 0.9}, {"host1-spot", 0.9}};
    start();
    pass(minutes{5});
    EXPECT_THAT(corrections(), IsEmpty());
    waiting["host1"]["host1-regular"] = 0.3;
    pass([&] { return corrected(); });
    EXPECT_THAT(corrections().front().request.correction->servers.front().reason,
                HasSubstr("CPU steal of a regular server is 30 %"));
    EXPECT_TRUE(cloud.exists("host1-regular"));
}

TEST_F(QosLoopTest, MeasurementsInARowDoNotSpanAnOutageOrAPause) {
    mixed_host();
    settings.oversubscription.prometheus.pressure_query = "pressure";
    settings.oversubscription.qos = {
        "pressure", {{"pressure_threshold", std::string{"0.5"}}, {"for", std::int64_t{3}}}};
    pressure["host1"] = 0.9;
    start();
    const auto looks = [&] { return std::count(fake.asked.begin(), fake.asked.end(), "pressure"); };
    const auto look_twice_more = [&] {
        const auto before = looks();
        pass([&] { return looks() == before + 2; });
        pass(seconds{1});
    };
    look_twice_more();
    fake.fails["pressure"] = Error{Errc::timeout, "prometheus: no answer within 5s"};
    pass(minutes{30});
    fake.fails.clear();
    look_twice_more();
    EXPECT_THAT(corrections(), IsEmpty());
    ASSERT_TRUE(pause.pause("an operator", "look"));
    pass(minutes{30});
    ASSERT_TRUE(pause.resume());
    look_twice_more();
    EXPECT_THAT(corrections(), IsEmpty());
    pass([&] { return corrected(); });
}

TEST_F(QosLoopTest, WhatTheEstimatorEvictedIsNotShedAgain) {
    mixed_host();
    cloud.remove("host1-spot");
    correct_load("12");
    load["host1"] = 14;
    estimate_fixed(4);
    start();
    pass([&] { return corrected(); });
    EXPECT_THAT(corrections().front().request.id.str(), ::testing::StartsWith("estimator-"));
    pass(seconds{100});
    EXPECT_EQ(corrections().size(), 1U) << "its load is in the average still";
    crash();
    start();
    pass(seconds{60});
    EXPECT_EQ(corrections().size(), 1U);
}

TEST_F(QosLoopTest, WhatACullEvictedIsNotShedAgain) {
    mixed_host();
    correct_load("12");
    load["host1"] = 11;
    requester();
    start();
    pass(minutes{1});
    messages->deliver(body_of(failure(8)));
    ASSERT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    const auto gone = cloud.count("DELETE");
    ASSERT_GE(gone, 1U);
    load["host1"] = 14;
    pass(seconds{90});
    EXPECT_EQ(cloud.count("DELETE"), gone);
}

TEST_F(QosLoopTest, FiguresThatAreOlderThanTheEndOfACorrectionOrderNothing) {
    mixed_host();
    settings.oversubscription.prometheus.pressure_query = "pressure";
    settings.oversubscription.qos = {"pressure",
                                     {{"pressure_threshold", std::string{"0.5"}},
                                      {"for", std::int64_t{1}},
                                      {"settle", std::string{"0s"}}}};
    pressure["host1"] = 0.6;
    held_back.slow = seconds{25};
    cloud.deletion_takes = seconds{35};
    start();
    pass([&] {
        if (corrected()) pressure["host1"] = 0.3;
        return corrected();
    });
    pass(minutes{5});
    EXPECT_EQ(corrections().size(), 1U);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    pressure["host1"] = 0.6;
    pass([&] { return corrected(2); });
}

TEST_F(QosLoopTest, ARateOverATimeBeforeTheEndOfACorrectionOrdersNothing) {
    mixed_host();
    settings.oversubscription.qos = {"pressure", {{"pressure_threshold", std::string{"0.2"}}}};
    pressure["host1"] = 0.5;
    start();
    pass([&] { return corrected(); });
    const TimePoint end = clock.now();
    // It fell to 0.05 at once, and its rate follows within two minutes.
    pass([&] {
        const std::chrono::duration<double> since = clock.now() - end;
        pressure["host1"] = std::max(0.05, 0.5 - 0.45 * since.count() / 120);
        return since > minutes{5};
    });
    EXPECT_EQ(corrections().size(), 1U);
    pressure["host1"] = 0.5;
    pass([&] { return corrected(2); });
}

TEST_F(QosLoopTest, WhatGoesWhileTheLoadIsReadIsCredited) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    held_back.slow = seconds{25};
    requester();
    start();
    pass([&] {
        return std::find(fake.asked.begin(), fake.asked.end(), "load5") != fake.asked.end();
    });
    messages->deliver(body_of(failure(8)));
    ASSERT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    pass(seconds{60});
    EXPECT_THAT(corrections(), IsEmpty());
}

TEST_F(QosLoopTest, WhatEndsBetweenTwoReadingsOfTheJournalIsCredited) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    start();
    pass(seconds{5});
    const RequestId other{"req-other"};
    Victim victim;
    victim.server = ServerId{"gone"};
    victim.resources = Resources{{"VCPU", 4}};
    HostPlan on;
    on.host = HostId{cloud.provider_of("host1")};
    on.victims = {victim};
    Plan plan;
    plan.hosts = {on};
    RequestRecord& record = journal.records[other];
    record.request.id = other;
    record.plans.push_back({1, clock.now(), plan});
    record.steps.push_back({victim.server, Step::delete_sent, "", clock.now()});
    record.steps.push_back({victim.server, Step::gone, "", clock.now()});
    journal.on_read = [&](const std::string&) {
        if (!record.outcome) record.outcome = Outcome{OutcomeKind::freed, "", clock.now()};
    };
    pass([&] { return record.outcome.has_value(); });
    pass(seconds{5});
    journal.on_read = {};
    EXPECT_THAT(corrections(), IsEmpty());
}

TEST_F(QosLoopTest, AClockThatIsSetBackDelaysNoCorrection) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    start();
    pass([&] { return corrected(); });
    pass(minutes{2});
    clock.step(-hours{2});
    measured_at = clock.now();
    load["host1"] = 13;
    pass(minutes{3});
    EXPECT_EQ(corrections().size(), 1U) << "its load is in the average still";
    load["host1"] = 30;
    const Duration before = clock.steady();
    pass([&] { return corrected(2); });
    EXPECT_LE(clock.steady() - before, minutes{2});
}

TEST_F(QosLoopTest, AClockThatIsSetBackDuringARestartDelaysNoCorrection) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    start();
    pass([&] { return corrected(); });
    crash();
    clock.step(-hours{2});
    measured_at = clock.now();
    start();
    pass(minutes{1});
    EXPECT_EQ(corrections().size(), 1U) << "as if it went now";
    load["host1"] = 30;
    const Duration before = clock.steady();
    pass([&] { return corrected(2); });
    EXPECT_LE(clock.steady() - before, minutes{2});
}

TEST_F(QosLoopTest, NothingIsSoldBeforeItIsKnownHowBusyTheHostIs) {
    busy_host();
    nested_provider();
    estimate_fixed(6);
    settings.oversubscription.publication.rise_after = Duration{0};
    correct_load("12");
    start();
    Amount sold = 0;
    const auto pass_looking = [&](Duration duration) {
        const TimePoint until = clock.now() + duration;
        pass([&] {
            sold = std::max(sold, for_sale());
            return clock.now() >= until;
        });
    };
    pass_looking(minutes{3});
    EXPECT_EQ(sold, 0) << "its load is not measured";
    EXPECT_THAT(service().room_publisher()->hosts().front().why,
                HasSubstr("nothing new until it is known how busy the host is"));
    load["host1"] = 30;
    pass_looking(minutes{10});
    EXPECT_EQ(sold, 0);
    load["host1"] = 4;
    pass([&] { return for_sale() == 6; });
    crash();
    start();
    pass(seconds{10});
    EXPECT_EQ(for_sale(), 6) << "what was sold stays";
}

TEST_F(QosLoopTest, WhatWasOrderedAndDidNotGoIsNotCredited) {
    mixed_host();
    correct_load("12");
    settings.policy.safeguards.limits.victims_per_request = 1;
    load["host1"] = 24;
    start();
    pass([&] { return corrected(); });
    ASSERT_EQ(cloud.count("DELETE"), 1U);
    const TimePoint first = clock.now();
    pass([&] { return corrected(2); });
    EXPECT_LE(clock.now() - first, minutes{2}) << "12 were ordered, and 4 went";
}

TEST_F(QosLoopTest, NothingNewStartsOnAHostThatIsTooBusy) {
    mixed_host();
    correct_load("12");
    load["host1"] = 11;
    start();
    pass(minutes{1});
    EXPECT_EQ(total(), 8);
    load["host1"] = 13;
    pass([&] { return corrected(); });
    pass(seconds{30});
    EXPECT_EQ(inventory().min_unit, closed_min_unit) << "whichever servers leave";
    pass(minutes{30});
    EXPECT_EQ(for_sale(), 0);
    load["host1"] = std::numeric_limits<double>::quiet_NaN();
    pass(minutes{30});
    EXPECT_EQ(for_sale(), 0) << "it is not known to be calm";
    load["host1"] = 11;
    pass([&] { return for_sale() == 8; });
}

TEST_F(QosLoopTest, AHostThatIsFilledAgainAndAgainIsLeftAlone) {
    busy_host("host1", 8);
    nested_provider("host1", 8);
    estimate_fixed(8);
    correct_load("12");
    load["host1"] = 9;
    start();
    int booted = 0;
    // A user takes whatever is offered, and works.
    const auto pass_with_user = [&](Duration duration) {
        const TimePoint until = clock.now() + duration;
        pass([&] {
            Amount held = 0;
            for (const auto& id : cloud.living("host1"))
                if (id.starts_with("spot")) held += 4;
            if (held + 4 <= for_sale()) {
                holder("spot" + std::to_string(++booted), 4);
                held += 4;
            }
            load["host1"] = 9 + static_cast<double>(held);
            return clock.now() >= until;
        });
    };
    const auto left_alone = [&] {
        const auto hosts = service().room_publisher()->hosts();
        return !hosts.empty() && hosts.front().left_alone;
    };
    for (int i = 0; i < 40 && !left_alone(); ++i) pass_with_user(minutes{3});
    EXPECT_TRUE(left_alone());
    EXPECT_GE(booted, 4);
    EXPECT_LE(booted, 16);  // no more than start within the three minutes until it is reported
    const int before = booted;
    pass_with_user(minutes{25});
    EXPECT_EQ(booted, before);
}

TEST_F(QosLoopTest, ARestartDoesNotCorrectTheSameLoadAgain) {
    mixed_host();
    correct_load("12");
    load["host1"] = 14;
    start();
    pass([&] { return corrected(); });
    crash();
    start();
    pass(seconds{90});
    EXPECT_EQ(cloud.count("DELETE"), 1U);
}

TEST_F(QosLoopTest, OnStandbyOrPausedItEvictsNoServer) {
    mixed_host();
    correct_load("12");
    load["host1"] = 30;
    ASSERT_TRUE(pause.pause("an operator", "look"));
    start();
    pass(minutes{5});
    messages->serves = false;
    ASSERT_TRUE(pause.resume());
    pass(minutes{5});
    EXPECT_THAT(corrections(), IsEmpty());
    messages->serves = true;
    pass([&] { return corrected(); });
}

TEST_F(QosLoopTest, ADryRunTellsWhoWouldGo) {
    mixed_host();
    correct_load("12");
    load["host1"] = 15;
    dry_run = true;
    const LogCapture log;
    start();
    pass([&] { return corrected(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::dry_run);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
    EXPECT_THAT(log.text(), HasSubstr("3 vCPUs must go; a dry run, would choose 1 server"));
}

TEST_F(QosLoopTest, WhoIsProtectedIsNotChosenAndAnotherGoesInItsPlace) {
    settings.policy.safeguards.protect.owners = true;
    mixed_host();
    correct_load("12");
    cloud.server_at("host1-sold1").record.server.metadata =
        std::map<std::string, std::string>{{"reaper:protected", "yes"}};
    cloud.server_at("host1-sold2").record.server.locked = true;
    load["host1"] = 15;
    start();
    pass([&] { return corrected(); });
    EXPECT_FALSE(cloud.exists("host1-spot"));
    EXPECT_TRUE(cloud.exists("host1-sold1"));
    EXPECT_TRUE(cloud.exists("host1-sold2"));
}

TEST_F(QosLoopTest, NovaTellsTheLoadWhereNothingElseDoes) {
    mixed_host();
    correct_load("12");
    settings.oversubscription.qos_source = "nova";
    metrics = nullptr;
    cloud.load_averages_of["host1"] = {14, 5};
    start();
    pass([&] { return corrected(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::freed);
}

TEST_F(QosLoopTest, NovasLoadIsComparedWithCoresAndNotWithCapacity) {
    mixed_host();
    cloud.vcpu_ratios["host1"] = 4;
    correct_load("0.75");
    settings.oversubscription.qos.parameters["per_core"] = std::string{"true"};
    settings.oversubscription.qos_source = "nova";
    metrics = nullptr;
    cloud.load_averages_of["host1"] = {14, 5};
    start();
    pass([&] { return corrected(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::freed);
}

TEST_F(QosLoopTest, ANewerNovaAsksTheHostToo) {
    mixed_host();
    correct_load("12");
    settings.oversubscription.qos_source = "nova";
    cloud.nova_release = NovaRelease::r2026_1;
    metrics = nullptr;
    cloud.load_averages_of["host1"] = {14, 5};
    start();
    pass([&] { return corrected(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::freed);
}

TEST_F(QosLoopTest, HostsWithoutRevocableServersAreNotAskedAbout) {
    busy_host();
    estimate_fixed(0);
    correct_load("12");
    load["host1"] = 30;
    with_events = true;
    start();
    pass(minutes{5});
    EXPECT_THAT(fake.asked, ::testing::Not(::testing::Contains("load5")));
}

}  // namespace
}  // namespace reaper::test::qos_loop_test
