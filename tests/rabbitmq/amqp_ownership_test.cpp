// Who owns a delivery, on a real RabbitMQ, while reapers freeze, die and are cut off.
#include <algorithm>

#include "tests/rabbitmq/holder.hpp"
#include "tests/rabbitmq/loopback_proxy.hpp"
#include "tests/rabbitmq/source_runner.hpp"

namespace reaper::test::amqp_ownership_test {
namespace {

using amqp::BootClock;
using namespace std::chrono_literals;

config::Broker settings_with(std::chrono::seconds heartbeat) {
    config::Broker settings = broker_settings();
    settings.heartbeat = heartbeat;
    return settings;
}

/// A holder that got one message, and a source that stands by.
struct OneHoldsOneStandsBy {
    explicit OneHoldsOneStandsBy(const config::Broker& settings)
        : holder(settings), standby(settings) {}

    void begin() {
        ASSERT_TRUE(standby.until([&] {
            const auto seen = admin.look(standby.broker.queue);
            return seen && seen->consumers == 1;
        }));
        admin.declare_exchange(standby.broker.exchange);
        standby.start();
        ASSERT_TRUE(standby.until_consuming());
        admin.publish("", standby.broker.queue, "m");
        ASSERT_TRUE(standby.until([&] { return holder.last().holds; }));
        ASSERT_EQ(holder.last().messages, 1U);
        ASSERT_TRUE(standby.messages.empty());
        ASSERT_EQ(standby.source->serving(), 0U);
    }
    bool standby_got_it() {
        return standby.until_messages(1) && standby.source->serving() != 0 &&
               standby.messages[0].redelivered &&
               standby.until([&] { return standby.source->holds(standby.messages[0].ticket); });
    }

    BrokerAdmin admin;
    Holder holder;
    SourceRunner standby;
};

TEST(AmqpOwnership, OneReaperServesTheQueueAndTheOtherKnowsWhenItIsItsTurn) {
    const config::Broker settings = settings_with(2s);
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    SourceRunner first(settings, token_tuning());
    first.start();
    ASSERT_TRUE(first.until([&] { return first.source->serving() != 0; }));
    SourceRunner second(settings, token_tuning());
    second.start();
    ASSERT_TRUE(second.until_consuming());
    // Its token goes to the first, which passes it on to nobody.
    ASSERT_TRUE(until_ready(admin, settings.queue, 0));
    EXPECT_EQ(second.source->serving(), 0U);
    ASSERT_TRUE(first.stop());
    EXPECT_EQ(first.source->serving(), 0U);
    EXPECT_TRUE(second.until([&] { return second.source->serving() != 0; }));
    EXPECT_TRUE(first.messages.empty());
    EXPECT_TRUE(second.messages.empty());
    ASSERT_TRUE(second.stop());
}

TEST(AmqpOwnership, AFrozenReaperIsReplacedAndKnowsItWhenItWakes) {
    OneHoldsOneStandsBy both(settings_with(2s));
    both.begin();
    if (HasFatalFailure()) return;
    both.holder.freeze();
    ASSERT_TRUE(both.standby_got_it());
    const auto replaced = BootClock::now();
    both.holder.wake();
    ASSERT_TRUE(both.standby.until([&] { return both.holder.last().at > replaced; }));
    // It comes back as a standby, and no look says that it holds what is another's.
    ASSERT_TRUE(both.standby.until([&] {
        const auto seen = both.admin.look(both.standby.broker.queue);
        return seen && seen->consumers == 2;
    }));
    const auto at = both.holder.last().at;
    ASSERT_TRUE(both.standby.until([&] { return both.holder.last().at > at + 100ms; }));
    const auto looks = both.holder.looks();
    EXPECT_FALSE(std::any_of(looks.begin(), looks.end(),
                             [&](const auto& look) { return look.holds && look.at >= replaced; }));
    EXPECT_EQ(both.holder.last().messages, 1U);
    ASSERT_TRUE(both.standby.stop());
}

TEST(AmqpOwnership, AKilledReaperIsReplaced) {
    OneHoldsOneStandsBy both(settings_with(60s));  // the broker notices without its help
    both.begin();
    if (HasFatalFailure()) return;
    both.holder.kill();
    EXPECT_TRUE(both.standby_got_it());
    ASSERT_TRUE(both.standby.stop());
}

TEST(AmqpOwnership, AReaperThatIsCutOffKnowsItBeforeAnotherGetsItsMessage) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    const config::Broker settings = settings_with(2s);
    config::Broker through_proxy = settings;
    through_proxy.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    admin.declare_exchange(settings.exchange);
    SourceRunner first(through_proxy);
    first.start();
    ASSERT_TRUE(first.until_consuming());
    SourceRunner second(settings);
    second.start();
    ASSERT_TRUE(second.until_consuming());
    admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(first.until_messages(1));
    const auto ticket = first.messages[0].ticket;
    EXPECT_TRUE(first.source->holds(ticket));

    proxy.freeze();  // what is sent is lost, and nobody is told
    bool held_by_both = false;
    ASSERT_TRUE(second.until([&] {
        // Seen before the look at the first: what it says then is not older.
        const bool moved = !second.messages.empty();
        const bool held = first.source->holds(ticket);
        held_by_both = held_by_both || (moved && held);
        return moved && !held;
    }));
    EXPECT_FALSE(held_by_both);
    EXPECT_TRUE(second.until([&] { return second.source->holds(second.messages[0].ticket); }));

    proxy.thaw();
    ASSERT_TRUE(first.until_consuming_again());
    EXPECT_FALSE(first.source->holds(ticket));
    EXPECT_EQ(first.messages.size(), 1U);
    ASSERT_TRUE(first.stop());
    ASSERT_TRUE(second.stop());
}

TEST(AmqpOwnership, WhatIsHeldStaysHeldWhileNothingHappens) {
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);  // nothing but the proofs
    SourceRunner run(settings_with(5s), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    const auto ticket = run.messages[0].ticket;
    const auto end = BootClock::now() + 6s;  // without renewal it would last for 5 s
    ASSERT_TRUE(run.until([&] { return !run.source->holds(ticket) || BootClock::now() > end; }));
    EXPECT_TRUE(run.source->holds(ticket)) << run.all_states();
    run.source->acknowledge(ticket);
    ASSERT_TRUE(run.stop());
    EXPECT_FALSE(run.source->holds(ticket));
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpOwnership, ATicketIsDeadAfterABrokerRestartAndItsSuccessorIsNot) {
    const auto& place = BrokerPlace::get();
    SourceRunner run(broker_settings());
    {
        BrokerAdmin admin;
        admin.declare_exchange(run.broker.exchange);
        run.start();
        ASSERT_TRUE(run.until_consuming());
        admin.publish(run.broker.exchange, error_key, "m");
        ASSERT_TRUE(run.until_messages(1));
    }
    EXPECT_TRUE(run.source->holds(run.messages[0].ticket));
    place.run("stop");
    ASSERT_TRUE(run.until([&] { return !run.consuming(); }));
    EXPECT_FALSE(run.source->holds(run.messages[0].ticket));
    place.run("start");
    ASSERT_TRUE(run.until([&] { return run.source->holds(run.messages.back().ticket); }));
    EXPECT_TRUE(run.messages.back().redelivered);
    EXPECT_FALSE(run.source->holds(run.messages[0].ticket));
    run.source->acknowledge(run.messages.back().ticket);
    ASSERT_TRUE(run.stop());
}

/// A broker's word that our consumer is gone may mean that the queue's node is lost: then what we
/// have comes again, to whoever is first.
TEST(AmqpOwnership, ADeletedQueueTakesItsTicketsWithIt) {
    BrokerAdmin admin;
    SourceRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(run.broker.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    EXPECT_TRUE(run.source->holds(run.messages[0].ticket));
    admin.delete_queue(run.broker.queue);
    ASSERT_TRUE(run.until_consuming_again());
    EXPECT_FALSE(run.source->holds(run.messages[0].ticket));
    admin.publish(run.broker.exchange, error_key, "n");
    ASSERT_TRUE(run.until_messages(2));
    EXPECT_TRUE(run.source->holds(run.messages[1].ticket));
    run.acknowledge_all();
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, run.broker.queue, 0));
}

TEST(AmqpOwnership, NobodyElseCanOwnATemporaryQueue) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = broker_settings();
    settings.temporary_queue = true;
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    const auto ticket = run.messages[0].ticket;
    EXPECT_TRUE(run.source->holds(ticket));
    proxy.cut();
    ASSERT_TRUE(run.until([&] { return run.states.size() >= 2; })) << run.all_states();
    EXPECT_FALSE(run.source->holds(ticket));
    ASSERT_TRUE(run.stop());
}

}  // namespace
}  // namespace reaper::test::amqp_ownership_test
