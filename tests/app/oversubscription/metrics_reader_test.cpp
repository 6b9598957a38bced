// What was measured before a start is read in pieces.
#include "reaper/controllers/oversubscription/metrics_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/oversold_house.hpp"

namespace reaper::test::metrics_reader_test {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr Duration step = minutes{1};
const TimePoint noon = std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + hours{12};

std::size_t values_of(const PastPiece& piece, std::size_t series) {
    return series * static_cast<std::size_t>((piece.to - piece.from) / step + 1);
}

TEST(PastPieces, AShortPastOfFewHostsIsOne) {
    EXPECT_THAT(past_pieces(noon - hours{1}, noon, step, 100),
                ElementsAre(PastPiece{noon - hours{1}, noon}));
    EXPECT_THAT(past_pieces(noon, noon, step, 0), ElementsAre(PastPiece{noon, noon}));
}

TEST(PastPieces, AreOfNoMoreThanSoManyValuesAndHaveAllOfThePast) {
    for (const std::size_t series : {1U, 30U, 10'000U, 100'000U, 250'000U}) {
        const auto pieces = past_pieces(noon - hours{168}, noon, step, series);
        ASSERT_FALSE(pieces.empty());
        std::size_t values = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            EXPECT_LE(values_of(pieces[i], series), std::max<std::size_t>(series, 100'000));
            EXPECT_LE(values_of(pieces[i], 1), 10'000U);
            if (i > 0) {
                EXPECT_EQ(pieces[i].from, pieces[i - 1].to + step);
            }
            values += values_of(pieces[i], series);
        }
        EXPECT_EQ(pieces.back().to, noon);
        EXPECT_LE(values, 3'000'000U);
        if (series <= 30) {
            EXPECT_EQ(pieces.front().from, noon - hours{168}) << series;
        } else {
            EXPECT_GT(values, 2'700'000U) << series;
        }
    }
    EXPECT_EQ(past_pieces(noon - hours{1}, noon, step, 10'000).size(), 7U);
}

TEST(OlderPast, IsAllOfItInLongerSteps) {
    for (const std::size_t series : {30U, 10'000U, 250'000U, 5'000'000U}) {
        const OlderPast older = older_past(noon - hours{168}, noon, series);
        ASSERT_FALSE(older.pieces.empty());
        EXPECT_EQ(older.pieces.back().to, noon);
        EXPECT_LE(older.pieces.front().from - older.step, noon - hours{168}) << series;
        EXPECT_EQ(older.step % step, Duration{0});
        std::size_t values = 0;
        for (const PastPiece& piece : older.pieces)
            values += series * static_cast<std::size_t>((piece.to - piece.from) / older.step + 1);
        EXPECT_LE(values, std::max<std::size_t>(series, 3'000'000U));
    }
    EXPECT_EQ(older_past(noon - hours{168}, noon, 10'000).step, minutes{34});
    EXPECT_EQ(highest_within("sum(a)", minutes{34}), "max_over_time((sum(a))[2040s:1m])");
}

class MetricsReaderTest : public OversoldHouse {};

TEST_F(MetricsReaderTest, ALongPastIsReadInPieces) {
    busy_host();
    nested_provider();
    estimate_slack();
    settings.oversubscription.estimator.parameters["peak"] = std::string{"168h"};
    measured_for_an_hour();
    // Longer ago than the first piece ends, it was busier.
    fake.measure_at("use", {{"instance", "host1:9100"}}, clock.now() - hours{160}, 9);
    fake.measure_at("use", {{"instance", "host1:9100"}}, clock.now() - minutes{70}, 6);
    start();
    pass([&] { return total() > 0; });
    ASSERT_EQ(fake.ranges.size(), 2U);
    EXPECT_EQ(fake.ranges[1].first, fake.ranges[0].second + step);
    EXPECT_EQ(fake.ranges[1].first - fake.ranges[0].first, minutes{10'000});
    EXPECT_EQ(total(), 3) << "12 are allocated, 9 were in use 160 hours ago";
}

TEST_F(MetricsReaderTest, APartOfThePastIsNotTakenForAllOfIt) {
    busy_host();
    nested_provider();
    estimate_slack();
    settings.oversubscription.estimator.parameters["peak"] = std::string{"168h"};
    measured_for_an_hour();
    fake.measure_at("use", {{"instance", "host1:9100"}}, clock.now() - minutes{70}, 9);
    fake.on_range = [&]() -> std::optional<Error> {
        if (fake.ranges.size() != 2) return std::nullopt;
        return Error{Errc::timeout, "prometheus: no answer within 5s"};
    };
    start();
    pass([&] { return total() > 0; });
    EXPECT_EQ(fake.ranges.size(), 4U) << "both are asked for again";
    EXPECT_EQ(total(), 3);
}

/// All pieces together take longer than figures are good for.
TEST_F(MetricsReaderTest, WhileALongPastIsReadTheUseIsMeasured) {
    busy_host();
    nested_provider("host1", 8);
    estimate_slack();
    settings.oversubscription.estimator.parameters["peak"] = std::string{"168h"};
    measured_for_an_hour();
    held_back.slow_past = seconds{50};
    start();
    pass([&] { return fake.ranges.size() == 1; });
    EXPECT_EQ(total(), 8);
    pass([&] { return fake.ranges.size() == 2; });
    EXPECT_EQ(total(), 8);
    pass(minutes{1});
    EXPECT_EQ(total(), 8);
}

TEST_F(MetricsReaderTest, WhoServesNoMoreReadsNoMoreOfThePast) {
    busy_host();
    nested_provider("host1", 8);
    estimate_slack();
    settings.oversubscription.estimator.parameters["peak"] = std::string{"168h"};
    measured_for_an_hour();
    held_back.slow_past = minutes{1};
    start();
    pass(seconds{30});
    messages->serves = false;
    pass(minutes{10});
    EXPECT_LE(fake.ranges.size(), 1U);
}

TEST_F(MetricsReaderTest, ThePastIsReadOnceWhereNoHostIsCovered) {
    busy_host();
    estimate_slack();
    settings.oversubscription.hosts = {"other-*"};
    measured_for_an_hour();
    start();
    pass(minutes{10});
    EXPECT_EQ(fake.ranges.size(), 1U);
}

TEST_F(MetricsReaderTest, WhatIsNotMeasuredYetUsesNoMoreCoresThanThereAre) {
    busy_host();
    cloud.vcpu_ratios["host1"] = 4;
    nested_provider("host1", 8);
    holder("spot1", 3);
    cloud.add_server("host1-new", "host1", "regular",
                     Resources{{"VCPU", 24}, {"MEMORY_MB", 1'024}});
    estimate_slack();
    settings.oversubscription.prometheus.server_label = "domain";
    settings.oversubscription.publication.trust_after = seconds{0};
    use_of_servers["host1"] = {{"host1-regular", 4}, {"spot1", 1}};
    start();
    pass(minutes{5});
    const OversubscribedHost shown = service().room_publisher()->hosts().at(0);
    EXPECT_EQ(shown.wanted, 0) << shown.why;
    EXPECT_EQ(total(), 8) << "it does not fall";
}

}  // namespace
}  // namespace reaper::test::metrics_reader_test
