#include "reaper/cli/cloud/estimate_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reaper::cli::estimate_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

EstimateReport example() {
    EstimateReport report;
    report.span.from = TimePoint{std::chrono::sys_days{std::chrono::year{2026} / 11 / 1}};
    report.span.until = report.span.from + std::chrono::days{7};
    report.span.step = std::chrono::minutes{1};
    report.excess = "evict";
    report.history.hosts.resize(2);
    report.history.without = {{"compute-3", "nothing was measured of its use"}};
    report.history.strangers = {"web-1:9100", "evil\x1b[2J"};
    EstimateLine line;
    line.parameters = {{"margin", std::string{"0.2"}}, {"overrides", std::vector<std::string>{}}};
    line.result.estimator = "usage_slack";
    line.result.hours = 336;
    line.result.sold_hours = 1234.56;
    line.result.evictions = 3;
    line.result.evicted_vcpus = 17;
    line.result.short_minutes = 12.5;
    line.result.left_alone = 1;
    report.lines.push_back(line);
    line.parameters.clear();
    line.result.estimator = "oracle";
    report.lines.push_back(line);
    return report;
}

TEST(EstimateReportText, TellsEachEstimatorAndWhoIsMissing) {
    report::RenderOptions options;
    const std::string text = render_estimate(example(), options);
    EXPECT_THAT(text, HasSubstr("2026-11-01T00:00:00.000Z to 2026-11-08T00:00:00.000Z"));
    EXPECT_THAT(text, HasSubstr("336.0 host-hours of 2"));
    EXPECT_THAT(text, HasSubstr("compute-3 (nothing was measured of its use)"));
    EXPECT_THAT(text, HasSubstr("'web-1:9100'"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("usage_slack margin=0.2"));
    EXPECT_THAT(text, HasSubstr("1234.6"));
    EXPECT_THAT(text, HasSubstr("\noracle"));
}

TEST(EstimateReportJson, HasEachNumber) {
    const auto json = to_json(example());
    EXPECT_EQ(json["without_history"]["compute-3"], "nothing was measured of its use");
    EXPECT_EQ(json["unknown_labels"].size(), 2U);
    EXPECT_EQ(json["hosts"], 2);
    EXPECT_EQ(json["step_ms"], 60'000);
    ASSERT_EQ(json["estimates"].size(), 2U);
    const auto& line = json["estimates"][0];
    EXPECT_EQ(line["estimator"], "usage_slack");
    EXPECT_EQ(line["parameters"]["margin"], "0.2");
    EXPECT_DOUBLE_EQ(line["sold_vcpu_hours"].get<double>(), 1234.56);
    EXPECT_EQ(line["evictions"], 3);
    EXPECT_EQ(line["evicted_vcpus"], 17);
    EXPECT_DOUBLE_EQ(line["short_minutes"].get<double>(), 12.5);
    EXPECT_EQ(line["left_alone"], 1);
}

}  // namespace
}  // namespace reaper::cli::estimate_report_test
