// Queues that exist with another type, on a real RabbitMQ: they are moved, and nothing is lost.
#include <map>
#include <set>

#include "tests/rabbitmq/support/loopback_proxy.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_queue_type_test {
namespace {

config::Broker settings_of(const std::string& type) {
    config::Broker settings = broker_settings();
    settings.queue_type = type;
    settings.heartbeat = short_heartbeat;
    return settings;
}

/// The queues as a reaper of before queue_type made them.
void make_old_queues(BrokerAdmin& admin, const config::Broker& settings) {
    admin.declare_exchange(settings.exchange);
    admin.declare_queue(settings.queue, {.type = {}, .single_active = true});
    admin.bind_queue(settings.queue, settings.exchange, error_key);
    admin.declare_queue(settings.dead_letter_queue, {.max_length = 10'000, .type = {}});
}

/// `name type messages`, one line each.
std::string types_of(const config::Broker& settings) {
    const std::string all = BrokerPlace::get().run("ctl", "-q list_queues name type");
    std::string ours;
    for (std::size_t from = 0; from < all.size();) {
        const std::size_t end = std::min(all.find('\n', from), all.size());
        const std::string line = all.substr(from, end - from);
        if (line.find(settings.queue.substr(2)) != std::string::npos) ours += line + "\n";
        from = end + 1;
    }
    return ours;
}

void expect_types(const config::Broker& settings) {
    const std::string types = types_of(settings);
    for (const std::string& queue : {settings.queue, settings.dead_letter_queue})
        EXPECT_NE(types.find(queue + "\t" + settings.queue_type + "\n"), std::string::npos)
            << types;
    EXPECT_EQ(types.find(".moving"), std::string::npos) << types;
}

/// Each body with how often it came.
std::map<std::string, int> bodies_of(const SourceRunner& run) {
    std::map<std::string, int> bodies;
    for (const Delivery& message : run.messages) ++bodies[message.body];
    return bodies;
}

bool until_bodies(SourceRunner& run, std::size_t count) {
    std::size_t answered = 0;
    std::set<std::string> bodies;
    return run.until([&] {
        for (; answered < run.messages.size(); ++answered) {
            bodies.insert(run.messages[answered].body);
            run.source->acknowledge(run.messages[answered].ticket);
        }
        return bodies.size() >= count;
    });
}

TEST(AmqpQueueType, AQueueOfAnOlderVersionIsMovedWithAllThatIsInIt) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    make_old_queues(admin, settings);
    admin.publish(settings.exchange, error_key, "delivered before");
    admin.deliver_in_vain(settings.queue, 1);
    admin.publish(settings.exchange, error_key, std::string(2'000'000, 'x'));
    constexpr int count = 500;
    for (int i = 0; i < count; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    admin.publish("", settings.dead_letter_queue, "dead", 3, "x-reaper-reason");

    SourceRunner run(settings);
    run.start();
    // New ones come all the while.
    int published = count;
    ASSERT_TRUE(run.until([&] {
        if (published < 2 * count)
            admin.publish(settings.exchange, error_key, std::to_string(published++));
        return published == 2 * count && run.consuming();
    }));
    ASSERT_TRUE(until_bodies(run, 2 * count + 2));
    EXPECT_EQ(run.messages.front().body, "delivered before");
    EXPECT_TRUE(run.messages.front().redelivered);
    EXPECT_FALSE(run.messages.back().redelivered);
    const auto bodies = bodies_of(run);
    EXPECT_EQ(bodies.at("0"), 1) << "what was in the queue before comes once";
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    expect_types(settings);
    EXPECT_TRUE(until_ready(admin, settings.dead_letter_queue, 3));
    const auto dead = admin.fetch(settings.dead_letter_queue);
    ASSERT_TRUE(dead);
    EXPECT_EQ(dead->body, "dead");
    EXPECT_EQ(dead->headers.at("x-reaper-reason"), "kept");
    EXPECT_EQ(dead->delivery_mode, 2);
}

TEST(AmqpQueueType, ItIsMovedBackWhenItIsToBeClassicAgain) {
    BrokerAdmin admin;
    config::Broker settings = settings_of("quorum");
    admin.declare_exchange(settings.exchange);
    {
        SourceRunner run(settings);
        run.start();
        ASSERT_TRUE(run.until_consuming());
        ASSERT_TRUE(run.stop());
    }
    for (int i = 0; i < 100; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    settings.queue_type = "classic";
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(until_bodies(run, 100));
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, error_key, "new");
    ASSERT_TRUE(run.until([&] { return run.messages.back().body == "new"; }));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    expect_types(settings);
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
}

TEST(AmqpQueueType, AnOlderReaperThatConsumesItIsWaitedFor) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    make_old_queues(admin, settings);
    auto older = std::make_unique<BrokerAdmin>();
    older->stand_by(settings.queue);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("an older reaper consumes it: stop that one"));
    older.reset();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    expect_types(settings);
}

TEST(AmqpQueueType, OfSeveralReapersOneMovesIt) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    make_old_queues(admin, settings);
    for (int i = 0; i < 300; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    SourceRunner first(settings);
    SourceRunner second(settings);
    first.start();
    second.start();
    const auto all = [&] { return first.messages.size() + second.messages.size(); };
    ASSERT_TRUE(first.until([&] {
        second.context.poll();
        for (SourceRunner* run : {&first, &second}) run->acknowledge_all();
        return all() >= 300 && first.consuming() && second.consuming();
    }));
    EXPECT_TRUE(first.messages.empty() || second.messages.empty());
    ASSERT_TRUE(second.stop());
    ASSERT_TRUE(first.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    expect_types(settings);
}

/// Whatever ended it, the next one goes on.
TEST(AmqpQueueType, AMoveThatIsCutOffAgainAndAgainLosesNothing) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = settings_of("quorum");
    settings.heartbeat = std::chrono::seconds(1);  // and a lease as short
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    make_old_queues(admin, settings);
    constexpr int count = 1'000;
    for (int i = 0; i < count; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    SourceRunner run(settings);
    run.start();
    for (const int moved : {1, 300, 600}) {
        ASSERT_TRUE(run.until([&] {
            const auto way = admin.look(settings.queue + ".moving");
            return run.messages.size() > 0 || (way && way->messages >= std::uint64_t(moved));
        }));
        proxy.cut();
    }
    ASSERT_TRUE(until_bodies(run, count));
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    expect_types(settings);
}

/// Nothing but the way of an earlier move: the queue itself was deleted, and not yet made anew.
TEST(AmqpQueueType, WhatAMoveLeftOnItsWayIsFetched) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    admin.declare_exchange(settings.exchange);
    admin.declare_queue(settings.queue + ".moving", {.type = "quorum"});
    admin.bind_queue(settings.queue + ".moving", settings.exchange, error_key);
    for (int i = 0; i < 50; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(until_bodies(run, 50));
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
    expect_types(settings);
}

TEST(AmqpQueueType, AQuorumQueueDropsNoMessageForBeingDeliveredOften) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
    // Newer brokers drop after 20 where no limit is said.
    const std::string arguments = BrokerPlace::get().run("ctl", "-q list_queues name arguments");
    for (const std::string& queue :
         {settings.queue, settings.dead_letter_queue, settings.queue + ".serving"}) {
        const std::size_t at = arguments.find(queue + "\t");
        ASSERT_NE(at, std::string::npos) << queue;
        const std::string line = arguments.substr(at, arguments.find('\n', at) - at);
        EXPECT_NE(line.find("2147483647"), std::string::npos) << line;
    }
    admin.publish(settings.exchange, error_key, "m");
    for (int i = 0; i < 25; ++i) admin.deliver_in_vain(settings.queue, 1);
    EXPECT_TRUE(until_ready(admin, settings.queue, 1));
}

}  // namespace
}  // namespace reaper::test::amqp_queue_type_test
