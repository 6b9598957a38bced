// What `reaper check` finds out about the rights of its user, without changing anything.
#include <algorithm>
#include <gmock/gmock.h>

#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_rights_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// As `user`, whose password is its name (see `broker`), with the queue names of the manual.
config::Broker settings_of(const std::string& user) {
    config::Broker settings = broker_settings();
    settings.urls = {config::Secret("amqp://" + user + ":" + user +
                                    "@127.0.0.1:" + std::to_string(BrokerPlace::get().port))};
    settings.queue = "reaper." + settings.queue;
    settings.dead_letter_queue = "reaper." + settings.dead_letter_queue;
    settings.exchange = "nova";
    return settings;
}

std::vector<std::string> missing(const config::Broker& settings) {
    const auto report = AmqpConsole{settings}.look();
    if (report) return report->missing_rights;
    ADD_FAILURE() << report.error().what;
    return {};
}

TEST(AmqpRights, ThoseOfTheReadmeAreEnough) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    const config::Broker settings = settings_of("operators");
    EXPECT_THAT(missing(settings), IsEmpty()) << "no queue is there yet";
    EXPECT_FALSE(admin.look(settings.queue)) << "it was made to try";
    admin.declare_queue(settings.queue, {.max_length = 9, .type = {}});
    admin.publish("", settings.queue, "m");
    EXPECT_THAT(missing(settings), IsEmpty());
    ASSERT_TRUE(admin.look(settings.queue));
    EXPECT_EQ(admin.look(settings.queue)->messages, 1U) << "what exists stays unchanged";
}

TEST(AmqpRights, AQueueOfAnotherNameIsNotOurs) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    config::Broker settings = settings_of("operators");
    settings.queue = "spot." + settings.queue;
    const std::string name = "queue '" + settings.queue + "'";
    EXPECT_THAT(missing(settings), Contains(HasSubstr("lacks the right configure on " + name)));
    EXPECT_THAT(missing(settings), Contains(HasSubstr("write on " + name)));
    admin.declare_queue(settings.queue, {.max_length = 9, .type = {}});
    EXPECT_THAT(missing(settings), Contains(HasSubstr("lacks the right configure on " + name)))
        << "whether it is there or not";
}

/// Rights to some queues by their exact names.
TEST(AmqpRights, TheQueueOfServingTokensIsTriedToo) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    const config::Broker settings = settings_of("operators");
    const std::string names = settings.queue + "|" + settings.dead_letter_queue + "|" +
                              settings.queue + "[.](events|check)[.].*";
    BrokerPlace::get().run("ctl", "-q set_permissions -p / limited '^(" + names + ")$' '^(" +
                                      names + "|amq[.]default)$' '^(" + names + "|nova)$'");
    config::Broker limited = settings;
    limited.urls = {config::Secret("amqp://limited:limited@127.0.0.1:" +
                                   std::to_string(BrokerPlace::get().port))};
    const std::vector<std::string> lines = missing(limited);
    for (const char* const right : {"configure", "read"})
        EXPECT_THAT(lines, Contains(HasSubstr("lacks the right " + std::string(right) +
                                              " on queue '" + settings.queue + ".serving'")));
    BrokerPlace::get().run("ctl", "-q set_permissions -p / limited '^$' '^$' '.*'");
}

TEST(AmqpRights, TheRightToReadAQueueThatIsThereIsTried) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    config::Broker settings = settings_of("limited");
    BrokerPlace::get().run("ctl", "-q set_permissions -p / limited '.*' '.*' '^nova$'");
    admin.declare_queue(settings.queue, {.max_length = 9, .type = {}});
    admin.publish("", settings.queue, "m");
    EXPECT_THAT(missing(settings),
                Contains(HasSubstr("lacks the right read on queue '" + settings.queue + "'")));
    EXPECT_EQ(admin.look(settings.queue)->messages, 1U) << "what exists stays unchanged";
    BrokerPlace::get().run("ctl", "-q set_permissions -p / limited '^$' '^$' '.*'");
}

TEST(AmqpRights, AnExchangeOfAnotherNameIsNotReadable) {
    BrokerAdmin admin;
    config::Broker settings = settings_of("operators");
    settings.exchange = "cinder." + settings.queue;
    admin.declare_exchange(settings.exchange);
    EXPECT_THAT(missing(settings), Contains(HasSubstr("read on exchange '" + settings.exchange)));
}

TEST(AmqpRights, AnExchangeThatMayNotBeReadIsNamedByTheReaper) {
    BrokerAdmin admin;
    config::Broker settings = settings_of("operators");
    settings.exchange = "cinder." + settings.queue;
    admin.declare_exchange(settings.exchange);
    SourceRunner run(settings);
    run.start();
    ASSERT_TRUE(run.until_told("read on the exchange (rabbitmqctl set_permissions)"));
    ASSERT_TRUE(run.stop());
}

/// Newer brokers do not show a queue to a user without any right to it, older ones do.
TEST(AmqpRights, ThoseOfTheReadmeAreEnoughToLookAtTheBroker) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    config::Broker settings = settings_of("operators");
    settings.topics = {"topic." + settings.queue};
    const std::string name = settings.topics.front() + ".error";
    admin.declare_queue(name, {.max_length = 9, .type = {}});
    const auto report = AmqpConsole{settings}.look();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_THAT(report->missing_rights, IsEmpty());
    EXPECT_THAT(report->unheard_topics, IsEmpty());
    EXPECT_NE(report->exchange_exists, report->exchange_hidden);
    const auto& seen = report->novas_queues;
    const auto is_seen = [&](const NovasQueue& queue) { return queue.name == name; };
    EXPECT_NE(std::any_of(seen.begin(), seen.end(), is_seen),
              testing::Value(report->hidden_queues, Contains(name)));
}

TEST(AmqpRights, WithoutTheDefaultExchangeNothingCanBePublished) {
    BrokerAdmin admin;
    admin.declare_exchange("nova");
    config::Broker settings = settings_of("consumer");
    settings.queue = settings.queue.substr(7);  // q. and dead., as its rights have them
    settings.dead_letter_queue = settings.dead_letter_queue.substr(7);
    const auto lines = missing(settings);
    ASSERT_EQ(lines.size(), 1U) << ::testing::PrintToString(lines);
    EXPECT_THAT(lines.front(), HasSubstr("write on amq.default"));
}

TEST(AmqpRights, AUserWhomTheBrokerRefusesIsReported) {
    config::Broker settings = broker_settings();
    const std::string port = std::to_string(BrokerPlace::get().port);
    settings.urls = {config::Secret("amqp://reaper:wr0ng@127.0.0.1:" + port),
                     config::Secret("amqp://no-such:wr0ng@127.0.0.1:" + port)};
    SourceRunner refused(settings);
    refused.start();
    ASSERT_TRUE(refused.until_told("refused user 'no-such'"));
    EXPECT_TRUE(refused.states.back().refused);
    ASSERT_TRUE(refused.stop());
    settings.urls.back() = config::Secret("amqp://no-such:wr0ng@127.0.0.1:1");
    SourceRunner away(settings);
    away.start();
    ASSERT_TRUE(away.until_told("refused user 'reaper'"));
    EXPECT_FALSE(away.states.back().refused) << "the other broker may let us in";
    ASSERT_TRUE(away.stop());
}

TEST(AmqpTopics, WithoutAPublisherAreReported) {
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.topics = {"topic." + settings.queue};
    auto report = AmqpConsole{settings}.look();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->unheard_topics, settings.topics);
    admin.declare_queue(settings.topics.front() + ".info", {.max_length = 9, .type = {}});
    report = AmqpConsole{settings}.look();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_THAT(report->unheard_topics, IsEmpty());
}

}  // namespace
}  // namespace reaper::test::amqp_rights_test
