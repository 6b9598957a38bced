// Oversubscribed room in Placement: what is published, and when.
#include "reaper/controllers/oversubscription/room_publisher.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/oversold_house.hpp"
#include "reaper/api/routes.hpp"
#include "reaper/report/json.hpp"
#include "tests/support/log_capture.hpp"

namespace reaper::test::room_publisher_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RoomPublisherTest : public OversoldHouse {
protected:
    /// What the admin API tells.
    nlohmann::json shown(const std::string& query = "") {
        const api::Backend backend{service(), *observed, feed};
        api::Caller caller;
        caller.access = api::Access::look;
        HttpRequest request{"GET", "/v1/oversubscription" + query, {}, {}};
        std::optional<HttpResponse> said;
        boost::asio::co_spawn(io(), api::answer(backend, std::move(caller), std::move(request)),
                              [&](std::exception_ptr error, HttpResponse response) {
                                  if (error) std::rethrow_exception(error);
                                  said = std::move(response);
                              });
        run_until([&] { return said.has_value(); });
        return nlohmann::json::parse(said->body);
    }
};

TEST_F(RoomPublisherTest, RoomRisesStepByStepAndItsProviderIsMade) {
    busy_host();
    estimate_fixed(6);
    settings.oversubscription.publication.rise_step = 0.125;
    start();
    pass(seconds{100});
    EXPECT_EQ(total(), 0) << "it waits before it rises";
    pass([&] { return total() > 0; });
    EXPECT_EQ(total(), 2) << "an eighth of its 16 cores";
    const auto& made = cloud.nested.at(room_provider());
    EXPECT_EQ(made.name, "host1-revocable-vcpu");
    EXPECT_EQ(made.parent.str(), cloud.provider_of("host1"));
    pass([&] { return total() == 6; });
    pass(minutes{5});
    EXPECT_EQ(total(), 6);
    EXPECT_EQ(cloud.count("create provider"), 1U);
    EXPECT_EQ(cloud.count("total"), 3U) << "written when it changes alone";
}

TEST_F(RoomPublisherTest, HostsThatAreNotNamedGiveNone) {
    busy_host("host1");
    busy_host("other");
    estimate_fixed(6);
    settings.oversubscription.hosts = {"host*"};
    start();
    pass([&] { return total("host1") > 0; });
    pass(minutes{5});
    EXPECT_EQ(total("other"), 0);
}

TEST_F(RoomPublisherTest, NamesThatCoverNoHostAreReportedOnce) {
    busy_host("host1");
    estimate_fixed(6);
    settings.oversubscription.hosts = {"host*", "gone-*"};
    settings.oversubscription.estimator.parameters["overrides"] =
        std::vector<std::string>{"host2=3", "host1=4"};
    const LogCapture log;
    start();
    pass([&] { return total("host1") == 4; });
    pass(minutes{5});
    EXPECT_EQ(log.lines_with("covers none").size(), 2U) << log.text();
    EXPECT_EQ(log.lines_with("oversubscription.hosts: 'gone-*' covers none of 1 host").size(), 1U);
    EXPECT_EQ(log.lines_with("oversubscription.estimator.overrides: 'host2=3' covers none").size(),
              1U);
    busy_host("host2");
    pass([&] { return total("host2") == 3; });
    pass(minutes{5});
    EXPECT_EQ(log.lines_with("'host2=3'").size(), 1U) << "it is right now";
    EXPECT_EQ(log.lines_with("'gone-*'").size(), 2U) << "of 2 hosts";
}

TEST_F(RoomPublisherTest, WhatIsAllocatedAndUnusedIsSoldAtOnceWhereThePastIsKnown) {
    busy_host();
    nested_provider();
    estimate_slack();
    measured_for_an_hour();
    start();
    const TimePoint began = clock.now();
    pass([&] { return total() == 8; });  // 12 are allocated, 4 are in use
    EXPECT_LT(clock.now() - began, minutes{5});
    use["host1"] = 7;
    pass([&] { return total() == 5; });
}

/// Of its 16 cores, Placement has 4, which Nova sells four times.
class OversoldRoomTest : public RoomPublisherTest {
protected:
    OversoldRoomTest() {
        cloud.add_host("host1", Resources{{"VCPU", 4}, {"MEMORY_MB", 65'536}, {"DISK_GB", 1'000}});
        cloud.vcpu_ratios["host1"] = 4;
        cloud.add_server("regular1", "host1", "regular",
                         Resources{{"VCPU", 12}, {"MEMORY_MB", 8'192}, {"DISK_GB", 20}});
        use["host1"] = 1;
        nested_provider();
        estimate_slack();
        measured_for_an_hour();
    }
    void expect_the_idle_cores() {
        start();
        Amount most = 0;
        const auto look = [&] {
            most = std::max(most, total());
            return total() == 2;
        };
        pass(look);
        const auto reads = cloud.count("servers on");
        const TimePoint until = clock.now() + minutes{20};
        pass([&] { return look() && clock.now() >= until; });
        EXPECT_EQ(most, 2) << "nine tenths of 4 cores, of which 1 is in use";
        EXPECT_EQ(cloud.count("servers on"), reads) << "what was read once is known";
    }
};

TEST_F(OversoldRoomTest, CapacityThatBulkAnswersReportIsNotTakenForCores) {
    expect_the_idle_cores();
}

TEST_F(OversoldRoomTest, NorWhereNothingElseCountsThem) {
    settings.oversubscription.prometheus.cores_query.clear();
    expect_the_idle_cores();
}

TEST_F(RoomPublisherTest, AHostsFirstHourIsNotTrusted) {
    busy_host();
    nested_provider();
    estimate_slack();
    start();
    pass(minutes{50});
    EXPECT_EQ(total(), 0);
    pass([&] { return total() > 0; });
}

TEST_F(RoomPublisherTest, AHostsFirstHourIsNotTrustedAfterARestartEither) {
    busy_host();
    nested_provider();
    estimate_slack();
    start();
    const TimePoint began = clock.now();
    pass(minutes{40});
    crash();
    start();
    pass(minutes{15});
    EXPECT_EQ(total(), 0);
    pass([&] { return total() > 0; });
    EXPECT_GE(clock.now() - began, minutes{55}) << "the past is known, and counts";
}

TEST_F(RoomPublisherTest, AHostThatFlapsIsLeftAloneOverARestart) {
    busy_host();
    nested_provider();
    estimate_slack();
    settings.oversubscription.estimator.parameters["peak"] = std::string{"0s"};
    settings.oversubscription.publication.rise_after = seconds{15};
    settings.oversubscription.publication.flaps = 2;
    measured_for_an_hour();
    const LogCapture log;
    start();
    for (int i = 0; i < 2; ++i) {
        use["host1"] = 4;
        pass([&] { return total() >= 6; });
        use["host1"] = 10;
        pass([&] { return total() <= 2; });
    }
    const TimePoint flapped = clock.now();
    use["host1"] = 4;
    pass(minutes{5});
    EXPECT_LE(total(), 2);
    EXPECT_EQ(log.lines_with("left alone: " + cloud.provider_of("host1") + " (host1)").size(), 1U);
    crash();
    start();
    pass(minutes{20});
    EXPECT_LE(total(), 2);
    const nlohmann::json told = shown();
    EXPECT_EQ(told.at("class"), revocable_vcpu.str());
    EXPECT_EQ(told.at("hosts").at(0).at("left_alone"), true);
    pass([&] { return total() >= 6; });
    EXPECT_GE(clock.now() - flapped, minutes{30});
    EXPECT_LE(clock.now() - flapped, minutes{40});
}

TEST_F(RoomPublisherTest, AHostThatFlappedByAClockThatWasAheadIsLeftAloneFromNowOn) {
    busy_host();
    nested_provider();
    estimate_fixed(6);
    const PublicationRules& rules = settings.oversubscription.publication;
    const TimePoint ahead = clock.now() + std::chrono::hours{5};
    Circuit quiet;
    quiet.open(ahead, rules.quiet);
    journal.noted_marks.push_back(
        left_alone_event(HostId{cloud.provider_of("host1")}, "host1", quiet, ahead));
    start();
    const TimePoint began = clock.now();
    pass(minutes{25});
    EXPECT_EQ(total(), 0);
    pass([&] { return total() == 6; });
    EXPECT_LE(clock.now() - began, minutes{45});
}

TEST_F(RoomPublisherTest, HoldersBeyondTheEstimateAreEvictedAndTheJournalTellsWhy) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 3);
    holder("spot2", 2);
    holder("spot3", 3);
    estimate_fixed(5);
    start();
    pass([&] { return !corrections().empty() && corrections().front().outcome; });
    EXPECT_EQ(total(), 5);
    pass(minutes{5});
    EXPECT_EQ(corrections().size(), 1U);
    const RequestRecord record = corrections().front();
    EXPECT_EQ(record.outcome->kind, OutcomeKind::freed);
    EXPECT_THAT(record.request.id.str(), ::testing::StartsWith("estimator-"));
    EXPECT_THAT(record.request.correction->servers.front().reason, HasSubstr("on host host1"));
    EXPECT_EQ(cloud.count("DELETE"), 1U) << "3 of 8 vCPUs had to go";
    EXPECT_TRUE(cloud.exists("host1-regular"));
}

/// More is held than there is, and who is to go has notice.
class ExcessWithNoticeTest : public RoomPublisherTest {
protected:
    ExcessWithNoticeTest() {
        settings.policy.notice.period = minutes{10};
        busy_host();
        nested_provider("host1", 6);
        for (const char* const id : {"spot1", "spot2", "spot3"}) holder(id, 2);
    }
    std::string another_than(const std::set<std::string>& those) const {
        for (const char* const id : {"spot1", "spot2", "spot3"})
            if (!those.contains(id)) return id;
        return "";
    }
};

TEST_F(ExcessWithNoticeTest, AHolderWhoseRoomIsNoLongerNeededStays) {
    estimate_fixed(4);
    start();
    const std::string victim = notified();
    cloud.remove(another_than({victim}));
    expect_withdrawn(victim);
}

TEST_F(ExcessWithNoticeTest, AReloadThatLetsHoldersStayCountsAtOnce) {
    estimate_fixed(4);
    start();
    const std::string victim = notified();
    settings.oversubscription.excess = "drain";
    service().reload(live_settings());
    expect_withdrawn(victim);
}

TEST_F(ExcessWithNoticeTest, NoMoreGoThanAreNeededWhenItIsOver) {
    estimate_fixed(2);
    start();
    notified();
    std::set<std::string> victims;
    const auto ordered = corrections().front().request.correction->servers;
    for (const CorrectedServer& each : ordered) victims.insert(each.server.str());
    ASSERT_EQ(victims.size(), 2U);
    cloud.remove(another_than(victims));
    pass([&] { return corrections().front().outcome.has_value(); });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::freed);
    EXPECT_EQ(cloud.count("DELETE"), 1U);
    EXPECT_EQ(cloud.count("UNMARK"), 1U) << "the other one hears that it stays";
}

TEST_F(RoomPublisherTest, HoldersBeyondTheEstimateStayAndNoNewOneComes) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 3);
    estimate_fixed(0);
    settings.oversubscription.excess = "drain";
    start();
    pass([&] { return total() == 1; });
    EXPECT_EQ(inventory().min_unit, 2) << "nothing new fits";
    pass(minutes{5});
    EXPECT_TRUE(cloud.exists("spot1"));
    cloud.remove("spot1");
    pass([&] { return total() == 0; });
}

TEST_F(RoomPublisherTest, AHostWhoseHoldersStayIsNotReadInEachInterval) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 3);
    estimate_fixed(0);
    settings.oversubscription.excess = "drain";
    with_events = true;
    start();
    pass([&] { return total() == 1; });
    pass(minutes{1});
    const auto reads = cloud.count("servers on");
    pass(minutes{10});
    EXPECT_LE(cloud.count("servers on"), reads + 12) << "not in each of 40 intervals";
}

TEST_F(RoomPublisherTest, ARestartGoesOnFromWhatPlacementHas) {
    busy_host();
    estimate_fixed(6);
    start();
    pass([&] { return total() == 6; });
    const std::size_t written = cloud.count("total");
    crash();
    start();
    pass(minutes{5});
    EXPECT_EQ(total(), 6);
    EXPECT_EQ(cloud.count("total"), written);
    EXPECT_EQ(cloud.count("create provider"), 1U);
}

TEST_F(RoomPublisherTest, WhoDoesNotServePublishesNothing) {
    busy_host();
    nested_provider("host1", 4);
    estimate_fixed(6);
    start();
    messages->serves = false;
    pass(minutes{10});
    EXPECT_EQ(total(), 4);
    messages->serves = true;
    pass([&] { return total() == 6; });
}

TEST_F(RoomPublisherTest, WhatWasSetByHandIsKept) {
    busy_host();
    estimate_fixed(6);
    start();
    pass([&] { return total() == 6; });
    inventory().total = 40;
    pass([&] { return total() == 6; });
    inventory().total = 2;
    const TimePoint then = clock.now();
    pass([&] { return total() == 6; });
    EXPECT_GE(clock.now() - then, settings.oversubscription.publication.rise_after);
}

TEST_F(RoomPublisherTest, AnAllocationRatioThatWasSetByHandIsCorrected) {
    busy_host();
    estimate_fixed(6);
    start();
    pass([&] { return total() == 6; });
    const LogCapture log;
    inventory().allocation_ratio = 2;
    pass([&] { return inventory().allocation_ratio == 1.0; });
    EXPECT_EQ(total(), 6);
    pass(minutes{5});
    EXPECT_EQ(log.lines_with("an allocation_ratio of 2").size(), 1U) << log.text();
}

TEST_F(RoomPublisherTest, AReservedPartStays) {
    busy_host();
    nested_provider("host1", 4);
    inventory().reserved = 1;
    estimate_fixed(6);
    start();
    pass([&] { return total() == 6; });
    EXPECT_EQ(inventory().reserved, 1);
}

TEST_F(RoomPublisherTest, AProviderThatIsRemovedIsMadeAgain) {
    busy_host();
    estimate_fixed(6);
    start();
    pass([&] { return total() == 6; });
    cloud.nested.clear();
    pass([&] { return total() == 6; });
    EXPECT_EQ(cloud.count("create provider"), 2U);
}

TEST_F(RoomPublisherTest, AProviderOfThatNameThatIsAnothersIsNotTaken) {
    busy_host();
    busy_host("host2");
    cloud.nested[ProviderId{"foreign"}] = {slot_provider_name("host1", revocable_vcpu),
                                           HostId{cloud.provider_of("host2")}};
    estimate_fixed(6);
    start();
    pass([&] { return total("host2") == 6; });
    pass(minutes{5});
    EXPECT_THAT(cloud.nested.at(ProviderId{"foreign"}).inventories, IsEmpty());
    EXPECT_EQ(cloud.count("total foreign"), 0U);
}

TEST_F(RoomPublisherTest, OneHostThatCanNotBeWrittenKeepsNoOtherUp) {
    busy_host("host1");
    busy_host("host2");
    for (const char* const host : {"host1", "host2"}) nested_provider(host);
    estimate_fixed(6);
    start();
    cloud.on_call = [&](const std::string& call) -> std::optional<Error> {
        if (!call.starts_with("total " + room_provider("host1").str())) return std::nullopt;
        return Error{Errc::conflict, "placement: another generation"};
    };
    pass([&] { return total("host2") == 6; });
    EXPECT_EQ(total("host1"), 0);
    cloud.on_call = {};
    pass([&] { return total("host1") == 6; });
}

TEST_F(RoomPublisherTest, AHostThatGetsAnotherNameIsAnotherHost) {
    busy_host("host1", 0);
    estimate_fixed(6);
    start();
    pass([&] { return total("host1") == 6; });
    cloud.remove_host("host1");
    cloud.nested.clear();
    busy_host("host9", 0);
    pass([&] { return total("host9") == 6; });
    EXPECT_EQ(total("host1"), 0);
}

TEST_F(RoomPublisherTest, ADryRunWritesNothing) {
    busy_host();
    nested_provider("host1", 8);
    holder("spot1", 8);
    estimate_fixed(5);
    dry_run = true;
    start();
    pass([&] { return !corrections().empty() && corrections().front().outcome; });
    EXPECT_EQ(corrections().front().outcome->kind, OutcomeKind::dry_run);
    EXPECT_EQ(total(), 8);
    EXPECT_EQ(cloud.count("total"), 0U);
    EXPECT_EQ(cloud.count("create provider"), 0U);
    EXPECT_EQ(cloud.count("DELETE"), 0U);
}

TEST_F(RoomPublisherTest, WhilePausedNothingRisesAndNoServerIsEvicted) {
    busy_host("host1");
    busy_host("host2");
    nested_provider("host1", 4);
    nested_provider("host2", 8);
    holder("spot1", 8, "host2");
    estimate_fixed(6);
    ASSERT_TRUE(pause.pause("an operator", "look"));
    start();
    pass([&] { return total("host2") == 6; });
    pass(minutes{10});
    EXPECT_EQ(total("host1"), 4);
    EXPECT_TRUE(cloud.exists("spot1"));
    EXPECT_THAT(corrections(), IsEmpty());
    ASSERT_TRUE(pause.resume());
    pass([&] { return total("host1") == 6 && !cloud.exists("spot1"); });
}

TEST_F(RoomPublisherTest, WhatIsPublishedUsedAndWantedIsShown) {
    busy_host("host1");
    busy_host("host2");
    nested_provider("host1", 5);
    holder("spot1", 3);
    estimate_slack();
    measured_for_an_hour();
    use.erase("host2");
    start();
    const nlohmann::json nothing = shown();
    EXPECT_EQ(nothing.at("version"), report::json_version);
    pass([&] { return total() == 8; });
    pass(minutes{1});
    const nlohmann::json hosts = shown().at("hosts");
    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[0].at("host_name"), "host1");
    EXPECT_EQ(hosts[0].at("published"), 8);
    EXPECT_EQ(hosts[0].at("used"), 3);
    EXPECT_EQ(hosts[0].at("wanted"), 8);
    EXPECT_EQ(hosts[0].at("left_alone"), false);
    EXPECT_EQ(hosts[1].at("published"), 0);
    EXPECT_TRUE(hosts[1].at("wanted").is_null());
    EXPECT_THAT(std::string{hosts[1].at("why")}, HasSubstr("is not measured"));
    const nlohmann::json first = shown("?limit=1");
    EXPECT_EQ(first.at("hosts"), nlohmann::json::array({hosts[0]}));
    EXPECT_EQ(first.at("hosts_links").size(), 1U);
    const nlohmann::json last = shown("?marker=" + std::string{hosts[0].at("host")});
    EXPECT_EQ(last.at("hosts"), nlohmann::json::array({hosts[1]}));
    EXPECT_EQ(last.at("hosts_links").size(), 0U);
}

TEST_F(RoomPublisherTest, NothingIsDoneWhereNothingIsSold) {
    busy_host();
    nested_provider("host1", 4);
    settings.oversubscription.enabled = false;
    start();
    pass(minutes{10});
    EXPECT_EQ(total(), 4);
    EXPECT_THAT(fake.asked, IsEmpty());
    EXPECT_THAT(std::string{shown().at("error").at("message")},
                HasSubstr("oversubscription.enabled"));
}

}  // namespace
}  // namespace reaper::test::room_publisher_test
