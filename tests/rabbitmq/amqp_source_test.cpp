// The message source on a real RabbitMQ: consuming, acknowledging, setting aside, stopping.
#include <algorithm>

#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_source_test {
namespace {

TEST(AmqpSource, DeliversWhatNovaPublishesAndOnlyErrors) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, "versioned_notifications.info", "chatter");
    admin.publish(run.broker.exchange, "notifications.error", "another topic");
    admin.publish(run.broker.exchange, error_key, std::string("by\0tes", 6));
    ASSERT_TRUE(run.until_messages(1));
    EXPECT_EQ(run.messages[0].body, std::string("by\0tes", 6));
    EXPECT_EQ(run.messages[0].routing_key, error_key);
    EXPECT_FALSE(run.messages[0].redelivered);
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, BindsEveryTopic) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.topics = {"one", "two"};
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, "one.error", "1");
    admin.publish(settings.exchange, "two.error", "2");
    ASSERT_TRUE(run.until_messages(2));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, TakesNoMoreThanThePrefetchUnacknowledged) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.prefetch = 3;
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    for (int i = 0; i < 10; ++i) admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(3));
    EXPECT_TRUE(until_ready(admin, settings.queue, 7));
    EXPECT_EQ(run.messages.size(), 3U);
    run.source->acknowledge(run.messages[1].ticket);
    ASSERT_TRUE(run.until_messages(4));
    EXPECT_TRUE(until_ready(admin, settings.queue, 6));
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 9)) << "what was not acknowledged comes back";
}

TEST(AmqpSource, AcknowledgesAtOnce) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.prefetch = 1;  // the next message comes only after the acknowledgement
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);  // nothing else wakes the connection's thread
    SourceRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    constexpr std::size_t count = 100;
    for (std::size_t i = 0; i < count; ++i) admin.publish(settings.exchange, error_key, "m");
    std::size_t answered = 0;
    EXPECT_TRUE(run.until([&] {
        for (; answered < run.messages.size(); ++answered) {
            run.source->acknowledge(run.messages[answered].ticket);
            run.source->acknowledge(run.messages[answered].ticket);  // a second one does no harm
        }
        return answered == count;
    })) << answered;
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
}

TEST(AmqpSource, StopSendsTheAcknowledgementsThatAreDue) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    for (int i = 0; i < 100; ++i) admin.publish(run.broker.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(100));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpSource, StopStoresTheCopiesThatAreDue) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    for (int i = 0; i < 20; ++i) admin.publish(run.broker.exchange, error_key, "bad");
    ASSERT_TRUE(run.until_messages(20));
    for (const auto& message : run.messages) run.source->set_aside(message, "why");
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 20));
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpSource, StopBeforeStartAndTwiceDoesNothing) {
    SourceRunner run(broker_settings());
    ASSERT_TRUE(run.stop());
    run.stopped = false;
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, WaitsForNovasExchangeAndServesWhatIsQueuedMeanwhile) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    run.start();
    ASSERT_TRUE(run.until_told("waiting for exchange '" + run.broker.exchange + "'"));
    EXPECT_NE(run.states.back().detail.find("next try in"), std::string::npos);
    admin.publish("", run.broker.queue, "left over");
    ASSERT_TRUE(run.until_messages(1));
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();

    admin.declare_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "new");
    ASSERT_TRUE(run.until_messages(2));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, BindsAgainWhenNovasExchangeWasDeclaredAgain) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.delete_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_told("waiting for exchange"));
    admin.declare_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, DeclaresItsQueueAgainWhenItWasDeleted) {
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);  // only the broker's notice can tell
    SourceRunner run(broker_settings(), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "first");
    ASSERT_TRUE(run.until_messages(1));
    admin.delete_queue(run.broker.queue);
    ASSERT_TRUE(run.until_consuming_again());
    EXPECT_NE(run.states[1].detail.find("was deleted"), std::string::npos) << run.all_states();
    admin.publish(run.broker.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(2));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpSource, ItsQueueIsBoundedAndTheOldestGoFirst) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.queue_max_length = 5;
    admin.declare_exchange(settings.exchange);
    SourceRunner first(settings);
    first.start();
    ASSERT_TRUE(first.until_consuming());
    ASSERT_TRUE(first.stop());
    for (int i = 0; i < 20; ++i) {
        admin.publish(settings.exchange, error_key, std::to_string(i));
    }
    SourceRunner second(settings);
    second.start();
    ASSERT_TRUE(second.until_messages(5));
    EXPECT_EQ(second.messages[0].body, "15");
    EXPECT_EQ(second.messages[4].body, "19");
    ASSERT_TRUE(second.stop());
}

TEST(AmqpSource, AQueueWithAnotherBoundIsNamedAndWaitedFor) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.queue_type = "classic";
    SourceRunner run(settings);
    admin.declare_exchange(run.broker.exchange);
    admin.declare_queue(run.broker.queue, {.max_length = 7, .type = {}, .single_active = true});
    run.start();
    ASSERT_TRUE(run.until_told("x-max-length"));
    const std::string& detail = run.states.back().detail;
    EXPECT_NE(detail.find("queue_max_length"), std::string::npos) << detail;
    EXPECT_NE(detail.find("current is '7'"), std::string::npos) << detail;
    admin.delete_queue(run.broker.queue);
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, SetsAsideWithReasonAndContent) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "not JSON");
    ASSERT_TRUE(run.until_messages(1));
    run.source->set_aside(run.messages[0], "the message is not JSON\x1b");
    ASSERT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
    const auto copy = admin.fetch(run.broker.dead_letter_queue);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->body, "not JSON");
    EXPECT_EQ(copy->content_type, "application/json");
    EXPECT_EQ(copy->message_id, "id-of-the-original");
    EXPECT_EQ(copy->delivery_mode, 2);
    EXPECT_EQ(copy->headers.at("x-reaper-reason"), "the message is not JSON\\x1b");
    EXPECT_EQ(copy->headers.at("x-reaper-routing-key"), error_key);
    EXPECT_EQ(copy->headers.at("x-reaper-time"), "T");
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0)) << "the original is acknowledged";
}

TEST(AmqpSource, ADeletedDeadLetterQueueIsDeclaredAgainForTheCopy) {
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);
    SourceRunner run(broker_settings(), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.delete_queue(run.broker.dead_letter_queue);
    admin.publish(run.broker.exchange, error_key, "bad");
    ASSERT_TRUE(run.until_messages(1));
    run.source->set_aside(run.messages[0], "why");
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpSource, AHugeMessageIsCutAndItsCopySaysSo) {
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.max_body_bytes = 1'000'000;
    tuning.copy_bytes = 1'000;
    SourceRunner run(broker_settings(), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, std::string(1'000'000, 'a'));
    admin.publish(run.broker.exchange, error_key, std::string(1'000'001, 'b'));
    admin.publish(run.broker.exchange, error_key, "");
    ASSERT_TRUE(run.until_messages(3));
    EXPECT_EQ(run.messages[0].body.size(), 1'000'000U);
    EXPECT_EQ(run.messages[1].body, std::string(1'000, 'b'));
    EXPECT_EQ(run.messages[2].body, "");
    run.source->set_aside(run.messages[1], "not JSON");
    ASSERT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 1));
    const auto copy = admin.fetch(run.broker.dead_letter_queue);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->body.size(), 1'000U);
    EXPECT_NE(copy->headers.at("x-reaper-reason").find("1000001 bytes"), std::string::npos);
    ASSERT_TRUE(run.stop());
}

TEST(AmqpSource, ASecondReaperStandsBy) {
    BrokerAdmin admin;
    const config::Broker settings = broker_settings();
    admin.declare_exchange(settings.exchange);
    SourceRunner first(settings);
    first.start();
    ASSERT_TRUE(first.until_consuming());
    SourceRunner second(settings);
    second.start();
    ASSERT_TRUE(second.until_consuming());
    for (int i = 0; i < 5; ++i) admin.publish(settings.exchange, error_key, std::to_string(i));
    ASSERT_TRUE(first.until_messages(5));
    first.source->acknowledge(first.messages[0].ticket);
    ASSERT_TRUE(first.stop());
    ASSERT_TRUE(second.until_messages(4));
    EXPECT_EQ(second.messages[0].body, "1");
    ASSERT_TRUE(second.stop());
}

TEST(AmqpSource, ATemporaryQueueLeavesNoTrace) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.temporary_queue = true;
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, error_key, "a");
    admin.publish(settings.exchange, error_key, "b");
    ASSERT_TRUE(run.until_messages(2));
    run.source->acknowledge(run.messages[0].ticket);
    run.source->set_aside(run.messages[1], "why");
    const auto& place = BrokerPlace::get();
    const std::string during = place.run("ctl", "-q list_queues name messages");
    EXPECT_NE(during.find(settings.queue + ".dry-run."), std::string::npos) << during;
    EXPECT_EQ(during.find(settings.dead_letter_queue), std::string::npos) << during;
    ASSERT_TRUE(run.stop());
    const std::string after = place.run("ctl", "-q list_queues name");
    EXPECT_EQ(after.find(settings.queue), std::string::npos) << after;
}

TEST(BrokerProbe, LooksAndChangesNothing) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    auto report = AmqpConsole{settings}.look();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_FALSE(report->exchange_exists);
    EXPECT_FALSE(report->queue);
    EXPECT_FALSE(report->dead_letter);
    EXPECT_EQ(report->product.substr(0, 9), "RabbitMQ ");
    EXPECT_EQ(report->broker, "amqp://127.0.0.1:" + std::to_string(BrokerPlace::get().port) + "/");
    EXPECT_FALSE(admin.look(settings.queue)) << "it declared the queue";

    admin.declare_exchange(settings.exchange);
    admin.declare_queue(settings.queue, {});
    admin.publish("", settings.queue, "m");
    settings.urls.insert(settings.urls.begin(), config::Secret("amqp://u:hidden@127.0.0.1:1/"));
    report = AmqpConsole{settings}.look();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_TRUE(report->exchange_exists);
    ASSERT_TRUE(report->queue);
    EXPECT_EQ(report->queue->messages, 1U);
    EXPECT_EQ(report->queue->consumers, 0U);
    ASSERT_EQ(report->remarks.size(), 1U);
    EXPECT_EQ(report->remarks[0].find("hidden"), std::string::npos);
    EXPECT_FALSE(report->dead_letter);
}

}  // namespace
}  // namespace reaper::test::amqp_source_test
