#include "clients/amqp/dead_letters.hpp"

#include <spdlog/spdlog.h>
#include <vector>

#include "clients/amqp/amqp_bytes.hpp"
#include "clients/amqp/amqp_topology.hpp"
#include "reaper/model/text.hpp"

namespace reaper::amqp {
namespace {

constexpr std::size_t max_header_bytes = 2000;
constexpr auto retry_first = std::chrono::milliseconds(200);
constexpr auto retry_most = std::chrono::milliseconds(5'000);

/// Of an original's headers; one with more keeps none, as a frame has to hold all of them.
constexpr std::size_t max_kept_headers = 64UL * 1024;

/// What the sender wrote; what a reaper added to an earlier copy is added again.
std::vector<amqp_table_entry_t> own_headers(const Headers& headers) {
    std::vector<amqp_table_entry_t> entries;
    amqp_table_t all = headers.raw();
    std::string room(max_kept_headers, '\0');
    std::size_t written = 0;
    if (amqp_encode_table(bytes(room), &all, &written) != AMQP_STATUS_OK) return entries;
    for (int i = 0; i < all.num_entries; ++i)
        if (!view(all.entries[i].key).starts_with(copy_header_prefix))
            entries.push_back(all.entries[i]);
    return entries;
}

std::uint64_t seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::seconds>(now).count());
}

}  // namespace

DeadLetters::DeadLetters(Connection& connection, const config::Broker& broker,
                         const AmqpTuning& tuning, Outbox& outbox)
    : connection_(connection),
      broker_(broker),
      tuning_(tuning),
      outbox_(outbox),
      backoff_(retry_first, retry_most) {}

DeadLetters::~DeadLetters() {
    if (sent_) outbox_.give_back(std::move(*sent_));
}

void DeadLetters::set_blocked(bool blocked) {
    blocked_ = blocked;
    deadline_ = Steady::now() + tuning_.answer_timeout;  // a copy on its way is confirmed now
}

Steady::time_point DeadLetters::due() const {
    if (blocked_) return Steady::time_point::max();
    if (sent_) return deadline_;
    return outbox_.has_copies() ? not_before_ : Steady::time_point::max();
}

Outcome DeadLetters::work(Steady::time_point now) {
    if (blocked_) return {};
    if (sent_ && now >= deadline_) failed("the broker did not confirm it in time");
    if (sent_ || now < not_before_) return {};
    sent_ = outbox_.take_copy();
    if (!sent_) return {};
    if (auto refusal = open()) {
        if (refusal->fatal) return refusal;
        failed(refusal->error.what);
        return {};
    }
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
    if (copy.full_size > copy.body.size())
        headers.add_integer(cut_header, static_cast<std::int64_t>(copy.full_size));
    std::vector<amqp_table_entry_t> entries = own_headers(copy.headers);
    const amqp_table_t added = headers.raw();
    entries.insert(entries.end(), added.entries, added.entries + added.num_entries);
    const amqp_table_t table{static_cast<int>(entries.size()), entries.data()};
    const amqp_basic_properties_t properties = copy.properties.raw(table);
    constexpr amqp_boolean_t mandatory = 1;
    ++sequence_;
    const int status = amqp_basic_publish(connection_.raw(), publish_channel, amqp_empty_bytes,
                                          bytes(broker_.dead_letter_queue), mandatory, 0,
                                          &properties, bytes(copy.body));
    return connection_.check_status(status, "sending a dead-letter copy");
}

Outcome DeadLetters::serve(const amqp_method_t& method) {
    switch (method.id) {
        case AMQP_BASIC_ACK_METHOD: {
            const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
            if (matches(ack.delivery_tag, ack.multiple != 0)) confirmed();
            return {};
        }
        case AMQP_BASIC_NACK_METHOD: {
            const auto& nack = *static_cast<const amqp_basic_nack_t*>(method.decoded);
            if (matches(nack.delivery_tag, nack.multiple != 0))
                failed("the broker could not store it");
            return {};
        }
        case AMQP_BASIC_RETURN_METHOD: returned_ = sent_.has_value(); return {};
        case AMQP_CHANNEL_CLOSE_METHOD: {
            std::string why;
            if (auto lost = connection_.closed_by_broker(publish_channel, method, why)) return lost;
            open_ = false;
            if (sent_) failed(why);
            return {};
        }
        default: return {};
    }
}

/// Others are of a copy that we gave up.
bool DeadLetters::matches(std::uint64_t sequence, bool multiple) const {
    return sent_ &&
           (sequence == sequence_ || (multiple && (sequence == 0 || sequence > sequence_)));
}

void DeadLetters::confirmed() {
    if (returned_) {
        outbox_.queue_missing();
        return failed("there is no queue '" + broker_.dead_letter_queue + "'");
    }
    backoff_.reset();
    outbox_.stored(*sent_);
    sent_.reset();
}

void DeadLetters::failed(const std::string& why) {
    Copy copy = std::move(*sent_);
    sent_.reset();
    const auto pause = backoff_.next();
    not_before_ = Steady::now() + pause;
    if (++copy.tries < tuning_.copy_tries) {
        outbox_.give_back(std::move(copy));
        return;
    }
    outbox_.drop();
    spdlog::error(
        "no dead-letter copy after {} tries ({}); the message stays in queue '{}', unacknowledged, "
        "and comes again after the next reconnection; it was set aside because: {}",
        copy.tries, why, broker_.queue, printable(copy.reason));
}

}  // namespace reaper::amqp
