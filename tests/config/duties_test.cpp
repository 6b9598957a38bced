// The sections `watermark` and `life_span`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/visit.hpp"
#include "tests/config/world.hpp"

namespace reaper::config::test::duties_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string both = R"(
watermark:
  marks:
    - {class: VCPU, high: 90, low: 80}
    - {class: MEMORY_MB, high: 95, low: 1}
  cooldown: 5min
life_span:
  after: 24h
  taggers: [{tagger: project, after: 72h}]
  flavor_key: "reaper:life_span"
  jitter: 0s
  per_hour: 7
)";

TEST(Duties, AreOffByDefaultAndReadFromTheFile) {
    World world;
    const DutySettings none = world.good(minimal()).policy.duties;
    EXPECT_EQ(none, DutySettings{});
    EXPECT_FALSE(none.life_span.on());
    const Settings read = world.good(minimal(both));
    const DutySettings& duties = read.policy.duties;
    EXPECT_THAT(duties.watermark.marks, ElementsAre(Mark{ResourceClass{"VCPU"}, 90, 80},
                                                    Mark{ResourceClass{"MEMORY_MB"}, 95, 1}));
    EXPECT_EQ(duties.watermark.cooldown, 5min);
    EXPECT_EQ(duties.life_span,
              (LifeSpanSettings{24h, {{"project", 72h}}, "reaper:life_span", 0s, 7}));
    EXPECT_TRUE(difference(world.good(minimal()), read).needs_restart.empty());
    const auto again = load_policy_text("recorded", to_yaml(read.policy), {}, world.environment());
    EXPECT_EQ(std::get<Policy>(again).duties, duties);
}

struct Mistake {
    const char* what;
    const char* text;
    const char* error;
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
    *out << mistake.what;
}

class DutyMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(DutyMistakes, AreNamedWhereTheyAre) {
    World world;
    const auto errors = world.errors(minimal(GetParam().text));
    ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
    EXPECT_THAT(errors.front(), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Duties, DutyMistakes,
    testing::Values(
        Mistake{"LowAboveHigh", "watermark: {marks: [{class: VCPU, high: 80, low: 80}]}\n",
                "watermark.marks[0]: has no low mark below its high mark"},
        Mistake{"NoLow", "watermark: {marks: [{class: VCPU, high: 80}]}\n",
                "watermark.marks[0]: has no low mark"},
        Mistake{"TooHigh", "watermark: {marks: [{class: VCPU, high: 101, low: 80}]}\n",
                "watermark.marks[0].high: is no percentage; expected a whole "
                "number from 1 to 100"},
        Mistake{"NoClass", "watermark: {marks: [{class: vcpu, high: 90, low: 80}]}\n",
                "watermark.marks[0]: has no resource class"},
        Mistake{"Twice",
                "watermark: {marks: [{class: VCPU, high: 90, low: 80}, {class: "
                "VCPU, high: 9, "
                "low: 8}]}\n",
                "watermark.marks[1]: is there twice"},
        Mistake{"NoCooldown", "watermark: {cooldown: 0s}\n", "watermark.cooldown: is \"0s\""},
        Mistake{"NoAfter", "life_span: {taggers: [{tagger: project}]}\n",
                "life_span.taggers[0]: lacks `tagger` or `after`"},
        Mistake{"NoDuration", "life_span: {taggers: [{tagger: project, after: 3w}]}\n",
                "life_span.taggers[0].after: is no duration"},
        Mistake{"OfNoTagger", "life_span: {taggers: [{tagger: flavor, after: 3h}]}\n",
                "life_span.taggers[0]: is of \"flavor\", which is none of the "
                "taggers"}),
    [](const auto& row) { return row.param.what; });

}  // namespace
}  // namespace reaper::config::test::duties_test
