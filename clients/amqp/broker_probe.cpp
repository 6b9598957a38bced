#include "clients/amqp/broker_probe.hpp"

#include <set>

#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/broker_rights.hpp"

namespace reaper {
namespace {

using amqp::Connection;

/// None if there is no such queue.
Result<std::optional<QueueReport>> look_at(Connection& connection, const std::string& queue) {
    amqp::QueueCounts counts;
    const auto failed = amqp::look_at_queue(connection, queue, counts);
    if (failed && failed->code == 404) return std::optional<QueueReport>();
    if (failed) return failed->error;
    return std::optional<QueueReport>({counts.messages, counts.consumers});
}

/// Those of the topics that we bind to, and of Nova's defaults.
Result<std::vector<NovasQueue>> look_at_novas_queues(Connection& connection,
                                                     const config::Broker& broker) {
    std::set<std::string> topics(broker.topics.begin(), broker.topics.end());
    topics.insert({"notifications", "versioned_notifications"});
    std::vector<NovasQueue> queues;
    for (const std::string& topic : topics)
        for (const char* priority : {".info", ".warn", ".error"}) {
            amqp::QueueCounts counts;
            const auto failed = amqp::look_at_queue(connection, topic + priority, counts);
            if (failed && failed->fatal) return failed->error;
            if (!failed) queues.push_back({topic + priority, {counts.messages, counts.consumers}});
        }
    return queues;
}

/// Has any client published on the topic? None if it can't be determined.
Result<bool> is_heard(Connection& connection, const std::string& topic) {
    for (const char* const priority : {".error", ".info"}) {
        const auto queue = look_at(connection, topic + priority);
        if (!queue && queue.error().code != Errc::forbidden) return queue.error();
        // Where we may not look, it is not for us to say.
        if (!queue || *queue) return true;
    }
    return false;
}

std::optional<Error> look_at_topics(Connection& connection, const config::Broker& broker,
                                    BrokerReport& report) {
    for (const std::string& topic : broker.topics) {
        const auto heard = is_heard(connection, topic);
        if (!heard) return heard.error();
        if (!*heard) report.unheard_topics.push_back(topic);
    }
    const auto usual = is_heard(connection, config::Broker{}.topics.front());
    if (!usual) return usual.error();
    report.usual_topic_heard = *usual;
    return std::nullopt;
}

}  // namespace

Result<BrokerReport> probe_broker(const config::Broker& broker) {
    BrokerReport report;
    amqp::ConnectionAborter aborter;
    auto connected = amqp::connect_any(broker, aborter, report.remarks);
    if (!connected) return connected.error();
    Connection& connection = **connected;
    report.broker = connection.name();
    report.product = connection.product();

    const auto exchange = amqp::look_for_exchange(connection, broker);
    if (exchange && exchange->code != 404) return exchange->error;
    report.exchange_exists = !exchange;

    const auto queue = look_at(connection, broker.queue);
    if (!queue) return queue.error();
    report.queue = *queue;
    const auto dead_letter = look_at(connection, broker.dead_letter_queue);
    if (!dead_letter) return dead_letter.error();
    report.dead_letter = *dead_letter;
    const auto serving = look_at(connection, amqp::serving_queue(broker).name);
    if (!serving) return serving.error();
    report.serving = *serving;
    auto novas_queues = look_at_novas_queues(connection, broker);
    if (!novas_queues) return novas_queues.error();
    report.novas_queues = std::move(*novas_queues);
    if (auto failed = look_at_topics(connection, broker, report)) return *failed;
    auto rights = amqp::missing_rights(connection, broker);
    if (!rights) return rights.error();
    report.missing_rights = std::move(*rights);
    connection.close(broker.connect_timeout);
    return report;
}

Result<std::uint64_t> count_dead_letters(const config::Broker& broker) {
    amqp::ConnectionAborter aborter;
    std::vector<std::string> remarks;
    auto connected = amqp::connect_any(broker, aborter, remarks);
    if (!connected) return connected.error();
    const auto found = look_at(**connected, broker.dead_letter_queue);
    if (!found) return found.error();
    (*connected)->close(broker.connect_timeout);
    return *found ? (*found)->messages : 0;
}

}  // namespace reaper
