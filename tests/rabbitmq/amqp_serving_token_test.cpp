// The token of the reaper that serves, on a real RabbitMQ: it is neither lost nor kept forever.
#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/serving_token.hpp"
#include "config/broker_url.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_serving_token_test {
namespace {

using namespace std::chrono_literals;

config::Broker settings_of(const std::string& type) {
    config::Broker settings = broker_settings();
    settings.queue_type = type;
    settings.heartbeat = short_heartbeat;
    return settings;
}

/// Nothing is published meanwhile: what the next one serves by is the token that is there.
void expect_handover_during_alarm(const std::string& type) {
    const auto& place = BrokerPlace::get();
    BrokerAdmin admin;
    const config::Broker settings = settings_of(type);
    admin.declare_exchange(settings.exchange);
    AmqpTuning tuning = quick_tuning();
    tuning.stop_timeout = 2s;  // the broker does not answer the connection that publishes
    SourceRunner first(settings, tuning);
    first.start();
    ASSERT_TRUE(first.until_serving());
    SourceRunner second(settings);
    second.start();
    ASSERT_TRUE(second.until_consuming());
    place.run("ctl", "-q set_vm_memory_high_watermark absolute 1");
    EXPECT_TRUE(first.stop());
    EXPECT_TRUE(second.until_serving());
    place.run("ctl", "-q set_vm_memory_high_watermark 0.4");
    EXPECT_TRUE(second.stop());
}

TEST(AmqpServingToken, TheNextReaperServesThoughTheBrokerTakesNoMessages) {
    expect_handover_during_alarm("quorum");
}

TEST(AmqpServingToken, TheNextReaperServesAClassicQueueThoughTheBrokerTakesNoMessages) {
    expect_handover_during_alarm("classic");
}

/// A new one takes its place from time to time. One that is lost on its way there is asked for
/// again.
TEST(AmqpServingToken, AFreshOneThatIsLostIsRequestedAgain) {
    BrokerAdmin admin;
    config::Broker settings = settings_of("quorum");
    amqp::ConnectionAborter aborter;
    auto opened = amqp::Connection::open(parse_broker_urls(settings.urls.front())->front(),
                                         settings, patience, aborter);
    ASSERT_TRUE(opened) << opened.error().what;
    amqp::Connection& connection = **opened;
    amqp::CommandQueue commands;
    amqp::Outbox outbox(commands);
    amqp::ServingToken token(connection, settings, quick_tuning(), outbox);
    ASSERT_FALSE(token.open());
    const auto until_asked = [&] {
        return until([&] {
            bool more = false;
            const auto lost = connection.read_frames(
                10, more, [&](const amqp_frame_t& frame) { return token.serve(frame); });
            if (lost || token.work()) throw std::runtime_error("the connection is lost");
            if (token.lost() && (token.close() || token.open()))
                throw std::runtime_error("the connection is lost");
            if (!more) connection.wait(-1, std::min(token.due(), amqp::Steady::now() + 100ms));
            return outbox.take_token();
        });
    };
    ASSERT_TRUE(until_asked());
    const amqp::ContentProperties first = amqp::new_serving_token();
    const amqp_basic_properties_t properties = first.raw(amqp_empty_table);
    const std::string queue = amqp::serving_queue(settings).name;
    ASSERT_FALSE(connection.open_channel(amqp::publish_channel));
    ASSERT_EQ(amqp_basic_publish(connection.raw(), amqp::publish_channel, amqp_empty_bytes,
                                 amqp::bytes(queue), 0, 0, &properties, amqp_empty_bytes),
              0);
    outbox.token_settled(std::nullopt);
    for (const char* time : {"when it is old", "again", "and again"}) {
        ASSERT_TRUE(until_asked()) << time;
        outbox.tokens_lost();
    }
    EXPECT_TRUE(token.proved());
    connection.close(patience);
    admin.delete_queue(queue);
}

}  // namespace
}  // namespace reaper::test::amqp_serving_token_test
