#include "clients/amqp/dead_letters.hpp"

#include <spdlog/spdlog.h>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr std::size_t max_header_bytes = 2000;
constexpr auto retry_first = std::chrono::milliseconds(200);
constexpr auto retry_most = std::chrono::milliseconds(5'000);

amqp_basic_properties_t raw_properties(const ContentProperties& content,
                                       const amqp_table_t& headers) {
    amqp_basic_properties_t raw{};
    raw._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG;
    raw.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    raw.headers = headers;
    const auto set = [&raw](const std::string& text, amqp_bytes_t& field, amqp_flags_t flag) {
        if (text.empty()) return;
        field = bytes(text);
        raw._flags |= flag;
    };
    set(content.content_type, raw.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG);
    set(content.content_encoding, raw.content_encoding, AMQP_BASIC_CONTENT_ENCODING_FLAG);
    set(content.message_id, raw.message_id, AMQP_BASIC_MESSAGE_ID_FLAG);
    set(content.correlation_id, raw.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG);
    set(content.type, raw.type, AMQP_BASIC_TYPE_FLAG);
    set(content.app_id, raw.app_id, AMQP_BASIC_APP_ID_FLAG);
    if (content.timestamp) {
        raw.timestamp = *content.timestamp;
        raw._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    }
    return raw;
}

std::uint64_t seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(now).count());
}

}  // namespace

ContentProperties ContentProperties::from(const amqp_basic_properties_t& raw) {
    ContentProperties kept;
    const auto get = [&raw](amqp_bytes_t field, amqp_flags_t flag) {
        return (raw._flags & flag) != 0 ? std::string(view(field)) : std::string();
    };
    kept.content_type = get(raw.content_type, AMQP_BASIC_CONTENT_TYPE_FLAG);
    kept.content_encoding = get(raw.content_encoding, AMQP_BASIC_CONTENT_ENCODING_FLAG);
    kept.message_id = get(raw.message_id, AMQP_BASIC_MESSAGE_ID_FLAG);
    kept.correlation_id = get(raw.correlation_id, AMQP_BASIC_CORRELATION_ID_FLAG);
    kept.type = get(raw.type, AMQP_BASIC_TYPE_FLAG);
    kept.app_id = get(raw.app_id, AMQP_BASIC_APP_ID_FLAG);
    kept.reply_to = get(raw.reply_to, AMQP_BASIC_REPLY_TO_FLAG);
    if ((raw._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0) kept.timestamp = raw.timestamp;
    return kept;
}

DeadLetters::DeadLetters(Connection& connection, const config::Broker& broker,
                         const AmqpTuning& tuning)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      backoff_(retry_first, retry_most) {}

void DeadLetters::forget() {
    waiting_.clear();
    sent_.reset();
}

void DeadLetters::set_blocked(bool blocked) {
    blocked_ = blocked;
    deadline_ = Steady::now() + tuning_.answer_timeout;  // a copy on its way is confirmed now
}

Steady::time_point DeadLetters::due() const {
    if (blocked_ || idle()) return Steady::time_point::max();
    if (sent_) return deadline_;
    return not_before_;
}

Outcome DeadLetters::work(Steady::time_point now) {
    if (blocked_) return {};
    if (sent_ && now >= deadline_) failed("the broker did not confirm it in time");
    if (sent_ || waiting_.empty() || now < not_before_) return {};
    if (auto refusal = open()) {
        if (refusal->fatal) return refusal;
        sent_ = std::move(waiting_.front());
        waiting_.pop_front();
        failed(refusal->error.what);
        return {};
    }
    sent_ = std::move(waiting_.front());
    waiting_.pop_front();
    returned_ = false;
    deadline_ = now + tuning_.answer_timeout;
    return send(*sent_);
}

Outcome DeadLetters::open() {
    if (open_) return {};
    if (auto failure = connection_.open_channel(publish_channel)) return failure;
    amqp_confirm_select(connection_.raw(), publish_channel);
    if (auto failure = connection_.check(publish_channel, "asking for confirmations")) {
        return failure;
    }
    sequence_ = 0;
    open_ = true;
    return {};
}

Outcome DeadLetters::send(const Copy& copy) {
    Table headers;
    headers.add("x-reaper-reason", printable(copy.reason, max_header_bytes));
    headers.add("x-reaper-routing-key", printable(copy.routing_key));
    headers.add_time("x-reaper-time", seconds_now());
    const amqp_table_t table = headers.raw();
    const amqp_basic_properties_t properties = raw_properties(copy.properties, table);
    constexpr amqp_boolean_t mandatory = 1;
    ++sequence_;
    const int status = amqp_basic_publish(connection_.raw(), publish_channel, amqp_empty_bytes,
                                          bytes(broker_.dead_letter_queue), mandatory, 0,
                                          &properties, bytes(copy.body));
    return connection_.check_status(status, "sending a dead-letter copy");
}

bool DeadLetters::matches(std::uint64_t sequence, bool multiple) const {
    return sent_ &&
           (sequence == sequence_ || (multiple && (sequence == 0 || sequence > sequence_)));
}

std::optional<std::uint64_t> DeadLetters::confirmed(std::uint64_t sequence, bool multiple) {
    if (!matches(sequence, multiple)) return std::nullopt;  // of a copy that we gave up
    if (returned_) {
        failed("there is no queue '" + broker_.dead_letter_queue + "'");
        return std::nullopt;
    }
    backoff_.reset();
    const std::uint64_t tag = sent_->delivery_tag;
    sent_.reset();
    return tag;
}

void DeadLetters::refused(std::uint64_t sequence, bool multiple) {
    if (matches(sequence, multiple)) failed("the broker could not store it");
}

void DeadLetters::returned() {
    returned_ = sent_.has_value();
}

void DeadLetters::channel_closed(const std::string& why) {
    open_ = false;
    if (sent_) failed(why);
}

void DeadLetters::failed(const std::string& why) {
    Copy copy = std::move(*sent_);
    sent_.reset();
    const auto pause = backoff_.next();
    not_before_ = Steady::now() + pause;
    if (++copy.tries < tuning_.copy_tries) {
        waiting_.push_back(std::move(copy));
        return;
    }
    spdlog::error(
        "no dead-letter copy after {} tries ({}); the message stays in queue '{}', unacknowledged, "
        "and comes again after the next reconnection; it was set aside because: {}",
        copy.tries, why, broker_.queue, printable(copy.reason));
}

}  // namespace reaper::amqp
