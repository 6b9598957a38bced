// The stream of events on a real RabbitMQ: order, overflow, slowness, outages.
#include "clients/amqp/amqp_events.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

#include "clients/amqp/amqp_topology.hpp"
#include "tests/clients/amqp/recorded_messages.hpp"
#include "tests/rabbitmq/support/loopback_proxy.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_events_test {
namespace {

constexpr const char* info_key = "versioned_notifications.info";

EventTuning quick_event_tuning() {
    EventTuning tuning;
    static_cast<ConnectionTuning&>(tuning) = quick_tuning();
    return tuning;
}

/// The end of a server whose host says which message it was.
std::string numbered(int number, std::size_t padding = 0) {
    return edited("instance.delete.end.json", [&](nlohmann::json& m) {
        payload(m)["host"] = std::to_string(number);
        payload(m)["display_description"] = std::string(padding, 'x');
    });
}

class EventRunner : public Loop {
public:
    explicit EventRunner(config::Broker settings, EventTuning tuning = quick_event_tuning())
        : broker(std::move(settings)),
          source(make_amqp_events(context.get_executor(), broker, tuning)) {}

    void start() {
        source->start({[this](std::vector<CloudEvent> batch) {
                           ++batches;
                           for (auto& event : batch) take(event);
                       },
                       [this](EventFeedState state) { states.push_back(std::move(state)); }});
    }
    bool flowing() const { return !states.empty() && states.back().flowing; }
    bool until_flowing() {
        const bool came = until([&] { return flowing(); });
        if (!came) ADD_FAILURE() << "not flowing; states:" << all_states();
        return came;
    }
    /// After a loss.
    bool until_flowing_again() {
        const bool came = until([&] { return states.size() >= 3 && flowing(); });
        if (!came) ADD_FAILURE() << "not flowing again; states:" << all_states();
        return came;
    }
    bool until_numbers(std::size_t count) {
        return until([&] { return numbers.size() >= count; });
    }
    bool until_told(const std::string& text) {
        const bool came = until([&] {
            return !states.empty() && !states.back().flowing &&
                   states.back().detail.find(text) != std::string::npos;
        });
        if (!came) ADD_FAILURE() << "not told '" << text << "'; states:" << all_states();
        return came;
    }
    bool stop() {
        bool stopped = false;
        auto done = [&](std::exception_ptr) { stopped = true; };
        boost::asio::co_spawn(context, source->stop(), done);
        return until([&] { return stopped; });
    }
    /// The name of our queue, as the state tells it.
    std::string queue() const {
        const std::string& detail = states.back().detail;
        const std::size_t begin = detail.find('\'') + 1;
        return detail.substr(begin, detail.find('\'', begin) - begin);
    }
    std::string all_states() const {
        std::string all;
        for (const auto& state : states) all += "\n  " + state.detail;
        return all;
    }

    config::Broker broker;
    std::vector<int> numbers;
    std::vector<EventFeedState> states;
    int batches = 0;
    std::unique_ptr<EventSource> source;

private:
    void take(const CloudEvent& event) {
        const auto* gone = std::get_if<ServerGone>(&event);
        numbers.push_back(gone ? std::stoi(gone->host) : -1);
    }
};

std::vector<int> numbers_up_to(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) all.push_back(i);
    return all;
}

TEST(AmqpEvents, ArriveInOrder) {
    BrokerAdmin admin;
    EventRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    for (int i = 0; i < 100; ++i) admin.publish(run.broker.exchange, info_key, numbered(i));
    ASSERT_TRUE(run.until_numbers(100));
    EXPECT_EQ(run.numbers, numbers_up_to(100));
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
    ASSERT_TRUE(run.stop());
}

TEST(AmqpEvents, CountsWhatIsOfNoInterestAndWhatIsNotUnderstood) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.topics = {"one", "two"};
    EventTuning tuning = quick_event_tuning();
    tuning.max_body_bytes = 100'000;
    EventRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    admin.publish(settings.exchange, "one.error", numbered(7));
    admin.publish(settings.exchange, "one.info", read(recorded / "instance.create.start.json"));
    admin.publish(settings.exchange, "one.info", "nonsense");
    admin.publish(settings.exchange, "one.info", numbered(8, 200'000));
    admin.publish(settings.exchange, "two.info", numbered(1));
    ASSERT_TRUE(run.until_numbers(1));
    EXPECT_EQ(run.numbers, std::vector<int>{1});
    const EventCounts counts = run.source->counts();
    EXPECT_EQ(counts.received, 4U);
    EXPECT_EQ(counts.ignored, 1U);
    EXPECT_EQ(counts.malformed, 2U);
    ASSERT_TRUE(run.stop());
}

TEST(AmqpEvents, ItsQueueIsItsOwnAndGoesWithIt) {
    BrokerAdmin admin;
    EventRunner one(broker_settings());
    EventRunner two(one.broker);  // a second reaper
    admin.declare_exchange(one.broker.exchange);
    one.start();
    two.start();
    ASSERT_TRUE(one.until_flowing());
    ASSERT_TRUE(two.until_flowing());
    const std::string queue = one.queue();
    EXPECT_EQ(queue.find(one.broker.queue + ".events."), 0U) << queue;
    EXPECT_NE(queue, two.queue());
    admin.publish(one.broker.exchange, info_key, numbered(0));
    ASSERT_TRUE(one.until_numbers(1));
    ASSERT_TRUE(two.until_numbers(1)) << "each sees all";
    ASSERT_TRUE(one.stop());
    EXPECT_FALSE(admin.look(queue));
    EXPECT_FALSE(admin.look(one.broker.queue)) << "the queue of the failures is another's business";
    ASSERT_TRUE(two.stop());
}

TEST(AmqpEvents, AreBoundAgainWhenTheExchangeComesBack) {
    BrokerAdmin admin;
    EventRunner run(broker_settings());
    run.start();
    ASSERT_TRUE(run.until_told("waiting for exchange"));
    admin.declare_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_flowing());
    admin.delete_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_told("waiting for exchange"));
    admin.declare_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_flowing());
    admin.publish(run.broker.exchange, info_key, numbered(0));
    ASSERT_TRUE(run.until_numbers(1));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpEvents, ADeletedQueueIsDeclaredAgain) {
    BrokerAdmin admin;
    EventTuning tuning = quick_event_tuning();
    tuning.recheck = std::chrono::hours(1);
    EventRunner run(broker_settings(), tuning);
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    BrokerPlace::get().run("ctl", "-q delete_queue '" + run.queue() + "'");
    ASSERT_TRUE(run.until_flowing_again());
    EXPECT_NE(run.states[1].detail.find("was deleted"), std::string::npos) << run.all_states();
    admin.publish(run.broker.exchange, info_key, numbered(0));
    ASSERT_TRUE(run.until_numbers(1));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpEvents, FlowAgainAfterACut) {
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    EventRunner run(settings);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    proxy.cut();
    ASSERT_TRUE(run.until_flowing_again());
    EXPECT_FALSE(run.states[1].flowing);
    admin.publish(settings.exchange, info_key, numbered(0));
    ASSERT_TRUE(run.until_numbers(1));
    ASSERT_TRUE(run.stop());
}

TEST(AmqpEvents, FlowAgainAfterABrokerRestart) {
    const auto& place = BrokerPlace::get();
    EventRunner run(broker_settings());
    {
        BrokerAdmin admin;
        admin.declare_exchange(run.broker.exchange);
        run.start();
        ASSERT_TRUE(run.until_flowing());
        admin.publish(run.broker.exchange, info_key, numbered(0));
        ASSERT_TRUE(run.until_numbers(1));
    }
    place.run("stop");
    ASSERT_TRUE(run.until([&] { return !run.flowing(); }));
    place.run("start");
    // A restart takes it away, but not where Khepri keeps it (RabbitMQ 4.2 and later).
    BrokerAdmin(place).delete_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_told("waiting for exchange"));
    BrokerAdmin admin;
    admin.declare_exchange(run.broker.exchange);
    ASSERT_TRUE(run.until_flowing());
    admin.publish(run.broker.exchange, info_key, numbered(1));
    ASSERT_TRUE(run.until_numbers(2));
    EXPECT_EQ(run.numbers, numbers_up_to(2));
    ASSERT_TRUE(run.stop());
}

/// The executor does not run while messages come: no more is read than the bound allows, the
/// publisher is not held up, the oldest of the queue give way to the newest, and we are notified.
/// How many fit into TCP's buffers and the broker's own is up to the machine, so they come until
/// the broker has dropped some.
TEST(AmqpEvents, ASlowExecutorBoundsWhatIsReadAndTheOldestAreLost) {
    const auto& broker = BrokerPlace::get();
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.events_max_length = 100;
    EventTuning tuning = quick_event_tuning();
    tuning.batches_in_flight = 2;
    tuning.batch_messages = 10;
    EventRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    const std::string pattern = numbered(123456, 60'000);
    const std::size_t place = pattern.find("123456");
    int next = 100'000;
    const std::string some_lost = amqp::losses_of(run.queue()) + "\t1\n";
    std::string queues;
    do {
        if (next >= 120'000) {
            run.context.run_for(std::chrono::seconds(5));
            FAIL() << "none was lost of " << queues << "received " << run.source->counts().received
                   << "; states:" << run.all_states();
        }
        for (int i = 0; i < 500; ++i) {
            std::string body = pattern;
            body.replace(place, 6, std::to_string(next++));
            admin.publish(settings.exchange, info_key, body);
        }
        queues = broker.run("ctl", "-q list_queues name messages");
    } while (queues.find(some_lost) == std::string::npos);
    EXPECT_LE(run.source->counts().received, 20U);

    ASSERT_TRUE(run.until_told("the oldest were lost"));
    ASSERT_TRUE(run.until([&] { return run.numbers.back() == next - 1; }));
    EXPECT_EQ(run.numbers.front(), 100'000);
    EXPECT_LT(run.numbers.size(), static_cast<std::size_t>(next - 100'000));
    EXPECT_GE(run.numbers.size(), 100U);
    EXPECT_TRUE(std::is_sorted(run.numbers.begin(), run.numbers.end()));
    ASSERT_TRUE(run.until_flowing()) << "once we have caught up";
    ASSERT_TRUE(run.stop());
}

/// The answer to a question takes along all that lies before it. With one after each pause, the
/// broker's whole queue would come into our memory, whatever the bound.
TEST(AmqpEvents, ASlowExecutorIsNoReasonToAskTheBroker) {
    constexpr std::size_t published = 200;
    BrokerAdmin admin;
    LoopbackProxy proxy(BrokerPlace::get().port);
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret(BrokerPlace::get().url(proxy.port()))};
    EventTuning tuning = quick_event_tuning();
    tuning.recheck = std::chrono::hours(1);
    tuning.batches_in_flight = 1;  // each batch ends in a pause
    tuning.batch_messages = 5;
    EventRunner run(settings, tuning);
    admin.declare_exchange(settings.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    const int sent = proxy.client_reads();
    admin.publish(settings.exchange, info_key, numbered(0), published);
    int seen = 0;
    ASSERT_TRUE(run.until([&] {
        int looks = 0;  // meanwhile, the thread begins its pause
        if (std::exchange(seen, run.batches) != seen) until([&] { return ++looks > 2; });
        return run.numbers.size() == published;
    }));
    EXPECT_GE(run.batches, 40);
    EXPECT_LT(proxy.client_reads() - sent, 20) << "but for a heartbeat each 30 s";
    ASSERT_TRUE(run.stop());
}

/// It is in the broker's record, even if the queue was read to its end before we look.
TEST(AmqpEvents, EachLossIsReported) {
    BrokerAdmin admin;
    EventRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    const std::string losses = amqp::losses_of(run.queue());
    for (int i = 0; i < 2; ++i) {
        admin.publish("", losses, numbered(0));
        ASSERT_TRUE(run.until_told("the oldest were lost"));
        ASSERT_TRUE(run.until_flowing());
    }
    EXPECT_TRUE(run.numbers.empty());
    ASSERT_TRUE(run.stop());
}

/// Declaring a queue whose losses go elsewhere, copies of what is set aside, tokens:
/// each takes a right of its own.
TEST(AmqpRights, ThoseOfReadmeAreEnough) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://operators:operators@127.0.0.1:" +
                                    std::to_string(BrokerPlace::get().port))};
    settings.exchange = "nova";
    settings.queue = "reaper." + settings.queue;
    settings.dead_letter_queue = settings.queue + ".dead-letter";
    admin.declare_exchange(settings.exchange);
    EventRunner events(settings);
    events.start();
    ASSERT_TRUE(events.until_flowing());
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_consuming());
    ASSERT_TRUE(run.until_serving());
    admin.publish(settings.exchange, error_key, "m");
    ASSERT_TRUE(run.until_messages(1));
    run.source->set_aside(run.messages[0], "why");
    EXPECT_TRUE(until_ready(admin, settings.dead_letter_queue, 1));
    ASSERT_TRUE(run.stop());
    ASSERT_TRUE(events.stop());
    EXPECT_EQ(events.states.size(), 1U) << events.all_states();
    EXPECT_EQ(run.states.size(), 1U) << run.all_states();
}

/// Both at once, as it takes time: the broker gives up after 4 to 6 s of silence, and we do
/// after 4.
TEST(AmqpHeartbeats, KeepAnIdleConnectionAndOneWhoseExecutorIsBusy) {
    BrokerAdmin admin;
    LoopbackProxy idle_proxy(BrokerPlace::get().port);
    config::Broker idle_settings = broker_settings();
    idle_settings.urls = {config::Secret(BrokerPlace::get().url(idle_proxy.port()))};
    idle_settings.heartbeat = std::chrono::seconds(2);
    idle_settings.temporary_queue = true;  // it needs no proofs, so that there are only heartbeats
    AmqpTuning idle_tuning = quick_tuning();
    idle_tuning.recheck = std::chrono::hours(1);
    SourceRunner idle(idle_settings, idle_tuning);
    admin.declare_exchange(idle_settings.exchange);

    LoopbackProxy busy_proxy(BrokerPlace::get().port);
    config::Broker busy_settings = broker_settings();
    busy_settings.urls = {config::Secret(BrokerPlace::get().url(busy_proxy.port()))};
    busy_settings.heartbeat = std::chrono::seconds(2);
    EventTuning busy_tuning = quick_event_tuning();
    busy_tuning.recheck = std::chrono::hours(1);
    busy_tuning.batches_in_flight = 1;
    busy_tuning.batch_messages = 1;
    EventRunner busy(busy_settings, busy_tuning);
    admin.declare_exchange(busy_settings.exchange);

    idle.start();
    busy.start();
    ASSERT_TRUE(idle.until_consuming());
    ASSERT_TRUE(busy.until_flowing());
    for (int i = 0; i < 5; ++i) admin.publish(busy_settings.exchange, info_key, numbered(i));
    ASSERT_TRUE(until([&] { return busy.source->counts().received == 1; })) << "the rest waits";
    const int idle_sent = idle_proxy.client_reads();
    const int idle_received = idle_proxy.broker_reads();
    const int busy_sent = busy_proxy.client_reads();
    ASSERT_TRUE(until([&] {
        return idle_proxy.client_reads() >= idle_sent + 3 &&  // one each 2 s
               idle_proxy.broker_reads() >= idle_received + 3 &&
               busy_proxy.client_reads() >= busy_sent + 7;  // one each second at most
    }));

    admin.publish(idle_settings.exchange, error_key, "m");
    ASSERT_TRUE(idle.until_messages(1));
    EXPECT_EQ(idle.states.size(), 1U) << idle.all_states();
    EXPECT_EQ(idle_proxy.accepted(), 1);
    ASSERT_TRUE(busy.until_numbers(5));
    EXPECT_EQ(busy.numbers, numbers_up_to(5));
    EXPECT_EQ(busy_proxy.accepted(), 1);
    ASSERT_TRUE(idle.stop());
    ASSERT_TRUE(busy.stop());
}

TEST(AmqpEvents, TheSourceMayBeDestroyedWhileItWorks) {
    BrokerAdmin admin;
    EventRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    admin.publish(run.broker.exchange, info_key, numbered(0));
    ASSERT_TRUE(run.until_numbers(1));
    admin.publish(run.broker.exchange, info_key, numbered(1));
    run.source.reset();
    run.context.restart();
    run.context.run_for(std::chrono::milliseconds(20));
    EXPECT_EQ(run.numbers.size(), 1U) << "nothing more comes";
}

/// Prints what one core makes of a flood; asserts nothing about time.
TEST(AmqpEvents, AFloodIsTakenWhole) {
    constexpr int published = 10'000;
    BrokerAdmin admin;
    EventRunner run(broker_settings());
    admin.declare_exchange(run.broker.exchange);
    run.start();
    ASSERT_TRUE(run.until_flowing());
    const std::string body = read(recorded / "instance.update.json");
    const std::clock_t cpu_before = std::clock();
    const auto before = std::chrono::steady_clock::now();
    admin.publish(run.broker.exchange, info_key, body, published);
    ASSERT_TRUE(run.until_numbers(published));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    const double cpu = static_cast<double>(std::clock() - cpu_before) / CLOCKS_PER_SEC;
    std::printf("[   FLOOD  ] %.0f messages/s; %.0f per second of our CPU; %d batches\n",
                published / took.count(), published / cpu, run.batches);
    EXPECT_EQ(run.numbers.size(), static_cast<std::size_t>(published));
    ASSERT_TRUE(run.stop());
}

}  // namespace
}  // namespace reaper::test::amqp_events_test
