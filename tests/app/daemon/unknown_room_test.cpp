// Oversubscribed room, where it is not known what hosts use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "app/oversold_house.hpp"

namespace reaper::test::unknown_room_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UnknownRoomTest : public OversoldHouse {};

TEST_F(UnknownRoomTest, WhatIsNoFigureMakesNoRoom) {
    busy_host("host1");
    busy_host("host2");
    busy_host("host3");
    for (const char* const host : {"host1", "host2", "host3"}) nested_provider(host);
    estimate_slack();
    measured_for_an_hour();
    use["host1"] = std::numeric_limits<double>::quiet_NaN();
    use["host2"] = 40;  // more than it has
    start();
    pass([&] { return total("host3") > 0; });
    pass(minutes{5});
    EXPECT_EQ(total("host1"), 0);
    EXPECT_EQ(total("host2"), 0);
}

TEST_F(UnknownRoomTest, FiguresOfAnotherClockAreNone) {
    busy_host();
    nested_provider();
    estimate_slack();
    fake.skew = seconds{45};
    measured_for_an_hour();
    start();
    pass(minutes{20});
    EXPECT_EQ(total(), 0);
}

TEST_F(UnknownRoomTest, OldFiguresAreNone) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 3);
    estimate_slack();
    age = 70;
    measured_for_an_hour();
    start();
    pass([&] { return total() == 3; });
    EXPECT_TRUE(cloud.exists("spot1"));
}

TEST_F(UnknownRoomTest, AHostWhoseMeasurementsStopIsLikeOneWithoutMetrics) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 3);
    estimate_slack();
    settings.oversubscription.prometheus.server_label = "domain";
    settings.oversubscription.publication.trust_after = seconds{0};
    use_of_servers["host1"] = {{"host1-regular", 4}, {"spot1", 1}};
    start();
    pass(minutes{5});
    EXPECT_EQ(total(), 8);
    servers_unmeasured("host1");
    pass([&] { return total() == 3; });
    const OversubscribedHost shown = service().room_publisher()->hosts().at(0);
    EXPECT_EQ(shown.wanted, std::nullopt);
    EXPECT_THAT(shown.why, HasSubstr("the use of none is measured"));
    pass(minutes{5});
    EXPECT_TRUE(cloud.exists("spot1"));
    use_of_servers["host1"] = {{"host1-regular", 4}, {"spot1", 1}};
    pass([&] { return total() > 3; });
}

TEST_F(UnknownRoomTest, APrometheusThatHangsCostsNothingButFreshness) {
    full_host("host2");
    requester();
    busy_host("host1", 16);
    nested_provider("host1", 10);
    holder("spot1", 3);
    estimate_slack();
    measured_for_an_hour();
    start();
    pass(minutes{1});
    EXPECT_EQ(total(), 10);
    held_back.hangs = true;
    messages->deliver(body_of(failure()));
    EXPECT_EQ(outcome_of("req-1").kind, OutcomeKind::freed);
    pass([&] { return total() == 3; });  // no new server
    pass(minutes{10});
    EXPECT_TRUE(cloud.exists("spot1")) << "no server is evicted for it";
    EXPECT_THAT(corrections(), IsEmpty());
    held_back.hangs = false;
    pass([&] { return total() == 10; });
}

TEST_F(UnknownRoomTest, WhileTheJournalCantBeReadRoomFallsAndDoesNotRise) {
    busy_host("host1");
    busy_host("host2");
    nested_provider("host1", 8);
    nested_provider("host2", 4);
    estimate_fixed(6);
    journal.events_fail = Error{Errc::storage, "journal: it can't be read"};
    start();
    pass([&] { return total("host1") == 6; });
    pass(minutes{10});
    EXPECT_EQ(total("host2"), 4);
    journal.events_fail.reset();
    pass([&] { return total("host2") == 6; });
}

}  // namespace
}  // namespace reaper::test::unknown_room_test
