#include "clients/amqp/amqp_topology.hpp"

#include <limits>
#include <random>
#include <spdlog/fmt/fmt.h>

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {
namespace {

/// Newer brokers have one of 20 where none is said: a message that comes back so often, because
/// reapers or nodes go down, would be dropped.
constexpr std::int64_t no_delivery_limit = std::numeric_limits<std::int32_t>::max();
/// One is enough; each standby adds one occasionally, and the active one takes it.
constexpr std::int64_t max_tokens = 100;

std::string in_quotes(const std::string& kind, const std::string& name) {
    return kind + " '" + name + "'";
}

/// Says what to do about a refused declaration.
Outcome advised(Outcome failed, const std::string& queue, const std::string& length_key) {
    if (!failed) return failed;
    std::string& what = failed->error.what;
    if (failed->code == 406 && what.find("x-queue-type") != std::string::npos) {
        what +=
            ": the queue exists with another type; set broker.queue_type to what it has, or stop "
            "all reapers and delete it (rabbitmqctl delete_queue " +
            queue + "), and the reaper makes it again";
    } else if (failed->code == 406) {
        const bool length = what.find("x-max-length") != std::string::npos;
        what += ": the queue exists with other arguments; " +
                (length ? "set broker." + length_key + " to what it has, or " : std::string()) +
                "delete it (rabbitmqctl delete_queue " + queue + "), and the reaper makes it again";
    } else if (failed->code == 405) {
        what += ": it is exclusive to another connection; choose another broker.queue";
    } else if (failed->code == 403) {
        what +=
            ": the user needs the rights configure, write and read on it "
            "(rabbitmqctl set_permissions)";
    }
    return failed;
}

Outcome declare(Connection& connection, const std::string& name, const Table& arguments,
                bool temporary, QueueCounts* counts = nullptr) {
    if (auto failed = connection.open_channel(scratch_channel)) return failed;
    const amqp_queue_declare_ok_t* found =
        amqp_queue_declare(connection.raw(), scratch_channel, bytes(name), 0, temporary ? 0 : 1,
                           temporary ? 1 : 0, temporary ? 1 : 0, arguments.raw());
    auto failed = connection.check(scratch_channel, "declaring " + in_quotes("queue", name));
    if (!failed && found && counts) *counts = {found->message_count, found->consumer_count};
    return failed;
}

/// Exclusive queues are classic, whatever a virtual host's default is.
void add_classic(Table& arguments) {
    arguments.add("x-queue-type", std::string("classic"));
}

}  // namespace

QueueShape message_queue(const config::Broker& broker) {
    QueueShape queue{broker.queue, broker.queue_type, broker.queue_max_length, "queue_max_length"};
    queue.single_active = true;
    return queue;
}

QueueShape dead_letter_queue(const config::Broker& broker) {
    return {broker.dead_letter_queue, broker.queue_type, broker.dead_letter_max_length,
            "dead_letter_max_length"};
}

QueueShape serving_queue(const config::Broker& broker) {
    QueueShape queue{broker.queue + ".serving", broker.queue_type, max_tokens, ""};
    queue.single_active = true;
    queue.keeps_oldest = true;
    return queue;
}

Outcome declare_queue(Connection& connection, const QueueShape& queue) {
    Table arguments;
    arguments.add("x-queue-type", queue.type);
    if (queue.type == "quorum") arguments.add_integer("x-delivery-limit", no_delivery_limit);
    arguments.add_integer("x-max-length", queue.max_length);
    if (queue.single_active) arguments.add("x-single-active-consumer", true);
    if (queue.keeps_oldest) arguments.add("x-overflow", std::string("reject-publish"));
    return advised(declare(connection, queue.name, arguments, false), queue.name, queue.length_key);
}

Outcome declare_temporary_queue(Connection& connection, const config::Broker& broker,
                                const std::string& name) {
    Table arguments;
    add_classic(arguments);
    arguments.add_integer("x-max-length", broker.queue_max_length);
    return advised(declare(connection, name, arguments, true), name, "queue_max_length");
}

std::string losses_of(const std::string& events_queue) {
    return events_queue + ".lost";
}

Outcome declare_events_queue(Connection& connection, const config::Broker& broker,
                             const std::string& name) {
    Table arguments;
    add_classic(arguments);
    arguments.add_integer("x-max-length", broker.events_max_length);
    arguments.add("x-overflow", std::string("drop-head"));
    arguments.add("x-dead-letter-exchange", std::string());  // it knows every queue by its name
    arguments.add("x-dead-letter-routing-key", losses_of(name));
    return advised(declare(connection, name, arguments, true), name, "events_max_length");
}

Outcome take_losses(Connection& connection, const std::string& events_queue, bool& lost) {
    const std::string name = losses_of(events_queue);
    Table arguments;
    add_classic(arguments);
    arguments.add_integer("x-max-length", 1);
    arguments.add("x-overflow", std::string("drop-head"));
    QueueCounts counts;
    if (auto failed = declare(connection, name, arguments, true, &counts)) {
        return advised(std::move(failed), name, "events_max_length");
    }
    lost = counts.messages > 0;
    if (!lost) return {};
    amqp_queue_purge(connection.raw(), scratch_channel, bytes(name));
    return connection.check(scratch_channel, "emptying " + in_quotes("queue", name));
}

Outcome look_for_exchange(Connection& connection, const config::Broker& broker) {
    if (auto failed = connection.open_channel(scratch_channel)) return failed;
    amqp_exchange_declare(connection.raw(), scratch_channel, bytes(broker.exchange), bytes("topic"),
                          1, 0, 0, 0, amqp_empty_table);
    return connection.check(scratch_channel,
                            "looking for " + in_quotes("exchange", broker.exchange));
}

std::string unique_name(const std::string& queue, const std::string& purpose) {
    std::random_device random;
    return fmt::format("{}.{}.{:08x}{:08x}", queue.substr(0, 200), purpose, random(), random());
}

std::vector<std::string> binding_keys(const config::Broker& broker, const std::string& priority) {
    std::vector<std::string> keys;
    for (const std::string& topic : broker.topics) keys.push_back(topic + "." + priority);
    return keys;
}

Outcome bind_queue(Connection& connection, const config::Broker& broker, const std::string& name,
                   const std::vector<std::string>& keys) {
    // Whether we may bind does not depend on whether we may look.
    if (auto failed = look_for_exchange(connection, broker);
        failed && failed->code != access_refused)
        return failed;
    for (const std::string& key : keys) {
        if (auto failed = connection.open_channel(scratch_channel)) return failed;
        amqp_queue_bind(connection.raw(), scratch_channel, bytes(name), bytes(broker.exchange),
                        bytes(key), amqp_empty_table);
        auto failed = connection.check(
            scratch_channel, "binding " + in_quotes("queue", name) + " to " +
                                 in_quotes("exchange", broker.exchange) + " with key " + key);
        if (failed && failed->code == 403) {
            failed->error.what +=
                ": the user needs the right write on the queue and read on the "
                "exchange (rabbitmqctl set_permissions)";
        }
        if (failed) return failed;
    }
    return {};
}

Outcome look_at_queue(Connection& connection, const std::string& name, QueueCounts& counts) {
    if (auto failed = connection.open_channel(scratch_channel)) return failed;
    const amqp_queue_declare_ok_t* found = amqp_queue_declare(
        connection.raw(), scratch_channel, bytes(name), 1, 0, 0, 0, amqp_empty_table);
    if (auto failed = connection.check(scratch_channel, "looking at " + in_quotes("queue", name))) {
        return failed;
    }
    if (found) counts = {found->message_count, found->consumer_count};
    return {};
}

TopologyMonitor::TopologyMonitor(const Connection& connection, const config::Broker& broker,
                                 const ConnectionTuning& tuning, const ProgressCallback& tell)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      tell_(tell),
      missing_backoff_(broker.reconnect_backoff, tuning.recheck_missing_max),
      refused_backoff_(broker.reconnect_backoff, broker.reconnect_backoff_max) {}

Outcome TopologyMonitor::checked(Outcome outcome, bool consuming, const std::string& queue) {
    if (!outcome) {
        missing_backoff_.reset();
        refused_backoff_.reset();
        due_ = Steady::now() + tuning_.recheck;
        tell_(true, connection_.name() + ": consuming queue '" + queue + "'", std::nullopt);
        return {};
    }
    if (outcome->fatal) return outcome;
    if (consuming && outcome->code == 404) {
        again_after(missing_backoff_.next(),
                    connection_.name() + ": waiting for exchange '" + broker_.exchange +
                        "': Nova declares it with its first notification (in nova.conf: "
                        "[oslo_messaging_notifications] driver = messagingv2)");
    } else {
        again_after(refused_backoff_.next(), outcome->error.what);
    }
    return {};
}

void TopologyMonitor::consumer_cancelled(const std::string& queue) {
    again_after(missing_backoff_.next(),
                connection_.name() + ": the broker took queue '" + queue +
                    "' from this reaper: it was deleted, its node is lost, or a message was kept "
                    "for longer than consumer_timeout; declaring and consuming it again");
}

void TopologyMonitor::channel_closed(const std::string& why) {
    again_after(refused_backoff_.next(), why);
}

void TopologyMonitor::again_after(std::chrono::milliseconds pause, const std::string& why) {
    due_ = Steady::now() + pause;
    tell_(false, why, pause);
}

}  // namespace reaper::amqp
