// The queues that Nova makes for readers that may not be there, on a real RabbitMQ.
#include <fstream>
#include <gmock/gmock.h>
#include <regex>

#include "clients/amqp/amqp_console.hpp"
#include "tests/rabbitmq/support/source_runner.hpp"

namespace reaper::test::amqp_novas_queues_test {
namespace {

/// The line of getting-started.md, from the verb on.
std::string policy_of_manual() {
    std::ifstream file("deploy/docs/getting-started.md");
    const std::string manual{std::istreambuf_iterator<char>(file), {}};
    std::smatch found;
    const std::regex line(R"(\nrabbitmqctl (set_operator_policy .*)\n)");
    if (!std::regex_search(manual, found, line))
        throw std::runtime_error("getting-started.md has no policy for Nova's queues");
    return found[1];
}

/// By a user with no more rights than getting-started.md gives.
TEST(AmqpNovasQueues, AreSeenAndBoundedAsTheManualSays) {
    const auto& place = BrokerPlace::get();
    const std::string queue = "versioned_notifications.info";
    BrokerAdmin admin;
    config::Broker settings = broker_settings();
    settings.urls = {
        config::Secret("amqp://operators:operators@127.0.0.1:" + std::to_string(place.port))};
    const auto look = [&] {
        const auto report = AmqpConsole{settings}.look();
        EXPECT_TRUE(report) << report.error().what;
        return report ? *report : BrokerReport();
    };
    EXPECT_TRUE(look().novas_queues.empty());
    admin.declare_queue(queue, {});
    admin.publish("", queue, "m", 1'500);
    ASSERT_TRUE(until_ready(admin, queue, 1'500));
    const auto report = look();
    // RabbitMQ since 4.2.6 shows a queue only to users with a right to it, which the manual does
    // not give.
    if (report.hidden_queues.empty()) {
        ASSERT_EQ(report.novas_queues.size(), 1U);
        EXPECT_EQ(report.novas_queues[0].name, queue);
        EXPECT_EQ(report.novas_queues[0].report.messages, 1'500U);
        EXPECT_EQ(report.novas_queues[0].report.consumers, 0U);
    } else {
        EXPECT_THAT(report.hidden_queues, testing::Contains(queue));
        EXPECT_TRUE(report.novas_queues.empty());
    }

    place.run("ctl", "-q " + policy_of_manual());
    admin.publish("", queue, "m");
    EXPECT_TRUE(until_ready(admin, queue, 1'000));
    // With `both` in nova.conf.
    const std::string unversioned = "notifications.info";
    admin.declare_queue(unversioned, {});
    admin.publish("", unversioned, "m", 1'500);
    EXPECT_TRUE(until_ready(admin, unversioned, 1'000));
    admin.delete_queue(unversioned);
    place.run("ctl", "-q clear_operator_policy -p / novas-notifications");
    admin.delete_queue(queue);
}

}  // namespace
}  // namespace reaper::test::amqp_novas_queues_test
