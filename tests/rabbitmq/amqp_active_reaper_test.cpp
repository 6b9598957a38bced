// The reaper that serves the queue answers any client, on a real RabbitMQ.
#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_console.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/serving_token.hpp"
#include "reaper/runtime/machine.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_active_reaper_test {
namespace {

using namespace std::chrono_literals;

config::Broker with_journal(config::Broker settings, const std::string& path) {
    settings.journal = path;
    return settings;
}

TEST(AmqpActiveReaper, TheOneThatServesTheQueueAnswers) {
    const config::Broker settings = broker_settings();
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    SourceRunner first(with_journal(settings, "/one/journal.db"));
    first.start();
    ASSERT_TRUE(first.until([&] { return first.source->serving() != 0; }));
    SourceRunner second(with_journal(settings, "/two/journal.db"));
    second.start();
    ASSERT_TRUE(second.until_consuming());

    auto answer = ask_for_active_reaper(settings, patience);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(*answer, (ActiveReaper{machine_name(), "/one/journal.db"}));

    ASSERT_TRUE(first.stop());
    ASSERT_TRUE(second.until([&] { return second.source->serving() != 0; }));
    answer = ask_for_active_reaper(settings, patience);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_EQ(*answer, (ActiveReaper{machine_name(), "/two/journal.db"}));
    EXPECT_TRUE(first.messages.empty());
    EXPECT_TRUE(second.messages.empty()) << "a question is no message of Nova's";
    ASSERT_TRUE(second.stop());
}

TEST(AmqpActiveReaper, WhereNoReaperIsNothingIsPutIntoTheQueue) {
    const config::Broker settings = broker_settings();
    BrokerAdmin admin;
    auto answer = ask_for_active_reaper(settings, patience);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, Errc::not_found);
    EXPECT_FALSE(admin.look(settings.queue)) << "it was declared";
    admin.declare_queue(settings.queue, {.max_length = 10, .type = {}});
    answer = ask_for_active_reaper(settings, patience);
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().what.find(settings.queue), std::string::npos);
    EXPECT_EQ(admin.look(settings.queue)->messages, 0U);
}

TEST(AmqpActiveReaper, AQueueOfAnotherServiceGetsNoAnswer) {
    const config::Broker settings = broker_settings();
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    const std::string others = "others." + settings.queue;
    admin.declare_queue(others, {.max_length = 10, .type = {}});

    amqp::ConnectionAborter aborter;
    std::vector<std::string> remarks;
    auto connection = amqp::connect_any(settings, aborter, remarks);
    ASSERT_TRUE(connection) << connection.error().what;
    ASSERT_FALSE((*connection)->open_channel(amqp::scratch_channel));
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_REPLY_TO_FLAG;
    const std::string type = "reaper.who-serves";
    properties.type = amqp::bytes(type);
    properties.reply_to = amqp::bytes(others);
    const std::string body = "who?";
    const std::string serving = amqp::serving_queue(settings).name;
    ASSERT_EQ(amqp_basic_publish((*connection)->raw(), amqp::scratch_channel, amqp_empty_bytes,
                                 amqp::bytes(serving), 0, 0, &properties, amqp::bytes(body)),
              0);
    // A client that asks after it is answered, so that it was handled.
    ASSERT_TRUE(run.until([&] { return run.source->serving() != 0; }));
    const auto answer = ask_for_active_reaper(settings, patience);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(answer->has_value());
    EXPECT_EQ(admin.look(others)->messages, 0U);
    EXPECT_TRUE(run.messages.empty());
    ASSERT_TRUE(run.stop());
    admin.delete_queue(others);
}

}  // namespace
}  // namespace reaper::test::amqp_active_reaper_test
