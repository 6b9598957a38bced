// The message source on a real RabbitMQ that fails: cuts, silence, restarts, failover.
#include <gmock/gmock.h>

#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/loopback_proxy.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_outage_test {
namespace {

using namespace std::chrono_literals;

config::Broker settings_through(const LoopbackProxy& proxy) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    settings.heartbeat = short_heartbeat;
    return settings;
}

TEST(AmqpOutage, AfterACutTheUnacknowledgedComeAgainUnderNewTickets) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = settings_through(proxy);
    settings.prefetch = 2;  // the third message shows that the first acknowledgement has arrived
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    for (const char* body : {"a", "b", "c"}) admin.publish(settings.exchange, error_key, body);
    ASSERT_TRUE(run.until_messages(2));
    run.source->acknowledge(run.messages[0].ticket);
    ASSERT_TRUE(run.until_messages(3));

    proxy.cut();
    ASSERT_TRUE(run.until_messages(5));
    ASSERT_TRUE(run.until_consuming_again());
    EXPECT_FALSE(run.states[1].consuming);
    EXPECT_EQ(run.messages[3].body, "b");
    EXPECT_EQ(run.messages[4].body, "c");
    EXPECT_TRUE(run.messages[3].redelivered);
    EXPECT_NE(run.messages[3].ticket, run.messages[1].ticket);

    run.source->acknowledge(run.messages[1].ticket);       // stale: of no effect
    run.source->set_aside(run.messages[2], "stale, too");  // as above
    run.source->acknowledge(run.messages[3].ticket);
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 1));
    EXPECT_TRUE(until_ready(admin, settings.dead_letter_queue, 0));
}

TEST(AmqpOutage, ASilentBrokerIsGivenUpAfterTwoHeartbeats) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = settings_through(proxy);
    settings.heartbeat = std::chrono::seconds(1);
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);
    SourceRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    proxy.freeze();
    ASSERT_TRUE(run.until_told("heartbeat"));
    proxy.thaw();
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
}

TEST(AmqpOutage, ABrokerThatDoesNotAnswerADeclarationIsLeft) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = settings_through(proxy);
    AmqpTuning tuning = quick_tuning();
    tuning.answer_timeout = std::chrono::seconds(2);
    SourceRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    proxy.freeze();
    ASSERT_TRUE(run.until_told("no answer in time"));
    proxy.thaw();
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
}

TEST(AmqpOutage, StopEndsEvenIfTheBrokerHangs) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);
    tuning.stop_timeout = std::chrono::milliseconds(300);
    SourceRunner run(settings_through(proxy), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    proxy.freeze();
    EXPECT_TRUE(run.stop());
}

TEST(AmqpOutage, StopEndsWhileConnecting) {
    LoopbackProxy proxy(BrokerPlace::get().port);
    proxy.freeze();
    config::Broker settings = settings_through(proxy);
    AmqpTuning tuning = quick_tuning();
    tuning.stop_timeout = std::chrono::milliseconds(300);
    SourceRunner run(settings, tuning);
    run.start();
    ASSERT_TRUE(run.until([&] { return proxy.accepted() >= 1; }));
    EXPECT_TRUE(run.stop());
}

TEST(AmqpOutage, ASourceMayBeDestroyedWhileItWorks) {
    BrokerAdmin admin;
    const config::Broker settings = broker_settings();
    {
        SourceRunner run(settings);
        admin.declare_exchange(settings.exchange);
        run.start();
        ASSERT_TRUE(run.until_consuming());
        admin.publish(settings.exchange, error_key, "m");
        ASSERT_TRUE(run.until_messages(1));
        run.source.reset();
        run.context.restart();
        run.context.run_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(until_ready(admin, settings.queue, 1));
}

TEST(AmqpOutage, TakesTheSecondBrokerWhenTheFirstIsDead) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.urls.insert(settings.urls.begin(), config::Secret("amqp://u:p@127.0.0.1:1/"));
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
    ASSERT_TRUE(run.stop());
}

TEST(AmqpOutage, MovesToTheOtherBrokerWhenTheFirstDies) {
    BrokerAdmin admin;
    auto first = std::make_unique<LoopbackProxy>(BrokerPlace::get().port);
    LoopbackProxy second(BrokerPlace::get().port);
    config::Broker settings = settings_through(*first);
    settings.urls.emplace_back(BrokerPlace::get().url(second.port()));
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    EXPECT_EQ(second.accepted(), 0);
    first.reset();
    ASSERT_TRUE(run.until([&] { return second.accepted() > 0 && run.consuming(); }));
    admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpOutage, TheSameReasonIsReportedOnceHoweverOftenItIsTried) {
    LoopbackProxy closes_at_once(0);
    config::Broker settings = settings_through(closes_at_once);
    settings.reconnect_backoff_max = std::chrono::milliseconds(40);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until([&] { return closes_at_once.accepted() >= 8; }));
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
    EXPECT_NE(run.all_states().find("next try in"), std::string::npos);
    ASSERT_TRUE(run.stop());
}

TEST(AmqpOutage, CopiesWaitWhileTheBrokerTakesNoMessages) {
    const auto& place = BrokerPlace::get();
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.answer_timeout = 2s;  // shorter than the block lasts
    SourceRunner run(broker_settings(), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "a");
    admin.publish(run.broker.exchange, error_key, "b");
    ASSERT_TRUE(run.until_messages(2));
    place.run("ctl", "-q set_vm_memory_high_watermark absolute 1");
    run.source->set_aside(run.messages[0], "why");
    run.source->set_aside(run.messages[1], "why");
    const auto end = std::chrono::steady_clock::now() + tuning.answer_timeout + 1s;
    ASSERT_TRUE(run.until([&] { return std::chrono::steady_clock::now() > end; }));
    place.run("ctl", "-q set_vm_memory_high_watermark 0.4");
    EXPECT_TRUE(until_ready(admin, run.broker.dead_letter_queue, 2));
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
    EXPECT_EQ(run.states.size(), 1U) << "the connection is kept:" << run.all_states();
}

/// A memory alarm stops all that publish on their connections: what is on others goes on.
TEST(AmqpOutage, WhileTheBrokerTakesNoMessagesTheLeaseLastsAndAcknowledgementsArrive) {
    const auto& place = BrokerPlace::get();
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.prefetch = 2;  // the next message shows that an acknowledgement has arrived
    settings.heartbeat = short_heartbeat;
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    for (const char* body : {"a", "b", "c", "d"}) admin.publish(settings.exchange, error_key, body);
    ASSERT_TRUE(run.until_messages(2));
    const auto serving = run.source->serving();
    place.run("ctl", "-q set_vm_memory_high_watermark absolute 1");
    run.source->set_aside(run.messages[0], "why");
    run.source->acknowledge(run.messages[1].ticket);
    EXPECT_TRUE(run.until_messages(3)) << run.all_states();
    // Three leases, and every proof in them.
    const auto end = std::chrono::steady_clock::now() + 3 * short_heartbeat;
    EXPECT_TRUE(run.until([&] {
        return std::chrono::steady_clock::now() > end ||
               !run.source->holds(run.messages.back().ticket);
    }));
    EXPECT_TRUE(run.source->holds(run.messages.back().ticket)) << run.all_states();
    run.source->acknowledge(run.messages[2].ticket);
    EXPECT_TRUE(run.until_messages(4));
    EXPECT_EQ(run.source->serving(), serving);
    place.run("ctl", "-q set_vm_memory_high_watermark 0.4");
    EXPECT_TRUE(until_ready(admin, settings.dead_letter_queue, 1));
    run.source->acknowledge(run.messages[3].ticket);
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
}

TEST(AmqpOutage, ACopyThatTheBrokerForbidsLeavesTheOriginalAndTheRest) {
    const auto& place = BrokerPlace::get();
    const auto may_write = [&](const std::string& names) {
        place.run("ctl", "-q set_permissions -p / consumer '.*' '" + names + "' '.*'");
    };
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.urls = {
        config::Secret("amqp://consumer:consumer@127.0.0.1:" + std::to_string(place.port))};
    AmqpTuning tuning = quick_tuning();
    tuning.copy_tries = 2;
    SourceRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    may_write(".*");
    run.start();
    ASSERT_TRUE(run.until_serving());
    may_write("^(q|dead)[.]");
    admin.publish(settings.exchange, error_key, "bad");
    ASSERT_TRUE(run.until_messages(1));
    run.source->set_aside(run.messages[0], "why");
    admin.publish(settings.exchange, error_key, "good");
    ASSERT_TRUE(run.until_messages(2));
    run.source->acknowledge(run.messages[1].ticket);
    ASSERT_TRUE(run.stop());
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
    EXPECT_TRUE(until_ready(admin, settings.queue, 1));
    EXPECT_TRUE(until_ready(admin, settings.dead_letter_queue, 0));
}

TEST(AmqpOutage, WithoutTheRightToPutTokensNoReaperServesAndThatIsReported) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://consumer:consumer@127.0.0.1:" +
                                    std::to_string(BrokerPlace::get().port))};
    SourceRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    EXPECT_TRUE(run.until_told("the right to write to amq.default"));
    EXPECT_EQ(run.source->serving(), 0U);
    ASSERT_TRUE(run.stop());
}

/// RabbitMQ closes the channel of a consumer that keeps a message for too long (30 minutes), and
/// since 4.3 cancels the consumer.
TEST(AmqpOutage, AChannelThatTheBrokerClosesIsOpenedAgain) {
    const auto& place = BrokerPlace::get();
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.prefetch = 1;  // the next message shows that the acknowledgement has arrived
    settings.heartbeat = short_heartbeat;  // the token in hand is sent back before it times out
    SourceRunner run(settings);
    admin.declare_exchange(run.broker.exchange);
    const auto set = [&](const std::string& timeout, const std::string& tick) {
        place.run("ctl", "-q eval 'application:set_env(rabbit, consumer_timeout, " + timeout +
                             "), application:set_env(rabbit, channel_tick_interval, " + tick +
                             ").'");
    };
    set("4000", "100");
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "slow");
    admin.publish(run.broker.exchange, error_key, "next");
    EXPECT_TRUE(run.until_messages(2)) << run.all_states();
    ASSERT_GE(run.messages.size(), 2U);
    run.source->acknowledge(run.messages[0].ticket);  // stale
    std::size_t answered = 1;
    EXPECT_TRUE(run.until([&] {  // on a busy machine, another may time out before that
        for (; answered < run.messages.size(); ++answered)
            run.source->acknowledge(run.messages[answered].ticket);
        return run.messages.back().body == "next";
    }));
    set("1800000", "60000");
    EXPECT_EQ(run.messages[1].body, "slow");
    EXPECT_TRUE(run.messages[1].redelivered);
    EXPECT_NE(run.messages[1].ticket, run.messages[0].ticket);
    EXPECT_THAT(run.all_states(), testing::AnyOf(testing::HasSubstr("timed out"),
                                                 testing::HasSubstr("than consumer_timeout")));
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpOutage, SurvivesABrokerRestartInMidWork) {
    const auto& place = BrokerPlace::get();
    config::Broker settings = broker_settings();
    settings.heartbeat = short_heartbeat;
    SourceRunner run(settings);
    {
        BrokerAdmin admin;
        admin.declare_exchange(settings.exchange);
        run.start();
        ASSERT_TRUE(run.until_consuming());
        for (const char* body : {"a", "b", "c"}) {
            admin.publish(settings.exchange, error_key, body);
        }
        ASSERT_TRUE(run.until_messages(3));
    }
    place.run("stop");
    ASSERT_TRUE(run.until([&] { return !run.consuming(); }));
    place.run("start");
    // A restart takes it away, but not where Khepri keeps it (RabbitMQ 4.2 and later).
    BrokerAdmin(place).delete_exchange(settings.exchange);
    ASSERT_TRUE(run.until_told("waiting for exchange"));
    ASSERT_TRUE(run.until_messages(6));
    for (std::size_t i = 3; i < 6; ++i) EXPECT_TRUE(run.messages[i].redelivered);
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, error_key, "d");
    ASSERT_TRUE(run.until([&] { return run.messages.back().body == "d"; }));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue, 0));
}

}  // namespace
}  // namespace reaper::test::amqp_outage_test
