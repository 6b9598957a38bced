// Whose figure is it, and is it one?
#include "reaper/controllers/oversubscription/host_figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "reaper/controllers/oversubscription/metrics_reader.hpp"

namespace reaper::host_figures_test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const ResourceClass sold{"CUSTOM_REVOCABLE_VCPU"};

Host host(const std::string& name, const std::string& service) {
    Host made;
    made.id = HostId{"id-" + name};
    made.name = name;
    made.service_host = service;
    made.providers.emplace_back();
    made.providers.back().id = made.id;
    made.providers.emplace_back();
    made.providers.back().id = ProviderId{"nested-" + name};
    made.providers.back().parent = made.id;
    return made;
}

Sample sample(const std::string& instance, double value, const std::string& server = "") {
    Sample made;
    made.labels = {{"instance", instance}};
    if (!server.empty()) made.labels["domain"] = server;
    made.value = value;
    return made;
}

TEST(HostFigures, WhatIsNoNumberOrToldTwiceIsNone) {
    const Host a = host("a", "a");
    const Host b = host("b", "b");
    const Host c = host("c", "c");
    const Host d = host("d", "d");
    const HostNames names = names_of({&a, &b, &c, &d});
    Sample nameless;
    const auto figures = figures_by_host(
        {sample("a", 2), sample("b", std::numeric_limits<double>::infinity()), sample("c", -1),
         sample("d:9100", 1), sample("d:9200", 1), sample("unknown", 1), nameless},
        names, "instance", "its use");
    ASSERT_EQ(figures.size(), 4U);
    EXPECT_EQ(figures.at(a.id).value, 2);
    EXPECT_EQ(figures.at(a.id).why, "");
    EXPECT_EQ(figures.at(b.id).why, "its use is not a number of 0 or more");
    EXPECT_EQ(figures.at(c.id).why, "its use is not a number of 0 or more");
    EXPECT_EQ(figures.at(d.id).why, "its use is reported twice");
}

TEST(HostFigures, ClocksMayDifferByHalfAMinute) {
    const TimePoint from{1'000s}, to{1'003s};
    Sample at = sample("a", 1);
    for (const auto good : {970s, 1'002s, 1'033s}) {
        at.at = TimePoint{good};
        EXPECT_EQ(why_clocks_differ({at}, from, to), std::nullopt) << good.count();
    }
    for (const auto bad : {969s, 1'034s}) {
        at.at = TimePoint{bad};
        EXPECT_THAT(why_clocks_differ({at}, from, to).value_or(""), HasSubstr("31s"));
    }
}

class ServerFiguresTest : public ::testing::Test {
protected:
    Server& server(const std::string& id, Amount vcpus, Amount of_room = 0) {
        Server made;
        made.id = ServerId{id};
        made.status = "ACTIVE";
        Allocations held;
        if (vcpus > 0) held[compute.id].set(ResourceClass{"VCPU"}, vcpus);
        if (of_room > 0) held[ProviderId{"nested-a"}].set(sold, of_room);
        made.allocations = held;
        compute.servers.push_back(std::move(made));
        return compute.servers.back();
    }
    OthersUse use(const std::vector<Sample>& samples, bool past = false) {
        const HostNames names = names_of({&compute});
        return use_by_others(samples, names, {"instance", "domain"}, {&compute},
                             {{compute.id, held_lately}}, sold, past)
            .at(compute.id);
    }

    Host compute = host("a", "a");
    Amount held_lately = 0;
};

TEST_F(ServerFiguresTest, HoldersOfOversubscribedRoomDoNotCount) {
    server("regular", 4);
    server("spot", 2);
    server("holder", 1, 4);
    const auto others =
        use({sample("a", 1.5, "regular"), sample("a", 0.5, "SPOT"), sample("a", 3, "holder")});
    EXPECT_EQ(others.used, (UsageRange{2, 2}));
    EXPECT_EQ(others.why, "");
}

TEST_F(ServerFiguresTest, WhoIsNotMeasuredUsesBetweenNothingAndAllThatItHolds) {
    server("old", 2);
    server("new", 4);
    server("stopped", 8).status = "SHUTOFF";
    const std::vector<Sample> samples{sample("a", 1, "old")};
    EXPECT_EQ(use(samples).used, (UsageRange{1, 5}));
    EXPECT_EQ(use(samples).why, "");
    EXPECT_EQ(use(samples, true).used, (UsageRange{1, 1})) << "it did not run then";
}

TEST_F(ServerFiguresTest, WhereServersRunAndNoneIsMeasuredNothingIsKnown) {
    server("stopped", 8).status = "SHUTOFF";
    server("holder", 0, 4);
    EXPECT_EQ(use({}).why, "") << "only holders run there";
    EXPECT_EQ(use({}).used, (UsageRange{0, 0}));
    server("regular", 4);
    EXPECT_EQ(use({}).why, "servers run there, and the use of none is measured");
    EXPECT_EQ(use({sample("b", 1, "regular")}).why, use({}).why) << "that is of another host";
    EXPECT_EQ(use({sample("a", 1, "holder")}).why, "") << "who measures is there";
    EXPECT_EQ(use({}, true).why, "");
    compute.servers.pop_back();
    compute.estimated = true;
    EXPECT_NE(use({}).why, "") << "it is not known that it is a holder";
}

TEST_F(ServerFiguresTest, AServerThatIsGoneMayHaveBeenAHolder) {
    EXPECT_EQ(use({sample("a", 2, "gone")}).used, (UsageRange{0, 2}));
}

/// A server in oversubscribed room shows there with all that its flavor asks for, at first.
TEST_F(ServerFiguresTest, WhereServersAreNotReadInDetailAnyOfThemMayBeAHolder) {
    server("regular", 4);
    server("holder", 4);
    compute.estimated = true;
    held_lately = 3;
    const std::vector<Sample> samples{sample("a", 1, "regular"), sample("a", 3.5, "holder")};
    EXPECT_EQ(use(samples).used, (UsageRange{1.5, 4.5}));
    compute.estimated = false;
    EXPECT_EQ(use(samples).used, (UsageRange{4.5, 4.5}));
}

TEST_F(ServerFiguresTest, ContradictionsAreNotKnown) {
    server("s", 4);
    EXPECT_THAT(use({sample("a", 1, "s"), sample("a", 1, "s")}).why,
                HasSubstr("is reported twice"));
    EXPECT_THAT(use({sample("a", -1, "s")}).why,
                HasSubstr("server s is not a number of 0 or more"));
    EXPECT_EQ(use({sample("a", 1, "s"), sample("elsewhere", -1, "s")}).why, "");
}

TEST_F(ServerFiguresTest, TheRegularServerThatWaitsMostCounts) {
    const auto worst = [&](const std::map<std::string, double>& values) {
        std::map<ServerId, double> by_server;
        for (const auto& [server, value] : values) by_server[ServerId{server}] = value;
        return worst_of_regular(compute, by_server);
    };
    server("spot", 0, 4).revocable_because = "spot";
    ASSERT_TRUE(compute.servers.back().revocable());
    EXPECT_EQ(worst({{"spot", 0.9}}), 0) << "no regular server runs there";
    server("one", 2);
    server("two", 2);
    server("off", 2).status = "SHUTOFF";
    EXPECT_EQ(worst({{"spot", 0.9}}), std::nullopt);
    EXPECT_EQ(worst({{"spot", 0.9}, {"one", 0.1}, {"two", 0.3}, {"off", 0.8}}), 0.3);
    EXPECT_EQ(worst({{"one", 0.1}}), 0.1);
    compute.estimated = true;
    EXPECT_EQ(worst({{"spot", 0.9}, {"one", 0.1}}), 0.9) << "it may be regular";
}

TEST(HeldLately, IsTheMostSinceTheFiguresBegan) {
    const Duration span = std::chrono::minutes{2};
    const auto at = [](int seconds) { return TimePoint{std::chrono::seconds{seconds}}; };
    HeldLately held;
    constexpr Amount anything = std::numeric_limits<Amount>::max();
    EXPECT_EQ(held.most(at(0), span), anything);
    held.note(at(0), 4);
    held.note(at(60), 4);
    EXPECT_EQ(held.most(at(60), span), anything) << "before, more may have been held";
    held.note(at(120), 1);
    EXPECT_EQ(held.most(at(120), span), 4);
    held.note(at(180), 2);
    EXPECT_EQ(held.most(at(239), span), 4) << "it was held until 120";
    held.note(at(241), 2);
    EXPECT_EQ(held.most(at(241), span), 2);
}

TEST(HeldLately, AQueryReachesBackAsFarAsItsRanges) {
    EXPECT_EQ(reach_of("node_load5"), Duration{0});
    EXPECT_EQ(reach_of(R"(sum by (instance) (rate(cpu{mode!~"[9m]|idle"}[2m])))"),
              std::chrono::minutes{2});
    EXPECT_EQ(reach_of("max_over_time(rate(cpu[1m30s])[1h:1m])"),
              std::chrono::minutes{61} + std::chrono::seconds{30});
    EXPECT_EQ(reach_of("rate(cpu[500ms])"), Duration{500});
    EXPECT_EQ(reach_of("cpu[x]"), Duration{0});
    EXPECT_EQ(reach_of("cpu[99999999999999999999y"), std::chrono::hours{24 * 365});
}

TEST_F(ServerFiguresTest, WhatAServerHoldsIsCountedByClass) {
    const Server& both = server("both", 2, 4);
    EXPECT_EQ(vcpus_held(both, compute, sold), 6);
    EXPECT_EQ(oversubscribed_by(both, compute, sold), 4);
    compute.providers.back().used.set(sold, 4);
    EXPECT_EQ(oversubscribed_on(compute, sold), 4);
}

}  // namespace
}  // namespace reaper::host_figures_test
