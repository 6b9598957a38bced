#include "clients/amqp/serving_token.hpp"

#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "clients/amqp/serving_question.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

const std::string token_type = "reaper.serving";
const std::string json = "application/json";
/// For versions that do not know it: a notification of a kind that they pass over.
const std::string body = R"({"event_type": "reaper.serving", "message_id": "", "payload": {}})";

}  // namespace

bool is_serving_token(const ContentProperties& properties) {
    return properties.type == token_type;
}

ServingToken::ServingToken(Connection& connection, const std::string& queue,
                           std::chrono::milliseconds delay, std::chrono::milliseconds interval)
    : connection_(connection),
      queue_(queue),
      delay_(delay),
      pause_(interval, 6 * interval),
      expiration_(std::to_string(interval.count())) {}

/// Most queues have a message sooner than a token is needed.
void ServingToken::start() {
    wanted_ = true;
    pause_.reset();
    due_ = Steady::now() + delay_;
}

void ServingToken::stop() {
    wanted_ = false;
}

Steady::time_point ServingToken::due() const {
    return wanted_ ? due_ : Steady::time_point::max();
}

/// By the default exchange, which knows every queue by its name; on a channel of its own, for a
/// refusal closes it.
Outcome ServingToken::work(bool may_wait) {
    const auto now = Steady::now();
    if (due() > now || !may_wait) return {};
    due_ = now + pause_.next();
    if (auto failed = open()) return failed;
    amqp_basic_properties_t properties{};
    properties._flags =
        AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_EXPIRATION_FLAG;
    properties.expiration = bytes(expiration_);
    properties.type = bytes(token_type);
    properties.content_type = bytes(json);
    const int status = amqp_basic_publish(connection_.raw(), token_channel, amqp_empty_bytes,
                                          bytes(queue_), 0, 0, &properties, bytes(body));
    return connection_.check_status(status, "putting a token into queue '" + queue_ + "'");
}

Outcome ServingToken::open() {
    if (open_) return {};
    if (auto failed = connection_.open_channel(token_channel)) return failed;
    open_ = true;
    return {};
}

Outcome ServingToken::answer(const ContentProperties& question, const ActiveReaper& who) {
    if (auto failed = open()) return failed;
    return answer_who_serves(connection_, token_channel, question, who);
}

void ServingToken::channel_closed(const std::string& why) {
    open_ = false;
    if (!std::exchange(refused_told_, true))
        spdlog::warn(
            "{}: whether this reaper serves queue '{}' is not known before its next message ({}); "
            "until then it serves no failed unshelvings. The user needs the right to write to "
            "amq.default",
            connection_.name(), queue_, printable(why));
}

}  // namespace reaper::amqp
