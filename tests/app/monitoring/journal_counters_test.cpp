// What is counted of the journal, beyond what a whole daemon shows: restarts, and bounds.
#include "reaper/monitoring/journal_counters.hpp"

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "app/metrics_page.hpp"
#include "reaper/monitoring/exposition.hpp"

namespace reaper::test::journal_counters_test {
namespace {

using namespace std::chrono_literals;

const TimePoint start{std::chrono::hours{1000}};

class JournalCountersTest : public ::testing::Test {
protected:
    MetricsPage page() const { return MetricsPage{monitoring::to_text(registry.Collect())}; }
    static RequestRecord record(const std::string& id, bool sent) {
        RequestRecord known;
        known.request.id = RequestId{id};
        known.request.source = RequestSource::unshelve;
        known.request.sent_at = start;
        known.received_at = start + 1s;
        if (sent) known.steps.push_back({ServerId{"s"}, Step::delete_sent, "", start + 2s});
        return known;
    }
    static Request request(const std::string& id, RequestSource source) {
        Request made;
        made.id = RequestId{id};
        made.source = source;
        made.sent_at = start;
        return made;
    }
    static Outcome freed(Duration after) {
        Outcome outcome;
        outcome.kind = OutcomeKind::freed;
        outcome.at = start + after;
        return outcome;
    }
    static FreedRoomResult result(FreedRoomResultKind kind, Duration after) {
        FreedRoomResult judged;
        judged.kind = kind;
        judged.at = start + after;
        return judged;
    }

    prometheus::Registry registry;
    monitoring::JournalCounters counters{registry};
};

TEST_F(JournalCountersTest, WhatAFormerProcessBeganIsCountedToItsEndAndNotTwice) {
    counters.read_back(record("req-1", true));
    EXPECT_EQ(counters.oldest_open(), start + 1s);
    counters.stepped(RequestId{"req-1"}, {ServerId{"s"}, Step::delete_sent, "again", start + 9s});
    counters.ended(RequestId{"req-1"}, freed(30s));
    counters.freed_room(RequestId{"req-1"}, result(FreedRoomResultKind::taken, 50s));
    const MetricsPage now = page();
    EXPECT_EQ(now.sum("reaper_victims_total"), 0) << "its deletion was sent by the former one";
    EXPECT_EQ(now[R"(reaper_requests_total{outcome="freed",source="unshelve"})"], 1);
    EXPECT_EQ(now[R"(reaper_request_room_seconds_sum{source="unshelve"})"], 30);
    EXPECT_EQ(now[R"(reaper_request_taken_seconds_sum{source="unshelve"})"], 50);
    EXPECT_EQ(counters.known(), 0U);
    EXPECT_FALSE(counters.oldest_open());
}

TEST_F(JournalCountersTest, AClockThatGoesBackMakesNoNegativeTime) {
    counters.admitted(request("req-1", RequestSource::gateway), start - 5s);
    const MetricsPage now = page();
    EXPECT_EQ(now[R"(reaper_request_lag_seconds_sum{source="gateway"})"], 0);
    EXPECT_EQ(now[R"(reaper_request_lag_seconds_count{source="gateway"})"], 1);
}

TEST_F(JournalCountersTest, ARequestThatIsAdmittedAgainIsOneAndHasOneLag) {
    counters.admitted(request("req-1", RequestSource::gateway), start + 1s);
    counters.admitted(request("req-1", RequestSource::gateway), start + 2s);
    EXPECT_EQ(page()[R"(reaper_request_lag_seconds_count{source="gateway"})"], 1);
}

TEST_F(JournalCountersTest, NothingIsKeptOfRequestsWithoutAVictim) {
    counters.admitted(request("req-1", RequestSource::gateway), start);
    Outcome refused;
    refused.kind = OutcomeKind::refused;
    counters.ended(RequestId{"req-1"}, refused);
    EXPECT_EQ(counters.known(), 0U);
    EXPECT_EQ(page()[R"(reaper_refusals_total{reason="refused"})"], 1);
    counters.ended_at_once(request("req-2", RequestSource::nova_failure), refused);
    EXPECT_EQ(page()[R"(reaper_requests_total{outcome="refused",source="nova-failure"})"], 1);
}

TEST_F(JournalCountersTest, WhatIsNeverJudgedIsBounded) {
    for (std::size_t i = 0; i < monitoring::JournalCounters::most_ended + 5; ++i) {
        const RequestId id{"req-" + std::to_string(i)};
        counters.read_back(record(id.str(), true));
        counters.ended(id, freed(1s));
    }
    EXPECT_EQ(counters.known(), monitoring::JournalCounters::most_ended);
    counters.read_back(record("req-open", false));
    EXPECT_EQ(counters.oldest_open(), start + 1s);
}

TEST_F(JournalCountersTest, AFailedWriteIsTroubleUntilOneSucceeds) {
    counters.wrote(2ms, "disk full");
    EXPECT_EQ(counters.write_trouble(), "disk full");
    EXPECT_EQ(page()["reaper_journal_write_failures_total"], 1);
    counters.wrote(2ms, std::nullopt);
    EXPECT_FALSE(counters.write_trouble());
    EXPECT_EQ(page()["reaper_journal_writes_total"], 2);
}

TEST_F(JournalCountersTest, HostileValuesOfLabelsStayInTheirLabel) {
    monitoring::Values values;
    values.gauge("reaper_x", "A test.", 1,
                 {{"name", monitoring::label_value("a\"\n} 2\nb\xff\\")}});
    const MetricsPage now{monitoring::to_text(values.take())};
    EXPECT_EQ(now.values.size(), 1U);
}

}  // namespace
}  // namespace reaper::test::journal_counters_test
