// Revocable servers end after a time.
#include "reaper/duties/life_span.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <set>

#include "core/cloud_builder.hpp"

namespace reaper::life_span_test {
namespace {

using namespace reaper::testing;
using namespace std::chrono_literals;

struct LifeSpans : ::testing::Test {
    LifeSpans() {
        settings.jitter = 0s;
        settings.after = 24h;
        old.revocable_by = std::string{"project, flavor"};
    }
    Duration after() const {
        const auto span = life_span_of(old, settings);
        return span ? span->after : Duration{};
    }

    Server old = revocable("old", HostId{"one"}, {{"VCPU", 2}}, 100);
    LifeSpanSettings settings;
};

TEST_F(LifeSpans, CountFromTheCreationOfARevocableServer) {
    EXPECT_EQ(life_span_of(old, settings)->ends_at, at(100) + 24h);
    EXPECT_FALSE(life_span_of(server("regular", HostId{"one"}, {{"VCPU", 2}}), settings));
    old.launched = at(90'000);
    EXPECT_EQ(life_span_of(old, settings)->ends_at, at(100) + 24h) << "a rebuild begins nothing";
    EXPECT_EQ(why_lives_on(old, settings, at(100) + 24h - 1ms),
              "its life span ends at " + iso_time(at(100) + 24h));
    EXPECT_FALSE(why_lives_on(old, settings, at(100) + 24h));
    old.created = {};
    EXPECT_FALSE(life_span_of(old, settings)) << "its age is not known";
    settings.after = 0s;
    EXPECT_EQ(why_lives_on(old, settings, at(90'000)), "it has no life span");
}

TEST_F(LifeSpans, AreTheFlavorsThenTheLongestOfItsTaggersThenThoseOfAll) {
    settings.taggers = {{"flavor", 72h}, {"project", 12h}, {"resource", 99h}};
    EXPECT_EQ(after(), 72h);
    settings.taggers[1].after = 0s;
    EXPECT_EQ(after(), 0s) << "no end is longer than any";
    old.flavor_extra_specs = std::map<std::string, std::string>{{"reaper:life_span", "90min"}};
    EXPECT_EQ(after(), 0s) << "no key is configured";
    settings.flavor_key = "reaper:life_span";
    EXPECT_EQ(after(), 90min);
    for (const char* const none : {"0s", "1 day", "", "-1h"}) {
        old.flavor_extra_specs = std::map<std::string, std::string>{{"reaper:life_span", none}};
        EXPECT_FALSE(life_span_of(old, settings)) << none;
        EXPECT_EQ(wrong_life_span(old, settings).has_value(), none != std::string{"0s"}) << none;
    }
    old.flavor_extra_specs = std::map<std::string, std::string>{};
    settings.taggers = {{"proj", 1h}};
    EXPECT_EQ(after(), 24h) << "a part of a name is no name";
}

TEST_F(LifeSpans, AreSpreadByTheServersIdAlone) {
    settings.jitter = 1h;
    std::set<TimePoint> ends;
    for (int i = 0; i < 1'000; ++i) {
        const std::string id = "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd" + std::to_string(1'000 + i);
        const Server one = revocable(id, HostId{"one"}, {}, 100);
        const TimePoint end = life_span_of(one, settings)->ends_at;
        ends.insert(end);
        ASSERT_GE(end, at(100) + 24h);
        ASSERT_LE(end, at(100) + 25h);
        ASSERT_EQ(end, life_span_of(revocable(id, HostId{"two"}, {}, 100), settings)->ends_at);
    }
    EXPECT_GT(ends.size(), 990U);
    for (int tenth = 0; tenth < 10; ++tenth) {
        const auto from = ends.lower_bound(at(100) + 24h + tenth * 6min);
        EXPECT_NEAR(static_cast<double>(
                        std::distance(from, ends.lower_bound(at(100) + 24h + (tenth + 1) * 6min))),
                    100, 50);
    }
    old.id = ServerId{"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"};
    EXPECT_EQ(life_span_of(old, settings)->ends_at - (at(100) + 24h), Duration{2'862'439})
        << "another build must not choose another time";
}

}  // namespace
}  // namespace reaper::life_span_test
