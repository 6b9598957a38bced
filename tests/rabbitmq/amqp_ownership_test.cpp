// Who owns a delivery, on a real RabbitMQ, while reapers freeze, die and are cut off.
#include <algorithm>

#include "tests/rabbitmq/support/holder.hpp"
#include "tests/rabbitmq/support/loopback_proxy.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_ownership_test {
namespace {

using amqp::BootClock;
using namespace std::chrono_literals;

config::Broker short_settings(const std::string& type = "quorum") {
    config::Broker settings = broker_settings();
    settings.heartbeat = short_heartbeat;
    settings.queue_type = type;
    return settings;
}

class AmqpOwnership : public testing::Test {};
/// On each type of queues.
class AmqpOwnershipOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Types, AmqpOwnershipOn, testing::Values("quorum", "classic"),
                         [](const auto& each) { return std::string(each.param); });

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

TEST_P(AmqpOwnershipOn, OneReaperServesTheQueueAndTheOtherAtOnceWhenItStops) {
    const config::Broker settings = short_settings(GetParam());
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    SourceRunner first(settings);
    first.start();
    ASSERT_TRUE(first.until_serving());
    SourceRunner second(settings);
    second.start();
    ASSERT_TRUE(second.until_consuming());
    EXPECT_EQ(second.source->serving(), 0U);
    ASSERT_TRUE(first.stop());
    EXPECT_EQ(first.source->serving(), 0U);
    EXPECT_TRUE(second.until([&] { return second.source->serving() != 0; }));
    EXPECT_TRUE(first.messages.empty());
    EXPECT_TRUE(second.messages.empty());
    ASSERT_TRUE(second.stop());
}

/// It leaves a token that no reaper had, by which the next one serves without waiting.
TEST_P(AmqpOwnershipOn, AReaperThatStopsInGoodOrderLeavesAFreshToken) {
    const config::Broker settings = short_settings(GetParam());
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_serving());
    ASSERT_TRUE(run.stop());
    const std::string tokens = settings.queue + ".serving";
    ASSERT_TRUE(until_ready(admin, tokens, 1));
    EXPECT_EQ(admin.deliver_and_return(tokens, 1), std::vector<bool>{false});
}

/// While it serves, new tokens take the place of those that were sent back often.
TEST_P(AmqpOwnershipOn, TheTokenInHandIsReplacedPeriodically) {
    config::Broker settings = short_settings(GetParam());
    settings.heartbeat = 1s;  // so that it takes seconds
    BrokerAdmin admin;
    admin.declare_exchange(settings.exchange);
    LoopbackProxy proxy(BrokerPlace::get().port);
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_serving());
    const auto end = std::chrono::steady_clock::now() + 8s;
    ASSERT_TRUE(run.until([&] { return std::chrono::steady_clock::now() > end; }));
    // One in hand, however many there were.
    ASSERT_TRUE(run.stop());
    EXPECT_TRUE(until_ready(admin, settings.queue + ".serving", 1));
}

TEST_P(AmqpOwnershipOn, AFrozenReaperIsReplacedAndKnowsItWhenItWakes) {
    OneHoldsOneStandsBy both(short_settings(GetParam()));
    both.begin();
    if (HasFatalFailure()) return;
    both.holder.freeze();
    ASSERT_TRUE(both.standby_got_it());
    const auto replaced = BootClock::now();
    both.holder.wake();
    ASSERT_TRUE(both.standby.until([&] { return both.holder.last().at > replaced; }));
    const auto at = both.holder.last().at;
    ASSERT_TRUE(both.standby.until([&] { return both.holder.last().at > at + 100ms; }));
    const auto looks = both.holder.looks();
    EXPECT_FALSE(std::any_of(looks.begin(), looks.end(),
                             [&](const auto& look) { return look.holds && look.at >= replaced; }));
    EXPECT_EQ(both.holder.last().messages, 1U);
    // It came back as a standby: what the other leaves comes to it.
    ASSERT_TRUE(both.standby.stop());
    EXPECT_TRUE(
        until([&] { return both.holder.last().messages == 2 && both.holder.last().holds; }));
}

TEST_P(AmqpOwnershipOn, AKilledReaperIsReplaced) {
    OneHoldsOneStandsBy both(short_settings(GetParam()));
    both.begin();
    if (HasFatalFailure()) return;
    both.holder.kill();
    EXPECT_TRUE(both.standby_got_it());
    ASSERT_TRUE(both.standby.stop());
}

/// The proof of the one that was killed may have been recent.
TEST_P(AmqpOwnershipOn, WhoReplacesAnotherWaitsUntilTheLeaseOfThatOneIsOver) {
    OneHoldsOneStandsBy both(short_settings(GetParam()));
    both.begin();
    if (HasFatalFailure()) return;
    both.holder.kill();
    ASSERT_TRUE(both.standby_got_it());
    const auto got = BootClock::now();
    const auto looks = both.holder.looks();
    const auto last =
        std::find_if(looks.rbegin(), looks.rend(), [](const auto& look) { return look.holds; });
    ASSERT_NE(last, looks.rend());
    EXPECT_GE(got - last->at, short_heartbeat);
    ASSERT_TRUE(both.standby.stop());
}

TEST_F(AmqpOwnership, AReaperThatIsCutOffKnowsItBeforeAnotherGetsItsMessage) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    const config::Broker settings = short_settings();
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

    proxy.freeze();  // what is sent is lost, without notice
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

TEST_F(AmqpOwnership, WhatIsHeldStaysHeldWhileNothingHappens) {
    BrokerAdmin admin;
    AmqpTuning tuning = quick_tuning();
    tuning.recheck = std::chrono::hours(1);  // nothing but the proofs
    SourceRunner run(short_settings(), tuning);
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

TEST_F(AmqpOwnership, ATicketIsDeadAfterABrokerRestartAndItsSuccessorIsNot) {
    const auto& place = BrokerPlace::get();
    SourceRunner run(short_settings());
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
/// have comes again, to the first one.
TEST_F(AmqpOwnership, ADeletedQueueTakesItsTicketsWithIt) {
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

TEST_F(AmqpOwnership, NoOtherReaperCanOwnATemporaryQueue) {
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
