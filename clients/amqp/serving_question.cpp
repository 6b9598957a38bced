#include "clients/amqp/serving_question.hpp"

#include "clients/amqp/amqp_bytes.hpp"

namespace reaper::amqp {
namespace {

const std::string question_type = "reaper.who-serves";
const std::string answer_type = "reaper.serves";
/// RabbitMQ's direct reply-to; in a message that is delivered, with a dot and more.
const std::string own_mailbox = "amq.rabbitmq.reply-to";
const std::string question_content = "application/json";
/// For versions that do not know it: a notification of a kind that they pass over.
const std::string question_body =
    R"({"event_type": "reaper.who-serves", "message_id": "", "payload": {}})";
constexpr std::size_t longest_property = 255;  // AMQP's

Outcome publish(Connection& connection, amqp_channel_t channel, const std::string& to,
                const amqp_basic_properties_t& properties, const std::string& body,
                const std::string& doing) {
    return connection.check_status(amqp_basic_publish(connection.raw(), channel, amqp_empty_bytes,
                                                      bytes(to), 0, 0, &properties, bytes(body)),
                                   doing);
}

}  // namespace

bool is_serving_question(const ContentProperties& properties) {
    return properties.type == question_type && properties.reply_to.starts_with(own_mailbox + ".");
}

Outcome open_mailbox(Connection& connection, amqp_channel_t channel) {
    if (auto failed = connection.open_channel(channel)) return failed;
    amqp_basic_consume(connection.raw(), channel, bytes(own_mailbox), amqp_empty_bytes, 0, 1, 0,
                       amqp_empty_table);
    return connection.check(channel, "consuming the mailbox for answers");
}

Outcome ask_who_serves(Connection& connection, amqp_channel_t channel, const std::string& queue,
                       std::chrono::milliseconds patience) {
    const std::string expiration = std::to_string(patience.count());
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG |
                        AMQP_BASIC_EXPIRATION_FLAG | AMQP_BASIC_REPLY_TO_FLAG;
    properties.type = bytes(question_type);
    properties.content_type = bytes(question_content);
    properties.expiration = bytes(expiration);
    properties.reply_to = bytes(own_mailbox);
    return publish(connection, channel, queue, properties, question_body,
                   "asking who serves queue '" + queue + "'");
}

Outcome answer_who_serves(Connection& connection, amqp_channel_t channel,
                          const std::string& mailbox, const ActiveReaper& who) {
    const std::string machine = who.machine.substr(0, longest_property);
    const std::string journal = who.journal.substr(0, longest_property);
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_APP_ID_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.type = bytes(answer_type);
    properties.app_id = bytes(machine);
    properties.message_id = bytes(journal);
    return publish(connection, channel, mailbox, properties, {}, "answering who serves the queue");
}

std::optional<ActiveReaper> read_answer(const ContentProperties& properties) {
    if (properties.type != answer_type) return std::nullopt;
    return ActiveReaper{properties.app_id, properties.message_id};
}

}  // namespace reaper::amqp
