// Queues that exist with another type, on a real RabbitMQ, and what a quorum queue keeps.
#include <string>

#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_queue_type_test {
namespace {

config::Broker settings_of(const std::string& type) {
    config::Broker settings = broker_settings();
    settings.queue_type = type;
    settings.heartbeat = short_heartbeat;
    return settings;
}

TEST(AmqpQueueType, AQueueOfAnotherTypeIsNamedAndLeftAsItIs) {
    BrokerAdmin admin;
    const config::Broker settings = settings_of("quorum");
    admin.declare_exchange(settings.exchange);
    admin.declare_queue(settings.queue, {.type = "classic", .single_active = true});
    admin.publish("", settings.queue, "m");
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("set broker.queue_type to what it has"));
    const std::string& detail = run.states.back().detail;
    EXPECT_NE(detail.find("rabbitmqctl delete_queue " + settings.queue + ")"), std::string::npos)
        << detail;
    ASSERT_TRUE(admin.look(settings.queue));
    EXPECT_EQ(admin.look(settings.queue)->messages, 1U);
    admin.delete_queue(settings.queue);
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
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
    for (int i = 0; i < 25; ++i) admin.deliver_and_return(settings.queue, 1);
    EXPECT_TRUE(until_ready(admin, settings.queue, 1));
}

}  // namespace
}  // namespace reaper::test::amqp_queue_type_test
