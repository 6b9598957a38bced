// Reapers on a real cluster of three RabbitMQ nodes that go down and are cut off, under a stream of
// messages: none is lost, and no two reapers serve at once.
#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <thread>

#include "clients/amqp/amqp_events.hpp"
#include "tests/rabbitmq/cluster/cluster.hpp"

namespace reaper::test::amqp_cluster_test {
namespace {

constexpr int burst = 40;

config::Broker cluster_settings() {
    config::Broker settings = broker_settings();
    settings.heartbeat = short_heartbeat;
    return settings;
}

class AmqpCluster : public testing::Test {
protected:
    /// Two reapers, which begin with different nodes.
    void begin() {
        BrokerAdmin().declare_exchange(settings.exchange);
        reapers.start();
        ASSERT_TRUE(reapers.until([&] {
            return reapers.at(0).consuming() && reapers.at(1).consuming() && reapers.serving() >= 0;
        }));
        stream.publish(burst, {0, 1, 2});
        ASSERT_TRUE(reapers.until_served(stream));
    }
    void end() {
        ASSERT_TRUE(reapers.stop());
        EXPECT_EQ(reapers.at_once(), std::vector<std::string>());
        EXPECT_EQ(reapers.unwarned(), std::vector<std::string>());
        int again = 0;
        for (const auto& [body, times] : reapers.served()) again += times - 1;
        RecordProperty("messages", static_cast<int>(stream.confirmed().size()));
        RecordProperty("told_again", again);
        BrokerAdmin admin;
        EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    }
    /// The reapers go on while the test does something that takes its time.
    void meanwhile(const std::function<void()>& something) {
        std::atomic<bool> done{false};
        std::thread doing([&] {
            something();
            done = true;
        });
        EXPECT_TRUE(reapers.until([&] { return done.load(); }));
        doing.join();
    }

    const config::Broker settings = cluster_settings();
    Cluster cluster;
    Stream stream{settings};
    Reapers reapers{settings, {{0, 1, 2}, {1, 2, 0}}};
};

TEST_F(AmqpCluster, EachNodeIsKilledInTurnUnderAStream) {
    begin();
    for (std::size_t node = 0; node < 3; ++node) {
        SCOPED_TRACE(node);
        const std::vector<std::size_t> others{(node + 1) % 3, (node + 2) % 3};
        meanwhile([&] { stream.publish(burst, {0, 1, 2}); });
        meanwhile([&] { cluster.kill(node); });
        meanwhile([&] { stream.publish(burst, others); });
        ASSERT_TRUE(reapers.until_served(stream));
        meanwhile([&] { cluster.start(node); });
        meanwhile([&] { stream.publish(burst, {0, 1, 2}); });
        ASSERT_TRUE(reapers.until_served(stream));
    }
    end();
}

/// The one that serves is on the side of the few; its node still lets it in, and answers what it
/// can alone.
TEST_F(AmqpCluster, AReaperOnACutOffNodeKnowsItBeforeAnotherServes) {
    begin();
    const int first = reapers.serving();
    ASSERT_GE(first, 0);
    const auto node = static_cast<std::size_t>(first);  // the one that it began with
    const std::vector<std::size_t> others{(node + 1) % 3, (node + 2) % 3};
    meanwhile([&] { cluster.part(node); });
    meanwhile([&] { stream.publish(burst, others); });
    ASSERT_TRUE(reapers.until_served(stream));
    meanwhile([&] { cluster.heal(node); });
    // What a node did while it was cut off is lost: it starts afresh, as RabbitMQ's guide says.
    meanwhile([&] { cluster.kill(node); });
    meanwhile([&] { cluster.start(node); });
    meanwhile([&] { stream.publish(burst, {0, 1, 2}); });
    ASSERT_TRUE(reapers.until_served(stream));
    end();
}

TEST_F(AmqpCluster, AllGoDownAndComeBack) {
    begin();
    stream.publish(burst, {0, 1, 2});
    for (std::size_t node = 0; node < 3; ++node) meanwhile([&] { cluster.kill(node); });
    EXPECT_TRUE(reapers.until([&] { return reapers.serving() < 0; }));
    meanwhile([&] { cluster.start_all(); });
    meanwhile([&] { stream.publish(burst, {0, 1, 2}); });
    ASSERT_TRUE(reapers.until_served(stream));
    end();
}

/// They are each reaper's own, and go with its node: it makes new ones on the next.
TEST_F(AmqpCluster, EventsGoOnOnAnotherNode) {
    config::Broker own = settings;
    own.urls = {config::Secret(cluster.nodes()[2].url()), config::Secret(cluster.nodes()[0].url())};
    boost::asio::io_context context;
    const auto work = boost::asio::make_work_guard(context);
    const auto events = make_amqp_events(context.get_executor(), own);
    std::vector<EventFeedState> states;
    events->start({[](std::vector<CloudEvent>) {},
                   [&](EventFeedState state) { states.push_back(std::move(state)); }});
    // As often as it began to flow; each time, a gap lies before it.
    const auto until_flowing = [&](std::ptrdiff_t times) {
        return until([&] {
            context.poll();
            return std::count_if(states.begin(), states.end(),
                                 [](const auto& state) { return state.flowing; }) == times;
        });
    };
    BrokerAdmin(cluster.nodes()[0]).declare_exchange(settings.exchange);
    ASSERT_TRUE(until_flowing(1));
    cluster.kill(2);
    ASSERT_TRUE(until_flowing(2));
    BrokerAdmin admin(cluster.nodes()[0]);
    admin.publish(settings.exchange, "versioned_notifications.info", "{}");
    EXPECT_TRUE(until([&] {
        context.poll();
        return events->counts().received > 0;
    }));
    cluster.start(2);
    bool stopped = false;
    boost::asio::co_spawn(context, events->stop(), [&](std::exception_ptr) { stopped = true; });
    EXPECT_TRUE(until([&] {
        context.poll();
        return stopped;
    }));
}

}  // namespace
}  // namespace reaper::test::amqp_cluster_test
