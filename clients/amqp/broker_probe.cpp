// Looks at the broker without changing anything that is there; for `reaper check` and status.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_connection.hpp"
#include "clients/amqp/amqp_console.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/executor_bridge.hpp"
#include "clients/amqp/frame_assembler.hpp"
#include "clients/amqp/serving_token.hpp"
#include "config/settings.hpp"

namespace reaper::amqp {

// Tries what the daemon will do on the broker, in ways that change nothing. An existing queue is
// declared with other properties: the broker checks the right before it refuses them. A missing
// queue is made exclusive to this connection. A consumer asks for what no queue offers, which is
// also refused after the check. A binding that does not exist is removed, and a message goes to a
// queue that does not exist. Internal to clients/amqp.

namespace {

const std::string key_of_nothing = "reaper.check";

/// Collects refusals; the first loss of the connection ends it.
class Trial {
public:
    Trial(Connection& connection, const config::Broker& broker)
        : connection_(connection), broker_(broker) {}

    Result<std::vector<std::string>> run() {
        for (const std::string& queue :
             {broker_.queue, broker_.dead_letter_queue, serving_queue(broker_).name})
            try_queue(queue);
        // One name stands for all: they end in something else each time.
        try_queue(unique_name(broker_.queue, "events"));
        try_binding(broker_.queue);
        try_publishing();
        if (lost_) return *lost_;
        return std::move(missing_);
    }

private:
    /// Did it work? A refusal is noted, anything else the broker says does not matter.
    bool allowed(const Outcome& outcome, const std::string& right) {
        if (!outcome) return true;
        if (outcome->fatal) lost_ = outcome->error;
        if (outcome->code == access_refused)
            missing_.push_back("the user lacks the right " + right +
                               " (rabbitmqctl set_permissions): " + outcome->error.what);
        return false;
    }

    bool ready() {
        if (lost_) return false;
        return allowed(connection_.open_channel(scratch_channel), "to open a channel");
    }

    void try_queue(const std::string& queue) {
        if (!ready()) return;
        const std::string name = "queue '" + queue + "'";
        amqp_queue_declare(connection_.raw(), scratch_channel, bytes(queue), 0, 0, 1, 1,
                           amqp_empty_table);
        const bool made = allowed(connection_.check(scratch_channel, "declaring " + name),
                                  "configure on " + name);
        try_reading(queue, name);
        if (!made || !ready()) return;
        amqp_queue_delete(connection_.raw(), scratch_channel, bytes(queue), 1, 1);
        allowed(connection_.check(scratch_channel, "removing " + name), "configure on " + name);
    }

    /// The priority of a consumer is a number: the broker takes no such one.
    void try_reading(const std::string& queue, const std::string& name) {
        if (!ready()) return;
        Table wrong;
        wrong.add("x-priority", std::string("none"));
        amqp_basic_consume(connection_.raw(), scratch_channel, bytes(queue), amqp_empty_bytes, 0, 0,
                           0, wrong.raw());
        allowed(connection_.check(scratch_channel, "reading " + name), "read on " + name);
    }

    void try_binding(const std::string& queue) {
        if (!ready()) return;
        amqp_queue_unbind(connection_.raw(), scratch_channel, bytes(queue), bytes(broker_.exchange),
                          bytes(key_of_nothing), amqp_empty_table);
        const std::string both = "queue '" + queue + "' and exchange '" + broker_.exchange + "'";
        allowed(connection_.check(scratch_channel, "binding " + both),
                "write on queue '" + queue + "' or read on exchange '" + broker_.exchange + "'");
    }

    /// The answer to the question behind it says whether it was taken.
    void try_publishing() {
        if (!ready()) return;
        const std::string queue = unique_name(broker_.queue, "check");
        const int status = amqp_basic_publish(connection_.raw(), scratch_channel, amqp_empty_bytes,
                                              bytes(queue), 0, 0, nullptr, amqp_empty_bytes);
        const std::string doing = "publishing by the default exchange";
        if (!allowed(connection_.check_status(status, doing), "write on amq.default")) return;
        amqp_basic_qos(connection_.raw(), scratch_channel, 0, 1, 0);
        allowed(connection_.check(scratch_channel, doing), "write on amq.default");
    }

    Connection& connection_;
    const config::Broker& broker_;
    std::vector<std::string> missing_;
    std::optional<Error> lost_;
};

}  // namespace

/// What may not be done, one line each with what to do; empty: all of it may. An error if the
/// connection is lost.
Result<std::vector<std::string>> missing_rights(Connection& connection,
                                                const config::Broker& broker) {
    return Trial{connection, broker}.run();
}

}  // namespace reaper::amqp

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

/// None, too, where we may not look: `missing_rights` says so.
Result<std::optional<QueueReport>> look_at_own(Connection& connection, const std::string& queue) {
    auto found = look_at(connection, queue);
    if (!found && found.error().code == Errc::forbidden) return std::optional<QueueReport>();
    return found;
}

/// Those of the topics that we bind to, and of Nova's defaults.
std::optional<Error> look_at_novas_queues(Connection& connection, const config::Broker& broker,
                                          BrokerReport& report) {
    std::set<std::string> topics(broker.topics.begin(), broker.topics.end());
    topics.insert({"notifications", "versioned_notifications"});
    for (const std::string& topic : topics)
        for (const char* priority : {".info", ".warn", ".error"}) {
            const std::string name = topic + priority;
            amqp::QueueCounts counts;
            const auto failed = amqp::look_at_queue(connection, name, counts);
            if (failed && failed->fatal) return failed->error;
            if (!failed)
                report.novas_queues.push_back({name, {counts.messages, counts.consumers}});
            else if (failed->code == amqp::access_refused)
                report.hidden_queues.push_back(name);
        }
    return std::nullopt;
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

Result<BrokerReport> AmqpConsole::look() {
    const config::Broker& broker = broker_;
    BrokerReport report;
    amqp::ConnectionAborter aborter;
    auto connected = amqp::connect_any(broker, aborter, report.remarks);
    if (!connected) return connected.error();
    Connection& connection = **connected;
    report.broker = connection.name();
    report.product = connection.product();

    const auto exchange = amqp::look_for_exchange(connection, broker);
    report.exchange_hidden = exchange && exchange->code == amqp::access_refused;
    if (exchange && exchange->code != 404 && !report.exchange_hidden) return exchange->error;
    report.exchange_exists = !exchange;

    const auto queue = look_at_own(connection, broker.queue);
    if (!queue) return queue.error();
    report.queue = *queue;
    const auto dead_letter = look_at_own(connection, broker.dead_letter_queue);
    if (!dead_letter) return dead_letter.error();
    report.dead_letter = *dead_letter;
    const auto serving = look_at_own(connection, amqp::serving_queue(broker).name);
    if (!serving) return serving.error();
    report.serving = *serving;
    if (auto failed = look_at_novas_queues(connection, broker, report)) return *failed;
    if (auto failed = look_at_topics(connection, broker, report)) return *failed;
    auto rights = amqp::missing_rights(connection, broker);
    if (!rights) return rights.error();
    report.missing_rights = std::move(*rights);
    connection.close(broker.connect_timeout);
    return report;
}

namespace {

constexpr amqp_channel_t mailbox_channel = amqp::token_channel;
constexpr std::size_t answers_have_no_body = 1024;

/// The first answer that comes until then.
Result<std::optional<ActiveReaper>> answer_until(amqp::Connection& connection,
                                                 std::chrono::steady_clock::time_point end) {
    constexpr int frames_at_a_time = 16;
    amqp::FrameAssembler assembler{answers_have_no_body, answers_have_no_body};
    std::optional<ActiveReaper> found;
    const auto serve = [&](const amqp_frame_t& frame) -> amqp::Outcome {
        if (frame.channel != mailbox_channel) return {};
        if (frame.frame_type == AMQP_FRAME_METHOD) {
            const amqp_method_t& method = frame.payload.method;
            std::string why;
            if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
                auto lost = connection.closed_by_broker(mailbox_channel, method, why);
                return lost ? lost : amqp::Failure{{Errc::forbidden, why}};
            }
            if (method.id == AMQP_BASIC_DELIVER_METHOD)
                assembler.start(*static_cast<const amqp_basic_deliver_t*>(method.decoded));
        } else if (auto message = assembler.add(frame)) {
            if (!found) found = amqp::read_answer(message->properties);
        }
        return {};
    };
    while (!found && std::chrono::steady_clock::now() < end) {
        bool more = false;
        if (auto failed = connection.read_frames(frames_at_a_time, more, serve))
            return failed->error;
        if (!more && !found) connection.wait(-1, end);
    }
    return found;
}

}  // namespace

Result<std::optional<ActiveReaper>> ask_for_active_reaper(const config::Broker& broker,
                                                          std::chrono::milliseconds patience) {
    amqp::ConnectionAborter aborter;
    std::vector<std::string> remarks;
    auto connected = amqp::connect_any(broker, aborter, remarks);
    if (!connected) return connected.error();
    amqp::Connection& connection = **connected;
    const std::string queue = amqp::serving_queue(broker).name;
    amqp::QueueCounts counts;
    const auto looked = amqp::look_at_queue(connection, queue, counts);
    if (looked && looked->code != 404) return looked->error;
    if (counts.consumers == 0)
        return Error{Errc::not_found, "no reaper is at queue '" + broker.queue + "'"};
    if (auto failed = amqp::open_mailbox(connection, mailbox_channel)) return failed->error;
    if (auto failed = amqp::ask_who_serves(connection, mailbox_channel, queue, patience))
        return failed->error;
    auto answer = answer_until(connection, std::chrono::steady_clock::now() + patience);
    connection.close(broker.connect_timeout);
    return answer;
}

Result<ActiveReaper> AmqpConsole::active_reaper() {
    // A reaper that serves the queue answers at once.
    constexpr std::chrono::milliseconds longest_answer{3'000};
    constexpr std::chrono::milliseconds longest_connect{2'000};
    config::Broker broker = broker_;
    broker.connect_timeout = std::min(broker.connect_timeout, longest_connect);
    auto answer = ask_for_active_reaper(broker, longest_answer);
    if (!answer) return answer.error();
    if (!*answer)
        return Error{Errc::unreachable, "no answer within 3 s: the reaper that serves queue '" +
                                            broker.queue + "' is frozen, fully occupied or older"};
    return std::move(**answer);
}

}  // namespace reaper
